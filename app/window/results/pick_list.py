"""A combo box whose last choice shows a list with check boxes."""

from collections.abc import Collection, Sequence
from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from framefleet.app.window.widgets.fields import combo_box

LIST_HEIGHT = 110
"""Height of the list, logical pixels."""
_SOME = "some"


class PickList(QObject):
    """Lets the user choose one of a few values, or tick some in a list. changed: the choice has changed.

    name: of the field. choices, lines: titles and values. some: title of the choice that shows the list.
    """

    changed = Signal()

    def __init__(self, name: str, choices: Sequence[tuple[str, Any]], lines: Sequence[tuple[str, Any]], some: str) -> None:
        super().__init__()
        self._name = name
        self.combo, self.list = combo_box(name), QListWidget()
        for title, value in choices:
            self.combo.addItem(title, value)
        if len(lines) > 1:
            self.combo.addItem(some, _SOME)
        for title, value in lines:
            line = QListWidgetItem(title, self.list)
            line.setData(Qt.ItemDataRole.UserRole, value)
            line.setCheckState(Qt.CheckState.Unchecked)
        self.list.setAccessibleName(some)
        self.list.setFixedHeight(LIST_HEIGHT)
        self.list.setProperty("role", "picks")
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)  # the style, which sets the height of lines, comes later
        self.list.hide()
        self.combo.currentIndexChanged.connect(self._show_list)
        self.list.itemChanged.connect(self.changed)

    @property
    def rows(self) -> tuple[tuple[str, QWidget], tuple[str, QWidget]]:
        """The rows for ``form_grid``: the list has its own, so that the name stands beside the combo box."""
        return (self._name, self.combo), ("", self.list)

    @property
    def several(self) -> bool:
        """Whether the list with check boxes is shown."""
        return bool(self.combo.currentData() == _SOME)

    @property
    def values(self) -> tuple[Any, ...]:
        """The chosen value, or the ticked ones."""
        if not self.several:
            return (self.combo.currentData(),)
        return tuple(line.data(Qt.ItemDataRole.UserRole) for line in self._lines if line.checkState() is Qt.CheckState.Checked)

    def choose(self, values: Collection[Any]) -> None:
        """Choose one value, or show the list with these ones ticked."""
        self._tick(values)
        one = next((place for place in range(self.combo.count()) if self.combo.itemData(place) in values), -1) if len(values) == 1 else -1
        with QSignalBlocker(self.combo):
            self.combo.setCurrentIndex(one if one >= 0 else max(self.combo.findData(_SOME), 0))
        self._show_list()

    def _tick(self, values: Collection[Any]) -> None:
        with QSignalBlocker(self.list):
            for line in self._lines:
                line.setCheckState(Qt.CheckState.Checked if line.data(Qt.ItemDataRole.UserRole) in values else Qt.CheckState.Unchecked)

    @property
    def _lines(self) -> list[QListWidgetItem]:
        return [self.list.item(place) for place in range(self.list.count())]

    def _show_list(self) -> None:
        one = self.combo.currentData()
        values = [line.data(Qt.ItemDataRole.UserRole) for line in self._lines]
        if not self.several:
            self._tick((one,) if one in values else values)  # the list begins with what was chosen before
        self.list.setVisible(self.several)
        self.changed.emit()
