"""Lines and zones drawn and changed without a mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from framefleet.engine.zones.shapes import Line, Zone, ZoneSet

KEY, SHIFT, CTRL = Qt.Key, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
LEFT, RIGHT, UP, DOWN, ENTER = KEY.Key_Left, KEY.Key_Right, KEY.Key_Up, KEY.Key_Down, KEY.Key_Return
SHAPES = Line("gate", (100, 50), (100, 150)), Zone("yard", ((300, 50), (400, 50), (400, 150), (300, 150)))


@pytest.fixture
def keys(layer, qtbot):
    """Presses keys on the layer: pictures of 640×320 pixels, so that an arrow key moves by 6.4 pixels, and by 64 with Shift."""
    said = []
    layer.keyboard.said.connect(said.append)

    def press(*wanted, modifier=Qt.KeyboardModifier.NoModifier):
        for key in wanted:
            qtbot.keyClick(layer, key, modifier)
        return said[-1] if said else None

    return press


def test_a_line_is_drawn(layer, keys):
    layer.draw(Line)
    assert layer.accessibleDescription().startswith("Press where the line begins and drag to its end, or press an arrow key")
    assert "cross hair" in keys(ENTER)
    keys(LEFT, UP, modifier=SHIFT)
    keys(LEFT)
    keys(LEFT, modifier=CTRL)
    assert keys(ENTER) == "Point 1 is at 249, 96."
    keys(DOWN, modifier=SHIFT)
    assert "'Line 1' is selected" in keys(ENTER)
    assert layer.editor.zones.shapes == (Line("Line 1", (248.6, 96), (248.6, 160)),)


def test_a_line_that_the_mouse_began_is_completed_with_keys(layer, keys, qtbot):
    layer.draw(Line)
    qtbot.mouseClick(layer, Qt.MouseButton.LeftButton, pos=QPoint(100, 50))
    assert "cross hair" in keys(ENTER)
    keys(ENTER)
    assert layer.editor.zones.shapes == (Line("Line 1", (100, 50), (320, 160)),)


def test_a_zone_is_drawn_and_completed_on_its_last_point(layer, keys):
    layer.draw(Zone)
    keys(ENTER, ENTER)
    keys(RIGHT, modifier=SHIFT)
    keys(ENTER, DOWN, ENTER, ENTER)
    assert layer.editor.zones.shapes == (Zone("Zone 1", ((320, 160), (384, 160), (384, 166.4))),)


def test_a_point_is_taken_back_and_drawing_is_cancelled(layer, keys):
    layer.draw(Zone)
    keys(ENTER, ENTER, RIGHT, ENTER)
    assert keys(KEY.Key_Backspace) == "The last point is removed."
    assert layer.editor.draft == [(320, 160)]
    keys(KEY.Key_Z, modifier=CTRL)
    assert layer.editor.draft == []
    keys(KEY.Key_Escape)
    assert (layer.editor.drawing, layer.keyboard.at, layer.accessibleDescription()) == (None, None, "")


def test_the_cross_hair_stays_in_the_picture_and_is_seen(layer, keys):
    layer.draw(Line)
    keys(*[RIGHT] * 9, modifier=SHIFT)
    assert layer.keyboard.at == (640, 160)
    keys(LEFT, modifier=SHIFT)
    assert layer.canvas.grab().toImage().pixelColor(576, 160).lightness() > 200


def test_a_line_is_moved_as_a_whole_and_by_its_end(layer, keys):
    layer.editor.load(ZoneSet((640, 320), SHAPES))
    layer.editor.select(0)
    keys(RIGHT, RIGHT, modifier=CTRL)
    assert layer.editor.zones.shapes[0].points == ((102, 50), (102, 150))
    assert keys(ENTER, ENTER).startswith("Point 2 of 'gate' is at 102, 150")
    keys(DOWN, modifier=CTRL)
    assert layer.editor.zones.shapes[0].points == ((102, 50), (102, 151))
    layer.editor.undo.undo()  # all small steps at once
    assert layer.editor.zones.shapes[0].points == ((100, 50), (100, 150))


def test_a_shape_does_not_lose_its_form_at_the_edge(layer, keys):
    layer.editor.load(ZoneSet((640, 320), SHAPES))
    layer.editor.select(1)
    keys(*[UP] * 20)
    assert layer.editor.zones.shapes[1].points[0][1] == pytest.approx(5.2)
    assert layer.editor.zones.shapes[1].points[3][1] == pytest.approx(105.2)


def test_a_zone_gets_and_loses_a_corner(layer, keys):
    layer.editor.load(ZoneSet((640, 320), SHAPES))
    layer.editor.select(1)
    keys(ENTER, KEY.Key_Insert)
    assert layer.editor.zones.shapes[1].points[1] == (350, 50)
    keys(UP, modifier=CTRL)
    keys(KEY.Key_Backspace)
    assert layer.editor.zones.shapes[1] == SHAPES[1]


def test_arrow_keys_belong_to_the_player_unless_something_is_drawn_or_selected(layer, keys):
    def taken(key):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
        event.ignore()
        QApplication.sendEvent(layer, event)
        return event.isAccepted()

    layer.editor.load(ZoneSet((640, 320), SHAPES))
    assert not taken(LEFT)
    layer.editor.select(0)
    assert taken(LEFT)
    layer.draw(Line)
    assert [taken(key) for key in (LEFT, ENTER, KEY.Key_Backspace)] == [True, True, False]


def test_the_mouse_takes_over_from_the_cross_hair(layer, keys, qtbot):
    layer.draw(Line)
    keys(RIGHT)
    assert layer.keyboard.at is not None
    qtbot.mouseMove(layer, layer.rect().center())
    assert layer.keyboard.at is None
    assert layer.accessibleDescription().startswith("Press where the line begins")


def test_the_hint_follows_the_mouse_and_ends_with_the_drawing(layer, keys, qtbot):
    said = []
    layer.keyboard.said.connect(said.append)
    layer.draw(Line)
    for place in (QPoint(100, 100), QPoint(200, 100)):
        qtbot.mouseClick(layer, Qt.MouseButton.LeftButton, pos=place)
    hints = [text.split(",")[0].split(".")[0] for text in said if text]
    assert hints == ["Press where the line begins and drag to its end", "Drag or click to where the line ends"]
    assert (said[-1], layer.accessibleDescription(), len(layer.editor.zones.shapes)) == ("", "", 1)
