"""The heat map, trails, lines and zones on the picture. The mouse and keys change lines and zones there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6 import QtGui
from PySide6.QtCore import QEvent, QLine, QObject, QPointF, QRectF, Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import Shiboken

from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.viewer.layout import Placement
from framefleet.app.window.viewer.overlay import text_label
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.zones.counts.counting import Tracks
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.app.window.zones.drawing.input import ShapeKeyboard, ShapeMouse
from framefleet.engine.media.annotation.layout import Rect, arrow_points, class_colour, place_texts
from framefleet.engine.types import Detections
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import Line, Point, Shape, Zone

ARROW = 22.0
"""Length of the arrows of lines, logical pixels."""
MAX_LETTERS = 24
"""Letters of a name over the picture."""
COLOUR, PICKED = QtGui.QColor("#f5d76e"), QtGui.QColor("#ffffff")
_ARM = 14.0  # half the size of the cross hair, logical pixels
_RIM, _INSIDE = QtGui.QColor(8, 10, 14, 170), QtGui.QColor(245, 215, 110, 38)


@dataclass(frozen=True)
class Scale:
    """Lines and zones for pictures of ``size`` lie over a picture at this place. Pictures of one folder may differ in size."""

    placement: Placement
    size: tuple[int, int]

    @property
    def factor(self) -> float:
        """Logical pixels of one pixel."""
        return self.placement.width / self.size[0]

    def to_canvas(self, point: Point) -> QPointF:
        """Where a point lies on the canvas, logical pixels."""
        place = self.placement
        return QPointF(place.x + point[0] * place.width / self.size[0], place.y + point[1] * place.height / self.size[1])

    def to_picture(self, place: QPointF) -> Point:
        """The point at a place of the canvas."""
        left, top = place.x() - self.placement.x, place.y() - self.placement.y
        return left * self.size[0] / self.placement.width, top * self.size[1] / self.placement.height


def draw_shape(
    painter: QtGui.QPainter, scale: Scale, shape: Shape, points: Sequence[Point], chosen: bool, handles: bool, corner: int | None
) -> None:
    """Draw a line or zone with these points.

    chosen: in the colour of the selected one. handles: also draw what the mouse can take. corner: filled, None = no corner.
    """
    places = [scale.to_canvas(point) for point in points]
    colour = PICKED if chosen else COLOUR
    for width, pen in ((4.5, _RIM), (2.2, colour)):
        painter.setPen(QtGui.QPen(pen, width, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        if isinstance(shape, Line):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawLine(*places)
            arrow = arrow_points([(place.x(), place.y()) for place in places], ARROW)
            painter.drawPolyline(QtGui.QPolygonF([QPointF(*point) for point in arrow]))
        else:
            painter.setBrush(_INSIDE if width < 3 else Qt.BrushStyle.NoBrush)
            painter.drawPolygon(QtGui.QPolygonF(places))
    if handles:
        _draw_handles(painter, places, colour)
        if corner is not None:
            painter.setBrush(colour)
            painter.drawEllipse(places[corner], 5.0, 5.0)


def draw_draft(painter: QtGui.QPainter, scale: Scale, points: Sequence[Point], next_point: Point | None, cross_hair: bool) -> None:
    """Draw the points of a line or zone that is not complete, and a line to the next one. cross_hair: also draw one there."""
    places = [scale.to_canvas(point) for point in points]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QtGui.QPen(PICKED, 2, Qt.PenStyle.DashLine))
    painter.drawPolyline(QtGui.QPolygonF(places if next_point is None else [*places, scale.to_canvas(next_point)]))
    _draw_handles(painter, places, PICKED)
    if cross_hair and next_point is not None:
        middle = scale.to_canvas(next_point)
        for pen in (QtGui.QPen(_RIM, 4), QtGui.QPen(PICKED, 1.5)):
            painter.setPen(pen)
            for arm in (QPointF(_ARM, 0), QPointF(0, _ARM)):
                painter.drawLine(middle - arm, middle + arm)


def _draw_handles(painter: QtGui.QPainter, places: Sequence[QPointF], colour: QtGui.QColor) -> None:
    painter.setBrush(_RIM)
    painter.setPen(QtGui.QPen(colour, 1.5))
    for place in places:
        painter.drawEllipse(place, 4.0, 4.0)


def count_text(shape: Shape, number: int, now: Counts | None, time: float) -> str:
    """The name of a line or zone, and what was counted there up to a time, seconds. now: the counts up to this time."""
    name = shape.name if len(shape.name) <= MAX_LETTERS else f"{shape.name[: MAX_LETTERS - 1]}…"
    if now is None or number >= len(now.zones.shapes):
        return name
    if isinstance(shape, Line):
        return f"{name}   {now.crossed_text(number)}"
    return translate("zones", "{name}   {inside} inside · {total} until now").format(
        name=name, inside=now.inside(number, time), total=now.visited(number)
    )


def write_texts(painter: QtGui.QPainter, texts: Sequence[tuple[str, Sequence[Point]]], area: Rect, ratio: float) -> list[Rect]:
    """Write the text of each line or zone where it has room, and return these places. The table below the picture has all counts.

    texts: each text with the points of its line or zone, logical pixels. area: where there may be text. ratio: device pixels of a
    logical pixel.
    """
    labels = [text_label(text, theme.ON_STAGE, round(area[2]) - 27, ratio) for text, _ in texts]
    sizes = [(picture.width() / ratio, picture.height() / ratio) for picture in labels]
    wished = tuple((tuple(points), size) for (_, points), size in zip(texts, sizes, strict=True))
    inner = (area[0] + 4, area[1] + 4, area[2] - 8, area[3] - 8)
    placed = []
    for place, picture in zip(place_texts(wished, inner, ARROW), labels, strict=True):
        if place is not None:
            painter.drawPixmap(QPointF(*place[:2]), picture)
            placed.append(place)
    return placed


MANY = 1000
"""Number of lines above which trails are one pixel wide."""
_HEAT = np.array([(24, 60, 160), (40, 180, 200), (240, 220, 80), (230, 60, 40)], float)


def draw_trails(painter: QtGui.QPainter, placement: Placement, shown: Tracks, time: float, found: Detections) -> None:
    """Draw the recent paths of the tracked ones of these detections up to a time, seconds."""
    if found.tracks is None:
        return
    tracked = found.select(found.tracks >= 0)
    assert tracked.tracks is not None
    tracks = tracked.tracks.astype(np.int64)
    lines, owners = shown.trails(time, tracks)
    if not len(lines):
        return
    scale, origin = (placement.width, placement.height) * 2, (placement.x, placement.y) * 2
    ends = np.rint(np.clip(lines * scale + origin, -30_000, 30_000)).astype(np.int32)
    class_of = np.zeros(int(tracks.max()) + 1, np.int64)
    class_of[tracks] = tracked.class_ids
    classes = class_of[owners]
    painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing, on=False)
    for class_id in np.unique(classes).tolist():
        mine = ends[classes == class_id]
        painter.setPen(QtGui.QColor(*class_colour(class_id)))
        for shift in (0, 1)[: 1 if len(lines) > MANY else 2]:  # two thin lines are drawn ten times as fast as a wide one
            _draw_lines(painter, mine + np.int32(shift))


def _draw_lines(painter: QtGui.QPainter, ends: NDArray[np.int32]) -> None:
    """Draw lines x1 y1 x2 y2, int32 (n, 4), without a Python object for each: the layout is that of QLine."""
    ends = np.ascontiguousarray(ends)
    first: Any = Shiboken.wrapInstance(ends.ctypes.data, QLine)
    painter.drawLines(first, len(ends))


def heat_image(shares: NDArray[np.float32]) -> QtGui.QImage:
    """A picture with a pixel for each cell of a heat map, transparent where there was nothing. shares: 0..1, (rows, columns)."""
    places = np.clip(shares, 0, 1) * (len(_HEAT) - 1)
    low = np.minimum(places.astype(int), len(_HEAT) - 2)
    part = (places - low)[..., None]
    pixels = np.empty((*shares.shape, 4), np.uint8)
    pixels[..., :3] = _HEAT[low] * (1 - part) + _HEAT[low + 1] * part
    pixels[..., 3] = np.where(shares > 0.02, 40 + 150 * shares, 0)
    return QtGui.QImage(pixels.tobytes(), shares.shape[1], shares.shape[0], QtGui.QImage.Format.Format_RGBA8888).copy()


class ZoneLayer(QWidget):
    """Shows lines and zones with their counts over the picture. Mouse events that it does not use reach the picture.

    The canvas paints all but the texts, because it lies below the boxes and their labels.

    Attributes: show_trails, show_heat, show_zones: what is drawn. editing: whether mouse and keys change lines and zones. keyboard: says
    what the keys did.
    """

    def __init__(self, canvas: VideoCanvas, editor: ZoneEditor) -> None:
        super().__init__(canvas)
        self.show_trails, self.show_heat, self.show_zones = True, False, True
        self.editing = False
        self._canvas, self._editor, self._hand = canvas, editor, ShapeMouse(editor)
        canvas.paint_below = self._paint_below
        self.keyboard = ShapeKeyboard(editor, self)
        self.keyboard.said.connect(self._announce)
        self._tracks: Tracks | None = None
        self._counts: Counts | None = None
        self._until = math.inf
        self._time = 0.0
        self._heat: QtGui.QImage | None = None
        self._drawn: tuple[object, QtGui.QPixmap] | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(translate("zones", "Lines and zones over the video"))
        self.setMouseTracking(True)
        self.installEventFilter(self)
        canvas.resized.connect(lambda _: self.resize(canvas.size()))
        editor.changed.connect(self._refresh)
        editor.drawn.connect(self._refresh)
        self.resize(canvas.size())
        self._refresh()

    def _refresh(self) -> None:
        """Paint again, or hide the layer while nothing is on it: each picture of a playing video would paint it."""
        self.setVisible(self.editing or bool(self._editor.zones.shapes) or self._editor.drawing is not None)
        if self.isHidden():
            self._canvas.reserve([])
        self._canvas.update()

    def set_editing(self, editing: bool) -> None:
        """Let the mouse draw and move lines and zones, or pass through."""
        self.editing = editing
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not editing)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if editing else Qt.FocusPolicy.NoFocus)
        if not editing:
            self._editor.cancel()
            self.unsetCursor()
        self._refresh()

    def draw(self, kind: type[Line] | type[Zone]) -> None:
        """Let the user draw a line or a zone."""
        self._editor.begin(kind)
        self.setFocus()

    def _announce(self, text: str) -> None:
        """Tell a screen reader what the keys did."""
        self.setAccessibleDescription(text)
        if text:
            QtGui.QAccessible.updateAccessibility(QtGui.QAccessibleAnnouncementEvent(self, text))

    def show_parts(self, zones: bool, trails: bool, heat: bool) -> None:
        """Choose what is drawn."""
        self.show_zones, self.show_trails, self.show_heat = zones, trails, heat
        self._refresh()

    def set_tracks(self, tracks: Tracks | None) -> None:
        """Draw the trails and the heat map of these tracks."""
        self._tracks, self._heat = tracks, None
        self._refresh()

    def set_counts(self, counts: Counts | None, until: float = math.inf) -> None:
        """Show these counts at lines and zones. until: nothing is counted behind this time, seconds."""
        self._counts, self._until = counts, until
        self._canvas.update()

    def set_time(self, time: float) -> None:
        """Show the state at the time of the current picture, seconds. The canvas paints this widget together with that picture.

        An update of this widget would paint all of it once more: Qt paints an opaque widget and one above it in two passes.
        """
        self._time = time

    def _paint_below(self, painter: QtGui.QPainter, placement: Placement) -> None:
        """Draw the heat map, trails, lines and zones on the canvas."""
        if self._tracks is not None:
            if self.show_heat:
                self._paint_heat(painter, placement, self._tracks)
            if self.show_trails:
                draw_trails(painter, placement, self._tracks, self._time, self._canvas.visible_detections)
        if self.show_zones and self._editor.zones.shapes:
            painter.drawPixmap(0, 0, self._shapes(Scale(placement, self._editor.zones.size)))

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw the texts of lines and zones, and the one that the user draws."""
        placement = self._canvas.placement
        if placement is None:
            return
        with QtGui.QPainter(self) as painter:
            if self.show_zones and (self._editor.zones.shapes or self._editor.drawing is not None):
                self._paint_texts(painter, Scale(placement, self._editor.zones.size))
            else:
                self._canvas.reserve([])

    def _paint_heat(self, painter: QtGui.QPainter, placement: Placement, tracks: Tracks) -> None:
        if self._heat is None:
            self._heat = heat_image(tracks.heat.shares())
        painter.setRenderHint(QtGui.QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(placement.x, placement.y, placement.width, placement.height), self._heat)

    def _paint_texts(self, painter: QtGui.QPainter, scale: Scale) -> None:
        editor, time = self._editor, min(self._time, self._until)
        now = self._counts.until(time) if self._counts is not None else None
        texts = [
            (count_text(shape, number, now, time), [(place.x(), place.y()) for place in map(scale.to_canvas, self._points_of(number))])
            for number, shape in enumerate(editor.zones.shapes)
        ]
        area = scale.placement.visible((self.width(), self.height()))
        placed = write_texts(painter, texts, area, self.devicePixelRatio())
        self._canvas.reserve(placed)
        if editor.drawing is not None:
            painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
            draw_draft(painter, scale, editor.draft, self.keyboard.at or self._hand.at, self.keyboard.at is not None)

    def _points_of(self, number: int) -> tuple[Point, ...]:
        """The points of a line or zone, which the mouse may be moving."""
        held = self._hand.held
        return self._hand.moved if held is not None and held.shape == number else self._editor.zones.shapes[number].points

    def _shapes(self, scale: Scale) -> QtGui.QPixmap:
        """All lines and zones without their counts: drawn once, since smooth lines are slow and rarely change."""
        editor, ratio = self._editor, self.devicePixelRatio()
        points = tuple(map(self._points_of, range(len(editor.zones.shapes))))
        handles = self.editing and editor.drawing is None
        corner = self.keyboard.corner
        key = editor.zones, editor.selected, corner, handles, points, scale, self.size(), ratio
        if self._drawn is None or self._drawn[0] != key:
            made = QtGui.QPixmap(self.size() * ratio)
            made.setDevicePixelRatio(ratio)
            made.fill(Qt.GlobalColor.transparent)
            with QtGui.QPainter(made) as painter:
                painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
                for number, shape in enumerate(editor.zones.shapes):
                    chosen = number == editor.selected
                    draw_shape(painter, scale, shape, points[number], chosen, handles, corner if chosen else None)
            self._drawn = key, made
        return self._drawn[1]

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Draw or take a line or zone, or let the picture have the event."""
        scale = self._scale
        self.keyboard.yield_to_mouse()
        event.setAccepted(scale is not None and self._hand.press(scale.to_picture(event.position()), scale.factor, event.button()))

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Move what the mouse holds, or show what it would take."""
        scale = self._scale
        if scale is None:
            event.ignore()
            return
        point = scale.to_picture(event.position())
        self.keyboard.yield_to_mouse()
        if not self._hand.move(point):
            if self._editor.drawing is not None:
                self.setCursor(Qt.CursorShape.CrossCursor)
            elif self._hand.found(point, scale.factor)[0] is not None:
                self.setCursor(Qt.CursorShape.SizeAllCursor)
            else:
                self.unsetCursor()
                event.ignore()  # the picture highlights the box under the mouse
        if event.isAccepted():
            self._canvas.highlight(None)
        self._canvas.update()

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Put down what the mouse holds."""
        scale = self._scale
        event.setAccepted(scale is not None and self._hand.release(scale.to_picture(event.position()), scale.factor))
        self._canvas.update()

    def mouseDoubleClickEvent(self, event: QtGui.QMouseEvent) -> None:
        """Complete a zone, or add a corner to an edge."""
        scale = self._scale
        event.setAccepted(scale is not None and self._hand.double_click(scale.to_picture(event.position()), scale.factor))

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Draw or change lines and zones, or let others have the key."""
        if not self.keyboard.press(event):
            event.ignore()
        self._canvas.update()

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:
        """Hide the help for keys, which go elsewhere now."""
        if self._editor.drawing is None:
            self.keyboard.said.emit("")
        super().focusOutEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the keys concern lines and zones while the focus is here."""
        if isinstance(event, QtGui.QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride and self.keyboard.takes(event):
            event.accept()
            return True
        return super().eventFilter(watched, event)

    @property
    def _scale(self) -> Scale | None:
        placement = self._canvas.placement
        return Scale(placement, self._editor.zones.size) if placement is not None else None
