"""The player's keys: the commands, and the shortcuts that carry them out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence

from framefleet.app.window.keys.bindings import PORTABLE, Bindings, Command, Shortcuts
from framefleet.app.window.widgets.translation import marked

if TYPE_CHECKING:
    from framefleet.app.window.viewer.viewer import Viewer


@dataclass(frozen=True, kw_only=True)
class PlayerCommand(Command):
    """A command of the player. act: carries it out."""

    act: Callable[[Viewer], object]


def _command(name: str, keys: str, meaning: str, act: Callable[[Viewer], object]) -> PlayerCommand:
    return PlayerCommand(f"player/{name}", meaning, tuple(keys.split()), act=act)


PLAYER = (
    _command("play", "Space", marked("keys", "Play or pause"), lambda viewer: viewer.player.toggle()),
    _command("next_frame", ".", marked("keys", "Next frame"), lambda viewer: viewer.player.step(1)),
    _command("previous_frame", ",", marked("keys", "Previous frame"), lambda viewer: viewer.player.step(-1)),
    _command("forward_5", "Right", marked("keys", "5 seconds forward"), lambda viewer: viewer.seeking.by(5.0)),
    _command("back_5", "Left", marked("keys", "5 seconds back"), lambda viewer: viewer.seeking.by(-5.0)),
    _command("forward_1", "Shift+Right", marked("keys", "1 second forward"), lambda viewer: viewer.seeking.by(1.0)),
    _command("back_1", "Shift+Left", marked("keys", "1 second back"), lambda viewer: viewer.seeking.by(-1.0)),
    _command("first", "Home", marked("keys", "First frame"), lambda viewer: viewer.player.seek(0.0)),
    _command("last", "End", marked("keys", "Last frame"), lambda viewer: viewer.seeking.to_end()),
    _command("shuttle_back", "J", marked("keys", "Play backwards; again: twice as fast"), lambda viewer: viewer.seeking.shuttle(-1)),
    _command("shuttle_stop", "K", marked("keys", "Pause at normal speed"), lambda viewer: viewer.seeking.shuttle(0)),
    _command("shuttle", "L", marked("keys", "Play; again: twice as fast"), lambda viewer: viewer.seeking.shuttle(1)),
    _command("slower", "[", marked("keys", "Slower"), lambda viewer: viewer.transport.nudge_speed(-1)),
    _command("faster", "]", marked("keys", "Faster"), lambda viewer: viewer.transport.nudge_speed(1)),
    _command("mute", "M", marked("keys", "Sound on or off"), lambda viewer: viewer.transport.sound.toggle()),
    _command(
        "next_detection",
        "N",
        marked("keys", "Next detection of the shown classes"),
        lambda viewer: viewer.seeking.to_detection(forward=True),
    ),
    _command(
        "previous_detection",
        "P",
        marked("keys", "Previous detection of the shown classes"),
        lambda viewer: viewer.seeking.to_detection(forward=False),
    ),
    _command("wait", "D", marked("keys", "Wait for detection, on or off"), lambda viewer: viewer.transport.wait.toggle()),
    _command("save", "S", marked("keys", "Save the picture with its boxes"), lambda viewer: viewer.save_picture(boxes=True)),
    _command("save_plain", "Shift+S", marked("keys", "Save the picture without boxes"), lambda viewer: viewer.save_picture(boxes=False)),
    _command("part_begin", "Shift+I", marked("keys", "Begin a part of the video here"), lambda viewer: viewer.mark(end=False)),
    _command("part_end", "O Shift+O", marked("keys", "End the part here"), lambda viewer: viewer.mark(end=True)),
    _command("part_none", "X", marked("keys", "Choose the whole video again"), lambda viewer: viewer.transport.timeline.set_part(None)),
    _command("statistics", "I", marked("keys", "Statistics over the picture"), lambda viewer: viewer.toggle_statistics()),
    _command("fit", "Ctrl+0", marked("keys", "Fit an enlarged picture again"), lambda viewer: viewer.canvas.set_zoom(1.0)),
)
TIMELINE = (
    PlayerCommand(
        "timeline/part_begin",
        marked("keys", "Begin a part, while the mouse or the focus is on the timeline"),
        ("I",),
        focused=True,
        act=lambda viewer: viewer.mark(end=False),
    ),
)


class PlayerKeys(QObject):
    """Lets a viewer obey its keys while it shows a file.

    Printable keys are shortcuts of the window, so that lists do not take them for a search; fields for text take them first. The other
    keys belong to the widget with the focus, and reach ``press`` if that widget does not use them. ``I`` shows statistics, as in mpv; it
    begins a part while the mouse or the focus is on the timeline.
    """

    def __init__(self, viewer: Viewer, bindings: Bindings) -> None:
        super().__init__(viewer)
        self._viewer, self._bindings = viewer, bindings
        bindings.add((*PLAYER, *TIMELINE))
        acts = {command.name: partial(self._act, command) for command in PLAYER}
        Shortcuts(viewer, bindings, acts, takes=_printable)
        viewer.transport.timeline.installEventFilter(self)

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key that no widget has used; return False for a key that is not the player's."""
        command = self._bindings.owner(_name(event))
        if not isinstance(command, PlayerCommand):
            return False
        return (event.isAutoRepeat() and command is PLAYER[0]) or self._act(command)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys of the timeline while it has the focus, before those of the window. Its arrow keys are the player's."""
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            command = self._bindings.owner(_name(event), focused=True)
            if event.type() is QEvent.Type.ShortcutOverride and isinstance(command, PlayerCommand):
                event.accept()
                return True
            if event.type() is QEvent.Type.KeyPress:
                return self._act(command) if isinstance(command, PlayerCommand) else self.press(event)
        return super().eventFilter(watched, event)

    def _act(self, command: PlayerCommand) -> bool:
        if self._viewer.item is None:
            return False
        if self._viewer.transport.timeline.underMouse():
            keys = set(self._bindings.keys(command.name))
            command = next((other for other in TIMELINE if keys & set(self._bindings.keys(other.name))), command)
        command.act(self._viewer)
        return True


def _name(event: QKeyEvent) -> str:
    return QKeySequence(event.keyCombination()).toString(PORTABLE)


def _printable(key: str) -> bool:
    return len(key.rpartition("+")[2] or "+") == 1
