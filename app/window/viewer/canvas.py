"""The canvas: the picture with its detections, and what the mouse does there."""

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent, QWheelEvent

from framefleet.app.window.viewer.picture_view import PictureView
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import translate


class VideoCanvas(PictureView):
    """The wheel enlarges the picture, the mouse moves an enlarged one, and highlights the box below it.

    resized: the size that pictures should have now, device pixels. pressed, activated: the user clicked or double-clicked it.
    mouse_moved: the mouse moved over it.
    """

    resized = Signal(QSize)
    pressed = Signal()
    activated = Signal()
    mouse_moved = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self._mouse: QPointF | None = None
        self._dragged: QPointF | None = None

    def _select(self) -> None:
        super()._select()
        self._point()

    @property
    def zoom(self) -> float:
        """The enlargement, 1 = the picture fits."""
        return self._zoom.factor

    @property
    def scale(self) -> float:
        """Pixels of the screen for a pixel of the source; 1 without a picture."""
        return self.placement.width * self.devicePixelRatio() / self.placement.source[0] if self.placement is not None else 1.0

    def set_zoom(self, zoom: float, at: QPointF | None = None) -> None:
        """Enlarge the picture by this factor, 1 = it fits. at: the point of the canvas that keeps its place, None = the middle."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        if self._image is not None and self._zoom.enlarge(zoom, (at.x(), at.y()), self._area, self._size):
            self.setCursor(Qt.CursorShape.OpenHandCursor if self.zoom > 1 else Qt.CursorShape.ArrowCursor)
            self._redraw()
            self.resized.emit(self.device_size())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for pictures of the new size."""
        super().resizeEvent(event)
        self._redraw()
        self.resized.emit(self.device_size())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ask for full screen."""
        self.activated.emit()
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Enlarge or reduce the picture at the mouse."""
        self.set_zoom(self.zoom * 1.25 ** (event.angleDelta().y() / 120), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start to move an enlarged picture."""
        self.pressed.emit()
        if event.button() is Qt.MouseButton.LeftButton and self.zoom > 1:
            self._dragged = event.position()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Leave the picture where it is."""
        if event.button() is Qt.MouseButton.LeftButton and self._dragged is not None:
            self._dragged = None
            self.setCursor(Qt.CursorShape.OpenHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the picture, or highlight the smallest box under the mouse."""
        self.mouse_moved.emit()
        placement = self.placement
        if self._dragged is not None and placement is not None:
            moved, self._dragged = event.position() - self._dragged, event.position()
            self._zoom.move((moved.x(), moved.y()), placement, self._area)
            self._redraw()
        else:
            self.highlight(event.position())

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the highlight."""
        super().leaveEvent(event)
        self.highlight(None)

    def highlight(self, place: QPointF | None) -> None:
        """Highlight the smallest box there, in this picture and the next ones; None = no box."""
        self._mouse = place
        self._point()

    def _point(self) -> None:
        """Highlight the box that is under the mouse now."""
        overlay = self.overlay if self._mouse is not None else None
        pointed = overlay.at(self._mouse) if overlay is not None and self._mouse is not None else None
        if pointed != self._pointed:
            self._pointed = pointed
            self.update()
        text = "" if pointed is None else self._describe(pointed)
        if text != self.toolTip():
            self.setToolTip(text)

    def _describe(self, index: int) -> str:
        x1, y1, x2, y2 = self.visible_detections.boxes[index].tolist()
        label, score = self.label_of(int(self.visible_detections.class_ids[index])), float(self.visible_detections.scores[index])
        return translate("viewer", "{label} · {score}\n{width} × {height} at {x}, {y}").format(
            label=label,
            score=formats.share(score),
            width=round(x2 - x1),
            height=round(y2 - y1),
            x=round(x1),
            y=round(y1),
        )
