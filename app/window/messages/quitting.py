"""Asks before the window closes while files are not finished."""

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QWidget

from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.widgets.questions import ask
from framefleet.app.window.widgets.translation import translate


class QuitQuestion:
    """Asks once. ``ask``: whether to ask at all; the application sets it, a signal that ends the program clears it."""

    def __init__(self, window: QWidget, items: QueueModel, close: Callable[[], object]) -> None:
        self._window, self._items, self._close = window, items, close
        self._box: QMessageBox | None = None
        self.ask = False

    def may_close(self) -> bool:
        """Whether the window may close now. If not, a dialog asks, and closes the window if the user wants."""
        waiting = sum(not item.ended for item in self._items)
        if not self.ask or not waiting:
            return True
        if self._box is None:
            texts = (
                translate("messages", "Detection has not finished in %Ln files.", None, waiting),
                translate("messages", "Finished frames are stored. At the next start you can continue where detection stopped."),
            )
            answers = translate("messages", "Quit"), translate("messages", "Keep detecting")
            self._box = ask(self._window, translate("messages", "Quit Framefleet"), texts, answers, self._answered)
        return False

    def _answered(self, leave: bool) -> None:
        self._box = None
        if leave:
            self.ask = False
            self._close()
