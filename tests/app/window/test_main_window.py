"""The whole window with real processes: files in, boxes on the screen, results out."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QListView, QMessageBox, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.main import close_soon
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.queue.open_files import DropOverlay
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.export import ExportChoice, ExportDialog, Exports
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.engine.model.load import ModelSummary
from framefleet.engine.notices import Notice
from framefleet.engine.settings import ModelFiles
from framefleet.engine.store.exporters.options import ExportOptions
from framefleet.engine.store.reader import View
from framefleet.engine.types import DeviceId
from tests.support.media import make_video
from tests.support.models import TINY_CFG, tiny_files
from tests.support.window import drag_over, drop, feature, write_results

PATIENCE = 30_000
NO_KEY = Qt.KeyboardModifier.NoModifier
Open = Callable[..., MainWindow]


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("videos") / "clip.mp4", 40, (320, 240))


def all_ended(window: MainWindow) -> bool:
    return len(window.context.queue) > 0 and all(item.ended for item in window.context.queue)


def test_a_first_start_leads_from_nothing_to_boxes(qtbot: QtBot, open_window: Open, video: Path, tmp_path: Path) -> None:
    window = open_window()
    assert window.pages.currentWidget() is window.start
    assert window.start.choose_model.property("role") == "primary"
    assert window.top.model.text() == "Choose a model…"

    drop(window, [video])  # without a model it is queued and can be watched, and the window says what is missing
    qtbot.waitUntil(lambda: len(window.context.queue) == 1)
    qtbot.waitUntil(lambda: any("Choose a model" in text for text in window.context.banners.texts))
    assert window.pages.currentWidget() is window.middle
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None, timeout=PATIENCE)

    (tmp_path / "tiny.cfg").write_text(TINY_CFG.read_text())
    drop(window, [tmp_path / "tiny.cfg"])
    qtbot.waitUntil(lambda: any("no weights beside tiny.cfg" in text for text in window.context.banners.texts))
    window.context.settings.open_dialog()
    dialog = window.findChild(QDialog)
    assert dialog is window.context.settings.dialog
    window.context.settings.dialog.model.weights.set_path("random:1")
    qtbot.waitUntil(lambda: window.context.settings.dialog.model.summary is not None)
    window.context.settings.dialog.accept()
    assert window.top.model.text() == "tiny · 96×96"
    assert window.context.banners.texts == []

    qtbot.waitUntil(lambda: all_ended(window), timeout=PATIENCE)
    (item,) = window.context.queue
    assert (item.state, item.progress.frames) == (ItemState.DONE, 40)
    window.context.filter.set_confidence(0.05)
    window.context.viewer.player.pause()
    window.context.viewer.player.seek(0.5)
    qtbot.waitUntil(lambda: len(window.context.viewer.canvas.visible_detections) > 0, timeout=PATIENCE)
    shown = len(window.context.viewer.canvas.visible_detections)
    feature(window, FilterPanel).nothing.click()
    assert len(window.context.viewer.canvas.visible_detections) == 0
    feature(window, FilterPanel).everything.click()
    assert len(window.context.viewer.canvas.visible_detections) == shown
    assert "cpu:0 · OpenVINO" in window.status.devices.text()
    assert window.status.strategy.text().startswith("Strategy: ")
    assert len(feature(window, DevicePanel).cards) == 1

    results = item.results
    assert results is not None
    feature(window, Exports).start(ExportChoice(View(results.database), None, ("jsonl",), tmp_path / "out", ExportOptions()))
    qtbot.waitUntil(lambda: "clip.jsonl (40 frames)" in window.context.activity.text.text())
    lines = [json.loads(line) for line in (tmp_path / "out" / "clip.jsonl").read_text().splitlines()]
    tally = window.context.run.tally(item.key)
    assert tally is not None
    assert sum(len(line["detections"]) for line in lines) == sum(tally.counts(0.05).values())
    window.context.filter.set_confidence(0.9)
    feature(window, Exports).start(ExportChoice(View(results.database, 0.9), None, ("coco",), tmp_path / "out", ExportOptions()))
    qtbot.waitUntil(lambda: "clip.coco.json" in window.context.activity.text.text())
    strong = json.loads((tmp_path / "out" / "clip.coco.json").read_text())["annotations"]
    assert len(strong) == sum(tally.counts(0.9).values())

    again = open_window()  # what was chosen is there at the next start
    qtbot.waitUntil(lambda: again.top.model.text() == "tiny · 96×96")


@pytest.mark.slow  # tests below begin with a model, tests/app/window/queue/test_opening.py has paths that hold nothing
def test_a_model_given_at_the_start_is_used_at_once(qtbot: QtBot, open_window: Open, video: Path, tmp_path: Path) -> None:
    window = open_window(tiny_files())
    window.open_paths([video, video.parent / "missing.mp4", tmp_path])
    qtbot.waitUntil(lambda: all_ended(window), timeout=PATIENCE)
    assert len(window.context.queue) == 1
    assert any("missing.mp4 does not exist" in text and "no video and no picture" in text.lower() for text in window.context.banners.texts)
    assert window.context.selection.key == next(iter(window.context.queue)).key
    qtbot.waitUntil(lambda: window.windowTitle().startswith("clip.mp4"), timeout=PATIENCE)


def test_a_model_that_cannot_be_used_is_explained(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(ModelFiles(tmp_path / "gone.cfg", "random:1"))
    qtbot.waitUntil(lambda: any("gone.cfg does not exist" in text for text in window.context.banners.texts))
    assert window.top.model.text() == "Choose a model…"


def test_a_folder_that_holds_a_model_is_taken_as_one(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    folder = tmp_path / "trained"
    folder.mkdir()
    (folder / "tiny.cfg").write_text(TINY_CFG.read_text())
    (folder / "best.weights").touch()
    window = open_window()
    drop(window, [folder])
    qtbot.waitUntil(lambda: any("best.weights" in text for text in window.context.banners.texts))  # it is looked at, and found to be empty
    assert not any("no video" in text.lower() for text in window.context.banners.texts)


def test_dragging_shows_where_to_drop_and_leaving_hides_it(qtbot: QtBot, window: MainWindow, video: Path) -> None:
    data = drag_over(window, [video])
    assert feature(window, DropOverlay).isVisible()
    assert feature(window, DropOverlay).title == "Drop to add clip.mp4"
    assert feature(window, DropOverlay).geometry() == window.rect()
    drop(window, [])
    assert not feature(window, DropOverlay).isVisible()
    assert data.hasUrls()
    assert len(window.context.queue) == 0


def test_keys_work_wherever_the_focus_is(qtbot: QtBot, window: MainWindow, video: Path) -> None:
    window.open_paths([video])
    player, canvas = window.context.viewer.player, window.context.viewer.canvas
    qtbot.waitUntil(lambda: canvas.placement is not None, timeout=PATIENCE)
    player.pause()
    for place in (20 / 30, 0.0):  # there and back, so that what is on is known to be the answer
        player.seek(place)
        qtbot.waitUntil(lambda place=place: player.position == pytest.approx(place))
    shift, transport = Qt.KeyboardModifier.ShiftModifier, window.context.viewer.transport
    for focus, key, modifiers, frame in (
        (feature(window, QueuePanel).view, Qt.Key.Key_Period, NO_KEY, 1),
        (window, Qt.Key.Key_End, NO_KEY, 39),
        (feature(window, FilterPanel).view, Qt.Key.Key_Comma, NO_KEY, 38),
        (window, Qt.Key.Key_Left, shift, 8),
        (feature(window, QueuePanel).view, Qt.Key.Key_Right, NO_KEY, 39),
        (feature(window, QueuePanel).view, Qt.Key.Key_Left, NO_KEY, 0),
        (window, Qt.Key.Key_Right, shift, 30),
        (window, Qt.Key.Key_Home, NO_KEY, 0),
    ):
        qtbot.keyClick(focus, key, modifiers)
        qtbot.waitUntil(lambda frame=frame: player.position == pytest.approx(frame / 30))
        assert transport.frame.text() == f"frame {frame}"
    qtbot.keyClick(window, Qt.Key.Key_BracketRight)
    assert transport.speed.text() == "2×"
    for key in (Qt.Key.Key_D, Qt.Key.Key_I, Qt.Key.Key_F):
        qtbot.keyClick(feature(window, FilterPanel).search, key)
    assert feature(window, FilterPanel).search.text() == "dif"  # while typing, letters are only text
    assert transport.wait.isChecked()
    assert not window.isFullScreen()
    qtbot.keyClick(window, Qt.Key.Key_D)
    assert not transport.wait.isChecked()
    qtbot.keyClick(window, Qt.Key.Key_Space)
    assert player.playing


def test_the_video_gets_most_room_and_panels_stay_as_the_user_leaves_them(qtbot: QtBot, open_window: Open, video: Path) -> None:
    window = open_window()
    window.open_paths([video])
    window.resize(1360, 840)
    canvas = window.context.viewer.canvas
    qtbot.waitUntil(lambda: canvas.placement is not None, timeout=PATIENCE)
    assert any(canvas.isVisible() and "Choose a model" in text for text in window.context.banners.texts)
    for subject in window.context.banners.subjects:
        window.context.banners.remove(subject)
    qtbot.waitUntil(lambda: canvas.width() * canvas.height() > 0.45 * 1360 * 840)
    window.context.actions.left.trigger()
    assert not window.left.isVisible()
    window.columns.setSizes([0, 800, 400])
    window.columns.splitterMoved.emit(800, 2)  # as when the user moves it
    kept = window.right.width()
    window.toggle_fullscreen()
    assert not window.right.isVisible()
    window.toggle_fullscreen()
    assert not window.left.isVisible()
    window.close()
    again = open_window()
    again.resize(1360, 840)
    assert not again.left.isVisible()
    assert again.right.width() == pytest.approx(kept, abs=4)
    again.context.actions.left.trigger()
    assert again.left.isVisible()
    assert again.status.bottleneck.isHidden(), "the devices say what limits the run"
    again.context.actions.right.trigger()
    assert not again.status.bottleneck.isHidden()


def test_after_a_start_in_a_tiny_window_the_picture_has_its_room(qtbot: QtBot, open_window: Open, video: Path) -> None:
    window = open_window()
    window.resize(window.minimumSizeHint())
    window.open_paths([video])
    canvas = window.context.viewer.canvas
    qtbot.waitUntil(lambda: canvas.placement is not None, timeout=PATIENCE)
    qtbot.waitUntil(lambda: window.width() < 1000)
    assert canvas.width() >= canvas.minimumWidth()
    window.close()
    again = open_window()
    again.resize(1360, 840)
    qtbot.waitUntil(lambda: again.width() == 1360)
    assert again.pages.width() > 1360 / 2
    assert again.left.width() < 300
    assert again.right.width() < 450


def test_devices_and_classes_grow_with_the_window_until_the_user_sizes_them(qtbot: QtBot, open_window: Open) -> None:
    window = open_window()
    devices, classes = feature(window, DevicePanel), feature(window, FilterPanel)
    window.resize(1024, 680)
    qtbot.waitUntil(lambda: (window.width(), devices.width()) == (1024, 300))
    low = classes.height()
    assert low < devices.height()
    window.close()
    window = open_window()  # a start with the sizes of an earlier one, which the user has not chosen
    devices, classes = feature(window, DevicePanel), feature(window, FilterPanel)
    window.resize(1920, 1080)
    qtbot.waitUntil(lambda: devices.width() == 440 and low + 100 < classes.height() < devices.height())
    window.right.moveSplitter(window.right.height() - 200, 1)
    window.columns.moveSplitter(window.columns.width() - 380, 2)
    qtbot.waitUntil(lambda: classes.height() < 200 and devices.width() < 381)
    chosen = classes.height()
    window.resize(1920, 1180)
    qtbot.waitUntil(lambda: window.right.height() > 1000)
    assert (classes.height(), devices.width() < 381) == (chosen, True)
    window.close()
    window = open_window()
    window.resize(1920, 1180)
    qtbot.waitUntil(lambda: (feature(window, FilterPanel).height(), window.right.width() < 381) == (chosen, True))


def test_new_settings_ask_about_what_runs(qtbot: QtBot, open_window: Open, long: Path) -> None:
    window = open_window(tiny_files())
    window.open_paths([long])
    qtbot.waitUntil(lambda: bool(window.context.run.begun()), timeout=PATIENCE)
    window.context.settings.open_dialog()
    window.context.settings.dialog.model.weights.set_path("random:2")
    qtbot.waitUntil(lambda: window.context.settings.dialog.model.summary is not None)
    window.context.settings.dialog.accept()
    question = window.findChild(QMessageBox)
    assert question is not None
    assert question.text() == "1 file is being detected with the old settings."
    assert question.informativeText().splitlines()[0].startswith("long.mp4: ")
    next(button for button in question.buttons() if "Start again" in button.text()).click()
    (item,) = window.context.queue
    assert item.state is ItemState.WAITING
    qtbot.waitUntil(lambda: window.context.run.running, timeout=PATIENCE)


def test_closing_in_the_middle_of_the_work_is_quick_and_complete(qtbot: QtBot, open_window: Open, long: Path) -> None:
    before = multiprocessing.active_children()  # of the window that other tests use
    window = open_window(tiny_files())
    window.open_paths([long, long, long])
    qtbot.waitUntil(lambda: window.context.run.running, timeout=PATIENCE)
    window.close()
    assert set(multiprocessing.active_children()) <= set(before)
    assert not any(item.ended for item in window.context.queue)  # closing did not wait for the work
    assert not window.isVisible()


def test_each_command_opens_its_dialog(window: MainWindow) -> None:
    actions = window.context.actions
    for action in (
        actions.settings,
        actions.sessions,
        actions.cluster,
        actions.help,
        actions.about,
        actions.open_files,
        actions.open_folder,
    ):
        action.trigger()
        shown = [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()]
        assert shown, action.text()
        for dialog in shown:
            dialog.close()


def test_files_and_targets_are_asked_for(qtbot: QtBot, open_window: Open, video: Path, tmp_path: Path) -> None:
    window = open_window(tiny_files())
    window.context.actions.open_files.trigger()
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    assert "*.mp4" in dialog.nameFilters()[0]
    dialog.filesSelected.emit([str(video)])
    dialog.reject()
    qtbot.waitUntil(lambda: all_ended(window), timeout=PATIENCE)
    (item,) = window.context.queue
    feature(window, QueuePanel).export_requested.emit(item.key)
    (export,) = window.findChildren(ExportDialog)
    assert export.folder.path == video.parent
    export.forms.choose(["coco"])
    (tmp_path / "a file").touch()
    export.folder.set_path(tmp_path / "a file")
    export.accept()
    qtbot.waitUntil(lambda: any("Cannot" in text and "a file" in text for text in window.context.banners.texts))
    window.context.actions.export.trigger()
    export = next(dialog for dialog in window.findChildren(ExportDialog) if dialog.isVisible())
    assert export.choice.forms == ("coco",)  # as before
    export.folder.set_path(tmp_path / "out")
    export.accept()
    qtbot.waitUntil(lambda: "clip.coco.json (40 frames)" in window.context.activity.text.text())


def test_finished_files_can_be_cleared_away(qtbot: QtBot, window: MainWindow, video: Path, tmp_path: Path) -> None:
    window.open_paths([write_results(tmp_path / "a.sqlite", video, 40).database])
    qtbot.waitUntil(lambda: window.windowTitle() == "clip.mp4 — Framefleet", timeout=PATIENCE)
    feature(window, QueuePanel).remove_requested.emit([item.key for item in window.context.queue if item.ended])
    assert len(window.context.queue) == 0
    assert window.pages.currentWidget() is window.start
    assert window.context.selection.key is None
    qtbot.waitUntil(lambda: window.windowTitle() == "Framefleet", timeout=PATIENCE)


@pytest.mark.slow  # tests/app/window/run/test_controller.py has such devices, tests/app/window/devices the buttons
def test_a_device_joins_and_another_leaves_by_the_panel(qtbot: QtBot, open_window: Open, video: Path) -> None:
    window = open_window(tiny_files())
    window.open_paths([video])
    qtbot.waitUntil(lambda: all_ended(window), timeout=PATIENCE)
    panel, second = feature(window, DevicePanel), DeviceId("cpu", "1")
    qtbot.waitUntil(lambda: panel.run.toolTip().startswith("Strategy: Segments"))  # what limits the run may stand in its place
    assert "cpu:0 is the only device" in panel.run.toolTip()
    panel.join_requested.emit(second)
    qtbot.waitUntil(lambda: [card.phase.text() for card in panel.cards] == ["Ready", "Ready"], timeout=PATIENCE)
    assert "all 2 devices" in panel.run.toolTip()
    panel.join_requested.emit(second)
    assert "That is not possible: cpu:1 takes part already" in window.context.banners.texts
    qtbot.mouseClick(panel.cards[0].change, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.cards[0].phase.text() == "Left", timeout=PATIENCE)
    assert not panel.cards[1].change.isVisible()  # the last one stays
    assert window.status.devices.text().startswith("cpu:1 ·")


def test_new_files_are_shown_where_nothing_else_can_be(qtbot: QtBot, open_window: Open, video: Path, tmp_path: Path) -> None:
    window = open_window(tiny_files())
    (tmp_path / "notes.txt").write_text("no video")
    drop(window, [tmp_path / "notes.txt"])
    qtbot.waitUntil(lambda: all_ended(window), timeout=PATIENCE)
    assert "is a playlist or a text" in str(next(iter(window.context.queue)).reason)
    drop(window, [video])
    qtbot.waitUntil(lambda: window.windowTitle() == "clip.mp4 — Framefleet")
    qtbot.waitUntil(lambda: window.context.viewer.player.info is not None and all_ended(window), timeout=PATIENCE)
    (tmp_path / "more.txt").write_text("no video")
    drop(window, [tmp_path / "more.txt"])  # what is being watched stays
    qtbot.waitUntil(lambda: len(window.context.queue) == 3 and all_ended(window))
    qtbot.waitUntil(lambda: window.windowTitle() == "clip.mp4 — Framefleet")


def test_a_long_name_of_a_model_does_not_widen_the_window(open_window: Open) -> None:
    window = open_window()
    narrowest = window.top.minimumSizeHint().width()
    window.top.set_model(
        summary=ModelSummary(
            "a model with a name " * 10, 320, 320, 2, ("a", "b"), 1000, 4000, 0.1, Notice("model.labels_of_file", path=Path("x"), number=2)
        )
    )
    assert window.top.minimumSizeHint().width() < narrowest + 300
    assert "a model with a name " * 10 in window.top.model.toolTip()


def test_the_buttons_of_file_dialogs_show_their_icons(qtbot: QtBot) -> None:
    dialog = QFileDialog()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    qtbot.addWidget(dialog)
    dialog.show()
    buttons = [button for button in dialog.findChildren(QToolButton) if button.isVisible()]
    assert buttons
    assert all(button.width() >= button.sizeHint().width() for button in buttons)


def test_what_is_selected_in_a_file_dialog_can_be_read(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = QFileDialog(directory=str(tmp_path))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    qtbot.addWidget(dialog)
    dialog.show()
    places = dialog.findChild(QListView, "sidebar")
    places.setCurrentIndex(places.model().index(0, 0))
    row = places.grab(places.visualRect(places.currentIndex())).toImage()
    beside_the_icon = [row.pixelColor(x, y).lightness() for x in range(row.width() // 2, row.width()) for y in range(row.height())]
    assert max(beside_the_icon) > 180


def test_full_screen_leaves_the_window_as_it_was(qtbot: QtBot, open_window: Open) -> None:
    window = open_window()
    window.showMaximized()
    window.toggle_fullscreen()
    assert window.isFullScreen()
    assert not window.left.isVisible()
    window.toggle_fullscreen()
    assert window.isMaximized()
    assert window.left.isVisible()
    window.toggle_fullscreen()
    window.close()
    assert not open_window().isFullScreen()  # the next start is no full screen without a picture


def test_closing_at_a_signal_waits_for_the_code_that_was_interrupted(qtbot: QtBot, open_window: Open) -> None:
    window = open_window()
    close_soon(window)
    assert window.isVisible()  # whatever runs now may hold a lock
    qtbot.waitUntil(lambda: not window.isVisible())


def test_the_rows_of_the_menu_are_equally_high_and_no_icon_stands_for_two_actions(window: MainWindow) -> None:
    menu = window.context.actions.menu
    menu.ensurePolished()
    rows = [action for action in menu.actions() if not action.isSeparator()]
    assert len({menu.actionGeometry(action).height() for action in rows}) == 1
    assert menu.sizeHint().height() <= 640, "one column, also on a small screen"
    pictures = [action.icon().pixmap(16, 16).toImage() for action in rows if not action.icon().isNull()]
    assert len(pictures) > 10
    assert all(one != other for one, other in combinations(pictures, 2))


class Changes(QObject):
    """Counts the changes of style of all widgets."""

    count = 0

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.count += event.type() is QEvent.Type.StyleChange
        return False


def test_widgets_compute_their_style_only_a_few_times_while_the_window_is_built(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    """3.4 times each on average; 11 times if each part is filled before it has its place in the window."""
    changes = Changes()
    qapp.installEventFilter(changes)
    try:
        window = MainWindow(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), tmp_path / "sessions")
    finally:
        qapp.removeEventFilter(changes)
    qtbot.addWidget(window)
    assert 0 < changes.count < 5 * len(window.findChildren(QWidget))
