"""The heat map, trails, lines and zones on the picture. The mouse and keys change lines and zones there."""

import math

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.viewer.layout import Placement
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.zones.counts.tracks import Tracks
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.app.window.zones.drawing.keyboard import ShapeKeyboard
from framefleet.app.window.zones.drawing.mouse import ShapeMouse
from framefleet.app.window.zones.drawing.shape_drawing import Scale, count_text, draw_draft, draw_shape, write_texts
from framefleet.app.window.zones.drawing.track_drawing import draw_trails, heat_image
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import Line, Point, Zone


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
        self._heat: QImage | None = None
        self._drawn: tuple[object, QPixmap] | None = None
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
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

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

    def _paint_below(self, painter: QPainter, placement: Placement) -> None:
        """Draw the heat map, trails, lines and zones on the canvas."""
        if self._tracks is not None:
            if self.show_heat:
                self._paint_heat(painter, placement, self._tracks)
            if self.show_trails:
                draw_trails(painter, placement, self._tracks, self._time, self._canvas.visible_detections)
        if self.show_zones and self._editor.zones.shapes:
            painter.drawPixmap(0, 0, self._shapes(Scale(placement, self._editor.zones.size)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the texts of lines and zones, and the one that the user draws."""
        placement = self._canvas.placement
        if placement is None:
            return
        with QPainter(self) as painter:
            if self.show_zones and (self._editor.zones.shapes or self._editor.drawing is not None):
                self._paint_texts(painter, Scale(placement, self._editor.zones.size))
            else:
                self._canvas.reserve([])

    def _paint_heat(self, painter: QPainter, placement: Placement, tracks: Tracks) -> None:
        if self._heat is None:
            self._heat = heat_image(tracks.heat.shares())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(placement.x, placement.y, placement.width, placement.height), self._heat)

    def _paint_texts(self, painter: QPainter, scale: Scale) -> None:
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
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_draft(painter, scale, editor.draft, self.keyboard.at or self._hand.at, self.keyboard.at is not None)

    def _points_of(self, number: int) -> tuple[Point, ...]:
        """The points of a line or zone, which the mouse may be moving."""
        held = self._hand.held
        return self._hand.moved if held is not None and held.shape == number else self._editor.zones.shapes[number].points

    def _shapes(self, scale: Scale) -> QPixmap:
        """All lines and zones without their counts: drawn once, since smooth lines are slow and rarely change."""
        editor, ratio = self._editor, self.devicePixelRatio()
        points = tuple(map(self._points_of, range(len(editor.zones.shapes))))
        handles = self.editing and editor.drawing is None
        corner = self.keyboard.corner
        key = editor.zones, editor.selected, corner, handles, points, scale, self.size(), ratio
        if self._drawn is None or self._drawn[0] != key:
            made = QPixmap(self.size() * ratio)
            made.setDevicePixelRatio(ratio)
            made.fill(Qt.GlobalColor.transparent)
            with QPainter(made) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                for number, shape in enumerate(editor.zones.shapes):
                    chosen = number == editor.selected
                    draw_shape(painter, scale, shape, points[number], chosen, handles, corner if chosen else None)
            self._drawn = key, made
        return self._drawn[1]

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Draw or take a line or zone, or let the picture have the event."""
        scale = self._scale
        self.keyboard.yield_to_mouse()
        event.setAccepted(scale is not None and self._hand.press(scale.to_picture(event.position()), scale.factor, event.button()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
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

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Put down what the mouse holds."""
        event.setAccepted(self._hand.release())
        self._canvas.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Complete a zone, or add a corner to an edge."""
        scale = self._scale
        event.setAccepted(scale is not None and self._hand.double_click(scale.to_picture(event.position()), scale.factor))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Draw or change lines and zones, or let others have the key."""
        if not self.keyboard.press(event):
            event.ignore()
        self._canvas.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Hide the help for keys, which go elsewhere now."""
        if self._editor.drawing is None:
            self.keyboard.said.emit("")
        super().focusOutEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the keys concern lines and zones while the focus is here."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride and self.keyboard.takes(event):
            event.accept()
            return True
        return super().eventFilter(watched, event)

    @property
    def _scale(self) -> Scale | None:
        placement = self._canvas.placement
        return Scale(placement, self._editor.zones.size) if placement is not None else None
