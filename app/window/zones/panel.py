"""The panel below the picture: the set of lines and zones, tools to draw them, their counts, and what is drawn over the picture."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QSettings, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QInputDialog, QMenu, QTableView, QWidget

from framefleet.app.window.actions import Actions
from framefleet.app.window.widgets.build import Flow, Panel, ScrollPane, column, push_button, row, say, tool_button, wrapped
from framefleet.app.window.widgets.fields import Filling, combo_box, style_table
from framefleet.app.window.widgets.questions import Mode, choose_path
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.app.window.zones import sets, shape_table
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.app.window.zones.drawing.layer import ZoneLayer
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import Line, Reference, Zone

BOXES, LABELS, ZONES, TRAILS, NUMBERS, HEAT, BY_TRACK = "boxes", "labels", "zones", "trails", "numbers", "heat", "by_track"
_PARTS = {
    BOXES: (marked("zones", "Boxes"), "Alt+B", True),
    LABELS: (marked("zones", "Labels"), "Alt+A", True),
    ZONES: (marked("zones", "Lines and zones"), "Alt+L", True),
    TRAILS: (marked("zones", "Trails"), "Alt+T", True),
    NUMBERS: (marked("zones", "Numbers of tracks"), "Alt+N", True),
    HEAT: (marked("zones", "Heat map"), "Alt+H", False),
    BY_TRACK: (marked("zones", "Tracks on the timeline instead of classes"), "Alt+K", False),
}
"""Title, key, and whether it is drawn at first."""


class ShownParts(QObject):
    """The user's choice, kept in ``store``. window: its shortcuts turn parts on and off. Attributes: actions: by the name of the part."""

    changed = Signal()

    def __init__(self, store: QSettings, window: QWidget) -> None:
        super().__init__(window)
        self._store = store
        self.actions: dict[str, QAction] = {}
        for name, (title, key, first) in _PARTS.items():
            action = self.actions[name] = QAction(translate("zones", title), window, shortcut=QKeySequence(key), checkable=True)
            action.setToolTip(action.shortcut().toString(QKeySequence.SequenceFormat.NativeText))
            action.setChecked(store.value(f"picture/{name}", "yes" if first else "no") == "yes")
            action.toggled.connect(self._toggled)
        window.addActions(list(self.actions.values()))

    def __getitem__(self, name: str) -> bool:
        """Whether a part is drawn."""
        return self.actions[name].isChecked()

    def _toggled(self) -> None:
        for name, action in self.actions.items():
            self._store.setValue(f"picture/{name}", "yes" if action.isChecked() else "no")
        self.changed.emit()


NONE = marked("zones", "No lines and zones")
KINDS = marked("zones", "Lines and zones (*.json)")
NARROWEST, CLASSES = 44, 60
"""The smallest widths of columns, and of that with the classes, logical pixels: a narrow panel scrolls instead of hiding names."""
_REFERENCES = {
    Reference.BOTTOM: marked("zones", "Bottom of the box"),
    Reference.CENTRE: marked("zones", "Centre of the box"),
    Reference.TOP: marked("zones", "Top of the box"),
}


class _Table(QTableView):
    """A table that does not make the panel scroll before it has to."""

    def sizeHint(self) -> QSize:
        """The height of the heads and one row; it may be narrow, because it scrolls."""
        return QSize(64, 46)

    def minimumSizeHint(self) -> QSize:
        """The same."""
        return self.sizeHint()


class ZonesPanel(Panel):
    """Shows and edits the lines and zones of the shown file. labels: returns those of the model.

    scope_chosen: whether the table counts all files with the set.
    """

    scope_chosen = Signal(bool)

    def __init__(
        self,
        editor: ZoneEditor,
        shown: sets.ShownSet,
        layer: ZoneLayer,
        parts: ShownParts,
        labels: Callable[[], Sequence[str]],
        actions: Actions,
    ) -> None:
        super().__init__()
        self._editor, self._set, self._layer = editor, shown, layer
        self.sets = combo_box(translate("zones", "Set of lines and zones"), elided=True)
        self.sets.setToolTip(
            translate("zones", "The lines and zones of this video. They stay with it until you give them to other videos.")
        )
        self.sets.activated.connect(lambda _: shown.choose(self.sets.currentData()))
        self.menu = QMenu(self)
        self.menu.addAction(translate("zones", "New lines and zones…"), self._ask_name)
        self.menu.addAction(translate("zones", "Import…"), self._import)
        self._of_set = (
            self.menu.addAction(translate("zones", "Export…"), self._export),
            self.menu.addAction(translate("zones", "Use for all videos of this folder"), shown.give_folder),
            self.menu.addAction(translate("zones", "Use for other videos…"), lambda: shown.ask_files(self.window())),
            self.menu.addAction(translate("zones", "Delete these lines and zones"), shown.delete),
        )
        more = push_button(
            translate("zones", "More"), role="flat", tip=translate("zones", "Give them to other videos, export or import them")
        )
        more.setMenu(self.menu)
        self.line = push_button(
            translate("zones", "Draw line"),
            lambda: self.begin(Line),
            tip=translate("zones", "Drag from where it begins to where it ends, or use the arrow keys and Enter"),
        )
        self.zone = push_button(
            translate("zones", "Draw zone"),
            lambda: self.begin(Zone),
            tip=translate("zones", "Click its corners, then the first one again, or use the arrow keys and Enter; Esc stops"),
        )
        self.undo, self.redo = tool_button("", translate("zones", "Undo")), tool_button("", translate("zones", "Redo"))
        self.undo.setDefaultAction(actions.undo)
        self.redo.setDefaultAction(actions.redo)
        self.turn = tool_button("swap", translate("zones", "Swap the directions of the line"), clicked=self._reverse)
        self.delete = tool_button("delete", translate("zones", "Delete"), clicked=actions.delete.trigger)
        drawn = push_button(translate("zones", "Show"), role="flat", tip=translate("zones", "What is drawn over the picture"))
        drawn.setMenu(QMenu(drawn))
        drawn.menu().addActions([action for name, action in parts.actions.items() if name != BY_TRACK])
        points = self.menu.addMenu(translate("zones", "Point that counts"))
        self.references, group = {}, QActionGroup(self)
        for reference, title in _REFERENCES.items():
            action = self.references[reference] = points.addAction(translate("zones", title), partial(editor.set_reference, reference))
            action.setCheckable(True)
            group.addAction(action)
        scopes = {False: translate("zones", "Whole file"), True: translate("zones", "All files with these lines")}
        self.scope = combo_box(translate("zones", "What the table counts"), scopes)
        self.scope.setToolTip(translate("zones", "What the table counts; the counts over the video go up to the shown frame"))
        self.scope.activated.connect(lambda _: self.scope_chosen.emit(self.scope.currentData()))
        self.model = shape_table.ShapeModel(editor, self)
        self.table = _Table()
        self.table.setModel(self.model)
        self.table.setAccessibleName(translate("zones", "Lines and zones"))
        self.table.setItemDelegateForColumn(1, shape_table.ClassesDelegate(labels, editor.set_classes, self.table))
        style_table(self.table)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setMinimumSectionSize(NARROWEST)
        Filling(self.table, {1: CLASSES})
        self.table.selectionModel().currentRowChanged.connect(self._select)
        self.note, self.remark = wrapped("notice"), wrapped("small")
        self._problem = self._said = ""
        self.track = push_button(translate("zones", "Track the objects"))
        self.track.setToolTip(translate("zones", "Number the objects in the stored results, without detecting again"))
        self.track.hide()
        tools = Flow(self.line, self.zone, self.undo, self.redo, self.turn, self.delete, drawn, self.scope, spacing=4)
        self._inside = inside = QWidget()
        column(ScrollPane(translate("zones", "Lines and zones"), inside), of=self)
        column(
            row((self.sets, 1), more, spacing=6),
            tools,
            (self.table, 1),
            self.remark,
            row((self.note, 1), (self.track, 0, Qt.AlignmentFlag.AlignTop)),
            spacing=6,
            margins=(12, 10, 12, 8),
            of=inside,
        )
        editor.changed.connect(self._update)
        editor.drawn.connect(self._update)
        editor.refused.connect(self.say)
        shown.failed.connect(self._set_problem)
        shown.listed.connect(self._list_sets)
        self._list_sets()

    def minimumSizeHint(self) -> QSize:
        """The width of all tools beside a scroll bar: the panel scrolls vertically only."""
        return QSize(self._inside.minimumSizeHint().width() + 12, super().minimumSizeHint().height())

    def _list_sets(self) -> None:
        """Show the names of all sets, and the one in use."""
        with QSignalBlocker(self.sets):
            self.sets.clear()
            self.sets.addItem(translate("zones", NONE), "")
            for name in self._set.library.names():
                self.sets.addItem(f"{self._set.scope} · {name}" if name == self._set.name else name, name)
            self.sets.setCurrentIndex(max(self.sets.findData(self._set.name or ""), 0))
        for action in self._of_set:
            action.setEnabled(bool(self.sets.currentData()))
        self._update()

    def set_counts(self, counts: Counts | None, note: str, can_track: bool = False, remark: str = "") -> None:
        """Show these counts. note: what is wrong with them. can_track: offer to track the objects. remark: what they count."""
        self.model.set_counts(counts)
        self.say(note)
        say(self.remark, remark)
        self.track.setVisible(can_track)

    def say(self, text: str) -> None:
        """Show a sentence, "" = none."""
        self._said = text
        say(self.note, self._problem or text)

    def _set_problem(self, text: str) -> None:
        """Show what is wrong with the set, "" = nothing. It stays when other counts are shown: the set may not be stored."""
        self._problem = text
        self.say(self._said)

    def _update(self) -> None:
        editor = self._editor
        usable = editor.zones.size != (1, 1)
        selected = editor.selected
        for button, enabled in (
            (self.line, usable),
            (self.zone, usable),
            (self.delete, selected is not None),
            (self.turn, selected is not None and isinstance(editor.zones.shapes[selected], Line)),
        ):
            button.setEnabled(enabled)
        if selected is None:
            self.table.setCurrentIndex(QModelIndex())  # else a click on the same row would change nothing
        elif self.table.currentIndex().row() != selected:
            self.table.selectRow(selected)
        self.references[editor.zones.reference].setChecked(True)
        lines = any(isinstance(shape, Line) for shape in editor.zones.shapes)
        zones = any(isinstance(shape, Zone) for shape in editor.zones.shapes)
        for section in (2, 3):
            self.table.setColumnHidden(section, zones and not lines)
            self.table.setColumnHidden(section + 2, not zones)

    def begin(self, kind: type[Line] | type[Zone]) -> None:
        """Let the user draw a line or a zone, if a video or picture is open."""
        self.say("")
        if self.line.isEnabled():
            self._layer.draw(kind)

    def _reverse(self) -> None:
        if self._editor.selected is not None:
            self._editor.reverse(self._editor.selected)

    def _select(self, current: QModelIndex, _before: QModelIndex) -> None:
        number = current.row() if current.isValid() else None
        if number != self._editor.selected:
            self._editor.select(number)

    def _ask_name(self) -> None:
        dialog = QInputDialog(self.window())
        dialog.setWindowTitle(translate("zones", "New set of lines and zones"))
        dialog.setLabelText(translate("zones", "Name, such as that of the camera:"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self._set.create)
        dialog.open()

    def _import(self) -> None:
        title, kinds = translate("zones", "Import lines and zones"), translate("zones", KINDS)
        choose_path(self.window(), title, lambda name: self._set.take(Path(name)), kinds)

    def _export(self) -> None:
        title, kinds, name = translate("zones", "Export lines and zones"), translate("zones", KINDS), f"{self.sets.currentData()}.json"
        choose_path(self.window(), title, lambda path: self._set.write(Path(path)), kinds, name, Mode.AnyFile)
