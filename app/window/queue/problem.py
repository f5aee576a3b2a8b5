"""Explains why detection failed in the chosen file, with what the user can do."""

from collections.abc import Callable

from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.widgets.banner import Message, Severity
from framefleet.app.window.widgets.translation import translate

LONGEST = 18
"""The longest name that fits into the queue, characters."""


class ProblemCard(Message):
    """Shown for a file that failed, or of which frames are missing. retry, remove, reveal: what its buttons do."""

    def __init__(self, retry: Callable[[], None], remove: Callable[[], None], reveal: Callable[[], None]) -> None:
        choices = (
            (translate("queue", "Retry"), retry),
            (translate("queue", "Remove"), remove),
            (translate("queue", "Show in folder"), reveal),
        )
        super().__init__(Severity.ERROR, choices, narrow=True)
        self.setProperty("role", "card")
        self.hide()

    def show_item(self, item: QueueItem | None) -> None:
        """Explain what is wrong with this file; hide if nothing is."""
        failed = item is not None and item.state is ItemState.FAILED
        lost = item.progress.failed if item is not None and item.state is ItemState.DONE else 0
        if item is not None and (failed or lost):
            title, why = translate("queue", "{name} failed"), item.explanation
            if lost:
                title = translate("queue", "{name} is incomplete")
                why = translate("queue", "%Ln frames have no detections, because they could not be read or detected.", None, lost)
            self.symbol.show_icon("warning" if lost else "error", "WARNING" if lost else "DANGER")
            self.show_text(title.format(name=item.path.name), why, LONGEST)
            self.setToolTip(f"{item.path}\n{why}")
        self.setVisible(failed or bool(lost))
