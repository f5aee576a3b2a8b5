"""The small parts of cards and bars: lights, progress bars and labels."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.window.widgets import theme
from app.window.widgets.painting import LEFT, draw_bar, painting


class Dot(QWidget):
    """A small round light."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(8, 8)
        self._colour = theme.MUTED

    def set_colour(self, colour: str) -> None:
        """Change the colour."""
        if colour != self._colour:
            self._colour = colour
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the light."""
        with painting(self) as painter:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._colour))
            painter.drawEllipse(self.rect())


class ProgressBar(QWidget):
    """A thin bar that shows progress."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(6)
        self.fraction = 0.0

    def show_fraction(self, fraction: float) -> None:
        """Show this progress, 0..1."""
        if fraction != self.fraction:
            self.fraction = fraction
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bar."""
        with painting(self) as painter:
            draw_bar(painter, QRectF(self.rect()), self.fraction, theme.WARNING)


class ElidedLabel(QLabel):
    """One line of plain text that ends in an ellipsis if it does not fit. It does not widen its parent."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def minimumSizeHint(self) -> QSize:
        """The height of one line; no minimum width."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the text, elided to the width."""
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), int(LEFT), text)


def label(role: str, text: str = "", *, tip: str = "", wrap: bool = False) -> QLabel:
    """A label with plain text in the style of this role. tip: its tooltip. wrap: break long text into lines."""
    made = QLabel(text)
    made.setProperty("role", role)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setToolTip(tip)
    made.setWordWrap(wrap)
    return made


def wrapped(role: str) -> QLabel:
    """A label for whole sentences, hidden until ``say`` sets its text."""
    made = label(role, wrap=True)
    made.hide()
    return made


def say(line: QLabel, text: str) -> None:
    """Show this text, or hide the label if it is empty."""
    line.setText(text)
    line.setVisible(bool(text))


def set_role(widget: QWidget, role: str) -> None:
    """Show a widget in the style of another role."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
