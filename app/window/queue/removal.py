"""Removes files from the queue, and puts them back if the user wants."""

from collections.abc import Sequence

from PySide6.QtGui import QUndoCommand

from framefleet.app.window.session.controller import DetectionController, Removed
from framefleet.app.window.widgets.translation import translate


class RemoveFiles(QUndoCommand):
    """The user removed these files."""

    def __init__(self, run: DetectionController, keys: Sequence[int], name: str) -> None:
        one = translate("queue", "Remove {name}").format(name=name)
        super().__init__(one if len(keys) == 1 else translate("queue", "Remove %Ln files", None, len(keys)))
        self._run, self._keys = run, keys
        self._removed: list[Removed] = []

    def redo(self) -> None:
        """Remove the files."""
        self._removed = [removed for key in self._keys if (removed := self._run.remove(key)) is not None]

    def undo(self) -> None:
        """Put the files back into their rows."""
        for removed in reversed(self._removed):
            self._run.put_back(removed)
