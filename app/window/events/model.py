"""The events of a file as a table model over arrays, so that a hundred thousand rows take no objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from app.window.widgets import formats
from app.window.widgets.translation import marked, translate
from engine.media.annotation.colours import class_colour
from engine.store.objects.events import EVENTS, EventKind, words
from engine.zones.shapes import ZoneSet

Index: TypeAlias = QModelIndex | QPersistentModelIndex
HEADINGS = (
    marked("events", "Time"),
    marked("events", "Class"),
    marked("events", "Track"),
    marked("events", "Event"),
    marked("events", "Length"),
    marked("events", "Confidence"),
)
TIME, CLASS, TRACK, EVENT, LENGTH, CONFIDENCE = range(len(HEADINGS))
_ROOT = QModelIndex()


class EventModel(QAbstractTableModel):
    """Shows the events that pass a filter, sorted by a column."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._events: NDArray[np.void] = np.zeros(0, EVENTS)
        self._rows: NDArray[np.intp] = np.zeros(0, np.intp)
        self._labels: tuple[str, ...] = ()
        self._zones: ZoneSet | None = None
        self._column, self._descending = TIME, False
        self._text = ""
        self._kind: EventKind | None = None
        self._classes: frozenset[int] | None = None

    def set_events(self, events: NDArray[np.void], labels: Sequence[str], zones: ZoneSet | None) -> None:
        """Show other events: ``EVENTS`` in the order of their starts. labels: of the model."""
        self._events, self._labels, self._zones = events, tuple(labels), zones
        self._refresh()

    def set_filter(self, text: str, kind: EventKind | None, classes: frozenset[int] | None = None) -> None:
        """Show only events of a kind, of some classes, and with a text in their class, track or event. None, "" = all."""
        self._text, self._kind, self._classes = text.strip().casefold(), kind, classes
        self._refresh()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; equal rows stay in the order of time."""
        self._column, self._descending = column, order is Qt.SortOrder.DescendingOrder
        self._refresh()

    def time_at(self, row: int) -> float:
        """When the event in a row starts, seconds."""
        return float(self._events["start"][self._rows[row]])

    def row_near(self, time: float, forward: bool) -> int | None:
        """The row of the next event after a time, or of the last one before it; None if there is none."""
        starts = self._events["start"][self._rows]
        fitting = np.flatnonzero(starts > time + 1e-6 if forward else starts < time - 1e-6)
        if not len(fitting):
            return None
        return int(fitting[np.argmin(starts[fitting]) if forward else np.argmax(starts[fitting])])

    def _refresh(self) -> None:
        self.beginResetModel()
        rows = np.flatnonzero(self._passing())
        keys = self._keys(rows)
        order = np.argsort(keys, kind="stable")
        if self._descending:  # equal rows stay in the order of time
            order = len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
        self._rows = rows[order]
        self.endResetModel()

    def _passing(self) -> NDArray[np.bool_]:
        events = self._events
        keep = np.ones(len(events), bool)
        if self._kind is not None:
            keep &= events["kind"] == self._kind
        if self._classes is not None:
            keep &= np.isin(events["class_id"], np.fromiter(self._classes, np.int64, len(self._classes)))
        if self._text:
            classes = [number for number, label in enumerate(self._labels) if self._text in label.casefold()]
            found = np.isin(events["class_id"], np.array(classes, np.int64))
            if self._text.isdecimal():
                found |= events["track"] == int(self._text)
            shapes = self._zones.shapes if self._zones is not None else ()
            places = [number for number, shape in enumerate(shapes) if self._text in shape.name.casefold()]
            keep &= found | np.isin(events["shape"], np.array(places, np.int64))
        return keep

    def _keys(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        events = self._events[rows]
        match self._column:
            case 1:
                ranks = np.argsort(np.argsort(np.array([*self._labels, ""]).astype(str)))
                return np.asarray(ranks[np.minimum(events["class_id"], len(self._labels))])
            case 2:
                return np.asarray(events["track"])
            case 3:
                return np.asarray((events["shape"] * 4 + events["kind"]) * 2 + events["forward"])
            case 4:
                return np.asarray(events["end"] - events["start"])
            case 5:
                return np.asarray(np.nan_to_num(events["confidence"], nan=-1.0))
        return np.asarray(events["start"])

    def rowCount(self, parent: Index = _ROOT) -> int:
        """The number of events that pass the filter."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """The number of columns."""
        return 0 if parent.isValid() else len(HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The titles of the columns."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return translate("events", HEADINGS[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell, and the colour of a class."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(self._events[self._rows[index.row()]], index.column())
        if role == Qt.ItemDataRole.DecorationRole and index.column() == CLASS:
            return QColor(*class_colour(int(self._events["class_id"][self._rows[index.row()]])))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in (TRACK, LENGTH, CONFIDENCE):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _cell(self, event: np.void, column: int) -> str:
        class_id, confidence, seconds = int(event["class_id"]), float(event["confidence"]), float(event["end"] - event["start"])
        match column:
            case 0:
                return formats.clock(float(event["start"]), 1)
            case 1:
                return (
                    self._labels[class_id]
                    if class_id < len(self._labels)
                    else translate("events", "class {class_id}").format(class_id=class_id)
                )
            case 2:
                return str(event["track"]) if event["track"] >= 0 else ""
            case 3:
                return words(event, self._zones)
            case 4:
                return (
                    translate("events", "{seconds} s").format(seconds=formats.decimal(seconds))
                    if event["kind"] != EventKind.CROSSING
                    else ""
                )
        return "" if np.isnan(confidence) else formats.percent(confidence)
