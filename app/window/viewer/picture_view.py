"""The picture with its detections drawn over it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from framefleet.app.window.viewer.chips import chip
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.layout import Placement, Zoom, fit
from framefleet.app.window.viewer.overlay import Overlay
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.media.annotation.label_position import Rect
from framefleet.engine.types import Detections, FrameResult

NOT_YET = marked("viewer", "Not analysed yet")
LEAST = QSize(240, 160)
"""The least size of a picture that is shown alone, logical pixels."""
NOTE = QPointF(10, 10)
"""The place of the note, from the top left corner of the picture."""


class PictureView(QWidget):
    """Shows one undistorted picture with the boxes of the same frame. unmarked: the picture is gone, or the filter has changed.

    Attributes: result: of the picture, None = none yet. filter: which of its detections are visible. visible_detections: these.
    statistics: the text at the top right, "" = none. paint_below: paints on the picture, below the boxes.
    """

    unmarked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(LEAST)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(translate("viewer", "Video"))
        self._image: QImage | None = None
        self._size = (1, 1)
        self.result: FrameResult | None = None
        self.visible_detections = Detections()
        self.filter = ViewFilter()
        self._labels: tuple[str, ...] = ()
        self.paint_below: Callable[[QPainter, Placement], None] | None = None
        self._message = self.statistics = ""
        self._missing = translate("viewer", NOT_YET)
        self._pointed: int | None = None
        self._selected: int | None = None
        self._counted: int | None = None
        self._overlay: Overlay | None = None
        self._zoom = Zoom()
        self._numbers = True
        self._reserved: Sequence[Rect] = ()

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
            self._overlay = Overlay(self.visible_detections, placement, self._area, self.label_of, ratio, self._numbers, self._reserved)
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
            else translate("viewer", "No detections for this frame: {failure}").format(failure=self.result.failure)
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
            self.update(_rectangle(now).toRect())

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

    def draw_boxes(self, image: QImage) -> None:
        """Draw the visible detections on a picture of the same frame."""
        placement = fit((image.width(), image.height()), self._size)
        with QPainter(image) as painter:
            size = image.width(), image.height()
            Overlay(self.visible_detections, placement, size, self.label_of, 1.0, self._numbers).paint(painter)

    def set_statistics(self, text: str) -> None:
        """Show lines of text at the top right of the picture, "" = none."""
        if text != self.statistics:
            self.statistics = text
            self.update()

    def show_numbers(self, shown: bool) -> None:
        """Show or hide the numbers of tracks."""
        self._numbers = shown
        self._redraw()

    def reserve(self, places: Sequence[Rect]) -> None:
        """Place no labels there: x, y, width, height."""
        if places != self._reserved:
            self._reserved = places
            self._redraw()

    def _redraw(self) -> None:
        self._overlay = None
        self.update()

    def _select(self) -> None:
        found = self.result.detections if self.result is not None else None
        self.visible_detections = self.filter.apply(found) if found is not None else Detections()
        self._pointed = self._selected = self._overlay = None
        count = len(self.visible_detections) if self._image is not None else None
        if count is None or count != self._counted:  # each change is announced to screen readers
            self._counted = count
            self.setAccessibleDescription(self._message if count is None else formats.plural(count, "object"))

    def label_of(self, class_id: int) -> str:
        """A class's name, or its number if it has none."""
        return self._labels[class_id] if class_id < len(self._labels) else translate("viewer", "class {class_id}").format(class_id=class_id)

    def select(self, index: int | None) -> None:
        """Mark one of the visible detections until the picture or the filter changes."""
        self._selected = index
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture, then the boxes of the same frame."""
        with QPainter(self) as painter:
            placement = self.placement
            target = _rectangle(placement) if placement is not None else QRectF()
            if not target.adjusted(-1, -1, 1, 1).contains(QRectF(event.rect())):  # else the bars beside the picture stay as they are
                painter.fillRect(event.rect(), QColor(theme.STAGE))
            if placement is None or self._image is None:
                _draw_message(painter, QRectF(self.rect()), self._message)
                return
            ratio = self.devicePixelRatio()
            _draw_picture(painter, target, self._image, ratio)
            if self.paint_below is not None:
                self.paint_below(painter, placement)
            if len(self.visible_detections) and self.overlay is not None:
                self.overlay.paint(painter, self._pointed, self._selected)
            if self.note:
                colour = theme.ON_STAGE_MUTED if self.result is None else theme.ON_STAGE_WARNING
                painter.drawPixmap(target.topLeft() + NOTE, chip(self.note, colour, round(target.width()) - 40, ratio))
            if self.statistics:
                statistics = chip(self.statistics, theme.ON_STAGE, self.width() // 2, ratio, -2)
                painter.drawPixmap(QPointF(self.width() - 12 - statistics.width() / ratio, 12), statistics)


def _rectangle(placement: Placement) -> QRectF:
    return QRectF(placement.x, placement.y, placement.width, placement.height)


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
