"""The canvas: the picture with its detections and what the mouse does there; and the area with one canvas or several."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QRegion, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.layout import Placement, Zoom, fit
from framefleet.app.window.viewer.overlay import Overlay, draw_dashed, text_label
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import label
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.media.annotation.layout import Rect
from framefleet.engine.types import Detections, FrameResult

NOT_YET = marked("viewer", "Not analysed yet")
Split: TypeAlias = Callable[[FrameResult, Detections], tuple[Detections, Detections, NDArray[np.bool_]]]
"""Returns what to show of a result, given with its visible detections: its own ones, others of the same frame, and which of these have
labels."""
MIN_SIZE = QSize(240, 100)
"""The least size of a picture that is shown alone, logical pixels."""
NOTE = QPointF(10, 10)
"""The place of the note, from the top left corner of the picture."""


class VideoCanvas(QWidget):
    """Shows one undistorted picture with the boxes of the same frame.

    The wheel enlarges the picture, the mouse moves an enlarged one, and highlights the box below it.

    unmarked: the picture is gone, or the filter has changed. resized: the size that pictures should have now, device pixels. pressed,
    activated: the user clicked or double-clicked it. mouse_moved: the mouse moved over it.

    Attributes: result: of the picture, None = none yet. filter: which of its detections are visible. visible_detections: these.
    selected: the index of the marked one, None = none. other_detections: those of other results, in another style. reserved: where there
    may be no labels.
    statistics: the text at the top right, "" = none. paint_below, paint_above: paint on the picture, below and above the boxes.
    """

    unmarked = Signal()
    resized = Signal(QSize)
    pressed = Signal()
    activated = Signal()
    mouse_moved = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(MIN_SIZE)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(translate("viewer", "Video"))
        self._image: QImage | None = None
        self._size = (1, 1)
        self.result: FrameResult | None = None
        self.visible_detections = self.other_detections = Detections()
        self._split: Split | None = None
        self._other_labels = np.zeros(0, bool)
        self.filter = ViewFilter()
        self._labels: tuple[str, ...] = ()
        self.paint_below: Callable[[QPainter, Placement], None] | None = None
        self.paint_above: Callable[[QPainter, Placement], None] | None = None
        self._message = self.statistics = ""
        self._missing = translate("viewer", NOT_YET)
        self._pointed: int | None = None
        self.selected: int | None = None
        self._counted: int | None = None
        self._overlay: Overlay | None = None
        self._zoom = Zoom()
        self._numbers = self._boxes = self._labelled = True
        self.reserved: Sequence[Rect] = ()
        self.setMouseTracking(True)
        self._mouse: QPointF | None = None
        self._dragged: QPointF | None = None

    @property
    def placement(self) -> Placement | None:
        """The picture's place, in logical pixels; None without a picture."""
        return None if self._image is None else self._zoom.place(self._area, self._size)

    @property
    def _area(self) -> tuple[float, float]:
        return self.width(), self.height()

    @property
    def overlay(self) -> Overlay | None:
        """The shapes of the visible detections, None without a picture."""
        placement = self.placement
        if self._overlay is None and placement is not None:
            ratio = self.devicePixelRatio()
            look = self._numbers, self.reserved, self._labelled
            self._overlay = Overlay(self.visible_detections, placement, self._area, self.label_of, ratio, *look)
        return self._overlay

    @property
    def note(self) -> str:
        """The text over the picture instead of boxes; "" = none."""
        if self._image is None:
            return ""
        if self.result is None:
            return self._missing
        return (
            ""
            if self.result.failure is None
            else translate("viewer", "No detections for this frame: {failure}").format(failure=of_engine(self.result.failure))
        )

    def set_missing(self, text: str) -> None:
        """Set the text over pictures without a result."""
        if text != self._missing:
            self._missing = text
            self.update()

    def device_size(self) -> QSize:
        """The size of the area that the whole picture would fill, device pixels."""
        return self.size() * (self.devicePixelRatio() * self._zoom.factor)

    def show_picture(self, image: QImage, source: tuple[int, int], result: FrameResult | None) -> None:
        """Show a picture with its result, None = no result yet. source: the width and height of the source."""
        before = self.placement
        self._image, self._size = image, source
        self._message = ""
        self._take(result)
        now = self.placement
        if now is None or now != before:
            self.update()
        else:  # the bars beside the picture stay as they are
            self.update(_rectangle(now).toAlignedRect())

    def show_result(self, result: FrameResult | None) -> None:
        """Show the result of the current picture."""
        self._take(result)
        self.update()

    def _take(self, result: FrameResult | None) -> None:
        self.result = result
        if result is not None:
            self._size = (result.width, result.height)
        self._select()

    def show_message(self, message: str) -> None:
        """Show text instead of a picture."""
        self._image, self._message = None, formats.shortened(message)
        self.show_result(None)
        self.unmarked.emit()

    def set_filter(self, view_filter: ViewFilter) -> None:
        """Draw only these detections."""
        self.filter = view_filter
        self._select()
        self.update()
        self.unmarked.emit()

    def set_labels(self, labels: Sequence[str]) -> None:
        """Set the names of the classes."""
        self._labels = tuple(labels)
        self._redraw()

    def compare_with(self, split: Split | None) -> None:
        """Show other detections beside those of the picture, None = no more. split: see ``Split``."""
        self._split = split
        self._select()
        self.update()
        self.unmarked.emit()

    def draw_boxes(self, image: QImage) -> None:
        """Draw the visible detections on a picture of the same frame."""
        placement = fit((image.width(), image.height()), self._size)
        with QPainter(image) as painter:
            size = image.width(), image.height()
            overlay = Overlay(self.visible_detections, placement, size, self.label_of, 1.0, self._numbers, labelled=self._labelled)
            overlay.paint(painter, boxes=self._boxes)
            self._draw_others(painter, placement, 1.0)

    def _draw_others(self, painter: QPainter, placement: Placement, ratio: float) -> None:
        if len(self.other_detections) and self._boxes:
            draw_dashed(painter, self.other_detections, placement, self.label_of, ratio, self._other_labels & self._labelled)

    def set_statistics(self, text: str) -> None:
        """Show lines of text at the top right of the picture, "" = none."""
        if text != self.statistics:
            self.statistics = text
            self.update()

    def show_parts(self, boxes: bool, labels: bool, numbers: bool) -> None:
        """Show or hide boxes, their labels, and the numbers of tracks in these."""
        self._boxes, self._labelled, self._numbers = boxes, labels, numbers
        self._redraw()

    def reserve(self, places: Sequence[Rect]) -> None:
        """Place no labels there: x, y, width, height."""
        if places != self.reserved:
            self.reserved = places
            self._redraw()

    def _redraw(self) -> None:
        self._overlay = None
        self.update()

    def _select(self) -> None:
        found = self.result.detections if self.result is not None else None
        self.visible_detections, self.other_detections = self.filter.apply(found) if found is not None else Detections(), Detections()
        if self._split is not None and self.result is not None:
            self.visible_detections, self.other_detections, self._other_labels = self._split(self.result, self.visible_detections)
        self._pointed = self.selected = self._overlay = None
        count = len(self.visible_detections) if self._image is not None else None
        if count is None or count != self._counted:  # each change is announced to screen readers
            self._counted = count
            self.setAccessibleDescription(self._message if count is None else formats.plural(count, "object"))
        self._point()

    def label_of(self, class_id: int) -> str:
        """A class's name, or its number if it has none."""
        return self._labels[class_id] if class_id < len(self._labels) else translate("viewer", "class {class_id}").format(class_id=class_id)

    def select(self, index: int | None) -> None:
        """Mark one of the visible detections until the picture or the filter changes."""
        self.selected = index
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture, then the boxes of the same frame."""
        with QPainter(self) as painter:
            placement = self.placement
            target = _rectangle(placement) if placement is not None else QRectF()
            painter.save()  # what the picture does not cover, also the parts of pixels at its edges: outlines of boxes reach there
            painter.setClipRegion(QRegion(event.rect()) - QRegion(_inside(target)), Qt.ClipOperation.IntersectClip)
            painter.fillRect(event.rect(), QColor(theme.STAGE))
            painter.restore()
            if placement is None or self._image is None:
                _draw_message(painter, QRectF(self.rect()), self._message)
                return
            ratio = self.devicePixelRatio()
            _draw_picture(painter, target, self._image, ratio)
            if self.paint_below is not None:
                self.paint_below(painter, placement)
            if len(self.visible_detections) and self.overlay is not None:
                self.overlay.paint(painter, self._pointed, self.selected, self._boxes)
            self._draw_others(painter, placement, ratio)
            if self.paint_above is not None:
                self.paint_above(painter, placement)
            if self.note:
                colour = theme.ON_STAGE_MUTED if self.result is None else theme.ON_STAGE_WARNING
                painter.drawPixmap(target.topLeft() + NOTE, text_label(self.note, colour, round(target.width()) - 40, ratio))
            if self.statistics:
                statistics = text_label(self.statistics, theme.ON_STAGE, self.width() // 2, ratio, -2)
                painter.drawPixmap(QPointF(self.width() - 12 - statistics.width() / ratio, 12), statistics)

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


def _rectangle(placement: Placement) -> QRectF:
    return QRectF(placement.x, placement.y, placement.width, placement.height)


def _inside(target: QRectF) -> QRect:
    """The whole pixels inside a rectangle."""
    return QRect(
        QPoint(math.ceil(target.left()), math.ceil(target.top())), QPoint(math.floor(target.right()) - 1, math.floor(target.bottom()) - 1)
    )


def _draw_picture(painter: QPainter, target: QRectF, image: QImage, ratio: float) -> None:
    """Draw a picture into a rectangle, logical pixels. ratio: device pixels of a logical pixel."""
    if abs(target.width() * ratio - image.width()) < 2 and abs(target.height() * ratio - image.height()) < 2:
        # The picture was fetched for this size: a copy is sharp and takes a tenth of the time of scaling.
        painter.save()
        painter.scale(1 / ratio, 1 / ratio)
        painter.drawImage(round(target.x() * ratio), round(target.y() * ratio), image)
        painter.restore()
    else:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(target, image)


def _draw_message(painter: QPainter, area: QRectF, text: str) -> None:
    """Write text in the middle of an area."""
    painter.setPen(QColor(theme.ON_STAGE_MUTED))
    painter.drawText(area.adjusted(32, 32, -32, -32), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, text)


GAP = 4


class Pictures(QWidget):
    """Shows canvases in a grid. The main one has a frame when there are others."""

    def __init__(self, main: QWidget) -> None:
        super().__init__()
        self._main = main
        self._names: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.addWidget(main, 0, 0)

    def arrange(self, canvases: Sequence[QWidget], names: Sequence[str], side: int) -> None:
        """Show these canvases in rows of ``side``, with a name on each; one canvas alone has none."""
        while self._grid.count():
            self._grid.takeAt(0)
        for old in self._names:
            old.deleteLater()
        self._names = []
        margin = GAP // 2 if side > 1 else 0
        self._grid.setContentsMargins(margin, margin, margin, margin)
        self._grid.setSpacing(GAP if side > 1 else 0)
        for number in range(3):
            self._grid.setRowStretch(number, int(number < side))
            self._grid.setColumnStretch(number, int(number < side))
        for place, (canvas, name) in enumerate(zip(canvases, names, strict=True)):
            where = divmod(place, side)
            canvas.setMinimumSize(MIN_SIZE / side)  # several pictures need no larger window than one
            self._grid.addWidget(canvas, *where)
            canvas.show()
            if side > 1:
                title = label("small", name)
                title.setMinimumWidth(1)  # a long name does not widen the window
                title.setStyleSheet(f"background: {theme.SURFACE}; padding: 2px 6px;")
                title.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
                self._grid.addWidget(title, *where, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
                title.raise_()
                self._names.append(title)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the gaps and the frame of the main canvas."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(theme.BACKGROUND))
            if self._names:
                painter.setPen(QPen(QColor(theme.ACCENT), GAP // 2))
                painter.drawRect(self._main.geometry().adjusted(-1, -1, 1, 1))
