"""What hardly anybody needs to change, folded away."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.window.settings.preferences import MOST_BUDGET, Preferences
from app.window.widgets import theme
from app.window.widgets.fields import choice, count, milliseconds
from app.window.widgets.form_grid import form_grid
from app.window.widgets.icons import icon
from app.window.widgets.indicators import wrapped
from engine.settings import Hint, Isolation

_ISOLATIONS = {
    Isolation.PROCESS: "A process for each device: a failure stays with its device",
    Isolation.THREAD: "One process for all: takes less memory",
}
_HINTS = {Hint.THROUGHPUT: "Most frames per second", Hint.LATENCY: "Each frame as soon as possible"}


class AdvancedForm(QWidget):
    """Hint, isolation, decode threads, latency budget. Open from the start if one of them has another value than usual.

    changed: the latency budget has changed.
    """

    changed = Signal()

    def __init__(self, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hint = choice("Optimized for", _HINTS, preferences.hint)
        self.isolation = choice("Isolation", _ISOLATIONS, preferences.isolation)
        self.decode_threads = count("Decode threads", preferences.decode_threads, 64)
        self.latency_budget = milliseconds("Latency budget", preferences.latency_budget, MOST_BUDGET, "None")
        self.latency_budget.valueChanged.connect(self.changed)
        self.budget_note = wrapped("notice")
        usual = Preferences()
        changed = any(
            getattr(preferences, name) != getattr(usual, name) for name in ("hint", "isolation", "decode_threads", "latency_budget")
        )
        self.button = QPushButton("Advanced")
        self.button.setCheckable(True)
        self.button.setChecked(changed)
        self.button.setProperty("role", "fold")
        self.button.toggled.connect(self._fold)
        self.fields = QWidget()
        self.fields.setLayout(
            form_grid(
                (
                    ("Optimized for", self.hint),
                    ("Isolation", self.isolation),
                    ("Decode threads", self.decode_threads, "segments that a device decodes at once"),
                    ("Latency budget", self.latency_budget, "the longest that an automatic batch may take on a GPU"),
                    ("", self.budget_note),
                )
            )
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self.button)
        column.addWidget(self.fields)
        self._fold()

    @Slot()
    def _fold(self) -> None:
        opened = self.button.isChecked()
        self.fields.setVisible(opened)
        self.button.setIcon(icon("chevron-up" if opened else "chevron-down", theme.MUTED))
