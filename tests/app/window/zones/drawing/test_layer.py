"""Lines and zones over the picture: what is drawn, and what the mouse does."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, Qt

from framefleet.app.window.zones.counts.counting import Tracks
from framefleet.app.window.zones.drawing.layer import count_text, heat_image
from framefleet.engine.media.annotation.layout import class_colour
from framefleet.engine.store.zones import TrackTable
from framefleet.engine.tracking.appearances import APPEARANCE
from framefleet.engine.zones.counts import CROSSINGS, VISITS, Counts
from framefleet.engine.zones.geometry import HeatMap
from framefleet.engine.zones.shapes import Line, Zone, ZoneSet

SIZE = (640, 320)


def colour_at(layer, x, y):
    colour = layer.canvas.grab().toImage().pixelColor(x, y)
    return colour.red(), colour.green(), colour.blue()


def click(qtbot, layer, x, y, button=Qt.MouseButton.LeftButton):
    qtbot.mouseClick(layer, button, pos=QPoint(x, y))


def test_the_mouse_draws_a_line_and_a_zone(layer, qtbot):
    layer.editor.begin(Line)
    click(qtbot, layer, 100, 50)
    click(qtbot, layer, 200, 60)
    layer.editor.begin(Zone)
    for point in ((300, 50), (400, 50), (400, 150)):
        click(qtbot, layer, *point)
    click(qtbot, layer, 302, 51)  # the first corner closes it
    assert layer.editor.zones.shapes == (
        Line("Line 1", (100, 50), (200, 60)),
        Zone("Zone 1", ((300, 50), (400, 50), (400, 150))),
    )


def test_a_line_is_seen_and_its_corner_can_be_moved(layer, qtbot):
    layer.editor.load(ZoneSet(SIZE, (Line("gate", (100, 50), (100, 250)),)))
    assert colour_at(layer, 100, 230) == (245, 215, 110)
    qtbot.mousePress(layer, Qt.MouseButton.LeftButton, pos=QPoint(101, 249))
    qtbot.mouseMove(layer, QPoint(200, 249))
    qtbot.mouseRelease(layer, Qt.MouseButton.LeftButton, pos=QPoint(200, 249))
    assert layer.editor.zones.shapes[0].points == ((100, 50), (200, 249))


def test_a_zone_is_moved_as_a_whole_and_gets_and_loses_corners(layer, qtbot):
    layer.editor.load(ZoneSet(SIZE, (Zone("yard", ((100, 50), (200, 50), (200, 150), (100, 150))),)))
    qtbot.mousePress(layer, Qt.MouseButton.LeftButton, pos=QPoint(150, 50))
    qtbot.mouseMove(layer, QPoint(160, 70))
    qtbot.mouseRelease(layer, Qt.MouseButton.LeftButton, pos=QPoint(160, 70))
    assert layer.editor.zones.shapes[0].points == ((110, 70), (210, 70), (210, 170), (110, 170))
    qtbot.mouseDClick(layer, Qt.MouseButton.LeftButton, pos=QPoint(160, 70))
    assert layer.editor.zones.shapes[0].points[1] == (160, 70)
    click(qtbot, layer, 210, 170, Qt.MouseButton.RightButton)
    assert len(layer.editor.zones.shapes[0].points) == 4


def test_keys(layer, qtbot):
    layer.editor.begin(Zone)
    for point in ((300, 50), (400, 50), (400, 150), (10, 10)):
        click(qtbot, layer, *point)
    qtbot.keyClick(layer, Qt.Key.Key_Backspace)
    qtbot.keyClick(layer, Qt.Key.Key_Return)
    assert len(layer.editor.zones.shapes) == 1
    layer.editor.begin(Line)
    click(qtbot, layer, 20, 20)
    qtbot.keyClick(layer, Qt.Key.Key_Escape)
    assert (layer.editor.drawing, layer.editor.draft) == (None, [])


def test_without_editing_the_mouse_reaches_the_picture(layer, qtbot):
    layer.set_editing(False)
    assert layer.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)


def test_trails_follow_the_object_and_can_be_turned_off(layer):
    frames = np.arange(11)
    boxes = np.stack((100.0 + 20 * frames, np.full(11, 200.0), 120.0 + 20 * frames, np.full(11, 240.0)), 1)
    sizes = np.tile(np.array(SIZE, float), (11, 1))
    table = TrackTable(frames, frames / 10, np.ones(11, int), np.full(11, 2), np.full(11, 0.9), boxes, sizes)
    layer.set_tracks(Tracks(("a", "b", "c"), table, HeatMap(SIZE), np.zeros(0, APPEARANCE), 1.0))
    layer.set_time(1.0)
    assert colour_at(layer, 200, 240) == class_colour(2)
    layer.show_trails = False
    assert colour_at(layer, 200, 240) == (90, 90, 90)


def test_trails_go_on_where_the_size_of_the_pictures_changes(layer):
    """The first half of the path comes from pictures of half the size."""
    frames = np.arange(11)
    boxes = np.stack((100.0 + 20 * frames, np.full(11, 200.0), 120.0 + 20 * frames, np.full(11, 240.0)), 1)
    sizes = np.tile(np.array(SIZE, float), (11, 1))
    boxes[:6] /= 2
    sizes[:6] /= 2
    table = TrackTable(frames, frames / 10, np.ones(11, int), np.full(11, 2), np.full(11, 0.9), boxes, sizes)
    layer.set_tracks(Tracks(("a", "b", "c"), table, HeatMap(SIZE), np.zeros(0, APPEARANCE), 1.0))
    layer.set_time(1.0)
    assert [colour_at(layer, x, 240) for x in (140, 200, 280)] == [class_colour(2)] * 3


def test_trails_lie_below_labels(layer):
    (x, y, label), *_ = layer.canvas.overlay.labels
    height = label.height() / label.devicePixelRatio()
    middle = np.array([x + 8.0, y + height / 2])
    frames = np.arange(21)
    feet = middle + (frames[:, None] - 10) * (0.0, 2.0)  # down through the label
    boxes = np.hstack((feet - np.array((10, 40)), feet + np.array((10, 0))))
    sizes = np.tile(np.array(SIZE, float), (21, 1))
    table = TrackTable(frames, frames / 20, np.ones(21, int), np.full(21, 2), np.full(21, 0.9), boxes, sizes)
    before = layer.canvas.grab().toImage()
    layer.set_tracks(Tracks(("a", "b", "c"), table, HeatMap(SIZE), np.zeros(0, APPEARANCE), 1.0))
    layer.set_time(1.0)
    after = layer.canvas.grab().toImage()
    assert before != after
    part = x, y, round(label.width() / label.devicePixelRatio()), round(height)
    assert before.copy(*part) == after.copy(*part)


def test_the_text_of_a_line_is_short_and_leaves_its_arrow_visible(layer):
    counts = Counts(ZoneSet(SIZE, (Line("gate", (500, 100), (620, 100)),)), np.zeros(3, CROSSINGS), np.zeros(0, VISITS))
    counts.crossings["forward"] = True, True, False
    assert count_text(counts.zones.shapes[0], 0, counts, 9.0) == "gate   ↓2 ↑1"
    layer.editor.load(counts.zones)
    layer.set_counts(counts)
    layer.canvas.grab()
    ((x, y, width, height),) = layer.canvas.reserved
    assert x + width <= 500
    assert y <= 100 <= y + height
    assert colour_at(layer, 560, 118) == (245, 215, 110)


def test_texts_of_lines_stay_in_the_picture_beside_black_bars(layer):
    layer.canvas.resize(640, 420)
    layer.editor.load(ZoneSet(SIZE, (Line("gate", (0, 0), (0, 318)), Line("A long name of a line" * 9, (10, 2), (630, 2)))))
    layer.canvas.grab()
    assert len(layer.canvas.reserved) == 2
    for x, y, width, height in layer.canvas.reserved:
        assert 0 <= x <= 640 - width
        assert 50 <= y <= 370 - height


def test_the_heat_map_is_strongest_where_objects_were():
    heat = HeatMap((960, 480))
    heat.add(np.array([[100, 100, 120, 200]] * 50 + [[700, 100, 720, 200]], float))
    shares = heat.shares()
    assert shares.shape == (48, 96)
    assert np.unravel_index(shares.argmax(), shares.shape) == (20, 11)
    image = heat_image(shares)
    assert image.pixelColor(11, 20).alpha() > image.pixelColor(71, 20).alpha() > image.pixelColor(40, 40).alpha() == 0


def test_a_line_is_dragged(layer, qtbot):
    """A press sets its start, the release its end; a click leaves the end to another click."""
    layer.editor.begin(Line)
    qtbot.mousePress(layer, Qt.MouseButton.LeftButton, pos=QPoint(50, 60))
    qtbot.mouseMove(layer, QPoint(150, 90))
    qtbot.mouseRelease(layer, Qt.MouseButton.LeftButton, pos=QPoint(150, 90))
    assert [shape.points for shape in layer.editor.zones.shapes] == [((50, 60), (150, 90))]
    layer.editor.begin(Line)
    click(qtbot, layer, 20, 20)
    assert layer.editor.draft == [(20, 20)]
    click(qtbot, layer, 20, 120)
    assert layer.editor.zones.shapes[1].points == ((20, 20), (20, 120))
