"""The picture with its detections drawn over it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.viewer.filter import ViewFilter
from app.window.viewer.layout import Placement, fit
from app.window.widgets import formats, theme
from app.window.widgets.painting import draw_box
from engine.media.annotation.colours import class_colour
from engine.media.annotation.label_position import Rect, label_place, overlap
from engine.types import Detections, FrameResult

NARROW = 420
"""Width of the picture below which labels are smaller, logical pixels."""
NOT_YET = "Not analysed yet"


class VideoCanvas(QWidget):
    """Shows one whole, undistorted picture with the boxes of the same frame.

    resized: the new size of the canvas, device pixels. activated: the user double-clicked it.
    """

    resized = Signal(QSize)
    activated = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(240, 160)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Video")
        self._image: QImage | None = None
        self._size = (1, 1)
        self._result: FrameResult | None = None
        self.visible_detections = Detections()
        self._filter = ViewFilter()
        self._labels: tuple[str, ...] = ()
        self._message = ""
        self._missing = NOT_YET
        self._pointed: int | None = None

    @property
    def placement(self) -> Placement | None:
        """The picture's place, in logical pixels; None without a picture."""
        return fit((self.width(), self.height()), self._size) if self._image is not None else None

    @property
    def note(self) -> str:
        """The text over the picture instead of boxes; "" = none."""
        if self._image is None:
            return ""
        if self._result is None:
            return self._missing
        return "" if self._result.failure is None else f"No detections for this frame: {self._result.failure}"

    def set_missing(self, text: str) -> None:
        """Set the text over pictures without a result."""
        if text != self._missing:
            self._missing = text
            self.update()

    def device_size(self) -> QSize:
        """The size of the canvas, device pixels."""
        return self.size() * self.devicePixelRatio()

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
            self.update(QRectF(now.x, now.y, now.width, now.height).toAlignedRect())

    def show_result(self, result: FrameResult | None) -> None:
        """Show the result of the current picture."""
        self._take(result)
        self.update()

    def _take(self, result: FrameResult | None) -> None:
        self._result = result
        if result is not None:
            self._size = (result.width, result.height)
        self._select()

    def show_message(self, message: str) -> None:
        """Show text instead of a picture."""
        self._image, self._message = None, formats.shortened(message)
        self.show_result(None)

    def set_filter(self, view_filter: ViewFilter) -> None:
        """Draw only these detections."""
        self._filter = view_filter
        self._select()
        self.update()

    def set_labels(self, labels: Sequence[str]) -> None:
        """Set the names of the classes."""
        self._labels = tuple(labels)
        self.update()

    def _select(self) -> None:
        found = self._result.detections if self._result is not None else None
        self.visible_detections = self._filter.apply(found) if found is not None else Detections()
        self._pointed = None
        self.setAccessibleDescription(formats.plural(len(self.visible_detections), "object") if self._image is not None else self._message)

    def label_of(self, class_id: int) -> str:
        """A class's name, or its number if it has none."""
        return self._labels[class_id] if class_id < len(self._labels) else f"class {class_id}"

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for pictures of the new size."""
        super().resizeEvent(event)
        self.resized.emit(self.device_size())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ask for full screen."""
        self.activated.emit()
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the smallest box under the mouse."""
        placement = self.placement
        pointed, smallest = None, float("inf")
        if placement is not None:
            for index, box in enumerate(self.visible_detections.boxes):
                rect = QRectF(*placement.rect(box.tolist()))
                area = rect.width() * rect.height()
                if area < smallest and rect.contains(event.position()):
                    pointed, smallest = index, area
        if pointed != self._pointed:
            self._pointed = pointed
            self.setToolTip("" if pointed is None else self._describe(pointed))
            self.update()

    def _describe(self, index: int) -> str:
        x1, y1, x2, y2 = self.visible_detections.boxes[index].tolist()
        label, score = self.label_of(int(self.visible_detections.class_ids[index])), float(self.visible_detections.scores[index])
        return f"{label} · {score:.1%}\n{x2 - x1:.0f} × {y2 - y1:.0f} at {x1:.0f}, {y1:.0f}"

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture, then the boxes of the same frame."""
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), QColor(theme.BACKGROUND))
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        placement = self.placement
        if placement is None or self._image is None:
            self._paint_message(painter)
            return
        target = QRectF(placement.x, placement.y, placement.width, placement.height)
        self._paint_picture(painter, target, self._image)
        self._paint_boxes(painter, placement)
        if self.note:
            self._paint_note(painter, target, self.note, theme.MUTED if self._result is None else theme.WARNING)

    def _paint_picture(self, painter: QPainter, target: QRectF, image: QImage) -> None:
        ratio = self.devicePixelRatio()
        if abs(target.width() * ratio - image.width()) < 2 and abs(target.height() * ratio - image.height()) < 2:
            # The picture was fetched for this size: a copy is sharp and takes a tenth of the time of scaling.
            painter.save()
            painter.scale(1 / ratio, 1 / ratio)
            painter.drawImage(round(target.x() * ratio), round(target.y() * ratio), image)
            painter.restore()
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(target, image)

    def _paint_message(self, painter: QPainter) -> None:
        painter.setPen(QColor(theme.MUTED))
        area = QRectF(self.rect()).adjusted(32, 32, -32, -32)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._message)

    def _paint_note(self, painter: QPainter, target: QRectF, text: str, colour: str) -> None:
        painter.setFont(theme.font(-1))
        metrics = QFontMetricsF(painter.font())
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, target.width() - 40)
        chip = QRectF(target.left() + 10, target.top() + 10, metrics.horizontalAdvance(text) + 18, metrics.height() + 8)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_box(painter, chip, 5, QColor(14, 16, 20, 215))
        painter.setPen(QColor(colour))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_boxes(self, painter: QPainter, placement: Placement) -> None:
        rects = [placement.rect(box.tolist()) for box in self.visible_detections.boxes]
        outlines = [QRectF(*rect).toRect().adjusted(0, 0, -1, -1) for rect in rects]
        colours = [QColor(*class_colour(int(class_id))) for class_id in self.visible_detections.class_ids]
        if self._pointed is not None:
            inside = QColor(colours[self._pointed])
            inside.setAlpha(60)
            painter.fillRect(outlines[self._pointed], inside)
        # Few calls with many thin rectangles: each call into Qt waits for the interpreter's lock, and wide pens are slow.
        painter.setPen(QPen(QColor(8, 10, 14, 150), 1))  # a dark rim makes boxes visible on any picture
        painter.drawRects([rim for outline in outlines for rim in (_grown(outline, 1), _grown(outline, -2))])
        for colour in dict.fromkeys(colour.rgb() for colour in reversed(colours)):  # the strongest on top
            same = [outline for outline, own in zip(outlines, colours, strict=True) if own.rgb() == colour]
            painter.setPen(QPen(QColor(colour), 1))
            painter.drawRects([line for outline in same for line in (outline, _grown(outline, -1))])
        self._paint_labels(painter, placement, rects, colours)

    def _paint_labels(self, painter: QPainter, placement: Placement, rects: Sequence[Rect], colours: Sequence[QColor]) -> None:
        painter.setFont(theme.font(-3 if placement.width < NARROW else -1, bold=True))
        metrics = QFontMetricsF(painter.font())
        bounds = (placement.x, placement.y, placement.width, placement.height)
        taken: list[Rect] = []
        found = self.visible_detections
        for index, rect in enumerate(rects):
            label, score = self.label_of(int(found.class_ids[index])), float(found.scores[index])
            text = f"{label} {int(score * 100 + 0.5)}%"
            size = (metrics.horizontalAdvance(text) + 8, metrics.height() + 1)
            place = label_place(rect, size, bounds, taken)
            if any(overlap(place, other) for other in taken):
                continue  # without room, a weaker box has only its colour and its tooltip
            taken.append(place)
            painter.fillRect(QRectF(*place), colours[index])
            painter.setPen(QColor(theme.ON_ACCENT))
            painter.drawText(QPointF(place[0] + 4, place[1] + metrics.ascent() + 0.5), text)


def _grown(rect: QRect, by: int) -> QRect:
    return rect.adjusted(-by, -by, by, by)
