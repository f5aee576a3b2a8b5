"""The bar under the picture with which the user corrects the selected object."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QPushButton, QWidget

from app.window.widgets.build import ElidedLabel, column, label, row
from app.window.widgets.translation import marked, translate

BUTTONS = (
    ("confirm", marked("corrections", "Confirm"), "C", marked("corrections", "It is right: mark it as verified")),
    ("delete", marked("corrections", "Delete"), "Backspace", marked("corrections", "It is wrong: leave it out of all results")),
    ("split", marked("corrections", "Split"), "B", marked("corrections", "From this picture on, the track is another object")),
    ("join", marked("corrections", "Join"), "G", marked("corrections", "Choose a track, then another one that is the same object")),
    ("undo", marked("corrections", "Undo"), "U", marked("corrections", "Undo the last correction of this session (also Ctrl+Z)")),
    ("redo", marked("corrections", "Redo"), "Shift+U", marked("corrections", "Do it again (also Ctrl+Shift+Z)")),
)
"""Name, title, key and tooltip of each button."""
_SHOWN = {"Backspace": "⌫", "Shift+U": "⇧U"}

NEXT, PREVIOUS, RELABEL, TRACK = "E", "Shift+E", "R", "T"
"""Further keys: the next and the previous object of the picture, the list of classes, and whether the whole track is meant."""


class CorrectionBar(QWidget):
    """Shows the selected object and what can be done with it. asked: the name of a button. relabelled: a class id."""

    asked = Signal(str)
    relabelled = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.selected = ElidedLabel("caption")  # its text must not change the picture's size
        self.hint = label("small", translate("corrections", "E, ⇧E: next and previous object · Esc: none · . , : next and previous frame"))
        self.track = QCheckBox(translate("corrections", "Whole track ({key})").format(key=TRACK))
        self.classes = QComboBox()
        self.classes.setAccessibleName(translate("corrections", "Class of the selected object"))
        self.classes.setToolTip(translate("corrections", "Give it another class ({key})").format(key=RELABEL))
        self.classes.activated.connect(self.relabelled)
        title = label("", translate("corrections", "Class ({key})").format(key=RELABEL))
        title.setBuddy(self.classes)
        self.buttons: dict[str, QPushButton] = {}
        for name, text, key, tip in BUTTONS:
            button = self.buttons[name] = QPushButton(f"{translate('corrections', text)} ({_SHOWN.get(key, key)})")
            button.setToolTip(translate("corrections", tip))
            button.clicked.connect(lambda _=False, name=name: self.asked.emit(name))
        column(
            row((self.selected, 1), self.hint, spacing=6),
            row(self.track, 8, title, self.classes, None, *self.buttons.values(), spacing=4),
            spacing=6,
            margins=(12, 6, 12, 6),
            of=self,
        )

    def set_labels(self, labels: Sequence[str]) -> None:
        """Offer these classes."""
        if [self.classes.itemText(number) for number in range(self.classes.count())] != [*labels]:
            self.classes.clear()
            self.classes.addItems([*labels])

    def show_selected(self, text: str, class_id: int | None, track: int | None) -> None:
        """Show the selected object. text: in words. class_id: None = nothing is selected. track: None = it has none."""
        self.selected.setText(text)
        self.classes.setEnabled(class_id is not None)
        if class_id is not None:
            self.classes.setCurrentIndex(class_id)
        self.track.setEnabled(track is not None)
        for name in ("confirm", "delete"):
            self.buttons[name].setEnabled(class_id is not None)
        for name in ("split", "join"):
            self.buttons[name].setEnabled(track is not None)
