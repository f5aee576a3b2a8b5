"""Removes files from the queue, and puts them back if the user wants."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction

from framefleet.app.window.session.controller import DetectionController, Removed
from framefleet.app.window.widgets.translation import translate

MOST = 50
"""The largest number of steps that can be undone."""


class Removal(QObject):
    """Removes files. undo: the action that puts the last ones back; it is enabled while there are any. removed: what happened, in words."""

    removed = Signal(str)

    def __init__(self, controller: DetectionController, undo: QAction, parent: QObject) -> None:
        super().__init__(parent)
        self._controller, self._undo = controller, undo
        self._steps: list[list[Removed]] = []
        undo.triggered.connect(self.undo)
        undo.setEnabled(False)

    def remove(self, keys: Iterable[int]) -> None:
        """Remove files in one step."""
        step = [removed for key in keys if (removed := self._controller.remove(key)) is not None]
        if step:
            self._steps = [*self._steps[1 - MOST :], step]
            self._undo.setEnabled(True)
            name = step[0].item.path.name
            one = translate("queue", "Removed {name}").format(name=name)
            self.removed.emit(one if len(step) == 1 else translate("queue", "Removed %Ln files", None, len(step)))

    def undo(self) -> None:
        """Put the files of the last step back into their rows."""
        if self._steps:
            for removed in reversed(self._steps.pop()):
                self._controller.put_back(removed)
            self._undo.setEnabled(bool(self._steps))
