from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QDropEvent, QFontMetrics, QImage
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.queue.heading import Found
from framefleet.app.window.queue.item import ItemState, Results
from framefleet.app.window.queue.model import (
    FOUND_ROLE,
    ITEM_ROLE,
    MAX_THUMBNAILS,
    THUMBNAIL,
    THUMBNAIL_ROLE,
    QueueModel,
    classes_line,
    shortened,
    thumbnail,
)
from framefleet.app.window.queue.panel import CTRL_SHIFT, QueuePanel
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.appearance import Theme, apply_theme
from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.notices import Notice, tables
from tests.support.notices import words
from tests.support.store import video_info
from tests.support.window import changed, queue_item


def panel_with(qtbot: QtBot, count: int) -> tuple[QueueModel, QueuePanel]:
    model = QueueModel()
    panel = QueuePanel(model)
    qtbot.addWidget(panel)
    for key in range(1, count + 1):
        model.extend([queue_item(Path(f"/videos/clip {key}.mp4"), info=video_info("x", 100), key=key)])
    panel.resize(300, 400)
    panel.show()
    return model, panel


def change(model: QueueModel, key: int, **changes: Any) -> None:
    item = model.get(key)
    assert item is not None
    model.update(changed(item, **changes))


def titles(menu: QMenu) -> dict[str, bool]:
    return {action.text(): action.isEnabled() for action in menu.actions() if not action.isSeparator()}


def test_names_of_a_camera_stay_apart_where_there_is_little_room(qapp: QApplication) -> None:
    metrics = QFontMetrics(theme.font())
    width = metrics.horizontalAdvance("north_20261101_0")
    shown = [shortened(metrics, f"north_20261101_0{hour}0000.mp4", width) for hour in range(7, 10)]
    assert len(set(shown)) == 3
    assert all(name.startswith("nort") and name.endswith("0000.mp4") and metrics.horizontalAdvance(name) <= width for name in shown)
    assert shortened(metrics, "north.mp4", width) == "north.mp4"
    assert shortened(metrics, "north_2026_11.mp4", metrics.horizontalAdvance("north_2026_11.m")).endswith("_11.mp4")


def test_the_heading_sums_up_and_screen_readers_get_text(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 3)
    change(model, 1, state=ItemState.DONE, frames=100)
    qtbot.waitUntil(lambda: panel.heading.summary.accessibleName() == "1 of 3 done")
    change(model, 2, state=ItemState.RUNNING, frames=50, rate=10.0)
    spoken = model.data(model.index(1), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "clip 2.mp4, running, 50 % · 10.0 frames/s · 5 s left"
    for key in (2, 3):
        change(model, key, state=ItemState.DONE)
    qtbot.waitUntil(lambda: panel.heading.summary.accessibleName() == "3 done")
    change(model, 3, state=ItemState.FAILED)
    qtbot.waitUntil(lambda: panel.heading.summary.accessibleName() == "2 done, 1 failed")
    change(model, 2, state=ItemState.CANCELLED)
    qtbot.waitUntil(lambda: panel.heading.summary.accessibleName() == "1 done, 1 cancelled, 1 failed")
    change(model, 1, state=ItemState.CANCELLED)
    qtbot.waitUntil(lambda: panel.heading.summary.accessibleName() == "2 cancelled, 1 failed")


def test_a_link_of_the_heading_shows_files_of_one_kind(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 4)
    results = Results(Path("s.sqlite"), 0, ("person", "car"))
    model.found = lambda item: {} if item.key == 1 else {0: 12, 1: 3}
    for key, state in enumerate((ItemState.DONE, ItemState.DONE, ItemState.FAILED, ItemState.CANCELLED), 1):
        change(model, key, state=state, results=results)

    def shown() -> list[int]:
        return [row + 1 for row in range(4) if not panel.view.isRowHidden(row)]

    heading = panel.heading
    qtbot.waitUntil(lambda: heading.summary.accessibleName() == "2 done, 1 cancelled, 1 with objects, 1 empty, 1 failed")
    for link, keys in ((Found.OBJECTS, [2]), (Found.EMPTY, [1]), (Found.FAILED, [3]), ("", [1, 2, 3, 4])):
        assert f'href="{link}"' in heading.summary.text()
        heading.summary.linkActivated.emit(link)
        assert shown() == keys
    assert theme.DANGER in heading.summary.text()
    dark = theme.DANGER
    apply_theme(QApplication.instance(), Theme.LIGHT)
    assert dark != theme.DANGER
    assert theme.DANGER in heading.summary.text(), "links have the colours of the theme"
    apply_theme(QApplication.instance(), Theme.DARK)
    heading.summary.linkActivated.emit(Found.FAILED)
    change(model, 3, state=ItemState.RUNNING)
    qtbot.waitUntil(lambda: shown() == [1, 2, 3, 4])
    assert heading.kind is None, "nothing is left that it could show"


def test_as_many_classes_as_fit_are_named(qapp: QApplication) -> None:
    metrics = QFontMetrics(theme.font(-1))
    found = (("tvmonitor", 28), ("person", 5), ("car", 2))

    def line(like: str) -> str:
        return classes_line(metrics, found, metrics.horizontalAdvance(like))

    assert line("tvmonitor 28 · person 5 · car 2") == "tvmonitor 28 · person 5 · car 2"
    assert line("tvmonitor, person, car") == "tvmonitor, person, car"
    assert line("tvmonitor, person +1") == "tvmonitor, person +1"
    assert line("tvmonitor +2") == "tvmonitor +2"
    assert line("t") == "tvmonitor 28", "the row elides it"
    many = tuple((name, 1) for name in "abcdefghijklmn")
    assert classes_line(metrics, many, metrics.horizontalAdvance("a, b +12")) == "a, b +12"


def test_classes_that_are_not_named_are_counted(qtbot: QtBot) -> None:
    model, _ = panel_with(qtbot, 1)
    model.found = lambda _item: dict.fromkeys(range(9), 2)
    change(model, 1, state=ItemState.DONE, results=Results(Path("s.sqlite"), 0, tuple("abcdefghi")))
    index = model.index(0)
    assert index.data(FOUND_ROLE) == tuple((name, 2) for name in "abcdefghi")
    for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
        assert "a 2 · b 2 · c 2 · d 2 · e 2 · +4" in index.data(role)


def test_clicking_a_file_or_an_arrow_key_shows_it(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 3)
    where = panel.view.visualRect(model.index(1)).center()
    with qtbot.waitSignal(panel.chosen) as chosen:
        qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert chosen.args == [2]
    with qtbot.waitSignals([panel.chosen, panel.view.picked]):
        qtbot.keyClick(panel.view, Qt.Key.Key_Down)
    assert [item.key for item in panel.selected] == [3]


def test_several_files_are_selected_and_cancelled_or_removed_at_once(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 4)
    panel.refresh()
    panel.show_item(2)
    last = panel.view.visualRect(model.index(3)).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, last)
    assert [item.key for item in panel.selected] == [2, 3, 4]
    change(model, 4, state=ItemState.DONE)
    menu = panel.menu_for(panel.selected[0])
    for title, signal, keys in (
        ("Cancel", panel.cancel_requested, [2, 3]),
        ("Detect again", panel.retry_requested, [4]),
        ("Remove from queue", panel.remove_requested, [2, 3, 4]),
        ("Remove all finished", panel.remove_requested, [4]),
    ):
        with qtbot.waitSignal(signal) as asked:
            next(action for action in menu.actions() if action.text() == title).trigger()
        assert asked.args == [keys]
    with qtbot.waitSignal(panel.cancel_requested) as asked:
        qtbot.mouseClick(panel.heading.stop, Qt.MouseButton.LeftButton)
    assert asked.args == [[1, 2, 3]]
    for key in (1, 2, 3):
        change(model, key, state=ItemState.CANCELLED)
    qtbot.waitUntil(panel.heading.stop.isHidden)


def test_a_file_is_selected_whatever_keys_are_held(qtbot: QtBot) -> None:
    _model, panel = panel_with(qtbot, 2)
    panel.show_item(1)
    qtbot.keyClick(panel.view, Qt.Key.Key_Control, Qt.KeyboardModifier.ControlModifier)  # Qt keeps the modifiers until the next event
    for key in (2, 1, 1):
        panel.show_item(key)
        assert [item.key for item in panel.selected] == [key]


def test_what_can_be_done_depends_on_the_state(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 1)
    waiting = titles(panel.menu_for(next(iter(model))))
    assert waiting["Cancel"]
    assert not waiting["Export…"]
    info = video_info("a.mp4", 100)
    change(model, 1, state=ItemState.DONE, frames=100, info=info, results=Results(Path("s.sqlite"), 0))
    done = titles(panel.menu_for(next(iter(model))))
    assert "Cancel" not in done
    assert done["Detect again"]
    assert done["Export…"]
    menu = panel.menu_for(next(iter(model)))
    with qtbot.waitSignal(panel.export_requested) as asked:
        next(action for action in menu.actions() if "Export" in action.text()).trigger()
    assert asked.args == [1]


def test_the_player_s_keys_go_on_to_the_window(qtbot: QtBot) -> None:
    class Window(QueuePanel):
        pressed: list[int] = []  # noqa: RUF012

        def keyPressEvent(self, event: object) -> None:  # noqa: N802
            self.pressed.append(event.key())  # type: ignore[attr-defined]

    window = Window(QueueModel())
    qtbot.addWidget(window)
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Right):
        qtbot.keyClick(window.view, key)
    assert window.pressed == [Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Right]


def test_the_progress_bar_is_as_long_as_the_progress(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 1)
    change(model, 1, state=ItemState.RUNNING, frames=50, rate=10.0)
    picture = panel.view.viewport().grab().toImage()
    accent = [sum(QColor(picture.pixel(x, y)).name() == "#6aa5ff" for x in range(picture.width())) for y in range(picture.height())]
    whole = panel.view.visualRect(model.index(0)).width() - 12 - 72 - 11 - 14
    assert max(accent) == round(whole / 2) or abs(max(accent) - whole / 2) <= 3


def test_only_the_thumbnails_that_were_drawn_last_are_kept(qtbot: QtBot) -> None:
    model = QueueModel()
    model.extend([queue_item(Path(f"{key}.mp4"), key=key) for key in range(MAX_THUMBNAILS + 10)])
    wanted: list[int] = []
    model.thumbnail_wanted.connect(wanted.append)
    picture = thumbnail(QImage(64, 36, QImage.Format.Format_RGB32), 1.0)
    for row in range(MAX_THUMBNAILS + 10):
        model.index(row).data(THUMBNAIL_ROLE)
        model.set_thumbnail(row, picture)
    assert wanted == list(range(MAX_THUMBNAILS + 10))
    assert model.index(MAX_THUMBNAILS).data(THUMBNAIL_ROLE) is not None
    assert model.index(0).data(THUMBNAIL_ROLE) is None
    assert wanted[-1] == 0, "it is fetched again when it is drawn again"


def test_a_thumbnail_is_asked_for_once_when_first_drawn(qtbot: QtBot) -> None:
    model = QueueModel()
    wanted: list[int] = []
    model.thumbnail_wanted.connect(wanted.append)
    model.extend([queue_item(Path("a.mp4"), key=7)])
    assert wanted == []
    for _ in range(3):
        assert model.data(model.index(0), THUMBNAIL_ROLE) is None
    assert wanted == [7]
    image = QImage(200, 84, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    model.set_thumbnail(7, thumbnail(image, 2.0))
    drawn = model.data(model.index(0), THUMBNAIL_ROLE)
    assert drawn.size() == THUMBNAIL * 2
    assert drawn.toImage().pixelColor(0, 0).alpha() == 0  # a round corner
    assert drawn.toImage().pixelColor(70, 40) == QColor("red")
    model.remove(7)
    assert len(model) == 0
    assert model.data(model.index(0), ITEM_ROLE) is None


def test_rows_are_found_after_others_are_gone(qtbot: QtBot) -> None:
    model = QueueModel()
    model.extend([queue_item(Path(f"{key}.mp4"), key=key) for key in range(1, 5)])
    model.remove(2)
    model.extend([queue_item(Path("9.mp4"), key=9)])
    assert [model.row_of(key) for key in (1, 2, 3, 4, 9)] == [0, -1, 1, 2, 3]
    change(model, 4, state=ItemState.DONE)
    assert [item.state is ItemState.DONE for item in model] == [False, False, True, False]
    assert model.get(2) is None


def test_new_files_are_scrolled_to(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 30)
    panel.refresh()
    model.extend([queue_item(Path("/videos/new.mp4"), key=31), queue_item(Path("/videos/newer.mp4"), key=32)])
    panel.reveal_item(31)
    shown = panel.view.viewport().rect()
    assert shown.contains(panel.view.visualRect(model.index(30)))
    assert shown.contains(panel.view.visualRect(model.index(31)))
    assert panel.current is None


@pytest.fixture
def _of_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tables.TEXTS, "general.of_path", "{path} is empty: nothing was written to it")


@pytest.mark.usefixtures("_of_path")
def test_a_tooltip_says_the_path_once_and_the_whole_reason(qtbot: QtBot) -> None:
    model, _panel = panel_with(qtbot, 1)
    change(model, 1, state=ItemState.FAILED, reason=Notice("general.of_path", path=Path("/videos/clip 1.mp4")))
    tip = model.data(model.index(0), Qt.ItemDataRole.ToolTipRole)
    assert tip == "/videos/clip 1.mp4\nIs empty: nothing was written to it"
    change(
        model,
        1,
        state=ItemState.DONE,
        reason=None,
        frames=100,
        failed=2,
        seconds=1.0,
        decoder=DecoderUse(cpu=100, reason=words("no driver")),
    )
    tip = model.data(model.index(0), Qt.ItemDataRole.ToolTipRole)
    assert tip == "\n".join(
        (
            "/videos/clip 1.mp4",
            "2 of 100 frames failed · 100 frames/s",
            "2 frames without detections",
            "Frames decoded by the CPU: no driver",
        )
    )


def test_the_focus_can_be_seen(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 2)
    panel.refresh()
    panel.show_item(1)

    def edge() -> QColor:
        row = panel.view.visualRect(model.index(0))
        return panel.view.viewport().grab().toImage().pixelColor(row.center().x(), row.top() + 1)

    panel.view.clearFocus()
    without = edge()
    panel.activateWindow()
    panel.view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(panel.view.hasFocus)
    assert edge().blue() > without.blue() + 60


def names(model: QueueModel) -> list[str]:
    return [item.path.stem for item in model]


def test_files_are_moved_with_keys_and_with_the_mouse(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 3)
    panel.show_item(3)
    for expected in (["clip 1", "clip 3", "clip 2"], ["clip 3", "clip 1", "clip 2"], ["clip 3", "clip 1", "clip 2"]):
        qtbot.keyClick(panel.view, Qt.Key.Key_Up, CTRL_SHIFT)
        assert names(model) == expected
    qtbot.keyClick(panel.view, Qt.Key.Key_Down, CTRL_SHIFT)
    assert names(model) == ["clip 1", "clip 3", "clip 2"]
    assert panel.current is not None
    assert panel.current.key == 3
    assert [model.row_of(key) for key in (1, 2, 3)] == [0, 2, 1]
    last = panel.view.visualRect(model.index(2)).bottomLeft() + QPoint(20, -4)
    data = model.mimeData([model.index(1)])
    assert model.supportedDragActions() == Qt.DropAction.MoveAction  # without it, the view starts no move
    dropped = QDropEvent(QPointF(last), Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    panel.view.dropEvent(dropped)  # Qt delivers it only during a real drag
    assert names(model) == ["clip 1", "clip 2", "clip 3"]


@pytest.mark.usefixtures("_of_path")
def test_the_file_whose_failure_is_explained_stays_visible(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 30)
    last = panel.view.indexAt(panel.view.viewport().rect().bottomLeft())
    key = last.data(ITEM_ROLE).key
    panel.show_item(key)
    change(model, key, state=ItemState.FAILED, reason=Notice("general.of_path", path=Path("/videos/a.mp4")))
    height = panel.view.viewport().height()
    qtbot.waitUntil(lambda: panel.view.viewport().height() < height)
    assert panel.view.viewport().rect().contains(panel.view.visualRect(last))
    panel.view.verticalScrollBar().setValue(0)
    panel.resize(300, 380)
    qtbot.waitUntil(lambda: panel.height() == 380)
    assert panel.view.verticalScrollBar().value() == 0, "a file that the user has scrolled away stays there"


@pytest.mark.usefixtures("_of_path")
def test_a_failure_is_explained_in_full_with_what_to_do(qtbot: QtBot) -> None:
    model, panel = panel_with(qtbot, 2)
    reason = Notice("general.of_path", path=Path("/videos/clip 2.mp4"))
    change(model, 2, state=ItemState.FAILED, reason=reason)
    panel.show_item(2)
    assert panel.problem.isVisible()
    assert panel.problem.text.text() == "Is empty: nothing was written to it"
    buttons = {button.text(): button for button in panel.problem.findChildren(QPushButton)}
    for title, signal in (("Retry", panel.retry_requested), ("Show in folder", panel.reveal_requested), ("Remove", panel.remove_requested)):
        with qtbot.waitSignal(signal) as asked:
            qtbot.mouseClick(buttons[title], Qt.MouseButton.LeftButton)
        assert asked.args == ([2] if signal is panel.reveal_requested else [[2]])
    panel.show_item(1)
    assert not panel.problem.isVisible()
    change(model, 1, state=ItemState.DONE, frames=20, failed=15)
    qtbot.waitUntil(panel.problem.isVisible)
    assert panel.problem.text.text().startswith("15 frames have no detections")
