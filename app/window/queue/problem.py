"""Explains why detection failed in the chosen file, with what the user can do."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame

from app.window.queue.item import ItemState, QueueItem
from app.window.widgets import formats
from app.window.widgets.build import column, label, push_button, row
from app.window.widgets.icons import Symbol
from app.window.widgets.translation import translate


class ProblemCard(QFrame):
    """Shown for a failed file. retry, reveal, remove: what the user chose."""

    retry = Signal()
    reveal = Signal()
    remove = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.title, self.text = label("section", wrap=True), label("small", wrap=True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        symbol = Symbol("error", 18, "DANGER")
        choices = (
            (translate("queue", "Retry"), self.retry),
            (translate("queue", "Show file"), self.reveal),
            (translate("queue", "Remove"), self.remove),
        )
        buttons = [push_button(title, signal, role="link") for title, signal in choices]
        head = row((symbol, 0, Qt.AlignmentFlag.AlignTop), (self.title, 1), spacing=8)
        column(head, self.text, row(*buttons, None, spacing=2), spacing=6, margins=(12, 10, 12, 6), of=self)
        self.hide()

    def show_item(self, item: QueueItem | None) -> None:
        """Explain this file's failure; hide if there is none."""
        failed = item is not None and item.state is ItemState.FAILED
        if item is not None and failed:
            self.title.setText(translate("queue", "{name} failed").format(name=formats.shortened(item.path.name, 24)))
            self.text.setText(formats.shortened(item.explanation, 24))
            self.text.setToolTip(f"{item.path}\n{item.explanation}")
            self.setAccessibleName(
                translate("queue", "{name} failed: {explanation}").format(name=item.path.name, explanation=item.explanation)
            )
        self.setVisible(failed)
