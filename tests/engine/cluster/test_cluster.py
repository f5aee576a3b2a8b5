"""Runs on a real Ray cluster of raylets on this machine: the results equal those of a local run, whatever dies."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import pytest

import engine.cluster.node
from app.cli.run.exports import DATABASE
from engine.cluster import connection_process
from engine.cluster.connection import ClusterConnection
from engine.cluster.files.content import Content
from engine.cluster.library import AgentHandle
from engine.cluster.versions import own_versions
from engine.errors import ClusterError, UsageError
from engine.pool.events import Event, FramesDone, SourceOpened
from engine.pool.pool import EnginePool
from engine.settings import Isolation, ModelFiles, Parallel
from engine.store.session import SessionReader
from engine.types import DeviceId
from tests.conftest import PROJECT
from tests.support.cli import TINY, run_main
from tests.support.cluster import ALPHA, BETA, GAMMA, Raylets, facts, kill, run_on, until
from tests.support.faults.seeds import seeded
from tests.support.media import make_video, numbered
from tests.support.models import TINY_CFG
from tests.support.pool import Seen, alive, run_pool, slow_main, tiny_settings, with_worker

pytest.importorskip("ray", reason="a cluster needs Ray: pip install 'framefleet[cluster]'")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    # Ray's own: it opens files and sockets that it leaves to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"),
]

FRAMES = 230
SLOW = with_worker(partial(slow_main, seconds=0.01))
"""A run takes long enough for what happens in it."""

FORMATS = "jsonl,csv,coco,mot"


@pytest.fixture(scope="module")
def raylets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raylets]:
    with Raylets(tmp_path_factory.mktemp("nodes")) as raylets:
        yield raylets


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three segments: frames 0 to 107, to 215, and the rest."""
    return make_video(tmp_path_factory.mktemp("cluster") / "video.mp4", FRAMES, (160, 120))


@pytest.fixture(scope="module")
def local(video: Path) -> list[tuple[Any, ...]]:
    """What a run on this machine finds in two copies of the video."""
    seen = run_pool([video, video])
    return facts(seen.frames[0] + seen.frames[1])


@pytest.fixture
def cluster(raylets: Raylets, tmp_path: Path) -> Iterator[ClusterConnection]:
    raylets.add("beta")
    with ClusterConnection(raylets.address, print, cache=tmp_path / "cache" / "files") as cluster:
        yield cluster


def check(seen: Seen, local: list[tuple[Any, ...]]) -> None:
    """The run is complete, each frame came once, and all equals the local run."""
    assert [seen.finished[source].error for source in (0, 1)] == [None, None]
    assert [seen.finished[source].ledger.inferred for source in (0, 1)] == [FRAMES, FRAMES]
    assert facts(seen.frames[0] + seen.frames[1]) == local


class Once:
    """Does something when the first frames are there. device: whose frames, None = any."""

    def __init__(self, do: Callable[[], object], device: DeviceId | None = None) -> None:
        self._do, self._device, self.done = do, device, False

    def __call__(self, _: EnginePool, event: Event, __: Seen) -> None:
        if self.done or not isinstance(event, FramesDone):
            return
        if self._device is None or any(frame.device == self._device for frame in event.frames):
            self.done = True
            self._do()


def test_two_nodes_share_a_file_one_agent_dies_and_the_results_equal_a_local_run(
    cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    assert cluster.devices() == (ALPHA, BETA)
    assert cluster.devices([DeviceId("cpu", "1")]) == (DeviceId("cpu", "1", "alpha"), DeviceId("cpu", "1", "beta"))
    with pytest.raises(UsageError, match="no node delta; its nodes are alpha, beta"):
        cluster.devices([DeviceId("cpu", "0", "delta")])
    seen = run_on(cluster, [video, video], [ALPHA, BETA], Once(lambda: kill(raylets.agent("beta")), BETA), SLOW)
    check(seen, local)
    assert {frame.device for frame in seen.frames[0] + seen.frames[1]} == {ALPHA, BETA}
    assert not list((tmp_path / "cache" / "files").iterdir()), "the nodes can read the file"


@pytest.mark.slow
def test_the_worker_process_dies(cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    seen = run_on(cluster, [video, video], [ALPHA, BETA], Once(lambda: kill(raylets.worker("beta"))), SLOW)
    check(seen, local)
    assert [(failure.device, failure.restarting) for failure in seen.failures] == [(BETA, True)]
    assert "SIGKILL" in seen.failures[0].message


@pytest.mark.slow
def test_the_agent_dies(cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    worker = 0

    def strike() -> None:
        nonlocal worker
        worker = raylets.worker("beta")
        kill(raylets.agent("beta"))

    seen = run_on(cluster, [video, video, video], [BETA], Once(strike), SLOW)
    check(seen, local)
    assert [(failure.device, failure.restarting) for failure in seen.failures] == [(BETA, True)]
    assert "node beta cannot be reached" in seen.failures[0].message
    assert [ready.engine.device for ready in seen.ready] == [BETA, BETA], "a new agent has started the worker again"
    until(lambda: not alive(worker))


@pytest.mark.slow
def test_a_frozen_agent_counts_as_lost(raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    raylets.add("beta")
    with ClusterConnection(raylets.address, print, patience=5) as cluster:
        freeze = Once(lambda: os.kill(raylets.agent("beta"), signal.SIGSTOP))
        seen = run_on(cluster, [video, video], [ALPHA, BETA], freeze, SLOW)
    check(seen, local)
    assert "node beta cannot be reached: no answer within 5 s" in seen.failures[0].message


@pytest.mark.slow
def test_a_node_returns_under_its_name(cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    def restart() -> None:
        raylets.kill("beta")
        raylets.add("beta")

    seen, once, back = Seen(), Once(restart), False
    with SLOW(tiny_settings(), [ALPHA, BETA], cluster) as pool:
        cluster.watch(pool.add_device)
        newest = [pool.add(video) for _ in range(2)][-1]
        for event in pool.events():
            seen.add(event)
            once(pool, event, seen)
            if isinstance(event, FramesDone) and [ready.engine.device for ready in seen.ready].count(BETA) == 2 and not back:
                back = True
                pool.finish()
            if isinstance(event, SourceOpened) and event.source == newest and not back:
                newest = pool.add(video)
    check(seen, local)
    assert all(finished.error is None for finished in seen.finished.values())


@pytest.mark.timeout(240)
def test_a_node_dies_and_another_one_joins(cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    def replace_the_node() -> None:
        raylets.kill("beta")
        raylets.add("gamma")

    said: list[str] = []
    cluster._say = said.append
    seen, once, working = Seen(), Once(replace_the_node, BETA), False
    with SLOW(tiny_settings(), [ALPHA, BETA], cluster) as pool:
        cluster.watch(pool.add_device)
        newest = [pool.add(video) for _ in range(2)][-1]
        for event in pool.events():
            seen.add(event)
            if isinstance(event, FramesDone):
                once(pool, event, seen)
                if not working and any(frame.device == GAMMA for frame in event.frames):
                    working = True
                    pool.finish()
            if isinstance(event, SourceOpened) and event.source == newest and not working:
                newest = pool.add(video)  # until the new node takes part
    raylets.kill("gamma")
    check(seen, local)
    assert said == ["node gamma has joined"]
    assert all(len(frames) == FRAMES for frames in seen.frames.values())


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_worker_an_agent_and_a_node_die_and_another_node_joins(
    cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]
) -> None:
    def lose_the_node() -> None:
        raylets.kill("beta")
        raylets.add("gamma")

    said: list[str] = []
    cluster._say = said.append
    deaths = [lambda: kill(raylets.worker("beta")), lambda: kill(raylets.agent("beta")), lose_the_node]
    seen, working = Seen(), False
    with SLOW(tiny_settings(), [ALPHA, BETA], cluster) as pool:
        cluster.watch(pool.add_device)
        newest = [pool.add(video) for _ in range(2)][-1]
        for event in pool.events():
            seen.add(event)
            if isinstance(event, FramesDone):
                by = {frame.device for frame in event.frames}
                if BETA in by and len(deaths) == 3 - sum(ready.engine.device == BETA for ready in seen.ready) + 1:
                    deaths.pop(0)()
                working |= GAMMA in by
                if working:
                    pool.finish()
            if isinstance(event, SourceOpened) and event.source == newest and not working:
                newest = pool.add(video)  # until the new node takes part
    raylets.kill("gamma")
    check(seen, local)
    assert said == ["node gamma has joined"]
    assert [(failure.device, failure.restarting) for failure in seen.failures][:2] == [(BETA, True)] * 2
    assert len(seen.failures) >= 3  # Ray takes some seconds to tell a lost node from a lost agent: the run may end before that
    assert {failure.device for failure in seen.failures} == {BETA}
    assert all(finished.error is None for finished in seen.finished.values())
    assert all(len(frames) == FRAMES for frames in seen.frames.values())


def test_the_driver_dies_and_nothing_is_left(raylets: Raylets, tmp_path: Path) -> None:
    raylets.add("beta")
    video = make_video(tmp_path / "long.mp4", 3000, (32, 32))
    command = [sys.executable, "-m", "app", "detect", str(video), *TINY, "--precision", "fp32", "--cluster", raylets.address]
    driver = subprocess.Popen([*command, "--out", str(tmp_path / "out")], cwd=PROJECT, stderr=subprocess.DEVNULL)
    until(lambda: bool(raylets.worker("alpha") and raylets.worker("beta")))
    left = [find(name) for find in (raylets.worker, raylets.agent) for name in ("alpha", "beta")]
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    until(lambda: not any(map(alive, left)))


def test_files_that_a_node_cannot_read_are_sent(
    raylets: Raylets, video: Path, local: list[tuple[Any, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    private = Path("/proc/self/cwd")  # another folder for each process
    (tmp_path / "mine.mp4").write_bytes(video.read_bytes())
    (tmp_path / "mine.cfg").write_bytes(TINY_CFG.read_bytes())
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number in range(3):
        assert cv2.imwrite(str(pictures / f"{number}.png"), numbered(number))
    before = facts(run_pool([pictures, tmp_path / "none.mp4"]).frames[0])
    settings = replace(tiny_settings(), model=ModelFiles(private / "mine.cfg", "random:1"))
    sources = [private / "mine.mp4", private / "mine.mp4", private / "pictures", private / "none.mp4"]
    raylets.add("beta")
    with ClusterConnection(raylets.address, print, cache=tmp_path / "cache" / "files") as cluster:
        seen = run_on(cluster, sources, [ALPHA, BETA], settings=settings)
        until(lambda: sum(node.sent for node in cluster.states) > (tmp_path / "mine.mp4").stat().st_size)
        assert all(0 < node.received < 1_000_000 for node in cluster.states)
    assert not seen.failures
    check(seen, local)
    assert [frame[1:] for frame in facts(seen.frames[2])] == [frame[1:] for frame in before]
    assert seen.opened[0].info.path == "/proc/self/cwd/mine.mp4"
    assert "/proc/self/cwd/none.mp4" in (seen.finished[3].error or "")
    cached = sorted(path.name for path in (tmp_path / "cache" / "files").glob("*/*"))
    assert cached == ["mine.cfg", "mine.mp4", "pictures"]


def without_files(*arguments: Any) -> None:
    """The process of a connection, on a machine where no file can be sent."""

    def gone(content: Content) -> list[Path]:
        raise FileNotFoundError(2, "No such file", str(content.path))

    Content.files = gone  # type: ignore[method-assign]
    connection_process.main(*arguments)


def test_a_file_that_vanishes_before_it_is_sent_fails_and_the_run_goes_on(
    raylets: Raylets, video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raylets.add("beta")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.mp4").write_bytes(video.read_bytes())
    with ClusterConnection(raylets.address, print, cache=tmp_path / "cache" / "files", main=without_files) as cluster:
        seen = run_on(cluster, [Path("/proc/self/cwd/mine.mp4"), video], [ALPHA, BETA])
    assert "/proc/self/cwd/mine.mp4 cannot be read: No such file" in (seen.finished[0].error or "")
    assert seen.finished[1].error is None
    assert not seen.failures


def test_the_command_gives_the_same_files_as_on_one_machine(raylets: Raylets, video: Path, tmp_path: Path) -> None:
    raylets.add("beta")
    options = ("--precision", "fp32", "--confidence", "0.05", "--format", FORMATS, "--json")
    here = run_main("detect", video, *TINY, "--devices", "cpu:0", *options, "--out", tmp_path / "here")
    there = run_main("detect", video, *TINY, "--cluster", raylets.address, *options, "--out", tmp_path / "there")
    assert (here.status, there.status) == (0, 0), there.err
    results = [files(tmp_path / place) for place in ("here", "there")]
    assert len(results[0]) >= 4
    assert results[0] == results[1]
    stored = []
    for place in ("here", "there"):
        with SessionReader(tmp_path / place / DATABASE) as reader:
            stored.append((facts(list(reader.frames(0))), reader.sources()[0].ledger))
    assert stored[0] == stored[1]
    assert {device["id"] for device in there.report["devices"]} == {"alpha/cpu:0", "beta/cpu:0"}


@pytest.mark.slow
def test_the_command_lists_the_devices_of_all_nodes(raylets: Raylets) -> None:
    raylets.add("beta")
    listed = run_main("devices", "--cluster", raylets.address, "--json")
    assert {device["id"] for device in listed.report["devices"]} == {"alpha/cpu:0", "beta/cpu:0"}


def files(folder: Path) -> dict[str, bytes]:
    """The results in a folder, without the nodes and the session."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != DATABASE]
    changing = re.compile(rb"(alpha|beta)/(?=cpu:0)")
    return {str(path.relative_to(folder)): changing.sub(b"", path.read_bytes()) for path in paths}


def test_what_a_cluster_cannot_do_is_said(raylets: Raylets, cluster: ClusterConnection, video: Path) -> None:
    for settings, words in (
        (tiny_settings(Parallel.FRAMES), "--parallel frames shares pictures within one machine"),
        (tiny_settings(isolation=Isolation.THREAD), "--isolation thread is for one machine"),
    ):
        with pytest.raises(UsageError, match=words):
            EnginePool(settings, [ALPHA, BETA], cluster)
    with pytest.raises(UsageError, match="cpu:0 is no device of the cluster"):
        EnginePool(tiny_settings(), [DeviceId("cpu", "0")], cluster)


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
    assert all(words in failure.message and "cannot be stored there" in failure.message for failure in seen.failures)
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


def with_another_version(*arguments: Any) -> None:
    """The process of a connection, of another version than the nodes."""
    other = replace(own_versions(), framefleet="9.9", python="3.99.1")
    engine.cluster.node.own_versions = lambda: other  # type: ignore[assignment]
    connection_process.main(*arguments)


def test_nodes_with_another_version_are_refused(raylets: Raylets) -> None:
    said: list[str] = []
    with pytest.raises(
        ClusterError, match=r"no node of the cluster .* can take part: node alpha: Framefleet is .* there and 9.9 here, Python is"
    ):
        ClusterConnection(raylets.address, said.append, main=with_another_version)
    assert any(line.startswith("node alpha is left out: Framefleet is") for line in said)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kills_at_random_moments_cost_nothing(
    cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]
) -> None:
    choice = seeded()
    for number in range(20):
        find = choice.choice([raylets.worker, raylets.agent])
        name, delay = choice.choice(["alpha", "beta"]), choice.uniform(0, 3)

        def strike(find: Callable[[str], int] = find, name: str = name) -> None:
            if pid := find(name):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

        timer = threading.Timer(delay, strike)
        timer.start()
        seen = run_on(cluster, [video, video], [ALPHA, BETA], pool_type=SLOW)
        timer.join()
        check(seen, local)
        print(f"run {number}: {find.__name__} of {name} killed after {delay:.1f} s, {len(seen.failures)} failures")


@pytest.mark.slow
def test_the_head_ends_and_the_run_ends_in_order(video: Path, tmp_path: Path) -> None:
    with Raylets(tmp_path / "nodes") as raylets:
        command = [sys.executable, "-m", "app", "detect", *[str(video)] * 200, *TINY, "--precision", "fp32", "--cluster", raylets.address]
        driver = subprocess.Popen([*command, "--out", str(tmp_path / "out")], cwd=PROJECT, stderr=subprocess.PIPE, text=True)
        until(lambda: bool(raylets.worker("alpha")))
        raylets.kill_head()
        _, said = driver.communicate(timeout=60)
    assert driver.returncode == 1, said
    assert "the head of the cluster has ended" in said
    with SessionReader(tmp_path / "out" / DATABASE) as reader:
        assert any(source.error for source in reader.sources())
