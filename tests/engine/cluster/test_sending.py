"""Files that a node cannot read are sent to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import pytest

from framefleet.engine.cluster import connection_process
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.cluster.files import Content
from framefleet.engine.cluster.library import AgentHandle
from framefleet.engine.settings import ModelFiles
from tests.support.clusters.ray import ALPHA, BETA, OF_RAY, Raylets, facts, run_on, until
from tests.support.clusters.runs import check
from tests.support.media import numbered
from tests.support.models import TINY_CFG
from tests.support.pool import run_pool, tiny_settings

pytestmark = OF_RAY


@pytest.mark.slow  # test_files.py and test_relay.py check the parts, test_deaths.py has runs of a cluster
@pytest.mark.timeout(240)
def test_files_that_a_node_cannot_read_are_sent(
    raylets: Raylets, video: Path, local: list[tuple[Any, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raylets.add("beta")
    monkeypatch.chdir(tmp_path)  # not the folder of the nodes, which would find the files there
    private = Path("/proc/self/cwd")  # another folder for each process
    (tmp_path / "mine.mp4").write_bytes(video.read_bytes())
    (tmp_path / "mine.cfg").write_bytes(TINY_CFG.read_bytes())
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number in range(3):
        assert cv2.imwrite(str(pictures / f"{number}.png"), numbered(number))
    before = facts(run_pool([pictures, tmp_path / "none.mp4"], settings=tiny_settings()).frames[0])
    settings = replace(tiny_settings(), model=ModelFiles(private / "mine.cfg", "random:1"))
    sources = [private / "mine.mp4", private / "mine.mp4", private / "pictures", private / "none.mp4"]
    with ClusterConnection(raylets.address, print, cache=tmp_path / "cache" / "files") as cluster:
        seen = run_on(cluster, sources, [ALPHA, BETA], settings=settings)
        until(lambda: sum(node.sent for node in cluster.states) > (tmp_path / "mine.mp4").stat().st_size)
        until(lambda: all(node.received for node in cluster.states))
        assert all(node.received < 1_000_000 for node in cluster.states)
    assert not seen.failures
    check(seen, local)
    assert [frame[1:] for frame in facts(seen.frames[2])] == [frame[1:] for frame in before]
    assert seen.opened[0].info.path == "/proc/self/cwd/mine.mp4"
    assert "/proc/self/cwd/none.mp4" in str(seen.finished[3].error)
    cached = sorted(path.name for path in (tmp_path / "cache" / "files").glob("*/*"))
    assert cached == ["mine.cfg", "mine.mp4", "pictures"]


def without_files(*arguments: Any) -> None:
    """The process of a connection, on a machine where no file can be sent."""

    def gone(content: Content) -> list[Path]:
        raise FileNotFoundError(2, "No such file", str(content.path))

    Content.files = gone  # type: ignore[method-assign]
    connection_process.main(*arguments)


@pytest.mark.slow
def test_a_file_that_vanishes_before_it_is_sent_fails_and_the_run_goes_on(
    raylets: Raylets, video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raylets.add("beta")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.mp4").write_bytes(video.read_bytes())
    with ClusterConnection(raylets.address, print, cache=tmp_path / "cache" / "files", main=without_files) as cluster:
        seen = run_on(cluster, [Path("/proc/self/cwd/mine.mp4"), video], [ALPHA, BETA])
    assert "/proc/self/cwd/mine.mp4 cannot be read: No such file" in str(seen.finished[0].error)
    assert seen.finished[1].error is None
    assert not seen.failures


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "words"), [("full", "do not fit into"), ("flipped", "did not arrive as it was sent")])
def test_a_file_that_cannot_be_stored_ends_the_devices_of_its_node(
    raylets: Raylets, video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, words: str
) -> None:
    raylets.add("beta")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.mp4").write_bytes(video.read_bytes())
    main = {"full": to_a_full_disk, "flipped": with_a_flipped_bit}[damage]
    with ClusterConnection(raylets.address, print, cache=tmp_path / "cache" / "files", main=main) as cluster:
        seen = run_on(cluster, [Path("/proc/self/cwd/mine.mp4")], [ALPHA, BETA])
    assert seen.failures
    assert all(words in str(failure.message) and "cannot be stored there" in str(failure.message) for failure in seen.failures)
    assert not list((tmp_path / "cache" / "files").iterdir())


@pytest.mark.slow
def test_a_file_that_was_damaged_on_its_way_is_sent_again(
    raylets: Raylets, video: Path, local: list[tuple[Any, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raylets.add("beta")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.mp4").write_bytes(video.read_bytes())
    with ClusterConnection(raylets.address, print, cache=tmp_path / "cache" / "files", main=with_one_flipped_bit) as cluster:
        seen = run_on(cluster, [Path("/proc/self/cwd/mine.mp4")] * 2, [ALPHA])
    assert not seen.failures
    check(seen, local)


def to_a_full_disk(*arguments: Any) -> None:
    """The process of a connection, to nodes whose disk is full: the sizes that it announces do not fit."""
    announced = AgentHandle.call

    def call(agent: AgentHandle, method: str, *given: Any, **named: Any) -> Any:
        return announced(agent, method, *((given[0], [10**15]) if method == "begin_file" else given), **named)

    AgentHandle.call = call  # type: ignore[method-assign]
    connection_process.main(*arguments)


def with_one_flipped_bit(*arguments: Any) -> None:
    """As ``with_a_flipped_bit``, only once."""
    with_a_flipped_bit(*arguments, times=1)


def with_a_flipped_bit(*arguments: Any, times: int = 1000) -> None:
    """The process of a connection, through a network that damages files."""
    sent, left = AgentHandle.call, [True] * times

    def call(agent: AgentHandle, method: str, *given: Any, **named: Any) -> Any:
        damage = method == "write_file" and left and left.pop()
        return sent(agent, method, *((*given[:3], bytes([given[3][0] ^ 1]) + given[3][1:]) if damage else given), **named)

    AgentHandle.call = call  # type: ignore[method-assign]
    connection_process.main(*arguments)
