"""The bar under the picture with which the user corrects the selected object."""

from collections.abc import Sequence
from itertools import starmap

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QPushButton, QWidget

from framefleet.app.window.keys.bindings import Bindings, Command
from framefleet.app.window.widgets.build import ElidedLabel, Flow, column, label, push_button, row
from framefleet.app.window.widgets.translation import marked, translate

BUTTONS = (
    ("confirm", marked("corrections", "Confirm"), marked("corrections", "It is right: mark it as verified")),
    ("delete", marked("corrections", "Delete"), marked("corrections", "It is wrong: leave it out of all results")),
    ("split", marked("corrections", "Split"), marked("corrections", "From this picture on, the track is another object")),
    ("join", marked("corrections", "Join"), marked("corrections", "Choose a track, then another one that is the same object")),
)
"""Name, title and tooltip of each button."""
COMMANDS = tuple(
    Command(f"correct/{name}", meaning, (key,))
    for name, key, meaning in (
        ("next", "E", marked("keys", "Correct: next object of the picture")),
        ("previous", "Shift+E", marked("keys", "Correct: previous object of the picture")),
        ("confirm", "C", marked("keys", "Correct: confirm the object")),
        ("class", "R", marked("keys", "Correct: choose another class")),
        ("track", "T", marked("keys", "Correct: the whole track or one detection")),
        ("split", "B", marked("keys", "Correct: split the track")),
        ("join", "G", marked("keys", "Correct: join two tracks")),
        ("draw", "W", marked("keys", "Correct: draw a missing object")),
    )
)


class CorrectionBar(QWidget):
    """Shows the selected object and what can be done with it. asked: the name of a button. relabelled: a class id.

    draw: whether the mouse draws a missing object, of the class that ``classes`` shows.

    earlier: offers to undo a correction that the undo stack of this run of the program does not hold.
    """

    asked = Signal(str)
    relabelled = Signal(int)

    def __init__(self, bindings: Bindings) -> None:
        super().__init__()
        self._bindings = bindings
        bindings.add(COMMANDS)
        self.selected = ElidedLabel("caption")  # its text must not change the picture's size
        self.hint = label("small", wrap=True)
        self.track = QCheckBox()
        self.draw = push_button("", tip=translate("corrections", "Draw the box of an object that the model missed"), symbol="add")
        self.draw.setCheckable(True)
        self.classes = QComboBox()
        self.classes.setAccessibleName(translate("corrections", "Class of the selected object"))
        self.classes.setToolTip(translate("corrections", "Give it another class"))
        self.classes.activated.connect(lambda class_id: self.relabelled.emit(class_id) if not self.draw.isChecked() else None)
        self._title = title = label("")
        title.setBuddy(self.classes)
        title.setContentsMargins(8, 0, 0, 0)  # sets it apart from the check box before it
        self.buttons: dict[str, QPushButton] = {}
        for name, _, tip in BUTTONS:
            button = self.buttons[name] = QPushButton()
            button.setToolTip(translate("corrections", tip))
            button.clicked.connect(lambda _=False, name=name: self.asked.emit(name))
        pairs = zip(*[iter(self.buttons.values())] * 2, strict=True)
        self.earlier = push_button(
            translate("corrections", "Undo earlier correction"),
            tip=translate("corrections", "Undo the last correction that an earlier run of the program stored"),
        )
        self.earlier.hide()
        column(
            row((column(self.selected, self.hint, spacing=4), 1), self.draw, spacing=8),
            Flow(self.track, _together(title, self.classes), *starmap(_together, pairs), self.earlier, spacing=4),
            spacing=4,
            margins=(12, 6, 12, 6),
            of=self,
        )
        bindings.changed.connect(self._name_keys)
        self._name_keys()

    def _name_keys(self) -> None:
        def titled(text: str, name: str) -> str:
            return f"{text} ({self._bindings.short('window/delete' if name == 'delete' else f'correct/{name}', 1)})"

        self._title.setText(titled(translate("corrections", "Class"), "class"))
        self.track.setText(titled(translate("corrections", "Whole track"), "track"))
        self.draw.setText(titled(translate("corrections", "Draw"), "draw"))
        for name, text, _ in BUTTONS:
            self.buttons[name].setText(titled(translate("corrections", text), name))
        hint = translate(
            "corrections", "{next}, {previous}: next, previous object · Esc: none · '{later}', '{earlier}': next, previous frame"
        )
        following, before = self._bindings.short("correct/next"), self._bindings.short("correct/previous")
        later, earlier = self._bindings.short("player/next_frame"), self._bindings.short("player/previous_frame")
        self.hint.setText(hint.format(next=following, previous=before, later=later, earlier=earlier))

    def set_labels(self, labels: Sequence[str]) -> None:
        """Offer these classes."""
        if [self.classes.itemText(number) for number in range(self.classes.count())] != [*labels]:
            self.classes.clear()
            self.classes.addItems([*labels])

    def say(self, message: str) -> None:
        """Show why a correction is impossible, in the whole width, until the selection changes."""
        self.selected.show_parts([message])
        self.selected.setToolTip(message)
        self.hint.hide()

    @property
    def refused(self) -> bool:
        """Whether the bar says why a correction is impossible."""
        return self.hint.isHidden()

    def show_selected(self, parts: Sequence[str], class_id: int | None, track: int | None) -> None:
        """Show the selected object. parts: in words, the most important first. class_id: None = nothing is selected. track: None = none."""
        self.selected.show_parts(parts)
        self.selected.setToolTip(self.selected.text())
        self.hint.show()
        self.classes.setEnabled(class_id is not None or self.draw.isChecked())
        if class_id is not None:
            self.classes.setCurrentIndex(class_id)
        self.track.setEnabled(track is not None)
        for name in ("confirm", "delete"):
            self.buttons[name].setEnabled(class_id is not None)
        for name in ("split", "join"):
            self.buttons[name].setEnabled(track is not None)


def _together(*widgets: QWidget) -> QWidget:
    """Widgets that stay in one row of the bar."""
    made = QWidget()
    row(*widgets, spacing=4, of=made)
    return made
