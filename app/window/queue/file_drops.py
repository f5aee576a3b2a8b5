"""Files that are dragged over the window and dropped on it."""

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QDropEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from framefleet.app.window.queue.intake import Intake, sort_paths
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.painting import CENTRE, draw_box, painting, pixmap
from framefleet.app.window.widgets.translation import translate

MARGIN = 12
"""The smallest room beside the title, logical pixels."""


class DropOverlay(QWidget):
    """Covers a window while files are dragged over it, and shows what dropping them does. dropped: their paths.

    It leaves mouse events to the window.
    """

    dropped = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = ""
        self._window = window
        window.setAcceptDrops(True)
        window.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the window's drag and drop events."""
        if event.type() is QEvent.Type.DragEnter and isinstance(event, QDropEvent):
            if paths := local_paths(event):
                event.acceptProposedAction()
                self._show_for(sort_paths(paths))
            return True
        if event.type() is QEvent.Type.DragLeave:
            self.hide()
        if event.type() is QEvent.Type.Drop and isinstance(event, QDropEvent):
            self.hide()
            event.acceptProposedAction()
            self._window.activateWindow()
            self.dropped.emit(local_paths(event))
            return True
        return super().eventFilter(watched, event)

    def _show_for(self, intake: Intake) -> None:
        self.title = drop_title(intake)
        self.setAccessibleName(self.title)
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Darken the window; draw a dashed frame, an arrow and the title."""
        with painting(self) as painter:
            painter.fillRect(self.rect(), QColor(14, 16, 20, 236))
            frame = QRectF(self.rect()).adjusted(20, 20, -20, -20)
            ground = QColor(theme.ACCENT)
            ground.setAlpha(20)
            draw_box(painter, frame, 14, ground, QPen(QColor(theme.ON_STAGE), 2, Qt.PenStyle.DashLine))
            middle = frame.center()
            painter.drawPixmap(round(middle.x() - 24), round(middle.y() - 64), pixmap("drop", 48, theme.ON_STAGE))
            painter.setPen(QColor(theme.ON_STAGE))
            painter.setFont(theme.font(6, bold=True))
            line = QRectF(frame.x() + MARGIN, middle.y(), frame.width() - 2 * MARGIN, 40)
            painter.drawText(line, CENTRE, painter.fontMetrics().elidedText(self.title, Qt.TextElideMode.ElideMiddle, int(line.width())))


def drop_title(intake: Intake) -> str:
    """What dropping these files does: ``Drop to add 3 items``."""
    if intake.sessions and not (intake.sources or intake.has_model):
        return translate("queue", "Drop to open these results")
    sources = formats.plural(len(intake.sources), "item")
    if intake.has_model:
        return (
            translate("queue", "Drop to set the model and add {sources}").format(sources=sources)
            if intake.sources
            else translate("queue", "Drop to use this model")
        )
    return translate("queue", "Drop to add {name}").format(name=intake.sources[0].name if len(intake.sources) == 1 else sources)


def local_paths(event: QDropEvent) -> list[Path]:
    """The local files and folders of a drag."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
