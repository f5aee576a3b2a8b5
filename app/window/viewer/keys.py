"""The player's keys: one table for what they do and for the list that the user sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut

from app.window.widgets.translation import marked

if TYPE_CHECKING:
    from app.window.viewer.viewer import Viewer


@dataclass(frozen=True)
class Keys:
    """Keys with related meanings. shown: as the user reads them. acts: what each key does, by its name in Qt's portable form."""

    shown: str
    meaning: str
    acts: dict[str, Callable[[Viewer], object]]


PLAYER = (
    Keys("Space", marked("viewer", "Play or pause"), {"Space": lambda viewer: viewer.player.toggle()}),
    Keys(
        ".  ,",
        marked("viewer", "Next or previous frame"),
        {".": lambda viewer: viewer.player.step(1), ",": lambda viewer: viewer.player.step(-1)},
    ),
    Keys(
        "→  ←",
        marked("viewer", "5 seconds forward or back"),
        {"Right": lambda viewer: viewer.seeking.by(5.0), "Left": lambda viewer: viewer.seeking.by(-5.0)},
    ),
    Keys(
        "Shift + →  ←",
        marked("viewer", "1 second forward or back"),
        {"Shift+Right": lambda viewer: viewer.seeking.by(1.0), "Shift+Left": lambda viewer: viewer.seeking.by(-1.0)},
    ),
    Keys(
        marked("viewer", "Home  End"),
        marked("viewer", "First or last frame"),
        {"Home": lambda viewer: viewer.player.seek(0.0), "End": lambda viewer: viewer.seeking.to_end()},
    ),
    Keys(
        "J  K  L",
        marked("viewer", "Play back, pause, play; again: twice as fast"),
        {
            "J": lambda viewer: viewer.seeking.shuttle(-1),
            "K": lambda viewer: viewer.seeking.shuttle(0),
            "L": lambda viewer: viewer.seeking.shuttle(1),
        },
    ),
    Keys(
        "[  ]",
        marked("viewer", "Slower or faster"),
        {"[": lambda viewer: viewer.transport.nudge_speed(-1), "]": lambda viewer: viewer.transport.nudge_speed(1)},
    ),
    Keys(
        "N  P",
        marked("viewer", "Next or previous detection of the shown classes"),
        {
            "N": lambda viewer: viewer.seeking.to_detection(forward=True),
            "P": lambda viewer: viewer.seeking.to_detection(forward=False),
        },
    ),
    Keys("D", marked("viewer", "Follow detection on or off"), {"D": lambda viewer: viewer.transport.follow.toggle()}),
    Keys(
        marked("viewer", "S  Shift + S"),
        marked("viewer", "Save the picture with or without its boxes"),
        {
            "S": lambda viewer: viewer.save_picture(boxes=True),
            "Shift+S": lambda viewer: viewer.save_picture(boxes=False),
        },
    ),
    Keys(
        "I  O  X",
        marked("viewer", "Begin or end a part here, or choose the whole video"),
        {
            "I": lambda viewer: viewer.mark(end=False),
            "O": lambda viewer: viewer.mark(end=True),
            "X": lambda viewer: viewer.transport.timeline.set_part(None),
        },
    ),
    Keys("Shift + I", marked("viewer", "Statistics over the picture"), {"Shift+I": lambda viewer: viewer.toggle_statistics()}),
    Keys(
        marked("viewer", "Wheel  Ctrl + 0"),
        marked("viewer", "Enlarge the picture, or fit it again"),
        {
            "Ctrl+0": lambda viewer: viewer.canvas.set_zoom(1.0),
        },
    ),
)


class PlayerKeys:
    """Lets a viewer obey its keys while it shows a file.

    Printable keys are shortcuts of the window, so that lists do not take them for a search; fields for text take them first. The other
    keys belong to the widget with the focus, and reach ``press`` if that widget does not use them.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._acts = {name: act for keys in PLAYER for name, act in keys.acts.items()}
        self._shortcuts: list[QShortcut] = []
        for name in self._acts:
            if len(name.rpartition("+")[2]) == 1:
                shortcut = QShortcut(QKeySequence(name), viewer, context=Qt.ShortcutContext.WindowShortcut)
                shortcut.activated.connect(lambda name=name: self._act(name))
                self._shortcuts.append(shortcut)

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key that no widget has used; return False for a key that is not the player's."""
        name = QKeySequence(event.keyCombination()).toString(QKeySequence.SequenceFormat.PortableText)
        return name in self._acts and ((event.isAutoRepeat() and name == "Space") or self._act(name))

    def _act(self, name: str) -> bool:
        if self._viewer.item is None:
            return False
        self._acts[name](self._viewer)
        return True
