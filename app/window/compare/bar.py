"""The bar under the picture while two results are compared, and the dialog that chooses the other result."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QTreeWidgetItem, QWidget

from framefleet.app.window.keys.bindings import Bindings, Command
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import ElidedLabel, Flow, column, push_button, row, say, within_screen, wrapped
from framefleet.app.window.widgets.fields import align, plain_tree
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.evaluation.compare import StoredResult

COMMANDS = (
    Command("compare/next", marked("keys", "Compare: next frame that differs"), ("M",)),
    Command("compare/previous", marked("keys", "Compare: previous frame that differs"), ("Shift+M",)),
    Command("compare/only", marked("keys", "Compare: only what differs"), ("Shift+D",)),
)
COLUMNS = marked("compare", "Model"), marked("compare", "Date"), marked("compare", "Frames"), marked("compare", "Session")
NUMBERS = (2,)
SIZE = 620, 340


class CompareBar(QWidget):
    """Says what is compared and where it differs. stepped: 1 = to the next frame that differs, -1 = to the previous one. closed: no more.

    only: whether only the objects are shown that differ.
    """

    stepped = Signal(int)
    closed = Signal()

    def __init__(self, bindings: Bindings) -> None:
        super().__init__()
        self._bindings = bindings
        bindings.add(COMMANDS)
        self.names, self.counts = ElidedLabel("caption"), ElidedLabel("small")  # their texts must not change the picture's size
        self.only = QCheckBox()
        self.previous = push_button("", lambda: self.stepped.emit(-1), symbol="arrow-left")
        self.next = push_button("", lambda: self.stepped.emit(1), symbol="arrow-right")
        self.close_button = push_button(translate("compare", "End the comparison"), self.closed)
        buttons = Flow(self.only, self.previous, self.next, self.close_button, spacing=8)
        column(self.names, self.counts, buttons, spacing=4, margins=(12, 6, 12, 6), of=self)
        bindings.changed.connect(self._name_keys)
        self._name_keys()

    def _name_keys(self) -> None:
        for button, text, name in (
            (self.only, translate("compare", "Only differences"), "only"),
            (self.previous, translate("compare", "Previous difference"), "previous"),
            (self.next, translate("compare", "Next difference"), "next"),
        ):
            button.setText(f"{text} ({self._bindings.short(f'compare/{name}')})")

    def show_names(self, first: str, second: str) -> None:
        """Name the results and their styles."""
        text = translate("compare", "Solid: {first} · dashed: {second}").format(first=first, second=second)
        self.names.setText(text)
        self.names.setToolTip(text)

    def show_counts(self, text: str) -> None:
        """Say where the results differ."""
        self.counts.setText(text)
        self.counts.setToolTip(text)

    def enable(self, enabled: bool) -> None:
        """Let the user go to frames that differ."""
        for button in (self.previous, self.next):
            button.setEnabled(enabled)


class ChoiceDialog(QDialog):
    """Lets the user choose other results of a video. name: of the video, "" = none is shown.

    chosen: the StoredResult. elsewhere: the user wants to choose a session in a file dialog.
    """

    chosen = Signal(object)
    elsewhere = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("compare", "Compare with other results"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._found: Sequence[StoredResult] = ()
        titles = [translate("compare", title) for title in COLUMNS]
        self.table = plain_tree(translate("compare", "Other results of this video"), titles, NUMBERS)
        self.table.itemSelectionChanged.connect(self._selected)
        self.table.itemActivated.connect(lambda *_: self._choose())
        self.said, self.problem = wrapped("muted"), wrapped("error")
        self.other = push_button(translate("compare", "Another session…"), self.elsewhere)
        self.compare = push_button(translate("compare", "Compare"), self._choose, role="primary")
        close = push_button(translate("compare", "Cancel"), self.reject)
        buttons = row(self.other, None, close, self.compare, spacing=8)
        column(self.said, (self.table, 1), self.problem, buttons, spacing=10, margins=(16, 16, 16, 14), of=self)
        self.resize(within_screen(self, *SIZE))
        self.other.setEnabled(bool(name))
        self.compare.setEnabled(False)
        missing = translate("compare", "Show a video with results first: open it, or choose a session with Open stored results….")
        looking = translate("compare", "Looking for other results of {name}…").format(name=name)
        say(self.said, looking if name else missing)

    def show_results(self, found: Sequence[StoredResult], name: str) -> None:
        """List other results of a video, the newest first."""
        self._found = found
        self.table.clear()
        for each in found:
            date = "" if each.time is None else f"{each.time:%Y-%m-%d %H:%M}"
            line = QTreeWidgetItem(self.table, [each.model, date, formats.count(each.frames), each.database.stem])
            line.setToolTip(3, str(each.database))
            align(line, NUMBERS)
        nothing = translate("compare", "There are no other results of {name} yet. Detect in it with another model: each run is stored.")
        some = translate("compare", "Other results of {name}:")
        say(self.said, (some if found else nothing).format(name=name))
        if found:
            self.table.setCurrentIndex(self.table.model().index(0, 0))

    def show_problem(self, text: str) -> None:
        """Show why a session cannot be compared, "" = nothing."""
        say(self.problem, text)

    def _selected(self) -> None:
        self.compare.setEnabled(self.table.currentItem() is not None)

    def _choose(self) -> None:
        line = self.table.currentItem()
        if line is not None:
            self.chosen.emit(self._found[self.table.indexOfTopLevelItem(line)])
            self.accept()
