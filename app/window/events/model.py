"""The events of a file as a table model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from framefleet.app.window.events.table_model import ArrayModel
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.store.objects.events import EVENTS, EventKind
from framefleet.engine.zones.shapes import Line, ZoneSet

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
