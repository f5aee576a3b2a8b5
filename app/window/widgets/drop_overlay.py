"""What lies over the window while files are dragged across it: where they may be dropped, and what that will do."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.window.queue.intake import Intake
from app.window.widgets import formats, theme
from app.window.widgets.icons import pixmap


class DropOverlay(QWidget):
    """Covers its parent; the mouse goes through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = ""
        self.hide()

    def show_for(self, intake: Intake) -> None:
        """Cover the parent and say what dropping would do."""
        self.title = drop_title(intake)
        self.setAccessibleName(self.title)
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect())
        self.raise_()
        self.show()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """A veil, a dashed frame, an arrow and the words."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), QColor(14, 16, 20, 236))
            frame = QRectF(self.rect()).adjusted(20, 20, -20, -20)
            painter.setPen(QPen(QColor(theme.ACCENT), 2, Qt.PenStyle.DashLine))
            ground = QColor(theme.ACCENT)
            ground.setAlpha(20)
            painter.setBrush(ground)
            painter.drawRoundedRect(frame, 14, 14)
            middle = frame.center()
            painter.drawPixmap(round(middle.x() - 24), round(middle.y() - 64), pixmap("drop", 48, theme.ACCENT))
            painter.setPen(QColor(theme.TEXT))
            painter.setFont(theme.font(6, bold=True))
            painter.drawText(QRectF(frame.x(), middle.y(), frame.width(), 40), Qt.AlignmentFlag.AlignCenter, self.title)


def drop_title(intake: Intake) -> str:
    """What dropping would do: ``Drop to detect in 3 files``."""
    if intake.sessions and not (intake.sources or intake.has_model):
        return "Drop to open these results"
    sources = formats.plural(len(intake.sources), "item")
    if intake.has_model and intake.sources:
        return f"Drop to set the model and add {sources}"
    if intake.has_model:
        return "Drop to use this model"
    if len(intake.sources) == 1:
        return f"Drop to add {intake.sources[0].name}"
    return f"Drop to add {sources}"
