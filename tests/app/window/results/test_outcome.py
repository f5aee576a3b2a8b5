"""When a file is done, one line says what came out and leads to exports, counts and corrections."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.export import ExportDialog
from framefleet.app.window.results.outcome import OutcomeLine
from framefleet.app.window.widgets.build import ElidedLabel
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.zones.shapes import Line
from tests.support.media import make_video
from tests.support.notices import words
from tests.support.store import make_frame, video_info
from tests.support.window import feature, write_results


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def line(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> OutcomeLine:
    """The line of a file in which each frame has one object of another of three classes."""
    results = write_results(tmp_path / "a.sqlite", make_video(tmp_path / "a.mp4", 20, (320, 240)), 20)
    window.open_paths([results.database])
    line = feature(window, OutcomeLine)
    qtbot.waitUntil(lambda: "person" in line.text.text() and window.context.viewer.canvas.result is not None)
    window.context.viewer.player.pause()
    return line


def buttons(line: OutcomeLine) -> dict[str, QPushButton]:
    return {button.text(): button for button in line.findChildren(QPushButton) if button.isVisible()}


def test_the_line_says_in_how_many_frames_each_class_is(qtbot: QtBot, window: MainWindow, line: OutcomeLine) -> None:
    assert line.text.text() == "20 frames in 1 s: person in 7, bicycle in 7, car in 6"
    assert list(buttons(line)) == ["Export…", "Count…", "Correct…"]
    window.context.filter.classes.show_only(2)
    qtbot.waitUntil(lambda: line.text.text() == "20 frames in 1 s: car in 6")
    window.context.filter.choose_confidence(95)
    qtbot.waitUntil(lambda: line.text.text() == "20 frames in 1 s: nothing found")


def test_the_line_says_how_many_frames_its_time_is_of(qtbot: QtBot, window: MainWindow, line: OutcomeLine) -> None:
    """Eight frames were there before the last run, which took a second."""
    (item,) = window.context.queue
    continued = replace(item, progress=replace(item.progress, before=8))
    line.show_item(continued)
    qtbot.waitUntil(lambda: line.text.text() == "20 frames, 12 of them new, in 1 s: person in 7, bicycle in 7, car in 6")
    assert continued.summary == "20 frames · 12.0 frames/s"


def test_in_a_small_window_the_buttons_are_below_the_sentence(qtbot: QtBot, window: MainWindow, line: OutcomeLine) -> None:
    for size, below in (((1360, 840), False), ((1024, 680), True), ((1360, 840), False)):
        window.resize(*size)
        qtbot.waitUntil(lambda: window.size().toTuple() == size)  # noqa: B023
        qtbot.waitUntil(lambda: (line.text.geometry().bottom() < line.export.geometry().top()) is below)  # noqa: B023
        assert line.text.width() > 300
    whole, shorter = line.text.grab().toImage(), ElidedLabel("")
    qtbot.addWidget(shorter)
    shorter.setText("20 frames in 1 s: person in 7, bicycle in 7 …")
    line.text.setFixedWidth(shorter.sizeHint().width() + 1)
    qtbot.waitUntil(lambda: line.text.width() == shorter.sizeHint().width() + 1)
    cut = line.text.grab().toImage()
    line.text.show_longest([shorter.text()])
    assert cut == line.text.grab().toImage() != whole, "classes without room are left out, not cut"


def test_its_buttons_lead_to_exports_lines_and_corrections(qtbot: QtBot, window: MainWindow, line: OutcomeLine) -> None:
    buttons(line)["Export…"].click()
    dialog = feature(window, ExportDialog)
    dialog.reject()
    buttons(line)["Count…"].click()
    assert window.context.actions.zones.isChecked()
    assert feature(window, Zones).editor.drawing is Line
    assert line.isHidden(), "the panels below need the room"
    window.context.actions.zones.setChecked(False)
    buttons(line)["Correct…"].click()
    assert window.context.actions.correct.isChecked()
    assert line.isHidden(), "the bar of corrections needs the room"
    window.context.actions.correct.setChecked(False)
    assert line.isVisible()


def test_the_menu_of_a_file_leads_there_too(qtbot: QtBot, window: MainWindow, line: OutcomeLine) -> None:
    panel = feature(window, QueuePanel)
    (item,) = window.context.queue
    actions = {action.text(): action for action in panel.menu_for(item).actions()}
    actions["Count…"].trigger()
    actions["Correct…"].trigger()
    assert (window.context.actions.zones.isChecked(), window.context.actions.correct.isChecked()) == (True, True)
    actions["Export…"].trigger()
    feature(window, ExportDialog).reject()


def test_a_cancelled_file_offers_to_continue_also_after_a_restart(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 20, (320, 240))
    with SessionWriter(tmp_path / "a.sqlite", ("person",), {"model": "tiny"}) as writer:
        writer.add_source(0, str(video), video_info(str(video), 20))
        writer.add_frames([make_frame(0, index) for index in range(5)])
        writer.finish_source(0, str(video), Ledger(5, 5), 1.0, None, True)
    window.open_paths([tmp_path / "a.sqlite"])
    line = feature(window, OutcomeLine)
    qtbot.waitUntil(line.isVisible)
    assert line.text.text().startswith("Cancelled after 5 frames")
    buttons(line)["Continue"].click()
    qtbot.waitUntil(lambda: [(item.active, item.summary) for item in window.context.queue] == [(True, "Needs a model")])
    assert line.isHidden()


def test_a_file_that_failed_is_not_called_finished(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 20, (320, 240))
    with SessionWriter(tmp_path / "a.sqlite", ("person",), {"model": "tiny"}) as writer:
        writer.add_source(0, str(video), video_info(str(video), 20))
        writer.add_frames([make_frame(0, index) for index in range(5)])
        writer.finish_source(0, str(video), Ledger(5, 5), 1.0, words("the disk is gone"))
    window.open_paths([tmp_path / "a.sqlite"])
    line = feature(window, OutcomeLine)
    qtbot.waitUntil(line.isVisible)
    assert line.text.text().startswith("Failed after 5 frames")


def test_a_file_that_was_cancelled_before_its_first_frame_only_goes_on(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 20, (320, 240))
    window.open_paths([video])
    qtbot.waitUntil(lambda: len(window.context.queue) == 1)
    (item,) = window.context.queue
    window.context.run.cancel(item.key)
    line = feature(window, OutcomeLine)
    qtbot.waitUntil(line.isVisible)
    assert line.text.text() == "Cancelled"
    assert [text for text, button in buttons(line).items() if button.isVisible()] == ["Continue"]
    buttons(line)["Continue"].click()
    (item,) = window.context.queue
    assert (item.active, line.isHidden()) == (True, True)
    window.context.run.cancel(item.key)
    window.open_paths([video])  # the same as the button
    qtbot.waitUntil(lambda: [item.active for item in window.context.queue] == [True])
    assert window.context.activity.text.text() == "a.mp4 goes on"
