"""Small things that cards and lines are made of: lights, bars, labels."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.window.widgets import theme


def draw_bar(painter: QPainter, area: QRectF, fraction: float | None, colour: str) -> None:
    """A groove, filled as far as ``fraction`` says; None leaves it empty."""
    painter.setPen(Qt.PenStyle.NoPen)
    radius = area.height() / 2
    painter.setBrush(QColor(theme.HOVER))
    painter.drawRoundedRect(area, radius, radius)
    if fraction:
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(QRectF(area.x(), area.y(), max(area.width() * fraction, area.height()), area.height()), radius, radius)


class Dot(QWidget):
    """A small round light."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(8, 8)
        self._colour = theme.MUTED

    def set_colour(self, colour: str) -> None:
        """Change its colour."""
        if colour != self._colour:
            self._colour = colour
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._colour))
            painter.drawEllipse(self.rect())


class ProgressBar(QWidget):
    """How far something is that takes a while."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(6)
        self._fraction = 0.0

    @property
    def fraction(self) -> float:
        """0..1."""
        return self._fraction

    def show_fraction(self, fraction: float) -> None:
        """0..1."""
        if fraction != self._fraction:
            self._fraction = fraction
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_bar(painter, QRectF(self.rect()), self._fraction, theme.WARNING)


class ElidedLabel(QLabel):
    """One line that ends in an ellipsis where it does not fit; the tooltip has it whole."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def minimumSizeHint(self) -> QSize:
        """As narrow as needed."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw what fits."""
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)


def label(role: str, text: str = "") -> QLabel:
    """Text as ``theme`` shows this role."""
    made = QLabel(text)
    made.setProperty("role", role)
    return made


def wrapped(role: str) -> QLabel:
    """The same for whole sentences, whatever is in them; hidden until there is one (see ``say``)."""
    made = label(role)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(True)
    made.hide()
    return made


def say(line: QLabel, text: str) -> None:
    """Show this text; the label is there only if there is any."""
    line.setText(text)
    line.setVisible(bool(text))
