"""Whatever dies in a cluster, the results equal those of a local run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from framefleet.app.cli.sessions import DATABASE
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.model.load import check_model
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, Event, FramesDone, SourceFinished, SourceOpened
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.processes.outcome import RESTARTS
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.store.session import SessionReader
from tests.support.cli import FAST, TINY, run_main
from tests.support.clusters.ray import ALPHA, BETA, GAMMA, OF_RAY, Raylets, kill, run_on, until
from tests.support.clusters.runs import FORMATS, FRAMES, SLOW, SLOW_MAIN, Once, check, exported
from tests.support.faults.seeds import seeded
from tests.support.paths import PROJECT
from tests.support.pool import Seen, alive, tiny_settings

pytestmark = OF_RAY


@pytest.mark.slow
def test_the_worker_process_dies(cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    seen = run_on(cluster, [video, video], [ALPHA, BETA], Once(lambda: kill(raylets.worker("beta")), BETA), SLOW)
    check(seen, local)
    assert [(failure.device, failure.restarting) for failure in seen.failures] == [(BETA, True)]
    assert "SIGKILL" in str(seen.failures[0].message)


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
    assert "node beta cannot be reached" in str(seen.failures[0].message)
    assert [ready.engine.device for ready in seen.ready] == [BETA, BETA], "a new agent has started the worker again"
    until(lambda: not alive(worker))


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_an_agent_that_always_dies_is_given_up(cluster: ClusterConnection, raylets: Raylets, video: Path) -> None:
    def strike(_: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, DeviceReady):
            kill(raylets.agent("beta"))

    seen = run_on(cluster, [video], [BETA], strike)
    *before, last = seen.failures
    assert len(before) >= RESTARTS
    assert all(failure.restarting for failure in before)
    assert not last.restarting
    assert "no device is left: beta/cpu:0: node beta cannot be reached" in str(seen.finished[0].error)


@pytest.mark.slow
def test_a_frozen_agent_counts_as_lost(raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    raylets.add("beta")
    with ClusterConnection(raylets.address, print, patience=5) as cluster:
        freeze = Once(lambda: os.kill(raylets.agent("beta"), signal.SIGSTOP))
        seen = run_on(cluster, [video, video], [ALPHA, BETA], freeze, SLOW)
    check(seen, local)
    assert "node beta cannot be reached: no answer within 5 s" in str(seen.failures[0].message)


@pytest.mark.slow
def test_a_node_returns_under_its_name(cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    def restart() -> None:
        raylets.kill("beta")
        raylets.add("beta")

    seen, once, back = Seen(), Once(restart, BETA), False
    with SLOW(tiny_settings(), [ALPHA, BETA], cluster) as pool:
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


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_node_dies_and_another_one_joins(cluster: ClusterConnection, raylets: Raylets, video: Path, local: list[tuple[Any, ...]]) -> None:
    def replace_the_node() -> None:
        raylets.kill("beta")
        raylets.add("gamma")

    said: list[str] = []
    cluster._say = said.append
    seen, once, working = Seen(), Once(replace_the_node, BETA), False
    with SLOW(tiny_settings(), [ALPHA, BETA], cluster) as pool:
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
    assert [*map(str, said)] == ["node gamma has joined"]
    assert all(len(frames) == FRAMES for frames in seen.frames.values())


@pytest.mark.timeout(240)
def test_an_agent_and_a_node_die_another_one_joins_and_the_exports_equal_those_of_a_local_run(
    cluster: ClusterConnection, raylets: Raylets, video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_the_node() -> None:
        raylets.kill("beta")
        raylets.add("gamma")

    here, there, sources = tmp_path / "here", tmp_path / "there", list[Path]()
    there.mkdir()
    deaths = [lambda: kill(raylets.agent("beta")), lose_the_node]
    ready, failures, working = 0, list[DeviceFailed](), False
    settings = tiny_settings(confidence=0.2)
    monkeypatch.setattr(EnginePool, "worker_main", staticmethod(SLOW_MAIN))
    with DetectionRun(settings, there / DATABASE, check_model(settings.model).labels, hosts=cluster) as session:

        def add() -> None:
            sources.append(Path(shutil.copy(video, tmp_path / f"{len(sources)}.mp4")))
            session.add(sources[-1])

        for _ in range(2):
            add()
        for event in session.events():
            ready += isinstance(event, DeviceReady) and event.engine.device == BETA
            failures += [event] if isinstance(event, DeviceFailed) else []
            if isinstance(event, FramesDone) and not working:
                by = {frame.device for frame in event.frames}
                if BETA in by and ready == 3 - len(deaths):
                    deaths.pop(0)()
                working = GAMMA in by
                if working:
                    session.finish()
            if isinstance(event, SourceFinished) and not working:
                add()  # until the new node takes part
    raylets.kill("gamma")
    monkeypatch.undo()
    assert failures[0].restarting
    assert {failure.device for failure in failures} == {BETA}
    options = ("--confidence", "0.2", "--format", FORMATS)
    assert run_main("results", there, *options).status == 0
    assert run_main("detect", *sources, *FAST, *options, "--out", here).status == 0
    assert len(exported(here)) >= 4 * len(sources)
    assert exported(there) == exported(here)


@pytest.mark.timeout(240)
def test_the_driver_dies_nothing_is_left_and_the_next_run_goes_on(raylets: Raylets, video: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    options = ("--precision", "fp32", "--confidence", "0.2", "--format", FORMATS)
    command = ["detect", str(video), *TINY, *options, "--cluster", raylets.address, "--out", str(there)]
    driver = subprocess.Popen([sys.executable, "-c", SLOW_COMMAND, *command], cwd=PROJECT, stderr=subprocess.DEVNULL)
    until(lambda: bool(raylets.worker("alpha") and stored(there)), 90)
    left = [raylets.worker("alpha"), raylets.agent("alpha")]
    assert all(left)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    until(lambda: not any(map(alive, left)))
    assert run_main(*command).status == 0
    assert run_main("detect", video, *FAST, *options, "--out", here).status == 0
    assert exported(there) == exported(here)


SLOW_COMMAND = """import sys
from framefleet.app.main import main
from framefleet.engine.pool.pool import EnginePool
from tests.support.clusters.runs import SLOW_MAIN
EnginePool.worker_main = staticmethod(SLOW_MAIN)
sys.exit(main(sys.argv[1:]))"""


def stored(folder: Path) -> bool:
    """Whether a run has stored frames."""
    if not (folder / DATABASE).exists():
        return False
    with SessionReader(folder / DATABASE) as reader:
        return any(True for source in reader.sources() for _ in reader.frames(source.number))


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
    videos = [tmp_path / f"{number}.mp4" for number in range(200)]
    for path in videos:
        path.hardlink_to(video)
    with Raylets(tmp_path / "nodes") as raylets:
        command = [
            sys.executable,
            "-m",
            "framefleet.app",
            "detect",
            *map(str, videos),
            *TINY,
            "--precision",
            "fp32",
            "--cluster",
            raylets.address,
        ]
        driver = subprocess.Popen([*command, "--out", str(tmp_path / "out")], cwd=PROJECT, stderr=subprocess.PIPE, text=True)
        until(lambda: bool(raylets.worker("alpha")))
        raylets.kill_head()
        _, said = driver.communicate(timeout=60)
    assert driver.returncode == 1, said
    assert "the head of the cluster has ended" in said
    with SessionReader(tmp_path / "out" / DATABASE) as reader:
        assert any(source.error for source in reader.sources())
