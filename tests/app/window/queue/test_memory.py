"""The queue is there again at the next start, also after SIGKILL; removal can be undone; quitting asks once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QMenu, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, Part, QueueItem, Results
from framefleet.app.window.queue.memory import NAME, QueueMemory, Remembered, ViewState
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.queue.open_files import MAX_RECENT, RecentFiles
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.interrupted import InterruptedRun
from framefleet.app.window.run.background import Background
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.resources import DEMO
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.paths import PROJECT, PYTHONPATH
from tests.support.window import feature, queue_item, write_results

PATIENCE = 30_000

KILLED = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QSettings
from framefleet.app.window.context import Start
from framefleet.app.window.main import make_application
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.settings import choices
from framefleet.app.window.settings.preferences import Preferences, save
from framefleet.engine.settings import Isolation
from framefleet.engine.types import DeviceId
from tests.support.models import tiny_files

if __name__ == "__main__":
    folder, *videos = map(Path, sys.argv[1:])
    application = make_application()
    choices.discover = tuple  # no search for devices, which takes two processes
    store = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    save(Preferences.of(tiny_files(), devices=(DeviceId("cpu", "0"),), isolation=Isolation.THREAD), store)
    window = MainWindow(store, folder / "sessions", tiny_files())
    window.begin(Start())
    window.open_paths(videos)

    def saved():
        if sum(item.results is not None and item.progress.frames > 0 for item in window.context.queue):
            window.context.memory.save()
            os.kill(os.getpid(), signal.SIGKILL)

    window.context.run.item_changed.connect(lambda _: saved())
    application.exec()
"""


def buttons(window: MainWindow) -> dict[str, QPushButton]:
    return {button.text(): button for button in window.context.banners.findChildren(QPushButton) if button.isVisible()}


@pytest.mark.slow  # tests/app/window/results/test_interrupted.py has a killed run, and another window's queue
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_the_files_of_a_killed_window_are_offered_and_go_on(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    videos = [make_video(tmp_path / f"{name}.mp4", frames=100, size=(96, 96), gop=12) for name in "abc"]
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "QT_QPA_PLATFORM": "offscreen"}
    killed = subprocess.run([sys.executable, script, tmp_path, *videos], cwd=PROJECT, env=environment, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    feature(window, InterruptedRun).look()
    assert any("were interrupted" in text for text in window.context.banners.texts)
    window.context.memory.save()
    kept = json.loads((window.context.run.folder / NAME).read_text("utf-8"))
    assert len([entry for entry in kept if not entry["ended"]]) >= 2, "the files are kept until the user has decided"
    window.context.settings.begin(tiny_files())
    qtbot.waitUntil(lambda: window.context.settings.summary is not None, timeout=PATIENCE)
    buttons(window)["Continue"].click()
    qtbot.waitUntil(
        lambda: len(window.context.queue) == 3 and all(item.state is ItemState.DONE for item in window.context.queue), timeout=PATIENCE
    )
    assert {item.progress.frames for item in window.context.queue} == {100}
    window.context.memory.stop()
    feature(window, InterruptedRun).look()
    assert not any("interrupted" in text for text in window.context.banners.texts)


@pytest.mark.parametrize("named_first", [True, False])
def test_a_file_that_is_named_at_the_start_is_shown_and_not_the_last_queue(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, named_first: bool
) -> None:
    folder, old, new = window.context.run.folder, *(make_video(tmp_path / f"{name}.mp4", 5, (64, 64)) for name in ("old", "new"))
    folder.mkdir(parents=True, exist_ok=True)
    database = write_results(folder / "one.sqlite", old, 5).database
    (folder / NAME).write_text(
        json.dumps([{"path": str(old), "database": str(database), "source": 0, "ended": True, "part": None}]), "utf-8"
    )
    acts = [lambda: window.open_paths([new], show=True), feature(window, InterruptedRun).look]
    for number, act in enumerate(acts if named_first else acts[::-1], 1):
        act()
        qtbot.waitUntil(lambda number=number: len(window.context.queue) == number, timeout=PATIENCE)
        qtbot.waitUntil(lambda: window.context.viewer.player.current is not None, timeout=PATIENCE)
    item = window.context.selection.item
    assert item is not None
    assert item.path == new


def test_an_interrupted_demo_is_not_offered(window: MainWindow, tmp_path: Path) -> None:
    folder = window.context.run.folder
    folder.mkdir(parents=True, exist_ok=True)
    entry = {"path": str(DEMO.clip), "database": None, "source": -1, "ended": False, "part": None}
    (folder / NAME).write_text(json.dumps([entry]), "utf-8")
    feature(window, InterruptedRun).look()
    assert not window.context.banners.texts
    window.context.memory.stop()
    (folder / NAME).write_text(json.dumps([{**entry, "path": str(tmp_path / "a.mp4")}]), "utf-8")
    feature(window, InterruptedRun).look()
    assert any("a.mp4 was interrupted" in text for text in window.context.banners.texts)


def test_the_position_and_the_chosen_part_are_there_again(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    videos = [make_video(tmp_path / f"{name}.mp4", 60, (64, 64)) for name in "ab"]
    folder = window.context.run.folder
    folder.mkdir()
    views = ViewState(1.0, Part(0.5, 1.5)), ViewState(0.8, Part(0.4, 1.0))
    plain = [Remembered(videos[0], write_results(folder / "s.sqlite", videos[0], 60).database, 0, ended=True, view=views[0])]
    plain.append(Remembered(videos[1], view=views[1]))
    again = queue_item(videos[0], key=7)
    (folder / NAME).write_text(json.dumps([asdict(entry) for entry in plain], default=str))
    feature(window, InterruptedRun).look()
    player, timeline = window.context.viewer.player, window.context.viewer.transport.timeline
    qtbot.waitUntil(lambda: player.current is not None and player.current.pts == pytest.approx(1.0, abs=0.01), timeout=PATIENCE)
    assert timeline.part == views[0].part
    assert window.context.memory.view_before(again) == ViewState(), "a finished file that is detected again is shown from its start"
    timeline.set_part(Part(0.25, 0.75))
    buttons(window)["Continue"].click()
    assert window.context.selection.key == [*window.context.queue][1].key, "the file that goes on is shown"
    qtbot.waitUntil(lambda: player.current is not None and player.current.pts == pytest.approx(0.8, abs=0.01), timeout=PATIENCE)
    qtbot.waitUntil(lambda: timeline.part == views[1].part, timeout=PATIENCE)
    window.context.memory.stop()
    kept = {entry.path: entry.view for entry in QueueMemory(QueueModel(), folder, Background()).start()}
    assert kept[videos[0]].part == Part(0.25, 0.75)
    assert [kept[video].at for video in videos] == pytest.approx([1.0, 0.8], abs=0.01)


def test_finished_files_are_shown_again_and_discarded_ones_are_forgotten(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "clip.mp4", 10, (64, 64))
    folder = window.context.run.folder
    folder.mkdir()
    results = write_results(folder / "s.sqlite", video, 10)
    model = QueueModel()
    before = QueueMemory(model, folder, Background())
    before.start()
    model.extend([queue_item(video, ItemState.DONE, results, key=1), queue_item(tmp_path / "b.mp4", key=2, part=Part(1.0, 2.5))])
    other = QueueMemory(QueueModel(), folder, Background())
    assert other.start() == [], "a second window leaves the queue of the first one alone"
    before.stop()
    feature(window, InterruptedRun).look()
    qtbot.waitUntil(lambda: [item.state for item in window.context.queue] == [ItemState.DONE], timeout=PATIENCE)
    assert window.context.memory.unfinished == (Remembered(tmp_path / "b.mp4", part=Part(1.0, 2.5)),)
    assert "b.mp4 was interrupted" in window.context.banners.texts
    buttons(window)["Discard"].click()
    assert window.context.banners.texts == [text for text in window.context.banners.texts if "interrupted" not in text]
    window.context.memory.stop()
    assert [entry.path.name for entry in QueueMemory(QueueModel(), folder, Background()).start()] == ["clip.mp4"]


def test_where_a_file_that_goes_on_was_begun_is_remembered_until_its_number_is_known_again(qtbot: QtBot, tmp_path: Path) -> None:
    begun = write_results(tmp_path / "s.sqlite", tmp_path / "a.mp4", 3)
    assert begun.source == 0
    model = QueueModel()
    memory = QueueMemory(model, tmp_path, Background())
    memory.start()
    for number, results in enumerate((None, replace(begun, source=-1), begun)):
        model.extend([queue_item(tmp_path / f"{number}.mp4", results=results, key=number, begun=begun)])
    unknown = Results(begun.database, -1)
    model.extend([queue_item(tmp_path / "3.mp4", key=3, begun=unknown)])
    memory.stop()
    again = QueueMemory(QueueModel(), tmp_path, Background())
    assert [entry.begun for entry in again.start()] == [*[Results(begun.database, 0)] * 3, unknown]
    again.stop()


def test_a_stream_that_sent_no_frame_is_not_shown_again(qtbot: QtBot, tmp_path: Path) -> None:
    model, results = QueueModel(), Results(tmp_path / "s.sqlite", 0)
    memory = QueueMemory(model, tmp_path, Background())
    memory.start()
    stream = LiveSource(LiveAddress.read("rtsp://127.0.0.1:9/cam"))
    for frames in (0, 5):
        model.extend([queue_item(tmp_path / "cam", ItemState.CANCELLED, results, key=frames, stream=stream, frames=frames)])
    memory.stop()
    again = QueueMemory(QueueModel(), tmp_path, Background())
    assert [entry.database for entry in again.start()] == [None, results.database]
    again.stop()


def test_a_change_of_a_long_queue_is_written_alone(qtbot: QtBot, tmp_path: Path) -> None:
    model, background = QueueModel(), Background()
    memory = QueueMemory(model, tmp_path, background)
    memory.start()
    asked = []

    def view_of(item: QueueItem) -> ViewState:
        asked.append(item.key)
        return ViewState(float(item.key))

    memory.view_of = view_of
    model.extend([queue_item(tmp_path / f"{key}.mp4", key=key) for key in range(2000)])

    def stored() -> list[dict[str, Any]]:
        qtbot.waitUntil(lambda: (tmp_path / NAME).exists() and not background.busy, timeout=PATIENCE)
        return json.loads((tmp_path / NAME).read_text())  # type: ignore[no-any-return]

    qtbot.waitUntil(lambda: len(stored()) == 2000, timeout=PATIENCE)
    assert len(asked) == 2000
    asked.clear()
    model.update(queue_item(tmp_path / "7.mp4", ItemState.DONE, key=7))
    model.move(1999, 0)
    model.remove(3)
    memory.viewed.add(9)
    qtbot.waitUntil(lambda: len(stored()) == 1999, timeout=PATIENCE)
    assert set(asked) == {7, 9}, "the other files are written as before"
    entries = stored()
    assert [Path(entry["path"]).stem for entry in entries[:6]] == ["1999", "0", "1", "2", "4", "5"]
    assert [entry["path"] for entry in entries if entry["ended"]] == [str(tmp_path / "7.mp4")]
    memory.stop()
    model.remove(0)
    memory.save()
    assert len(stored()) == 1999, "after its end, the file belongs to another window"


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"path": 3}]', "[{}]"])
def test_a_damaged_memory_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    memory = QueueMemory(QueueModel(), tmp_path, Background())
    assert memory.start() == []
    memory.stop()


def test_a_removal_is_undone_with_a_key(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    videos = [make_video(tmp_path / f"{name}.mp4", 5, (64, 64)) for name in "ab"]
    results = write_results(tmp_path / "s.sqlite", videos[0], 5)
    window.open_paths([results.database])
    qtbot.waitUntil(lambda: len(window.context.queue) == 1, timeout=PATIENCE)
    window.open_paths([videos[1]])
    qtbot.waitUntil(lambda: len(window.context.queue) == 2, timeout=PATIENCE)
    before = [(item.key, item.path, item.results) for item in window.context.queue]
    view = feature(window, QueuePanel).view

    def click() -> None:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(0, 0)).center())

    click()
    for _ in range(2):
        qtbot.keyClick(window, Qt.Key.Key_Delete)
    assert len(window.context.queue) == 0
    assert window.context.activity.text.text() == "Removed b.mp4"
    for number in (1, 2):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert len(window.context.queue) == number
    assert [(item.key, item.path, item.results) for item in window.context.queue] == before
    assert [item.state for item in window.context.queue] == [ItemState.DONE, ItemState.WAITING]
    assert window.context.run.tally(before[0][0]) is not None
    assert not window.context.actions.undo.isEnabled()
    click()
    qtbot.keyClick(window, Qt.Key.Key_Delete)
    assert window.context.activity.reveal.text() == "Undo"
    window.context.activity.reveal.click()
    assert (len(window.context.queue), window.context.activity.text.text()) == (2, "Undone: Remove a.mp4")


def test_quitting_asks_while_files_are_not_finished(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "a.mp4", 5, (64, 64))])
    qtbot.waitUntil(lambda: len(window.context.queue) == 1, timeout=PATIENCE)
    window.quitting.ask = True

    def answer(title: str) -> None:
        assert not window.close()
        (box,) = window.findChildren(QMessageBox)
        assert "not finished in 1 file" in box.text()
        assert box.informativeText().startswith("a.mp4\n\nFinished frames are stored")
        next(button for button in box.buttons() if button.text() == title).click()
        qtbot.waitUntil(lambda: not window.findChildren(QMessageBox))

    answer("Keep detecting")
    assert window.isVisible()
    answer("Quit")
    assert not window.isVisible()


def test_recent_files_are_listed_and_opened(qtbot: QtBot, tmp_path: Path) -> None:
    menu = QMenu()
    qtbot.addWidget(menu)
    recent = RecentFiles(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), menu, menu)
    assert not menu.isEnabled()
    paths = [tmp_path / f"{number}.mp4" for number in range(MAX_RECENT + 2)]
    recent.add(paths[:1])
    assert recent.paths == paths[:1]
    recent.add(paths)
    recent.add([paths[5]])
    assert recent.paths[:2] == [paths[5], paths[-1]]
    assert len(recent.paths) == MAX_RECENT
    paths[5].touch()
    menu.aboutToShow.emit()
    first, second = menu.actions()[:2]
    assert (first.text(), first.isEnabled(), second.isEnabled()) == ("5.mp4", True, False)
    with qtbot.waitSignal(recent.chosen) as chosen:
        first.trigger()
    assert chosen.args == [[paths[5]]]
    menu.actions()[-1].trigger()
    assert recent.paths == []
