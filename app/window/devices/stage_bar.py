"""Where a frame's time goes on one device: one bar, cut into stages."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.widgets import formats, theme

COLOURS = {
    "decode": "#4c79bd",
    "queue": "#3a414d",
    "upload": "#3f5f93",
    "preprocess": "#5a93e6",
    "infer": "#6aa5ff",
    "network": "#6aa5ff",
    "postprocess": "#87b8ff",
    "deliver": "#a9ccff",
    "download": "#a9ccff",
}
ORDER = tuple(COLOURS)


class StageBar(QWidget):
    """A bar of fixed height whose parts are as long as the stages take; the tooltip has the numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Time per stage")
        self._stages: dict[str, float] = {}
        self._bottleneck: str | None = None

    def show_stages(self, stages: Mapping[str, float], bottleneck: str | None = None) -> None:
        """Mean ms a frame spends in each stage, in order; the one that sets the pace stands out."""
        if (dict(stages), bottleneck) != (self._stages, self._bottleneck):
            self._stages, self._bottleneck = dict(stages), bottleneck
            self.setToolTip(legend(stages))
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the parts side by side."""
        with QPainter(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        total = sum(self._stages.values())
        if total <= 0:
            painter.setBrush(QColor(theme.HOVER))
            painter.drawRoundedRect(QRectF(self.rect()), 3, 3)
            return
        x, room = 0.0, self.width() - (len(self._stages) - 1)
        for name, value in self._stages.items():
            width = room * value / total
            painter.fillRect(QRectF(x, 0, max(width, 1.0), self.height()), QColor(self._colour(name)))
            x += width + 1

    def _colour(self, name: str) -> str:
        return theme.WARNING if name == self._bottleneck else COLOURS.get(_kind(name), theme.MUTED)


def _kind(name: str) -> str:
    """Of a stage that there is once for each device: "network cuda:1" is a network."""
    return name.partition(" ")[0]


def in_order(stages: Mapping[str, float]) -> dict[str, float]:
    """The stages as a frame goes through them."""

    def place(name: str) -> tuple[int, str]:
        return ORDER.index(_kind(name)) if _kind(name) in ORDER else len(ORDER), name

    return {name: stages[name] for name in sorted(stages, key=place)}


def legend(stages: Mapping[str, float]) -> str:
    """The stages in words, one a line: ``decode 1.2 ms``."""
    return "\n".join(f"{name} {formats.milliseconds(value)} ms" for name, value in stages.items())


def short_legend(stages: Mapping[str, float]) -> str:
    """The same in a line or two: ``ms: decode 1.2 · infer 8.3``; no number is parted from its name."""
    parts = (f"{name}\N{NO-BREAK SPACE}{formats.milliseconds(value)}" for name, value in stages.items())
    return f"ms: {' · '.join(parts)}" if stages else ""
