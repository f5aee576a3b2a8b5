"""Asks before the window closes while files are not finished."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QWidget

from app.window.queue.model import QueueModel
from app.window.widgets.translation import translate


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
            box = self._box = QMessageBox(self._window)
            box.setIcon(QMessageBox.Icon.Question)
            box.setWindowTitle(translate("messages", "Quit Framefleet"))
            box.setText(translate("messages", "Detection has not finished in %Ln files.", None, waiting))
            box.setInformativeText(
                translate("messages", "Finished frames are stored. At the next start you can continue where detection stopped.")
            )
            leave = box.addButton(translate("messages", "Quit"), QMessageBox.ButtonRole.AcceptRole)
            stay = box.addButton(translate("messages", "Keep detecting"), QMessageBox.ButtonRole.RejectRole)
            box.setDefaultButton(stay)
            box.setEscapeButton(stay)
            box.finished.connect(lambda _: self._answered(box.clickedButton() is leave))
            box.open()
        return False

    def _answered(self, leave: bool) -> None:
        if self._box is not None:
            self._box.deleteLater()
            self._box = None
        if leave:
            self.ask = False
            self._close()
