"""The player's keys."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.window.viewer.viewer import JUMP, Viewer


def press(viewer: Viewer, event: QKeyEvent) -> bool:
    """Do what a key means for the player; False if it means nothing."""
    if viewer.item is None or event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
        return False
    shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    player, transport = viewer.player, viewer.transport
    match event.key():
        case Qt.Key.Key_Space | Qt.Key.Key_K:
            if not event.isAutoRepeat():
                player.toggle()
        case Qt.Key.Key_Left:
            viewer.seek_by(-JUMP) if shift else player.step(-1)
        case Qt.Key.Key_Right:
            viewer.seek_by(JUMP) if shift else player.step(1)
        case Qt.Key.Key_Home:
            player.seek(0.0)
        case Qt.Key.Key_End:
            viewer.seek_end()
        case Qt.Key.Key_BracketLeft:
            transport.nudge_speed(-1)
        case Qt.Key.Key_BracketRight:
            transport.nudge_speed(1)
        case Qt.Key.Key_L:
            transport.follow.toggle()
        case _:
            return False
    return True
