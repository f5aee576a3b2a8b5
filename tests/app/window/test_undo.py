"""Ctrl+Z undoes what the user did last, whatever it was, also after another file was chosen."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.corrections.corrector import Corrector
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.store.corrections import Corrections, edits
from framefleet.engine.store.tracks import track_session
from framefleet.engine.zones.shapes import Line
from tests.support.media import make_video
from tests.support.window import feature, write_results

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
FRAMES = 10


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def databases(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> list[Path]:
    """Two tracked files in the queue; the first one is shown."""
    found = []
    for name in "ab":
        (tmp_path / name).mkdir()
        video = make_video(tmp_path / name / f"{name}.mp4", FRAMES, (320, 240))
        found.append(write_results(tmp_path / f"{name}.sqlite", video, FRAMES).database)
        track_session(found[-1])
        window.open_paths([found[-1]])
        qtbot.waitUntil(lambda: len(window.context.queue) == len(found))
    show(qtbot, window, "a.mp4")
    return found


def show(qtbot: QtBot, window: MainWindow, name: str) -> None:
    feature(window, QueuePanel).show_item(next(item.key for item in window.context.queue if item.path.name == name))
    qtbot.waitUntil(lambda: shown(window) == name and window.context.viewer.canvas.result is not None)
    window.context.viewer.player.pause()


def shown(window: MainWindow) -> str:
    item = window.context.selection.item
    return "" if item is None else item.path.name


def draw_line(window: MainWindow) -> None:
    editor = feature(window, Zones).editor
    editor.begin(Line)
    for point in ((10, 10), (100, 100)):
        editor.add_point(point)


def correct(qtbot: QtBot, window: MainWindow, database: Path) -> None:
    """Confirm the object in the picture."""
    before = len(edits(database))
    window.context.actions.correct.setChecked(True)
    qtbot.keyClick(window, Qt.Key.Key_E)
    qtbot.keyClick(window, Qt.Key.Key_C)
    qtbot.waitUntil(lambda: len(edits(database)) == before + 1 and window.context.undo.canUndo())
    qtbot.waitUntil(lambda: not window.context.background.busy)


def test_the_last_thing_is_undone_whatever_it_was(qtbot: QtBot, window: MainWindow, databases: list[Path]) -> None:
    context, undo, zones = window.context, window.context.actions.undo, feature(window, Zones)
    draw_line(window)
    assert undo.text() == "Undo: Draw 'Line 1'"
    feature(window, FilterPanel).slider.setValue(40)
    assert undo.text() == "Undo: Confidence from 40 %"
    correct(qtbot, window, databases[0])
    assert undo.text() == "Undo: Person confirmed"
    show(qtbot, window, "b.mp4")
    assert zones.editor.zones.shapes == ()
    click_row(qtbot, window, 1)
    qtbot.keyClick(window, Qt.Key.Key_Delete)
    assert ([item.path.name for item in context.queue], undo.text()) == (["a.mp4"], "Undo: Remove b.mp4")

    said = context.activity.text.toolTip
    assert said() == "Removed b.mp4"

    def press(modifiers: Qt.KeyboardModifier = CONTROL) -> None:
        qtbot.keyClick(window, Qt.Key.Key_Z, modifiers)

    press()
    assert said() == "Undone: Remove b.mp4"
    assert [item.path.name for item in context.queue] == ["a.mp4", "b.mp4"]
    show(qtbot, window, "b.mp4")
    press()
    qtbot.waitUntil(lambda: edits(databases[0]) == [])
    assert (shown(window), said()) == ("a.mp4", "Undone: Person confirmed"), "what is undone can be seen"
    press()
    assert said() == "Undone: Confidence from 40 %"
    assert (context.filter.value.confidence, feature(window, FilterPanel).slider.value()) == (0.25, 25)
    show(qtbot, window, "b.mp4")
    press()
    assert (shown(window), zones.editor.zones.shapes, undo.isEnabled(), undo.text()) == ("a.mp4", (), False, "Undo")
    assert said() == "Undone: Draw 'Line 1'"
    for _ in range(4):
        press(CONTROL | SHIFT)
    assert said() == "Done again: Remove b.mp4"
    assert [shape.name for shape in zones.editor.zones.shapes] == ["Line 1"]
    assert context.filter.value.confidence == 0.4
    assert [item.path.name for item in context.queue] == ["a.mp4"]
    qtbot.waitUntil(lambda: len(edits(databases[0])) == 1)
    assert (context.actions.redo.isEnabled(), context.actions.redo.text()) == (False, "Redo")
    qtbot.waitUntil(lambda: not context.background.busy)


def test_several_corrections_are_undone_at_once(qtbot: QtBot, window: MainWindow, databases: list[Path]) -> None:
    correct(qtbot, window, databases[0])
    show(qtbot, window, "b.mp4")
    correct(qtbot, window, databases[1])
    for _ in range(2):
        qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: not any(map(edits, databases)))
    qtbot.waitUntil(lambda: not window.context.background.busy)


def test_a_correction_of_an_earlier_run_is_undone_in_the_bar_and_that_can_be_undone(
    qtbot: QtBot, window: MainWindow, databases: list[Path]
) -> None:
    with Corrections(databases[0]) as corrections:
        corrections.split(0, 1, 5)
    window.context.actions.correct.setChecked(True)
    feature(window, FilterPanel).slider.setValue(30)
    button = feature(window, Corrector).bar.earlier
    qtbot.waitUntil(button.isVisible)
    button.click()
    qtbot.waitUntil(lambda: edits(databases[0]) == [])
    qtbot.waitUntil(button.isHidden)
    qtbot.waitUntil(lambda: not window.context.background.busy)
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: len(edits(databases[0])) == 1)
    assert window.context.filter.value.confidence == 0.3
    qtbot.waitUntil(lambda: not window.context.background.busy)
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    assert window.context.filter.value.confidence == 0.25


def test_a_correction_that_was_replaced_meanwhile_is_not_undone(qtbot: QtBot, window: MainWindow, databases: list[Path]) -> None:
    correct(qtbot, window, databases[0])
    with Corrections(databases[0]) as corrections:
        corrections.split(0, 1, 5)
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    qtbot.waitUntil(lambda: window.context.activity.text.toolTip() == "No longer possible: Person confirmed")
    assert len(edits(databases[0])) == 2
    qtbot.waitUntil(lambda: not window.context.background.busy)


def test_after_another_run_an_earlier_correction_is_not_undone(qtbot: QtBot, window: MainWindow, databases: list[Path]) -> None:
    correct(qtbot, window, databases[0])
    key = window.context.selection.key
    assert key is not None
    window.context.run.detect_again(key)  # without a model, it waits
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    assert window.context.activity.text.toolTip() == "No longer possible: Person confirmed"
    assert not window.context.undo.canUndo()
    qtbot.waitUntil(lambda: not window.context.background.busy)
    assert len(edits(databases[0])) == 1


def test_a_moved_slider_is_one_step_and_classes_another(qtbot: QtBot, window: MainWindow, databases: list[Path]) -> None:
    panel, context = feature(window, FilterPanel), window.context
    for value in range(26, 50):
        panel.slider.setValue(value)
    panel.nothing.click()
    assert context.filter.value.classes == frozenset()
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    assert (context.filter.value.classes, context.filter.value.confidence) == (None, 0.49)
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    assert (context.filter.value.confidence, panel.spin.value()) == (0.25, 25)


def test_lines_of_a_file_that_is_gone_are_not_undone(qtbot: QtBot, window: MainWindow, databases: list[Path]) -> None:
    draw_line(window)
    key = window.context.selection.key
    assert key is not None
    window.context.run.remove(key)
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    show(qtbot, window, "b.mp4")
    assert feature(window, Zones).set.library.names() == ["a"]
    assert not window.context.undo.canUndo()
    assert window.context.activity.text.toolTip() == "No longer possible: Draw 'Line 1'"


def click_row(qtbot: QtBot, window: MainWindow, row: int) -> None:
    view = feature(window, QueuePanel).view
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(row, 0)).center())


def test_delete_deletes_what_was_selected_last_wherever_the_focus_is(qtbot: QtBot, window: MainWindow, databases: list[Path]) -> None:
    context, editor, view = window.context, feature(window, Zones).editor, feature(window, QueuePanel).view
    context.actions.zones.setChecked(True)
    context.actions.correct.setChecked(True)

    def delete_from(focus: QWidget) -> tuple[list[str], int, int]:
        focus.setFocus()
        qtbot.keyClick(focus, Qt.Key.Key_Delete)
        qtbot.waitUntil(lambda: not context.background.busy)
        return [item.path.name for item in context.queue], len(editor.zones.shapes), len(edits(databases[0]))

    assert delete_from(view) == (["a.mp4", "b.mp4"], 0, 0), "the program chose the shown file, not the user"
    draw_line(window)
    assert delete_from(view) == (["a.mp4", "b.mp4"], 0, 0)
    assert delete_from(view) == (["a.mp4", "b.mp4"], 0, 0), "nothing is selected after a deletion"
    qtbot.keyClick(window, Qt.Key.Key_Z, CONTROL)
    editor.select(0)
    qtbot.keyClick(window, Qt.Key.Key_E)
    assert editor.selected is None, "one thing is selected at a time"
    assert delete_from(view) == (["a.mp4", "b.mp4"], 1, 1)
    editor.select(0)
    click_row(qtbot, window, 1)
    assert editor.selected is None
    assert delete_from(window) == (["a.mp4"], 1, 1)


def test_a_window_that_fails_while_it_is_built_reports_its_own_error_only(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = MainWindow(store, tmp_path / "sessions")
    window.context.filter.choose_confidence(40)
    window.deleteLater()  # as Qt does with a window whose constructor raised: it was not closed
    qapp.sendPostedEvents(window, QEvent.Type.DeferredDelete)
    window.context.preview.stop()
    assert "RuntimeError" not in capfd.readouterr().err
