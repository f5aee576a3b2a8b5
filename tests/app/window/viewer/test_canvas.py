from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPixmap, QRegion, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.player.preview_client import PreviewClient
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.run.background import Background
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.viewer import Viewer
from framefleet.app.window.widgets import theme
from framefleet.engine.media.annotation.layout import class_colour
from framefleet.engine.types import Detections, FrameRef, FrameResult, InferenceFailure
from tests.support.notices import words
from tests.support.window import CPU, queue_item, window_actions

NO_BUTTON, NO_KEY, NO_PHASE = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase


def grey(width: int, height: int) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(90, 90, 90))
    return image


def result(*found: tuple[tuple[float, float, float, float], float, int]) -> FrameResult:
    boxes = np.array([box for box, _, _ in found], np.float32).reshape(-1, 4)
    scores, classes = np.array([s for _, s, _ in found], np.float32), np.array([c for _, _, c in found], np.int32)
    return FrameResult(FrameRef(0, 0, 0.0), CPU, 640, 320, Detections(boxes, scores, classes))


def make_canvas(qtbot: QtBot, width: int = 640, height: int = 640) -> VideoCanvas:
    canvas = VideoCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(width, height)
    canvas.set_labels(("person", "bicycle", "car"))
    canvas.set_filter(ViewFilter(0.25))
    canvas.show()
    return canvas


def colour_at(canvas: VideoCanvas, x: float, y: float) -> tuple[int, int, int]:
    colour = canvas.grab().toImage().pixelColor(round(x), round(y))
    return colour.red(), colour.green(), colour.blue()


def test_nothing_of_an_earlier_picture_stays_at_the_edges(qtbot: QtBot) -> None:
    """Where a picture begins and ends inside a pixel, outlines of its boxes reach over its edge."""
    canvas = make_canvas(qtbot, 767, 631)  # the picture of 16:9 is 431.4 pixels high
    canvas.show_picture(grey(767, 431), (768, 432), result(((0, 0, 768, 432), 0.9, 0)))
    assert canvas.placement is not None
    place = canvas.placement
    painted = QRectF(place.x, place.y, place.width, place.height).toAlignedRect()
    canvas.show_picture(grey(767, 431), (768, 432), result())
    kept = QPixmap(canvas.size())
    kept.fill(QColor(255, 0, 0))  # what the window had before
    canvas.render(kept, painted.topLeft(), QRegion(painted), QWidget.RenderFlag(0))
    colours = kept.toImage()
    edges = [*((x, y) for x in range(painted.left(), painted.right() + 1) for y in (painted.top(), painted.bottom()))]
    assert not [place for place in edges if colours.pixelColor(*place) == QColor(255, 0, 0)]


def test_boxes_are_drawn_on_the_letterboxed_picture_where_they_belong(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)  # a picture of 640×320 stands in the middle: rows 160 to 480
    canvas.show_picture(grey(320, 160), (640, 320), result(((200, 100, 400, 300), 0.9, 0)))
    assert colour_at(canvas, 5, 100) == (14, 16, 20)  # the bar above
    assert colour_at(canvas, 300, 200) == (90, 90, 90)
    assert colour_at(canvas, 201, 360) == class_colour(0)  # left edge
    assert colour_at(canvas, 399, 360) == class_colour(0)  # right edge
    assert colour_at(canvas, 300, 459) == class_colour(0)  # bottom edge: 160 + 300
    assert colour_at(canvas, 210, 250) == class_colour(0)  # the label, on the top edge at 260
    assert colour_at(canvas, 300, 360) == (90, 90, 90)  # nothing inside


def test_the_same_on_a_sharper_screen(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot, 320, 320)
    canvas.show_picture(grey(640, 320), (640, 320), result(((200, 100, 400, 300), 0.9, 0)))
    sharp = QPixmap(640, 640)
    sharp.setDevicePixelRatio(2)
    canvas.render(sharp)
    colour = sharp.toImage().pixelColor(202, 360)
    assert (colour.red(), colour.green(), colour.blue()) == class_colour(0)


def test_classes_of_one_colour_have_lines_with_different_gaps(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    gaps = []
    for class_id in (0, 80, 160, 240):
        canvas.show_picture(grey(640, 320), (640, 320), result(((200, 100, 400, 300), 0.9, class_id)))
        image = canvas.grab().toImage()
        row = [image.pixelColor(x, 459) == QColor(*class_colour(0)) for x in range(200, 400)]  # the lower side
        assert row[0]
        assert row[-1]
        gaps.append(sum(before and not after for before, after in pairwise(row)))
    assert gaps == [0, 1, 2, 3]


def test_filters_act_on_the_picture_that_is_on(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    canvas.show_picture(
        grey(640, 320), (640, 320), result(((0, 0, 50, 50), 0.9, 0), ((100, 100, 150, 150), 0.4, 1), ((5, 5, 9, 9), 0.1, 2))
    )
    assert canvas.visible_detections.class_ids.tolist() == [0, 1]
    canvas.set_filter(ViewFilter(0.05))
    assert canvas.visible_detections.class_ids.tolist() == [0, 1, 2]
    canvas.set_filter(ViewFilter(0.05, frozenset({1, 2})))
    assert canvas.visible_detections.class_ids.tolist() == [1, 2]
    assert canvas.accessibleDescription() == "2 objects"
    canvas.set_filter(ViewFilter(0.95))
    assert colour_at(canvas, 1, 180) == (90, 90, 90)


@pytest.mark.parametrize("size", [(240, 160), (1900, 300), (300, 900)])
def test_labels_stay_on_the_picture_at_any_size(qtbot: QtBot, size: tuple[int, int]) -> None:
    canvas = make_canvas(qtbot, *size)
    corners = ((0, 0, 30, 30), (600, 0, 640, 30), (0, 290, 30, 320), (610, 290, 640, 320))
    canvas.show_picture(grey(640, 320), (640, 320), result(*((box, 0.9, 0) for box in corners)))
    placement = canvas.placement
    assert placement is not None
    image = canvas.grab().toImage()
    outside = [
        image.pixelColor(x, y).name()
        for x in range(0, size[0], 3)
        for y in range(0, size[1], 3)
        if not (placement.x - 2 <= x <= placement.x + placement.width + 2 and placement.y - 2 <= y <= placement.y + placement.height + 2)
    ]
    assert set(outside) <= {theme.STAGE}


def test_pictures_without_result_and_failed_frames_say_so(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    picture = grey(640, 320)
    canvas.show_picture(picture, (640, 320), result())
    plain = canvas.grab().toImage()
    canvas.show_picture(picture, (640, 320), None)
    pending = canvas.grab().toImage()
    canvas.show_result(FrameResult(FrameRef(0, 0, 0.0), CPU, 640, 320, InferenceFailure(words("the file is damaged here"))))
    failed = canvas.grab().toImage()
    assert plain != pending
    assert pending != failed
    canvas.show_result(result())
    assert canvas.grab().toImage() == plain


def test_the_box_under_the_mouse_is_explained(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    canvas.show_picture(grey(640, 320), (640, 320), result(((0, 0, 640, 320), 0.9, 0), ((100, 100, 150, 150), 0.425, 1)))
    qtbot.mouseMove(canvas, QPoint(120, 160 + 120))
    assert canvas.toolTip() == "bicycle · 42.5 %\n50 × 50 at 100, 100"
    qtbot.mouseMove(canvas, QPoint(400, 300))
    assert canvas.toolTip().startswith("person")
    qtbot.mouseMove(canvas, QPoint(400, 20))
    assert canvas.toolTip() == ""


def test_the_highlight_follows_the_pictures_and_goes_when_the_mouse_leaves(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    box, elsewhere = (100, 100, 200, 200), (300, 100, 400, 200)
    canvas.show_picture(grey(640, 320), (640, 320), result((box, 0.9, 0)))
    qtbot.mouseMove(canvas, QPoint(150, 160 + 150))
    filled = colour_at(canvas, 150, 310)
    assert filled != (90, 90, 90)
    canvas.show_picture(grey(640, 320), (640, 320), result((box, 0.8, 0)))  # the next frame, below a mouse at rest
    assert colour_at(canvas, 150, 310) == filled
    assert canvas.toolTip().startswith("person · 80")
    canvas.show_picture(grey(640, 320), (640, 320), result((elsewhere, 0.8, 0)))
    assert (canvas.toolTip(), colour_at(canvas, 150, 310)) == ("", (90, 90, 90))
    canvas.show_picture(grey(640, 320), (640, 320), result((box, 0.8, 0)))
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert (canvas.toolTip(), colour_at(canvas, 150, 310)) == ("", (90, 90, 90))


def test_a_selected_box_stays_marked_when_the_mouse_leaves(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    canvas.show_picture(grey(640, 320), (640, 320), result(((100, 100, 200, 200), 0.9, 0)))
    canvas.select(0)
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert colour_at(canvas, 150, 310) != (90, 90, 90)
    assert colour_at(canvas, 96, 310) == (255, 255, 255)


def test_numbers_of_tracks_stand_beside_labels_and_can_be_hidden(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    found = result(((100, 100, 200, 200), 0.9, 0))
    assert found.detections is not None
    tracked = replace(found, found=replace(found.detections, tracks=np.array([7], np.int32)))
    canvas.show_picture(grey(640, 320), (640, 320), tracked)
    assert colour_at(canvas, 101, 252) == (8, 10, 14)  # the number's ground, at the left of the label
    canvas.show_parts(boxes=True, labels=True, numbers=False)
    assert colour_at(canvas, 101, 252) == class_colour(0)


def test_labels_keep_clear_of_reserved_places(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    canvas.show_picture(grey(640, 320), (640, 320), result(((100, 100, 200, 200), 0.9, 0)))
    assert colour_at(canvas, 110, 250) == class_colour(0)  # the label above the box
    canvas.reserve([(90, 230, 60, 30)])
    assert colour_at(canvas, 110, 250) == (90, 90, 90)
    assert colour_at(canvas, 110, 264) == class_colour(0)  # now inside it


def test_labels_never_hide_a_small_object_and_the_mouse_shows_each(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    places = [(x, y, x + 24, y + 44) for x in range(20, 600, 30) for y in range(20, 260, 50)]
    canvas.show_picture(grey(640, 320), (640, 320), result(*((place, 0.9 - number / 1000, 0) for number, place in enumerate(places))))
    overlay = canvas.overlay
    assert overlay is not None
    assert 0 < len(overlay.labels) < len(places)
    for x, y, picture in overlay.labels:
        for left, top, width, height in overlay.rects.tolist():
            apart = x >= left + width or x + picture.width() <= left or y >= top + height or y + picture.height() <= top
            assert apart, "no label lies on an object"
    before = canvas.grab().toImage()
    canvas.highlight(QPointF(*(overlay.rects[-1][:2] + 5).tolist()))
    assert canvas.grab().toImage() != before


def test_boxes_and_labels_are_turned_off_one_by_one(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    canvas.show_picture(grey(640, 320), (640, 320), result(((100, 100, 200, 200), 0.9, 0)))
    label, edge = (110, 250), (100, 310)
    ground, colour = (90, 90, 90), class_colour(0)
    assert (colour_at(canvas, *label), colour_at(canvas, *edge)) == (colour, colour)
    canvas.show_parts(boxes=True, labels=False, numbers=True)
    assert (colour_at(canvas, *label), colour_at(canvas, *edge)) == (ground, colour)
    canvas.show_parts(boxes=False, labels=True, numbers=True)
    assert (colour_at(canvas, *label), colour_at(canvas, *edge)) == (colour, ground)


def wheel(canvas: VideoCanvas, at: QPoint, steps: int) -> None:
    event = QWheelEvent(QPointF(at), QPointF(canvas.mapToGlobal(at)), QPoint(), QPoint(0, 120 * steps), NO_BUTTON, NO_KEY, NO_PHASE, False)
    QApplication.sendEvent(canvas, event)


def test_the_wheel_enlarges_at_the_mouse_and_the_mouse_moves_the_picture(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot, 640, 320)
    canvas.show_picture(grey(640, 320), (640, 320), result(((100, 100, 150, 150), 0.9, 0)))
    with qtbot.waitSignal(canvas.resized) as wanted:
        wheel(canvas, QPoint(125, 125), 5)
    zoom = 1.25**5
    assert wanted.args[0].width() == pytest.approx(640 * zoom * canvas.devicePixelRatio(), abs=1)
    assert canvas.overlay is not None
    assert canvas.overlay.rects[0].tolist() == pytest.approx([125 - 25 * zoom, 125 - 25 * zoom, 50 * zoom, 50 * zoom])
    assert colour_at(canvas, 125 - 25 * zoom + 1, 125) == class_colour(0)
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(300, 200))
    qtbot.mouseMove(canvas, QPoint(280, 190))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(280, 190))
    assert canvas.overlay.rects[0][:2].tolist() == pytest.approx([105 - 25 * zoom, 115 - 25 * zoom])
    canvas.set_zoom(1.0)
    assert canvas.overlay.rects[0].tolist() == pytest.approx([100, 100, 50, 50])


def test_statistics_stand_at_the_top_right(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot, 640, 320)
    canvas.show_picture(grey(640, 320), (640, 320), result(((100, 100, 150, 150), 0.9, 0)))
    canvas.set_statistics("clip.mp4\n640 × 320")
    image = canvas.grab().toImage()
    bright = [(x, y) for x in range(0, 640, 2) for y in range(320) if image.pixelColor(x, y).lightness() > 180]
    assert bright
    assert all(x > 500 and y < 60 for x, y in bright)


def test_the_highlight_goes_when_the_mouse_leaves(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    canvas.show_picture(grey(640, 320), (640, 320), result(((0, 0, 640, 320), 0.9, 0)))
    plain = canvas.grab().toImage()
    qtbot.mouseMove(canvas, QPoint(120, 160 + 120))
    assert canvas.grab().toImage() != plain
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert canvas.grab().toImage() == plain
    assert canvas.toolTip() == ""


def test_it_says_which_size_pictures_should_have(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot)
    with qtbot.waitSignal(canvas.resized) as resized:
        canvas.resize(500, 400)
    assert resized.args[0] == canvas.size() * canvas.devicePixelRatio()
    assert canvas.testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)


@pytest.mark.parametrize(
    ("state", "note"),
    [
        (ItemState.WAITING, "Not analysed yet"),
        (ItemState.RUNNING, "Not analysed yet: detection goes through the file in order"),
        (ItemState.FAILED, "Not analysed: detection failed"),
        (ItemState.CANCELLED, "Not analysed: detection was cancelled"),
    ],
)
def test_a_picture_without_result_says_whether_one_will_come(qtbot: QtBot, state: ItemState, note: str) -> None:
    client = PreviewClient()
    viewer = Viewer(client, Background(), window_actions().bindings)
    qtbot.addWidget(viewer)
    assert viewer.canvas.note == ""
    viewer.canvas.show_picture(grey(320, 160), (640, 320), None)
    viewer.update_item(queue_item(Path("a.mp4"), state=state), None, queue_busy=False)
    assert viewer.canvas.note == note
    viewer.canvas.show_result(result())
    assert viewer.canvas.note == ""
    client.stop()
