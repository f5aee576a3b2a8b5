"""The queue is there again at the next start, also after SIGKILL; removal can be undone; quitting asks once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QMenu, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, Part
from framefleet.app.window.queue.memory import NAME, Left, QueueMemory, Remembered
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.queue.recent import MOST, RecentFiles
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.paths import PROJECT, PYTHONPATH
from tests.support.window import queue_item, write_results

PATIENCE = 30_000

KILLED = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QSettings
from framefleet.app.window.main import make_application
from framefleet.app.window.main_window import MainWindow
from tests.support.models import tiny_files

if __name__ == "__main__":
    folder, *videos = map(Path, sys.argv[1:])
    application = make_application()
    window = MainWindow(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat), folder / "sessions", tiny_files())
    window.interrupted.look()
    window.open_paths(videos)

    def saved():
        if sum(item.results is not None and item.progress.frames > 0 for item in window.items):
            window.memory.save()
            os.kill(os.getpid(), signal.SIGKILL)

    window.controller.item_changed.connect(lambda _: saved())
    application.exec()
"""


def buttons(window: MainWindow) -> dict[str, QPushButton]:
    return {button.text(): button for button in window.banners.findChildren(QPushButton) if button.isVisible()}


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_the_files_of_a_killed_window_are_offered_and_go_on(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    videos = [make_video(tmp_path / f"{name}.mp4", frames=200, size=(96, 96), gop=12) for name in "abc"]
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "QT_QPA_PLATFORM": "offscreen"}
    killed = subprocess.run([sys.executable, script, tmp_path, *videos], cwd=PROJECT, env=environment, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    window.interrupted.look()
    assert any("were interrupted" in text for text in window.banners.texts)
    window.memory.save()
    kept = json.loads((window.controller.folder / NAME).read_text("utf-8"))
    assert len([entry for entry in kept if not entry["ended"]]) >= 2, "the files are kept until the user has decided"
    window.setup.begin(tiny_files())
    qtbot.waitUntil(lambda: window.setup.summary is not None, timeout=PATIENCE)
    buttons(window)["Continue"].click()
    qtbot.waitUntil(lambda: len(window.items) == 3 and all(item.state is ItemState.DONE for item in window.items), timeout=PATIENCE)
    assert {item.progress.frames for item in window.items} == {200}
    window.memory.stop()
    window.interrupted.look()
    assert not any("interrupted" in text for text in window.banners.texts)


def test_the_position_and_the_chosen_part_are_there_again(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    videos = [make_video(tmp_path / f"{name}.mp4", 60, (64, 64)) for name in "ab"]
    folder = window.controller.folder
    folder.mkdir()
    lefts = Left(1.0, Part(0.5, 1.5)), Left(0.8, Part(0.4, 1.0))
    plain = [Remembered(videos[0], write_results(folder / "s.sqlite", videos[0], 60).database, 0, ended=True, left=lefts[0])]
    plain.append(Remembered(videos[1], left=lefts[1]))
    (folder / NAME).write_text(json.dumps([asdict(entry) for entry in plain], default=str))
    window.interrupted.look()
    player, timeline = window.viewer.player, window.viewer.transport.timeline
    qtbot.waitUntil(lambda: player.current is not None and player.current.pts == pytest.approx(1.0, abs=0.01), timeout=PATIENCE)
    assert timeline.part == lefts[0].part
    timeline.set_part(Part(0.25, 0.75))
    buttons(window)["Continue"].click()
    window.queue.show_item([*window.items][1].key)
    qtbot.waitUntil(lambda: player.current is not None and player.current.pts == pytest.approx(0.8, abs=0.01), timeout=PATIENCE)
    qtbot.waitUntil(lambda: timeline.part == lefts[1].part, timeout=PATIENCE)
    window.memory.stop()
    kept = {entry.path: entry.left for entry in QueueMemory(QueueModel(), folder).start()}
    assert kept[videos[0]].part == Part(0.25, 0.75)
    assert [kept[video].at for video in videos] == pytest.approx([1.0, 0.8], abs=0.01)


def test_finished_files_are_shown_again_and_discarded_ones_are_forgotten(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "clip.mp4", 10, (64, 64))
    folder = window.controller.folder
    folder.mkdir()
    results = write_results(folder / "s.sqlite", video, 10)
    model = QueueModel()
    before = QueueMemory(model, folder)
    before.start()
    model.extend([queue_item(video, ItemState.DONE, results, key=1), queue_item(tmp_path / "b.mp4", key=2, part=Part(1.0, 2.5))])
    other = QueueMemory(QueueModel(), folder)
    assert other.start() == [], "a second window leaves the queue of the first one alone"
    before.stop()
    window.interrupted.look()
    qtbot.waitUntil(lambda: [item.state for item in window.items] == [ItemState.DONE], timeout=PATIENCE)
    assert window.memory.unfinished == (Remembered(tmp_path / "b.mp4", part=Part(1.0, 2.5)),)
    assert "b.mp4 was interrupted." in window.banners.texts
    buttons(window)["Discard"].click()
    assert window.banners.texts == [text for text in window.banners.texts if "interrupted" not in text]
    window.memory.stop()
    assert [entry.path.name for entry in QueueMemory(QueueModel(), folder).start()] == ["clip.mp4"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"path": 3}]', "[{}]"])
def test_a_damaged_memory_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    memory = QueueMemory(QueueModel(), tmp_path)
    assert memory.start() == []
    memory.stop()


def test_a_removal_is_undone_with_a_key(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    videos = [make_video(tmp_path / f"{name}.mp4", 5, (64, 64)) for name in "ab"]
    results = write_results(tmp_path / "s.sqlite", videos[0], 5)
    window.open_paths([results.database])
    qtbot.waitUntil(lambda: len(window.items) == 1, timeout=PATIENCE)
    window.open_paths([videos[1]])
    qtbot.waitUntil(lambda: len(window.items) == 2, timeout=PATIENCE)
    before = [(item.key, item.path, item.results) for item in window.items]
    window.queue.show_item(before[0][0])
    for _ in range(2):
        qtbot.keyClick(window.queue.view, Qt.Key.Key_Delete)
    assert len(window.items) == 0
    assert window.exports.line.text.text() == "Removed b.mp4"
    for number in (1, 2):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert len(window.items) == number
    assert [(item.key, item.path, item.results) for item in window.items] == before
    assert [item.state for item in window.items] == [ItemState.DONE, ItemState.WAITING]
    assert window.controller.tally(before[0][0]) is not None
    assert not window.actions_.undo.isEnabled()
    qtbot.keyClick(window.queue.view, Qt.Key.Key_Delete)
    assert window.exports.line.reveal.text() == "Undo"
    window.exports.line.reveal.click()
    assert (len(window.items), window.exports.line.isHidden()) == (2, True)


def test_quitting_asks_while_files_are_not_finished(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "a.mp4", 5, (64, 64))])
    qtbot.waitUntil(lambda: len(window.items) == 1, timeout=PATIENCE)
    window.quitting.ask = True

    def answer(title: str) -> None:
        assert not window.close()
        (box,) = window.findChildren(QMessageBox)
        assert "not finished in 1 file" in box.text()
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
    paths = [tmp_path / f"{number}.mp4" for number in range(MOST + 2)]
    recent.add(paths[:1])
    assert recent.paths == paths[:1]
    recent.add(paths)
    recent.add([paths[5]])
    assert recent.paths[:2] == [paths[5], paths[-1]]
    assert len(recent.paths) == MOST
    paths[5].touch()
    menu.aboutToShow.emit()
    first, second = menu.actions()[:2]
    assert (first.text(), first.isEnabled(), second.isEnabled()) == ("5.mp4", True, False)
    with qtbot.waitSignal(recent.chosen) as chosen:
        first.trigger()
    assert chosen.args == [[paths[5]]]
    menu.actions()[-1].trigger()
    assert recent.paths == []
