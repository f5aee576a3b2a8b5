"""Ctrl + Z and its opposite for parts of the window with an undo of their own: the window uses the same keys."""

from collections.abc import Callable

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QKeySequence


def takes(event: QEvent) -> bool:
    """Accept these keys before the window's shortcuts see them; they come as key presses then. Returns whether it did."""
    if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_undo(event) is not None:
        event.accept()
        return True
    return False


def press(event: QKeyEvent, undo: Callable[[], object], redo: Callable[[], object]) -> bool:
    """Undo or redo. Returns whether the key says so."""
    wanted = _is_undo(event)
    if wanted is not None:
        (undo if wanted else redo)()
    return wanted is not None


def _is_undo(event: QKeyEvent) -> bool | None:
    if event.matches(QKeySequence.StandardKey.Undo):
        return True
    return False if event.matches(QKeySequence.StandardKey.Redo) else None
