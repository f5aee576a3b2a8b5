"""Lines, zones, their counts, trails and the heat map, drawn over the picture; the mouse draws and moves them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLine, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget
from shiboken6 import Shiboken

from app.window.viewer.canvas import VideoCanvas
from app.window.viewer.layout import Placement
from app.window.widgets import theme
from app.window.widgets.chips import chip
from app.window.widgets.translation import translate
from app.window.zones import undo_keys
from app.window.zones.editor import ZoneEditor, nearest, nearest_edge
from app.window.zones.tracks import Tracks
from engine.media.annotation.colours import class_colour
from engine.types import FrameResult
from engine.zones.counts import Counts
from engine.zones.shapes import Line, Point, Shape

GRAB = 9.0
"""Distance within which the mouse takes a point or an edge, logical pixels."""
MANY = 1000
"""Number of lines above which trails are one pixel wide."""
COLOUR, PICKED = QColor("#f5d76e"), QColor("#ffffff")
_HEAT = np.array([(24, 60, 160), (40, 180, 200), (240, 220, 80), (230, 60, 40)], float)


class ZoneLayer(QWidget):
    """Lies over the picture. Mouse events that it does not use reach the picture.

    Attributes: show_trails, show_ids, show_heat, show_zones: what is drawn. editing: whether the mouse changes lines and zones.
    """

    def __init__(self, canvas: VideoCanvas, editor: ZoneEditor) -> None:
        super().__init__(canvas)
        self.show_trails, self.show_ids, self.show_heat, self.show_zones = True, True, False, True
        self.editing = False
        self._canvas, self._editor = canvas, editor
        self._tracks: Tracks | None = None
        self._counts: Counts | None = None
        self._until = math.inf
        self._time = 0.0
        self._result: FrameResult | None = None
        self._heat: QImage | None = None
        self._drawn: tuple[object, QPixmap] | None = None
        self._mouse: Point | None = None
        self._held: tuple[int, int | None, Point, tuple[Point, ...]] | None = None
        self._moved: tuple[Point, ...] | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(translate("zones", "Lines and zones over the video"))
        self.setMouseTracking(True)
        canvas.installEventFilter(self)
        editor.changed.connect(self.update)
        editor.drawn.connect(self.update)
        self.resize(canvas.size())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the size of the picture's area."""
        if event.type() is QEvent.Type.Resize:
            self.resize(self._canvas.size())
        return super().eventFilter(watched, event)

    def set_editing(self, editing: bool) -> None:
        """Let the mouse draw and move lines and zones, or pass through."""
        self.editing = editing
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not editing)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus if editing else Qt.FocusPolicy.NoFocus)
        if not editing:
            self._editor.cancel()
            self.unsetCursor()

    def set_tracks(self, tracks: Tracks | None) -> None:
        """Draw the trails and the heat map of these tracks."""
        self._tracks, self._heat = tracks, None
        self.update()

    def set_counts(self, counts: Counts | None, until: float = math.inf) -> None:
        """Show these counts at lines and zones. until: nothing is counted behind this time, seconds."""
        self._counts, self._until = counts, until
        self.update()

    def set_shown(self, time: float, result: FrameResult | None) -> None:
        """Show the state at the time of the current picture, seconds. result: of this picture."""
        self._time, self._result = time, result
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the heat map, trails, ids, and lines and zones with their counts."""
        placement = self._canvas.placement
        if placement is None:
            return
        with QPainter(self) as painter:
            self.paint(painter, placement)

    def paint(self, painter: QPainter, placement: Placement) -> None:
        """Draw everything onto a picture at this place."""
        if self.show_heat and self._tracks is not None:
            self._paint_heat(painter, placement)
        found = self._canvas.visible_detections
        if found.tracks is not None and self._tracks is not None:
            tracked = found.select(found.tracks >= 0)
            assert tracked.tracks is not None
            tracks = tracked.tracks.astype(np.int64)
            if self.show_trails:
                self._paint_trails(painter, placement, tracks, tracked.class_ids)
            if self.show_ids:
                self._paint_ids(painter, placement, tracks, tracked.boxes)
        if self.show_zones:
            painter.drawPixmap(0, 0, self._shapes(placement))
            for number, shape in enumerate(self._editor.zones.shapes):
                self._paint_counts(painter, number, shape, [_to_canvas(placement, point) for point in self._points_of(number, shape)])
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_draft(painter, placement)

    def _points_of(self, number: int, shape: Shape) -> tuple[Point, ...]:
        """The points of a line or zone, which the mouse may be moving."""
        held = self._moved is not None and self._held is not None and self._held[0] == number
        return self._moved if held and self._moved is not None else shape.points

    def _shapes(self, placement: Placement) -> QPixmap:
        """All lines and zones without their counts: drawn once, since smooth lines are slow and rarely change."""
        editor, ratio = self._editor, self.devicePixelRatio()
        idle = self.editing and editor.drawing is None
        key = editor.zones, editor.selected, idle, self._moved, placement, self.size(), ratio
        if self._drawn is None or self._drawn[0] != key:
            made = QPixmap(self.size() * ratio)
            made.setDevicePixelRatio(ratio)
            made.fill(Qt.GlobalColor.transparent)
            with QPainter(made) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                for number, shape in enumerate(editor.zones.shapes):
                    self._paint_shape(painter, placement, number, shape, self._points_of(number, shape))
            self._drawn = key, made
        return self._drawn[1]

    def _paint_heat(self, painter: QPainter, placement: Placement) -> None:
        assert self._tracks is not None
        if self._heat is None:
            self._heat = heat_image(self._tracks.heat.shares())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(placement.x, placement.y, placement.width, placement.height), self._heat)

    def _paint_trails(self, painter: QPainter, placement: Placement, tracks: NDArray[np.int64], class_ids: NDArray[np.int32]) -> None:
        assert self._tracks is not None
        lines, owners = self._tracks.trails(self._time, tracks)
        if not len(lines):
            return
        scale = placement.width / placement.source[0], placement.height / placement.source[1]
        ends = np.rint(np.clip(lines * (scale * 2) + (placement.x, placement.y) * 2, -30_000, 30_000)).astype(np.int32)
        class_of = np.zeros(int(tracks.max()) + 1, np.int64)
        class_of[tracks] = class_ids
        classes = class_of[owners]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for class_id in np.unique(classes).tolist():
            mine = ends[classes == class_id]
            painter.setPen(QColor(*class_colour(class_id)))
            for shift in (0, 1)[: 1 if len(lines) > MANY else 2]:  # two thin lines are drawn ten times as fast as a wide one
                _draw_lines(painter, mine + np.int32(shift))

    def _paint_ids(self, painter: QPainter, placement: Placement, tracks: NDArray[np.int64], boxes: NDArray[np.float32]) -> None:
        ratio = self.devicePixelRatio()
        rects = placement.rects(boxes)
        corners = np.rint(np.stack((rects[:, 0], rects[:, 1] + rects[:, 3]), 1)).astype(int)
        for track, (x, y), width in zip(tracks.tolist(), corners.tolist(), rects[:, 2].tolist(), strict=True):
            if width > 14:
                picture = _number(track, ratio)
                painter.drawPixmap(x + 2, y - 2 - round(picture.height() / ratio), picture)

    def _paint_shape(self, painter: QPainter, placement: Placement, number: int, shape: Shape, points: tuple[Point, ...]) -> None:
        chosen = number == self._editor.selected
        places = [_to_canvas(placement, point) for point in points]
        colour = PICKED if chosen else COLOUR
        for width, pen in ((4.5, QColor(8, 10, 14, 170)), (2.2, colour)):
            painter.setPen(QPen(pen, width, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
            if isinstance(shape, Line):
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawLine(*places)
                painter.drawPolyline(_arrow(*places))
            else:
                painter.setBrush(QColor(245, 215, 110, 38) if width < 3 else QColor(0, 0, 0, 0))
                painter.drawPolygon(QPolygonF(places))
        if self.editing and (chosen or self._editor.drawing is None):
            painter.setBrush(QColor(theme.BACKGROUND))
            painter.setPen(QPen(colour, 1.5))
            for place in places:
                painter.drawEllipse(place, 4.0, 4.0)

    def _paint_counts(self, painter: QPainter, number: int, shape: Shape, places: list[QPointF]) -> None:
        text = shape.name
        if self._counts is not None and number < len(self._counts.zones.shapes):
            time = min(self._time, self._until)
            now = self._counts.until(time)
            if isinstance(shape, Line):
                text += f"   → {now.crossed(number, forward=True)}   ← {now.crossed(number, forward=False)}"
            else:
                text += translate("zones", "   {number} inside · {number2} in all").format(
                    number=now.inside(number, time), number2=now.visited(number)
                )
        ratio = self.devicePixelRatio()
        picture = chip(text, theme.TEXT, self.width(), ratio)
        middle = sum((place.x() for place in places), 0.0) / len(places), sum((place.y() for place in places), 0.0) / len(places)
        size = picture.width() / ratio, picture.height() / ratio
        x = min(max(middle[0] - size[0] / 2, 4.0), self.width() - size[0] - 4)
        y = min(max(middle[1] - size[1] / 2, 4.0), self.height() - size[1] - 4)
        painter.drawPixmap(QPointF(x, y), picture)

    def _paint_draft(self, painter: QPainter, placement: Placement) -> None:
        places = [_to_canvas(placement, point) for point in self._editor.draft]
        if self._mouse is not None and self._editor.drawing is not None:
            places.append(_to_canvas(placement, self._mouse))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(PICKED, 2, Qt.PenStyle.DashLine))
        painter.drawPolyline(QPolygonF(places))
        painter.setPen(QPen(PICKED, 1.5))
        painter.setBrush(QColor(theme.BACKGROUND))
        for place in places[: len(self._editor.draft)]:
            painter.drawEllipse(place, 4.0, 4.0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Add a point, take a point or a whole line or zone, or let the picture have the event."""
        point, scale = self._point(event)
        if point is None:
            event.ignore()
        elif self._editor.drawing is not None:
            first = self._editor.draft[:1]
            closes = len(self._editor.draft) > 2 and math.dist(first[0], point) * scale < GRAB
            if event.button() is Qt.MouseButton.RightButton or closes:
                self._editor.finish()
            else:
                self._editor.add_point(point)
        else:
            self._take(event, point, scale)

    def _take(self, event: QMouseEvent, point: Point, scale: float) -> None:
        shape, corner = self._at(point, scale)
        self._editor.select(shape)
        if shape is None:
            event.ignore()
            return
        points = self._editor.zones.shapes[shape].points
        if event.button() is Qt.MouseButton.RightButton:
            if corner is not None and len(points) > 3:
                self._editor.set_points(shape, [each for number, each in enumerate(points) if number != corner])
        else:
            self._held, self._moved = (shape, corner, point, points), points

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what the mouse holds, or show what it would take."""
        point, scale = self._point(event)
        self._mouse = point
        if self._held is not None and point is not None:
            _, corner, start, points = self._held
            if corner is not None:
                self._moved = (*points[:corner], point, *points[corner + 1 :])
            else:
                across, down = point[0] - start[0], point[1] - start[1]
                self._moved = tuple((x + across, y + down) for x, y in points)
        elif self._editor.drawing is not None:
            self.setCursor(Qt.CursorShape.CrossCursor)
        elif point is not None and self._at(point, scale)[0] is not None:
            self.setCursor(Qt.CursorShape.SizeAllCursor)
        else:
            self.unsetCursor()
            event.ignore()
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Put down what the mouse holds."""
        if self._held is None:
            event.ignore()
            return
        (number, _, _, before), moved = self._held, self._moved
        self._held = self._moved = None
        if moved is not None and moved != before:
            self._editor.set_points(number, moved)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Complete a zone, or add a corner to an edge."""
        point, scale = self._point(event)
        shape = self._at(point, scale)[0] if point is not None else None
        if self._editor.drawing is not None:
            self._editor.finish()
        elif shape is not None and point is not None and not isinstance(self._editor.zones.shapes[shape], Line):
            points = self._editor.zones.shapes[shape].points
            edge, _ = nearest_edge(self._editor.zones.shapes[shape], point)
            self._held = self._moved = None
            self._editor.set_points(shape, (*points[: edge + 1], point, *points[edge + 1 :]))
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape stops drawing, Enter completes a zone, Backspace removes the last point, Delete the selected line or zone."""
        editor, key = self._editor, event.key()
        if key == Qt.Key.Key_Escape and (editor.drawing is not None or editor.selected is not None):
            editor.cancel()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and editor.drawing is not None:
            editor.finish()
        elif key == Qt.Key.Key_Backspace and editor.draft:
            editor.remove_last_point()
        elif key == Qt.Key.Key_Delete and editor.selected is not None:
            editor.delete()
        elif not undo_keys.press(editor, event):
            event.ignore()

    def event(self, event: QEvent) -> bool:
        """Let undo and redo concern lines and zones while the focus is here."""
        return undo_keys.takes(event) or super().event(event)

    def _point(self, event: QMouseEvent) -> tuple[Point | None, float]:
        """The place of the mouse in pixels of the picture, and the length of such a pixel, logical pixels."""
        placement = self._canvas.placement
        if placement is None:
            return None, 1.0
        scale = placement.width / placement.source[0]
        place = event.position()
        return ((place.x() - placement.x) / scale, (place.y() - placement.y) * placement.source[1] / placement.height), scale

    def _at(self, point: Point, scale: float) -> tuple[int | None, int | None]:
        """The line or zone at a point, and its corner there, if any. The selected one comes first."""
        shapes = self._editor.zones.shapes
        order = sorted(range(len(shapes)), key=lambda number: number != self._editor.selected)
        for number in order:
            corner, distance = nearest(shapes[number].points, point)
            if distance * scale < GRAB:
                return number, corner
        for number in order:
            if nearest_edge(shapes[number], point)[1] * scale < GRAB:
                return number, None
        return None, None


def heat_image(shares: NDArray[np.float32]) -> QImage:
    """A picture with a pixel for each cell of a heat map, transparent where there was nothing. shares: 0..1, (rows, columns)."""
    places = np.clip(shares, 0, 1) * (len(_HEAT) - 1)
    low = np.minimum(places.astype(int), len(_HEAT) - 2)
    part = (places - low)[..., None]
    pixels = np.empty((*shares.shape, 4), np.uint8)
    pixels[..., :3] = _HEAT[low] * (1 - part) + _HEAT[low + 1] * part
    pixels[..., 3] = np.where(shares > 0.02, 40 + 150 * shares, 0)
    return QImage(pixels.tobytes(), shares.shape[1], shares.shape[0], QImage.Format.Format_RGBA8888).copy()


def _to_canvas(placement: Placement, point: Point) -> QPointF:
    scale = placement.width / placement.source[0], placement.height / placement.source[1]
    return QPointF(placement.x + point[0] * scale[0], placement.y + point[1] * scale[1])


def _arrow(start: QPointF, end: QPointF) -> QPolygonF:
    """An arrow in the middle of a line, in the direction of objects that cross it forward."""
    middle, along = (start + end) / 2, end - start
    length = max(math.hypot(along.x(), along.y()), 1.0)
    ahead = QPointF(-along.y(), along.x()) / length
    side = along / length
    tip = middle + ahead * 22
    return QPolygonF([middle, tip, tip - ahead * 8 + side * 6, tip, tip - ahead * 8 - side * 6])


def _draw_lines(painter: QPainter, ends: NDArray[np.int32]) -> None:
    """Draw lines x1 y1 x2 y2, int32 (n, 4), without a Python object for each: the layout is that of QLine."""
    ends = np.ascontiguousarray(ends)
    first: Any = Shiboken.wrapInstance(ends.ctypes.data, QLine)
    painter.drawLines(first, len(ends))


@lru_cache(maxsize=4096)
def _number(track: int, ratio: float) -> QPixmap:
    """The number of a track: small, since hundreds of them may be on the picture."""
    font = theme.font(-3)
    metrics = QFontMetricsF(font)
    size = QSize(math.ceil(metrics.horizontalAdvance(str(track))) + 5, math.ceil(metrics.height()))
    made = QPixmap(size * ratio)
    made.setDevicePixelRatio(ratio)
    made.fill(QColor(14, 16, 20))
    with QPainter(made) as painter:
        painter.setFont(font)
        painter.setPen(QColor(theme.TEXT))
        painter.drawText(QPointF(2.5, metrics.ascent()), str(track))
    return made
