"""Keys that the user changes, in the table, in the dialog and in the whole window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSettings, Qt
from pytestqt.qtbot import QtBot

from framefleet.app.window.actions import without_dots
from framefleet.app.window.corrections.corrector import Corrector
from framefleet.app.window.keys.bindings import Bindings, Command, KeysDialog
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.types import Detections, FrameRef, FrameResult
from tests.support.media import make_video
from tests.support.window import CPU, feature

COMMANDS = (Command("a", "First thing", ("A",)), Command("b", "Second thing", ("B", "Ctrl+B")))


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def store(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "keys.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def bindings(store: QSettings) -> Bindings:
    made = Bindings(store)
    made.add(COMMANDS)
    made.fix(("Up",), "Another file")
    return made


@pytest.mark.parametrize("title", ["Export…", "Export …", "Export"])
def test_commands_are_named_without_the_dots_of_their_menu(title: str) -> None:
    assert without_dots(title) == "Export"


def test_changed_keys_are_stored_and_reset(bindings: Bindings, store: QSettings) -> None:
    bindings.set_keys("a", ["Ctrl+Shift+,"])
    bindings.set_keys("b", [])
    again = Bindings(store)
    again.add(COMMANDS)
    assert (again.keys("a"), again.keys("b")) == (("Ctrl+Shift+,",), ())
    assert store.value("keys/version") == 1
    again.reset()
    fresh = Bindings(store)
    fresh.add(COMMANDS)
    assert (fresh.keys("a"), fresh.keys("b")) == (("A",), ("B", "Ctrl+B"))


def test_a_key_belongs_to_one_command(bindings: Bindings) -> None:
    bindings.set_keys("a", ["B"])
    assert bindings.keys("b") == ("Ctrl+B",)
    owner = bindings.owner("B")
    assert owner is not None
    assert owner.name == "a"


def test_a_stored_key_that_cannot_be_read_is_ignored(store: QSettings) -> None:
    store.setValue("keys/a", "Ctrl+Nonsense")
    bindings = Bindings(store)
    bindings.add(COMMANDS)
    assert bindings.keys("a") == ("A",)


def test_no_two_commands_of_the_window_share_a_key(window: MainWindow) -> None:
    bindings = window.context.bindings
    groups = {command.name.partition("/")[0] for command in bindings.commands}
    assert groups == {"window", "player", "timeline", "correct", "compare", "events"}
    for focused in (False, True):
        every = [key for command in bindings.commands if command.focused is focused for key in command.keys]
        assert every
        assert len(every) == len(set(every))
        assert not [key for key in every if key in bindings.fixed]


def test_a_key_of_a_focused_widget_may_belong_to_another_command_too(bindings: Bindings) -> None:
    bindings.add([Command("c", "Third thing", ("A",), focused=True)])
    bindings.set_keys("a", ["A", "F"])
    assert bindings.keys("c") == ("A",)
    bindings.set_keys("c", ["B"])
    assert bindings.keys("b") == ("B", "Ctrl+B")


def test_the_dialog_changes_a_key_and_asks_before_it_takes_one(qtbot: QtBot, bindings: Bindings) -> None:
    dialog = KeysDialog(bindings)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.change.click()
    qtbot.keyClick(dialog.edit, Qt.Key.Key_Q)
    assert bindings.keys("a") == ("Q",)
    dialog.change.click()
    qtbot.keyClick(dialog.edit, Qt.Key.Key_Up)
    assert "Another file" in dialog.note.text()
    assert bindings.keys("a") == ("Q",)
    qtbot.keyClick(dialog.edit, Qt.Key.Key_B)
    assert "Second thing" in dialog.note.text()
    assert bindings.keys("b") == ("B", "Ctrl+B")
    dialog.take.click()
    assert (bindings.keys("a"), bindings.keys("b")) == (("B",), ("Ctrl+B",))
    qtbot.keyClick(dialog.list, Qt.Key.Key_Delete)
    assert bindings.keys("a") == ()
    dialog.search.setText("ctrl+b")
    assert [item.text(0) for item in dialog.list.findItems("*", Qt.MatchFlag.MatchWildcard) if not item.isHidden()] == ["Second thing"]


def test_a_changed_key_acts_in_the_window_and_the_old_one_does_not(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.context.bindings.set_keys("player/play", ["Y"])
    window.open_paths([make_video(tmp_path / "a.mp4", 60)])
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None)
    player.pause()
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert not player.playing
    qtbot.keyClick(window, Qt.Key.Key_Y)
    assert player.playing
    assert window.context.viewer.transport.play.toolTip() == "Pause (Y)"


def test_changed_keys_of_corrections_and_events_act_and_are_named(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.context.bindings.set_keys("correct/track", ["Q"])
    window.context.bindings.set_keys("events/next", ["Shift+Y"])
    window.open_paths([make_video(tmp_path / "a.mp4", 60)])
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None)
    window.context.actions.correct.trigger()
    corrector = feature(window, Corrector)
    assert corrector.bar.track.text() == "Whole track (Q)"
    for key, checked in ((Qt.Key.Key_T, False), (Qt.Key.Key_Q, True)):
        qtbot.keyClick(window, key)
        assert corrector.bar.track.isChecked() is checked
    feature(window, Zones).list.set_running(False)
    assert "⇧Y, ⇧P" in feature(window, Zones).list.count.text()


def test_i_is_for_statistics_and_on_the_timeline_for_the_part(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "a.mp4", 60)])
    viewer, timeline = window.context.viewer, window.context.viewer.transport.timeline
    qtbot.waitUntil(lambda: viewer.canvas.placement is not None and timeline.duration > 0)
    viewer.player.pause()
    qtbot.keyClick(window, Qt.Key.Key_I)
    name, video, _, picture, _ = viewer.canvas.statistics.splitlines()
    assert (name, "frames/s" in video, "frames/s" in picture) == ("a.mp4", True, False)
    viewer.player.toggle()
    assert "frames/s" in viewer.canvas.statistics.splitlines()[3]
    viewer.player.pause()
    assert timeline.part is None
    timeline.setFocus(Qt.FocusReason.TabFocusReason)
    viewer.player.seek(1.0)
    qtbot.waitUntil(lambda: viewer.player.position > 0.5)
    qtbot.keyClick(timeline, Qt.Key.Key_I)
    assert timeline.part is not None
    assert timeline.part.begin == pytest.approx(viewer.player.position)
    assert viewer.canvas.statistics
    qtbot.keyClick(timeline, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: viewer.player.position == 0.0)
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_I, Qt.KeyboardModifier.ShiftModifier)
    assert timeline.part.begin == 0.0
    qtbot.keyClick(window, Qt.Key.Key_I)
    assert not viewer.canvas.statistics


def test_statistics_follow_detection_and_the_filter_while_the_video_stands(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "a.mp4", 60)])
    viewer = window.context.viewer
    qtbot.waitUntil(lambda: viewer.canvas.placement is not None)
    viewer.player.pause()
    qtbot.keyClick(window, Qt.Key.Key_I)
    assert "not analysed" in viewer.canvas.statistics.splitlines()[2]
    boxes = np.array([[0, 0, 9, 9], [20, 20, 40, 40]], np.float32)
    found = Detections(boxes, np.array([0.9, 0.4], np.float32), np.zeros(2, np.int32))
    viewer.player.result.emit(FrameResult(FrameRef(0, 0, 0.0), CPU, 320, 240, found))
    assert viewer.canvas.statistics.splitlines()[2].endswith("2 of 2 boxes · cpu:0")
    viewer.set_filter(ViewFilter(0.5))
    assert viewer.canvas.statistics.splitlines()[2].endswith("1 of 2 boxes · cpu:0")
    assert viewer.item is not None
    viewer.update_item(replace(viewer.item, state=ItemState.WAITING, reason="Preparing the model"), None, queue_busy=False)
    assert viewer.canvas.statistics.splitlines()[4] == "Detection: Preparing the model"


def test_keys_are_off_while_the_user_types(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "a.mp4", 60)])
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None)
    window.context.viewer.player.pause()
    field = feature(window, FilterPanel).search
    field.setFocus()
    qtbot.keyClicks(field, "jkl mspx.,[]")
    assert field.text() == "jkl mspx.,[]"
    assert not window.context.viewer.player.playing


def test_after_a_click_on_the_timeline_the_keys_are_still_the_player_s(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "a.mp4", 360, (32, 32))])
    viewer, timeline = window.context.viewer, window.context.viewer.transport.timeline
    qtbot.waitUntil(lambda: viewer.canvas.placement is not None and timeline.duration > 0)
    viewer.player.pause()
    window.setFocus()
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=timeline.rect().center())
    qtbot.waitUntil(lambda: viewer.player.position > 5)
    assert not timeline.hasFocus()
    before = viewer.player.position
    qtbot.keyClick(window, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: viewer.player.position == pytest.approx(before - 5, abs=0.04))
    timeline.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    qtbot.keyClick(window, Qt.Key.Key_I)
    assert viewer.canvas.statistics
    assert timeline.part is None
    timeline.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)
    qtbot.keyClick(window, Qt.Key.Key_I)
    assert viewer.canvas.statistics
    assert timeline.part is not None


def test_the_question_mark_opens_the_list_of_keys(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Question)
    (dialog,) = window.findChildren(KeysDialog)
    assert dialog.isVisible()
    dialog.reject()


def test_control_0_fits_an_enlarged_picture_again(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "a.mp4", 30)])
    canvas = window.context.viewer.canvas
    qtbot.waitUntil(lambda: canvas.placement is not None)
    window.context.viewer.player.pause()
    fitted = canvas.placement
    canvas.set_zoom(3.0)
    assert canvas.placement != fitted
    qtbot.keyClick(window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    assert (canvas.zoom, canvas.placement) == (1.0, fitted)
