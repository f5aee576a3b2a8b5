"""The process that is started before its run is known."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framefleet.app.cli.options import prepare_early
from framefleet.engine.model.load import load_network
from framefleet.engine.notices import ModelError
from framefleet.engine.pool import prepared
from framefleet.engine.pool.events import DeviceReady, Event
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import ModelFiles
from tests.support.media import make_video
from tests.support.models import TINY_CFG
from tests.support.pool import CPUS, Seen, alive, run_pool, small_settings, worker_pids


@pytest.fixture(autouse=True)
def _released() -> Iterator[None]:
    yield
    prepared.release()


def waiting_pid() -> int:
    """The process that waits. Fails if there is not exactly one."""
    (pid,) = (process.pid for process in multiprocessing.active_children() if process.name == "framefleet worker")
    assert pid is not None
    return pid


def tell(connection: Any, word: str) -> None:
    connection.send((os.getpid(), multiprocessing.current_process().name, os.environ.get("FRAMEFLEET_CACHE"), word))


def test_the_process_does_the_work_in_the_environment_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared.prepare()
    prepared.prepare()
    pid = waiting_pid()
    monkeypatch.setenv("FRAMEFLEET_CACHE", "/elsewhere")
    process = prepared.take("cpu:0", 7.0, tell, "hello")
    assert process is not None
    assert process.receive() == (pid, "framefleet cpu:0", "/elsewhere", "hello")
    assert process.end(10).exit_code == 0
    assert process.ended
    assert prepared.take("cpu:1", 7.0, tell, "hello") is None


def test_a_process_that_has_died_is_replaced() -> None:
    prepared.prepare()
    multiprocessing.active_children()
    (waiting,) = (process for process in multiprocessing.active_children() if process.name == "framefleet worker")
    os.kill(waiting_pid(), signal.SIGKILL)
    waiting.join()
    assert prepared.take("cpu:0", 7.0, tell, "hello") is None
    prepared.prepare()
    process = prepared.take("cpu:0", 7.0, tell, "again")
    assert process is not None
    assert process.receive()[-1] == "again"
    process.end()


def test_a_process_without_work_is_released() -> None:
    prepared.prepare()
    pid = waiting_pid()
    prepared.release()
    assert not alive(pid)
    prepared.release()
    assert prepared.take("cpu:0", 7.0, tell, "hello") is None


def test_the_first_worker_of_a_run_takes_the_process(tmp_path: Path) -> None:
    prepared.prepare()
    pid, found = waiting_pid(), []

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, DeviceReady) and not found:
            found.append(worker_pids())

    seen = run_pool([make_video(tmp_path / "video.mp4", 5, (160, 120))], CPUS[:1], small_settings(), react)
    assert found == [{str(CPUS[0]): pid}]
    assert seen.finished[0].ledger.inferred == 5


def test_a_window_has_a_process_for_each_run(tmp_path: Path) -> None:
    video = make_video(tmp_path / "video.mp4", 5, (160, 120))
    with prepared.prepared(again=True):
        first = waiting_pid()
        run_pool([video], CPUS[:1], small_settings())
        assert not alive(first)
        second = waiting_pid()
        run_pool([video], CPUS[:1], small_settings())
        assert not alive(second)
        last = waiting_pid()
    assert not alive(last)


def test_a_command_has_one_process_for_its_run(tmp_path: Path) -> None:
    with prepared.prepared():
        run_pool([make_video(tmp_path / "video.mp4", 5, (160, 120))], CPUS[:1], small_settings())
        assert not multiprocessing.active_children()


def test_a_device_that_cannot_be_opened_early_does_not_disturb_the_work() -> None:
    prepared.open_early(99)  # no process waits
    prepared.prepare()
    prepared.open_early(99)
    process = prepared.take("cpu:0", 7.0, tell, "hello")
    assert process is not None
    assert process.receive()[3] == "hello"
    assert process.end(10).exit_code == 0


def digest(connection: Any, files: ModelFiles) -> None:
    try:
        connection.send(prepared.load(files).digest)
    except ModelError as problem:
        connection.send(problem.notice.code)


def known_models(connection: Any) -> None:
    connection.send(list(prepared._loading))


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["video.mp4", "--out", "here", "--weights=random:3", "--model", str(TINY_CFG), "--size", "96x64"], (96, 64)),
        (["video.mp4", "--model", str(TINY_CFG), "--weights", "random:3", "--devices", "cpu:zero"], None),
        (["video.mp4", "--model", str(TINY_CFG), "--size", "wide"], None),
        (["video.mp4"], None),
    ],
)
def test_a_command_names_the_model_before_it_reads_all_arguments(arguments: list[str], loaded: tuple[int, int] | None) -> None:
    prepared.prepare()
    prepare_early(arguments)
    process = prepared.take("cpu:0", 7.0, known_models)
    assert process is not None
    assert process.receive() == ([] if loaded is None else [ModelFiles(TINY_CFG, "random:3", size=loaded)])
    process.end(10)


def test_a_model_is_loaded_before_the_work_comes(tmp_path: Path) -> None:
    known = ModelFiles(TINY_CFG, "random:3")
    prepared.preload(known)  # no process waits
    for files, expected in (
        (known, load_network(known).digest),
        (ModelFiles(tmp_path / "missing.cfg", "random:3"), "general.missing"),
    ):
        prepared.prepare()
        prepared.preload(ModelFiles(TINY_CFG, "random:4"))  # of another run
        prepared.preload(files)
        process = prepared.take("cpu:0", 7.0, digest, files)
        assert process is not None
        assert process.receive() == expected
        process.end(10)
