"""A run that a crash interrupted is offered at the next start, and goes on where it stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.results.interrupted import InterruptedRun
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.run.resume import ADJUSTABLE_CONFIDENCE
from framefleet.engine.settings.table import DEFAULTS
from framefleet.engine.store.corrections import Corrections, OneDetection
from framefleet.engine.store.facts import CREATED
from framefleet.engine.store.files import LIST
from framefleet.engine.store.session import SessionReader
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.paths import PROJECT, PYTHONPATH
from tests.support.pool import slow_main
from tests.support.window import feature

CRASH = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from framefleet.app.window.settings.preferences import Preferences
from framefleet.engine.model.load import check_model
from framefleet.engine.pool.events import FramesDone
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import Isolation
from framefleet.engine.types import DeviceId
from tests.support.models import tiny_files

if __name__ == "__main__":
    settings = Preferences.of(tiny_files(), devices=(DeviceId("cpu", "0"),), isolation=Isolation.THREAD).run_settings()
    settings = replace(settings, engine=replace(settings.engine, stored_confidence=float(sys.argv[1])))
    session = DetectionRun(settings, Path(sys.argv[2]), check_model(settings.model).labels)
    for path in sys.argv[3:]:
        session.add(Path(path))
    session.finish()
    done = 0
    for event in session.events():
        done += len(event.frames) if isinstance(event, FramesDone) else 0
        if done > 150:
            session._recorder._writer.commit()
            os.kill(os.getpid(), signal.SIGKILL)
"""


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """The folder with the session of a killed run, and its videos: a is finished, b is not."""
    return crash(tmp_path_factory.mktemp("crashed"), ADJUSTABLE_CONFIDENCE)


def crash(folder: Path, confidence: float) -> tuple[Path, list[Path]]:
    """Kill a run that stores detections from this confidence on; return the folder with its session, and its videos."""
    videos = [make_video(folder / f"{name}.mp4", frames=frames, size=(96, 96), gop=12) for name, frames in (("a", 60), ("b", 240))]
    script = folder / "crash.py"
    script.write_text(CRASH)
    (folder / "sessions").mkdir()
    command = [sys.executable, script, str(confidence), folder / "sessions" / "crashed.sqlite", *videos]
    killed = subprocess.run(command, cwd=PROJECT, env={**os.environ, "PYTHONPATH": PYTHONPATH}, check=False)
    assert killed.returncode == -signal.SIGKILL
    return folder / "sessions", videos


@pytest.fixture
def database(window: MainWindow, crashed: tuple[Path, list[Path]]) -> Path:
    """A copy of the killed run's session, among the sessions of the window."""
    shutil.copytree(crashed[0], window.context.run.folder, dirs_exist_ok=True)
    return window.context.run.folder / "crashed.sqlite"


def test_an_interrupted_run_is_offered_and_goes_on(qtbot: QtBot, window: MainWindow, database: Path) -> None:
    with SessionReader(database) as reader:
        before = [reader.count(source.number) for source in reader.sources()]
        begun = [source.file for source in reader.sources() if not source.succeeded and reader.position(source.number) is not None]
    assert sum(before) > 150
    window.context.settings.begin(tiny_files())
    qtbot.waitUntil(lambda: window.context.settings.summary is not None)
    feature(window, InterruptedRun).look()
    qtbot.waitUntil(lambda: any("1 of 2 files" in text for text in window.context.banners.texts))
    (button,) = [button for button in window.context.banners.findChildren(QPushButton) if button.text() == "Continue"]
    button.click()
    qtbot.waitUntil(lambda: window.context.activity.text.toolTip().count("goes on at frame") == len(begun) > 0, timeout=60_000)
    assert f"{begun[0].name} goes on at frame " in window.context.activity.text.text()
    qtbot.waitUntil(
        lambda: len(window.context.queue) == 2 and all(item.state is ItemState.DONE for item in window.context.queue), timeout=60_000
    )
    assert window.context.activity.isHidden(), "what goes on no longer is not said"
    with SessionReader(database) as reader:
        assert [reader.count(source.number) for source in reader.sources()] == [60, 240]
    assert {item.results.database for item in window.context.queue if item.results} == {database}
    assert [item.progress.frames for item in window.context.queue] == [60, 240]
    for item in window.context.queue:
        tally = window.context.run.tally(item.key)
        assert tally is not None
    assert sorted(path.name for path in database.parent.glob("*.sqlite")) == ["crashed.sqlite"], "it was not begun again"
    feature(window, InterruptedRun).look()
    qtbot.waitUntil(lambda: not window.context.background.busy)
    assert not any("not finished" in text for text in window.context.banners.texts)


@pytest.mark.slow  # tests/engine/run/test_resume.py keeps corrections
def test_corrections_of_an_interrupted_run_are_kept(qtbot: QtBot, window: MainWindow, database: Path) -> None:
    with Corrections(database) as corrections:
        corrections.delete(OneDetection(1, 0, 0))
    window.context.settings.begin(tiny_files())
    qtbot.waitUntil(lambda: window.context.settings.summary is not None)
    feature(window, InterruptedRun).look()
    qtbot.waitUntil(lambda: bool(window.context.banners.texts))
    next(button for button in window.context.banners.findChildren(QPushButton) if button.text() == "Continue").click()
    qtbot.waitUntil(lambda: [item.state for item in window.context.queue] == [ItemState.DONE] * 2, timeout=60_000)
    _, item = window.context.queue
    with SessionReader(database) as reader:
        assert reader.corrected
        stored = sum(len(frame.detections) for frame in reader.frames(1) if frame.detections is not None)
        assert item.results is not None
        assert item.results.created == reader.facts[CREATED]
    tally = window.context.run.tally(item.key)
    assert tally is not None
    assert sum(tally.counts(0.0).values()) == stored
    window.context.viewer.player.seek(0.0)
    qtbot.waitUntil(lambda: window.context.viewer.canvas.result is not None and window.context.viewer.canvas.result.ref.index == 0)
    qtbot.waitUntil(lambda: not window.context.background.busy)
    assert window.context.banners.texts == []
    assert window.context.activity.text.text().count("b.mp4 goes on at frame ") == 1


def test_results_that_a_run_takes_over_are_named_without_options_of_the_command_line(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    video = make_video(tmp_path / "a.mp4", frames=20, size=(96, 96))
    window.context.settings.begin(tiny_files())
    window.open_paths([video])
    qtbot.waitUntil(lambda: [item.state for item in window.context.queue] == [ItemState.DONE], timeout=60_000)
    (item,) = window.context.queue
    assert item.results is not None
    window.context.run.set_paused(True)  # the session ends
    qtbot.waitUntil(lambda: not window.context.run.has_run, timeout=60_000)
    assert not window.context.activity.isVisible()
    window.context.run.set_paused(False)
    window.context.run.go_on([(video, None, item.results)])
    taken_over = "1 source finished by an earlier run: the results stay"
    qtbot.waitUntil(lambda: window.context.activity.text.text().startswith(taken_over), timeout=60_000)
    qtbot.waitUntil(lambda: [item.state for item in window.context.queue] == [ItemState.DONE] * 2, timeout=60_000)


def test_a_second_detection_that_ends_with_the_window_goes_on(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EnginePool, "worker_main", staticmethod(partial(slow_main, seconds=0.01)))
    run, queue, memory = window.context.run, window.context.queue, window.context.memory
    video = make_video(tmp_path / "a.mp4", frames=100, size=(96, 96), gop=12)
    memory.start()
    window.context.settings.begin(tiny_files())
    window.open_paths([video])
    qtbot.waitUntil(lambda: [item.state for item in queue] == [ItemState.DONE], timeout=60_000)
    run.detect_again(next(iter(queue)).key)
    qtbot.waitUntil(lambda: any(10 < item.progress.frames < 100 for item in queue), timeout=60_000)
    memory.stop()
    run.set_paused(True)
    qtbot.waitUntil(lambda: not run.has_run, timeout=60_000)
    run.remove(next(iter(queue)).key)
    run.set_paused(False)
    feature(window, InterruptedRun).look()  # as at the next start
    next(button for button in window.context.banners.findChildren(QPushButton) if button.text() == "Continue").click()
    qtbot.waitUntil(lambda: [item.state for item in queue] == [ItemState.DONE], timeout=60_000)
    results = next(iter(queue)).results
    assert results is not None
    with SessionReader(results.database) as reader:
        assert [(reader.count(source.number), source.complete) for source in reader.sources()] == [(100, True), (100, True)]
    assert results.source == 1


@pytest.mark.slow  # the tests below offer no file that is opened, and go on with one
def test_an_interrupted_file_that_is_opened_goes_on_and_is_no_longer_offered(
    qtbot: QtBot, window: MainWindow, database: Path, crashed: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    begun, other = crashed[1][1], make_video(tmp_path / "c.mp4", frames=20, size=(96, 96))
    link = tmp_path / "link.mp4"
    link.symlink_to(begun)
    entries = [{"path": str(path), "database": str(database), "source": 1, "ended": False, "part": None} for path in (begun, other)]
    (window.context.folder / "queue.json").write_text(json.dumps(entries))
    window.context.settings.begin(tiny_files())
    qtbot.waitUntil(lambda: window.context.settings.summary is not None)
    feature(window, InterruptedRun).look()
    assert window.context.banners.texts == ["2 files were interrupted: b.mp4, c.mp4"]
    window.open_paths([link])
    qtbot.waitUntil(lambda: window.context.banners.texts == ["c.mp4 was interrupted"])
    qtbot.waitUntil(lambda: "b.mp4 goes on at frame " in window.context.activity.text.toolTip(), timeout=60_000)
    next(button for button in window.context.banners.findChildren(QPushButton) if button.text() == "Continue").click()
    qtbot.waitUntil(lambda: all(item.state is ItemState.DONE for item in window.context.queue), timeout=60_000)
    assert [item.path.name for item in window.context.queue] == ["b.mp4", "c.mp4"]
    assert [item.progress.frames for item in window.context.queue] == [240, 20]
    window.open_paths([begun])
    qtbot.waitUntil(lambda: len(window.context.queue) == 3)  # it is finished, so that it is detected again


def test_a_session_is_no_longer_offered_when_all_of_its_unfinished_files_are_opened(
    qtbot: QtBot, window: MainWindow, database: Path, crashed: tuple[Path, list[Path]]
) -> None:
    def offered() -> bool:
        return any("1 of 2 files" in text for text in window.context.banners.texts)

    feature(window, InterruptedRun).look()
    qtbot.waitUntil(offered)
    for number, (path, is_offered) in enumerate(zip(crashed[1], (True, False), strict=True), start=1):
        window.open_paths([path])  # without a model it waits
        qtbot.waitUntil(lambda count=number: len(window.context.queue) == count)
        assert offered() is is_offered
    assert [item.path for item in window.context.queue] == crashed[1]


@pytest.mark.parametrize(("confidence", "goes_on"), [(DEFAULTS["confidence"], True), pytest.param(0.6, False, marks=pytest.mark.slow)])
def test_a_file_that_a_killed_command_line_has_begun_goes_on_when_it_is_opened(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, confidence: float, goes_on: bool
) -> None:
    folder, (_, video) = crash(tmp_path, confidence)
    database = folder / "crashed.sqlite"
    window.context.run.folder.mkdir(parents=True, exist_ok=True)
    (window.context.run.folder / LIST).write_text(f"{database}\n")  # as ``detect --out`` notes its session
    with SessionReader(database) as reader:
        before = reader.count(1)
    window.context.settings.begin(tiny_files())
    qtbot.waitUntil(lambda: window.context.settings.summary is not None)
    window.open_paths([video])
    qtbot.waitUntil(lambda: [item.state for item in window.context.queue] == [ItemState.DONE], timeout=60_000)
    (item,) = window.context.queue
    assert item.progress.frames == 240
    assert item.results is not None
    assert (item.results.database == database) is goes_on
    with SessionReader(database) as reader:
        assert reader.count(1) == (240 if goes_on else before)
    assert ("b.mp4 goes on at frame " in window.context.activity.text.toolTip()) is goes_on


@pytest.mark.slow  # tests/app/window/run/test_controller.py has other settings after a cancelled run
def test_with_another_model_an_interrupted_run_goes_on_in_a_session_of_its_own(qtbot: QtBot, window: MainWindow, database: Path) -> None:
    window.context.settings.begin(tiny_files(seed=2))
    qtbot.waitUntil(lambda: window.context.settings.summary is not None)
    feature(window, InterruptedRun).look()
    qtbot.waitUntil(lambda: bool(window.context.banners.texts))
    next(button for button in window.context.banners.findChildren(QPushButton) if button.text() == "Continue").click()
    qtbot.waitUntil(lambda: [item.state for item in window.context.queue] == [ItemState.DONE] * 2, timeout=60_000)
    stored, new = (item.results for item in window.context.queue)
    assert stored is not None
    assert new is not None
    assert stored.database == database != new.database
    with SessionReader(database) as reader:
        assert reader.count(0) == 60
    with SessionReader(new.database) as reader:
        assert [(source.name, reader.count(source.number)) for source in reader.sources()] == [("b.mp4", 240)]
    qtbot.waitUntil(lambda: not window.context.background.busy)
    assert "Continue" not in [button.text() for button in window.context.banners.findChildren(QPushButton)]


def test_a_discarded_run_is_not_offered_again(qtbot: QtBot, window: MainWindow, database: Path, crashed: tuple[Path, list[Path]]) -> None:
    entry = {"path": str(crashed[1][1]), "database": None, "source": -1, "ended": False, "part": None}
    (window.context.folder / "queue.json").write_text(json.dumps([entry]))
    feature(window, InterruptedRun).look()
    assert window.context.banners.texts == ["b.mp4 was interrupted"]
    next(button for button in window.context.banners.findChildren(QPushButton) if button.text() == "Discard").click()
    qtbot.waitUntil(lambda: not window.context.background.busy)
    window.context.memory.stop()
    feature(window, InterruptedRun).look()  # as at the next start: the queue is empty now
    qtbot.waitUntil(lambda: not window.context.background.busy)
    assert window.context.banners.texts == []
