"""The models of the tables of events and detections."""

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from framefleet.app.window.widgets import formats, painting
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.media.annotation.layout import class_colour
from framefleet.engine.store.appearances import EVENTS, EventKind
from framefleet.engine.zones.shapes import Line, ZoneSet

Index: TypeAlias = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class ArrayModel(QAbstractTableModel):
    """Shows the rows of ``table`` that pass a filter, sorted by a column: the first one is the time, in whose order the table is.

    A row has at least a start, in seconds, and a class id.

    headings: English titles of the columns. numeric: the columns that are aligned to the right. coloured: the column with the class.
    Attributes: pictures: whether starts are positions of pictures, not seconds. begin: the start from which the shown times count, seconds.
    """

    def __init__(
        self, table: NDArray[np.void], headings: Sequence[str], numeric: Collection[int], coloured: int, parent: QObject | None
    ) -> None:
        super().__init__(parent)
        self.table, self.labels = table, tuple[str, ...]()
        self.pictures, self.begin = False, 0.0
        self._headings, self._numeric, self._coloured = headings, numeric, coloured
        self._rows: NDArray[np.intp] = np.zeros(0, np.intp)
        self._column, self._descending = 0, False

    def passing(self) -> NDArray[np.intp]:
        """The numbers of the rows that pass the filter."""
        return np.arange(len(self.table))

    def keys(self, column: int, table: NDArray[np.void]) -> NDArray[Any]:
        """What these rows are sorted by."""
        raise NotImplementedError

    def cell(self, row: np.void, column: int) -> str:
        """The text of a cell."""
        raise NotImplementedError

    def place(self, row: np.void, decimals: int) -> str:
        """When a row begins: its time, or the number of its picture."""
        start = float(row["start"])
        return formats.count(round(start) + 1) if self.pictures else formats.clock(start - self.begin, decimals)

    def label(self, class_id: int) -> str:
        """The name of a class, or its number."""
        return self.labels[class_id] if class_id < len(self.labels) else translate("events", "class {number}").format(number=class_id)

    def ranks(self, class_ids: NDArray[Any]) -> NDArray[Any]:
        """What rows with these classes are sorted by: the place of the label in the alphabet."""
        ranks = np.argsort(np.argsort(np.array([*self.labels, ""]).astype(str))).astype(np.int16)
        return np.asarray(ranks[np.minimum(class_ids, len(self.labels))])

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; equal rows stay in the order of time."""
        self._column, self._descending = column, order is Qt.SortOrder.DescendingOrder
        self.refresh()

    def refresh(self) -> None:
        """Filter and sort again."""
        self.show_rows(self.table, self.arranged(self.table, self.passing(), self._column, self._descending))

    def show_rows(self, table: NDArray[np.void], rows: NDArray[np.intp]) -> None:
        """Show these rows of a table, in this order."""
        self.beginResetModel()
        self.table, self._rows = table, rows
        self.endResetModel()

    def arranged(self, table: NDArray[np.void], rows: NDArray[np.intp], column: int, descending: bool) -> NDArray[np.intp]:
        """Some rows of a table, sorted by a column. rows: their numbers in the order of time."""
        if column == 0 and not descending:
            return rows
        keys = self.keys(column, table if len(rows) == len(table) else table[rows])
        order = np.argsort(keys, kind="stable")
        if descending:  # equal rows stay in the order of time
            order = len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
        return rows[order]

    def time_at(self, row: int) -> float:
        """The start of a row, seconds."""
        return float(self.table["start"][self._rows[row]])

    def row_near(self, time: float, forward: bool) -> int | None:
        """The row of the next start after a time, or of the last one before it; None if there is none."""
        starts = self.table["start"][self._rows]
        fitting = np.flatnonzero(starts > time + 1e-6 if forward else starts < time - 1e-6)
        if not len(fitting):
            return None
        return int(fitting[np.argmin(starts[fitting]) if forward else np.argmax(starts[fitting])])

    def rowCount(self, parent: Index = _ROOT) -> int:
        """The number of rows that pass the filter."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """The number of columns."""
        return 0 if parent.isValid() else len(self._headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The titles of the columns, aligned as their cells."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return translate("events", "Picture") if self.pictures and section == 0 else translate("events", self._headings[section])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, and the colour of a class."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self.cell(self.table[self._rows[index.row()]], index.column())
        if role == Qt.ItemDataRole.DecorationRole and index.column() == self._coloured:
            return QColor(*class_colour(int(self.table["class_id"][self._rows[index.row()]])))
        return self._alignment(index.column()) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        return painting.RIGHT if column in self._numeric else painting.LEFT


HEADINGS = (
    *(marked("events", "Time"), marked("events", "Class"), marked("events", "Track"), marked("events", "Event")),
    *(marked("events", "Length"), marked("events", "Confidence")),
)
TIME, CLASS, TRACK, EVENT, LENGTH, CONFIDENCE = range(len(HEADINGS))


class EventModel(ArrayModel):
    """Shows events, see ``EVENTS``."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(np.zeros(0, EVENTS), HEADINGS, (TRACK, LENGTH, CONFIDENCE), CLASS, parent)
        self._zones: ZoneSet | None = None
        self._text = ""
        self._kind: EventKind | None = None

    def set_events(self, events: NDArray[np.void], labels: Sequence[str], zones: ZoneSet | None) -> None:
        """Show other events: ``EVENTS`` in the order of their starts. labels: of the model."""
        self.table, self.labels, self._zones = events, tuple(labels), zones
        self.refresh()

    def set_filter(self, text: str, kind: EventKind | None) -> None:
        """Show only events of a kind, and with a text in their class, track or event. None, "" = all."""
        self._text, self._kind = text.strip().casefold(), kind
        self.refresh()

    def passing(self) -> NDArray[np.intp]:
        """The numbers of the events that pass the filter."""
        events = self.table
        keep = np.ones(len(events), bool)
        if self._kind is not None:
            keep &= events["kind"] == self._kind
        if self._text:
            classes = [number for number, label in enumerate(self.labels) if self._text in label.casefold()]
            found = np.isin(events["class_id"], np.array(classes, np.int64))
            if self._text.isdecimal():
                found |= events["track"] == int(self._text)
            shapes = self._zones.shapes if self._zones is not None else ()
            places = [number for number, shape in enumerate(shapes) if self._text in shape.name.casefold()]
            keep &= found | np.isin(events["shape"], np.array(places, np.int64))
        return np.flatnonzero(keep)

    def keys(self, column: int, table: NDArray[np.void]) -> NDArray[Any]:
        """What these events are sorted by."""
        match column:
            case 1:
                return self.ranks(table["class_id"])
            case 2:
                return np.asarray(table["track"])
            case 3:
                return np.asarray((table["shape"] * 4 + table["kind"]) * 2 + table["forward"])
            case 4:
                return np.asarray(table["end"] - table["start"])
            case 5:
                return np.asarray(np.nan_to_num(table["confidence"], nan=-1.0))
        return np.asarray(table["start"])

    def cell(self, row: np.void, column: int) -> str:
        """The text of a cell."""
        confidence, seconds = float(row["confidence"]), float(row["end"] - row["start"])
        match column:
            case 0:
                return self.place(row, 1)
            case 1:
                return self.label(int(row["class_id"]))
            case 2:
                return str(row["track"]) if row["track"] >= 0 else ""
            case 3:
                return event_words(row, self._zones)
            case 4:
                if row["kind"] == EventKind.CROSSING:
                    return ""
                if self.pictures:
                    return formats.plural(round(seconds), "picture")
                return translate("events", "{seconds} s").format(seconds=formats.decimal(seconds))
        return "" if np.isnan(confidence) else formats.percent(confidence)


def event_words(event: np.void, zones: ZoneSet | None) -> str:
    """What happens in an event, in a few words of the window's language."""
    number = int(event["shape"])
    if zones is None or number < 0:
        return translate("events", "appears")
    shape = zones.shapes[number]
    if not isinstance(shape, Line):
        return translate("events", "is in {zone}").format(zone=shape.name)
    if event["forward"]:
        return translate("events", "crosses {line} forward").format(line=shape.name)
    return translate("events", "crosses {line} backward").format(line=shape.name)
