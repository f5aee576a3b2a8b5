"""Runs on a real Ray cluster of raylets on this machine: the results equal those of a local run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framefleet.app.cli.sessions import DATABASE
from framefleet.engine.cluster import cluster, connection_process
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.cluster.messages import own_versions
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.notices import ClusterError, Notice, UsageError
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Isolation, Parallel
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import DeviceId
from tests.support.cli import FAST, TINY, run_main
from tests.support.clusters.ray import ALPHA, BETA, OF_RAY, Raylets, facts, kill, run_on
from tests.support.clusters.runs import FORMATS, SLOW, Once, check, exported
from tests.support.paths import PROJECT
from tests.support.pool import tiny_settings

pytestmark = OF_RAY


@pytest.mark.slow  # test_deaths.py has these deaths and another one
def test_two_nodes_share_a_file_one_agent_dies_and_the_results_equal_a_local_run(
    cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    assert cluster.devices() == (ALPHA, BETA)
    assert cluster.cores(BETA) == usable_cores()
    seen = run_on(cluster, [video, video], [ALPHA, BETA], Once(lambda: kill(raylets.agent("beta")), BETA), SLOW)
    check(seen, local)
    assert {frame.device for frame in seen.frames[0] + seen.frames[1]} == {ALPHA, BETA}
    assert not list((tmp_path / "cache" / "files").iterdir()), "the nodes can read the file"


@pytest.mark.slow  # so does the command whose driver was killed, in test_deaths.py
def test_the_command_gives_the_same_files_as_on_one_machine(raylets: Raylets, video: Path, tmp_path: Path) -> None:
    raylets.add("beta")
    options = ("--precision", "fp32", "--confidence", "0.05", "--format", FORMATS, "--json")
    here = run_main("detect", video, *TINY, "--devices", "cpu:0", *options, "--out", tmp_path / "here")
    there = run_main("detect", video, *TINY, "--cluster", raylets.address, *options, "--out", tmp_path / "there")
    assert (here.status, there.status) == (0, 0), there.err
    results = [exported(tmp_path / place) for place in ("here", "there")]
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


def test_what_a_cluster_cannot_do_and_a_node_that_does_not_answer_are_said(raylets: Raylets) -> None:
    raylets.add("beta")
    within = (Parallel.FRAMES, Parallel.TILES, Parallel.DEPTH)
    said: list[Notice] = []
    with ClusterConnection(raylets.address, said.append) as cluster:
        for settings, words in (
            *((tiny_settings(parallel), f"--parallel {parallel} shares pictures within one machine") for parallel in within),
            (tiny_settings(isolation=Isolation.THREAD), "--isolation thread is for one machine"),
        ):
            with pytest.raises(UsageError, match=words):
                EnginePool(settings, [ALPHA, BETA], cluster)
        with pytest.raises(UsageError, match="cpu:0 is not a device of the cluster"):
            EnginePool(tiny_settings(), [DeviceId("cpu", "0")], cluster)
        kill(raylets.agent("beta"))
        assert "beta" not in {device.id.node for device in cluster.describe()}
    assert [line for line in said if str(line).startswith("node beta does not answer, and is left out: ")]


def with_another_version(*arguments: Any) -> None:
    """The process of a connection, of another version than the nodes."""
    other = replace(own_versions(), framefleet="9.9", python="3.99.1")
    cluster.own_versions = lambda: other  # type: ignore[assignment]
    connection_process.main(*arguments)


def test_nodes_with_another_version_are_refused(raylets: Raylets) -> None:
    said: list[Notice] = []
    with pytest.raises(
        ClusterError, match=r"no node of the cluster .* can take part: node alpha: Framefleet is .* there and 9.9 here; Python is"
    ):
        ClusterConnection(raylets.address, said.append, main=with_another_version)
    assert any(str(line).startswith("node alpha is left out: Framefleet is") for line in said)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_two_drivers_share_the_sources_and_the_joined_exports_equal_those_of_one_run(raylets: Raylets, video: Path, tmp_path: Path) -> None:
    raylets.add("beta")
    archive, options = tmp_path / "archive", ("--precision", "fp32", "--confidence", "0.05")
    archive.mkdir()
    for number in range(4):
        shutil.copy(video, archive / f"{number}.mp4")
    detect = [sys.executable, "-m", "framefleet.app", "detect", str(archive), *TINY, *options, "--cluster", raylets.address]
    drivers = [
        subprocess.Popen([*detect, "--shard", f"{number}/2", "--devices", f"{node}/cpu:0", "--out", str(tmp_path)], cwd=PROJECT)
        for number, node in ((1, "alpha"), (2, "beta"))
    ]
    assert [driver.wait(200) for driver in drivers] == [0, 0]
    parts = [tmp_path / f"shard-{number}-of-2" for number in (1, 2)]
    assert run_main("merge", *parts, "--out", tmp_path / "all").status == 0
    assert run_main("results", tmp_path / "all", "--format", FORMATS).status == 0
    assert run_main("detect", archive, *FAST, *options, "--format", FORMATS, "--out", tmp_path / "here").status == 0
    assert exported(tmp_path / "all") == exported(tmp_path / "here")


def with_another_ray(*arguments: Any) -> None:
    """The process of a connection, on a machine with another version of Ray. Ray itself compares the versions."""
    import ray

    ray.__version__ = "2.99.0"
    connection_process.main(*arguments)


def test_another_version_of_ray_is_refused_in_words(raylets: Raylets) -> None:
    words = r"cannot be used: it runs Ray \S+ on Python \S+, and this machine Ray 2.99.0 on Python \S+: install the same on both"
    with pytest.raises(ClusterError, match=words):
        ClusterConnection(raylets.address, print, main=with_another_ray)
