"""The table of lines and zones: name, classes and counts."""

from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.painting import LEFT, RIGHT
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import Line, Shape

Index: TypeAlias = QModelIndex | QPersistentModelIndex
HEADINGS = (
    *(marked("zones", "Name"), marked("zones", "Classes"), marked("zones", "Forward"), marked("zones", "Backward")),
    *(marked("zones", "Visits"), marked("zones", "Mean time")),
)
_TIPS = {
    2: marked("zones", "Crossings in the direction of the arrow at the line"),
    3: marked("zones", "Crossings against the direction of the arrow at the line"),
}
_ROOT = QModelIndex()


class ShapeModel(QAbstractTableModel):
    """A row for each line and zone. Names and classes can be edited; classes are labels with commas between them."""

    def __init__(self, editor: ZoneEditor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._counts: Counts | None = None
        self._rows = 0
        editor.changed.connect(self._changed)

    def set_counts(self, counts: Counts | None) -> None:
        """Show these counts."""
        self._counts = counts
        self._changed()

    def _changed(self) -> None:
        rows = len(self._editor.zones.shapes)
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
        elif rows:
            self.dataChanged.emit(self.index(0, 0), self.index(rows - 1, len(HEADINGS) - 1))

    def rowCount(self, parent: Index = _ROOT) -> int:
        """The number of lines and zones."""
        return 0 if parent.isValid() else self._rows

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Name, classes, two counts of lines and two of zones."""
        return 0 if parent.isValid() else len(HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The titles of the columns."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole and section in _TIPS:
            return translate("zones", _TIPS[section])
        return translate("zones", HEADINGS[section]) if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Names and classes can be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() < 2 else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell."""
        if index.row() >= len(self._editor.zones.shapes):
            return None
        shape = self._editor.zones.shapes[index.row()]
        if role == Qt.ItemDataRole.EditRole:
            return shape.name if index.column() == 0 else ", ".join(shape.classes)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return translate("zones", "Double-click to edit") if index.column() < 2 else None
        return self._text(index.row(), index.column(), shape) if role == Qt.ItemDataRole.DisplayRole else None

    def _text(self, number: int, column: int, shape: Shape) -> str:
        if column == 0:
            return shape.name
        if column == 1:
            return ", ".join(shape.classes) or translate("zones", "All")
        counts = self._counts
        if counts is None or number >= len(counts.zones.shapes) or isinstance(shape, Line) != (column < 4):
            return ""
        if isinstance(shape, Line):
            return f"{shape.arrows[column - 2]} {counts.crossed(number, forward=column == 2)}"
        if column == 4:
            return str(counts.visited(number))
        mean = counts.mean_seconds(number)
        return "" if mean is None else translate("zones", "{mean} s").format(mean=formats.decimal(mean))

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Rename a line or zone, or change its classes."""
        if role != Qt.ItemDataRole.EditRole:
            return False
        if index.column() == 0:
            return self._editor.rename(index.row(), str(value))
        self._editor.set_classes(index.row(), [name.strip() for name in str(value).split(",") if name.strip()])
        return True


def _alignment(column: int) -> Qt.AlignmentFlag:
    """Counts stand at the right of their columns."""
    return RIGHT if column > 1 else LEFT
