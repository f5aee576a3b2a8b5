"""Explains why detection failed in the chosen file, with what the user can do."""

from __future__ import annotations

from PySide6.QtCore import Signal

from app.window.queue.item import ItemState, QueueItem
from app.window.widgets.banner import Message, Severity
from app.window.widgets.translation import translate

LONGEST = 18
"""The longest name that fits into the queue, characters."""


class ProblemCard(Message):
    """Shown for a failed file. retry, reveal, remove: what the user chose."""

    retry = Signal()
    reveal = Signal()
    remove = Signal()

    def __init__(self) -> None:
        choices = (
            (translate("queue", "Retry"), lambda: self.retry.emit()),
            (translate("queue", "Remove"), lambda: self.remove.emit()),
            (translate("queue", "Show in folder"), lambda: self.reveal.emit()),
        )
        super().__init__(Severity.ERROR, choices, narrow=True)
        self.setProperty("role", "card")
        self.hide()

    def show_item(self, item: QueueItem | None) -> None:
        """Explain this file's failure; hide if there is none."""
        failed = item is not None and item.state is ItemState.FAILED
        if item is not None and failed:
            self.show_text(translate("queue", "{name} failed").format(name=item.path.name), item.explanation, LONGEST)
            self.setToolTip(f"{item.path}\n{item.explanation}")
        self.setVisible(failed)
