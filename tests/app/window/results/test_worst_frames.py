"""The list of worst frames of ``framefleet evaluate`` opens in the window, and each of its frames is shown."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.results.worst_frames import WorstFrames, WorstFramesDialog, read_worst_frames
from framefleet.engine.store.corrections import Corrections, OneDetection
from tests.support.cli import run_main
from tests.support.media import make_video
from tests.support.window import feature, write_results

PATIENCE = 30_000
FRAMES = 20


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The folder of a report about two sessions: the first frames have objects that were not found."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        write_results(tmp_path / name / "session.sqlite", make_video(tmp_path / f"{name}.mp4", FRAMES, (320, 240)), FRAMES)
    images = [{"id": number + 1, "file_name": f"old.mp4#{number}"} for number in range(FRAMES)]
    annotations = [{"id": number, "image_id": number, "category_id": 1, "bbox": [200, 200, 20, 20]} for number in (3, 7)]
    truth = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "person"}]}
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    run = run_main("evaluate", tmp_path / "old", "--truth", tmp_path / "truth.json", "--out", tmp_path / "report")
    assert run.status == 0, run.err
    return tmp_path / "report"


def test_a_row_shows_its_frame(qtbot: QtBot, window: MainWindow, report: Path) -> None:
    window.open_paths([report / "worst-frames.json"])
    qtbot.waitUntil(lambda: window.findChild(WorstFramesDialog) is not None, timeout=PATIENCE)
    dialog = window.findChild(WorstFramesDialog)
    assert dialog is not None
    frames = json.loads((report / "worst-frames.json").read_text())["sessions"]["old"]
    assert dialog.table.topLevelItemCount() == len(frames) >= 2
    assert all(dialog.table.headerItem().textAlignment(column) & Qt.AlignmentFlag.AlignRight for column in range(1, 6))  # as the figures
    assert (frames[0]["frame"], frames[0]["missed"], frames[0]["wrong"]) == (6, 1, 1)
    player = window.context.viewer.player
    for row in (0, 1):  # the first frame is shown at once and opens the session, the second choice finds it open
        if row:
            dialog.table.setCurrentItem(dialog.table.topLevelItem(row))
        assert dialog.table.currentItem() is dialog.table.topLevelItem(row)
        time = frames[row]["time"]
        qtbot.waitUntil(lambda time=time: player.current is not None and abs(player.current.pts - time) < 1e-3, timeout=PATIENCE)
        shown = window.context.queue.get(window.context.selection.key or 0)
        assert shown is not None
        assert shown.path == report.parent / "old.mp4"
        assert not player.playing
    assert len(window.context.queue) == 1
    assert not dialog.remark.text()


def test_another_session_that_opens_at_the_same_time_does_not_take_the_place_of_the_frame(
    qtbot: QtBot, window: MainWindow, report: Path
) -> None:
    other = report.parent / "new" / "session.sqlite"
    window.open_paths([other])
    qtbot.waitUntil(lambda: len(window.context.queue) == 1, timeout=PATIENCE)
    worst = read_worst_frames(report / "worst-frames.json")["old"][0]
    dialog = WorstFramesDialog(report / "worst-frames.json", {"old": [worst]}, window)
    dialog.chosen.connect(feature(window, WorstFrames).show_frame)
    dialog.show_worst()
    window.open_paths([other])
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: player.path == str(worst.file), timeout=PATIENCE)
    qtbot.waitUntil(lambda: player.current is not None and abs(player.current.pts - worst.time) < 1e-3, timeout=PATIENCE)


def test_the_list_names_pictures_and_says_that_the_session_was_corrected(window: MainWindow, report: Path) -> None:
    with Corrections(report.parent / "old" / "session.sqlite") as corrections:
        corrections.delete(OneDetection(0, 6, 0))
    frames = read_worst_frames(report / "worst-frames.json")["old"]
    frames[1] = replace(frames[1], picture="trap/b.jpg")
    dialog = WorstFramesDialog(report / "worst-frames.json", {"old": frames, "new": []}, window)
    assert [dialog.table.topLevelItem(row).text(0) for row in (0, 1)] == ["old.mp4", "b.jpg"]
    assert "corrected by hand" in dialog.remark.text()
    dialog.session.setCurrentIndex(1)
    assert not dialog.remark.text()


def test_times_are_those_of_the_window(report: Path) -> None:
    """The old video begins at 100 s, and its clock is known; the session of the new one is gone."""
    with closing(sqlite3.connect(report.parent / "old" / "session.sqlite")) as connection, connection:
        connection.execute("UPDATE sources SET origin = 100, started = '2026-11-01T07:00:00+00:00'")
        connection.execute("UPDATE frames SET pts = pts + 100")
    content = json.loads((report / "worst-frames.json").read_text())
    content["sessions"]["old"][0]["time"] = 102.4
    content["databases"]["new"] = str(report / "gone.sqlite")
    content["sessions"]["new"] = [content["sessions"]["old"][0]]
    (report / "worst-frames.json").write_text(json.dumps(content))
    found = read_worst_frames(report / "worst-frames.json")
    assert (found["old"][0].moment, found["new"][0].moment) == ("0:02.40 · 07:00:02", "1:42.40")


def test_what_cannot_be_shown_is_explained(qtbot: QtBot, window: MainWindow, report: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"sessions": {}}')
    window.open_paths([tmp_path / "other.json", tmp_path / "missing.json"])
    qtbot.waitUntil(
        lambda: any("other.json is not a list of worst frames" in text for text in window.context.banners.texts), timeout=PATIENCE
    )
    qtbot.waitUntil(lambda: any("missing.json" in text for text in window.context.banners.texts), timeout=PATIENCE)
    (tmp_path / "other.json").write_text('{"lines": []}')  # the user has mended it: these are lines and zones
    window.open_paths([tmp_path / "other.json"])
    assert not any("other.json" in text for text in window.context.banners.texts), "what was wrong with it is over"
    (tmp_path / "old" / "session.sqlite").unlink()
    window.open_paths([report / "worst-frames.json"])
    qtbot.waitUntil(lambda: window.findChild(WorstFramesDialog) is not None, timeout=PATIENCE)
    dialog = window.findChild(WorstFramesDialog)
    assert dialog is not None
    dialog.table.setCurrentItem(dialog.table.topLevelItem(0))
    assert any("does not exist any more" in text for text in window.context.banners.texts)


@pytest.mark.parametrize("screen", [2000, 1000])
def test_the_list_stands_beside_the_window(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, screen: int) -> None:
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _screen: QRect(0, 0, screen, 1000))
    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(1, 0, 800, 600)
    window.show()
    dialog = WorstFramesDialog(Path("report/worst-frames.json"), {"one": []}, window)
    dialog.show()
    end = dialog.frameGeometry().right()
    assert dialog.frameGeometry().left() == window.frameGeometry().right() + 1 if screen == 2000 else end == screen - 1
