"""Ctrl + Z and its opposite for lines and zones, where another part of the window uses the same keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.window.zones.editor import ZoneEditor


def takes(event: QEvent) -> bool:
    """Accept these keys before the window's shortcuts see them; they come as key presses then. Returns whether it did."""
    if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_undo(event) is not None:
        event.accept()
        return True
    return False


def press(editor: ZoneEditor, event: QKeyEvent) -> bool:
    """Undo or redo. Returns whether the key says so."""
    undo = _is_undo(event)
    if undo is not None:
        editor.undo() if undo else editor.redo()
    return undo is not None


def _is_undo(event: QKeyEvent) -> bool | None:
    if event.matches(QKeySequence.StandardKey.Undo):
        return True
    return False if event.matches(QKeySequence.StandardKey.Redo) else None
