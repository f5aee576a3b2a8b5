"""The table of routes: how many tracks went from one line or zone to another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from framefleet.app.window.events.table_model import ArrayModel
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import Panel, column, label
from framefleet.app.window.widgets.fields import sorted_table
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.zones.counts import ROUTE_COUNTS, Counts

HEADINGS = marked("events", "From"), marked("events", "To"), marked("events", "Class"), marked("events", "Tracks")
_FIELDS = "origin", "target", "class_id", "tracks"
_WIDTHS = (100, 100, 90, 60)


class RouteModel(ArrayModel):
    """Shows routes, see ``ROUTE_COUNTS``."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(np.zeros(0, ROUTE_COUNTS), HEADINGS, (3,), 2, parent)
        self._names: tuple[str, ...] = ()

    def show_counts(self, counts: Counts | None, labels: Sequence[str]) -> None:
        """Show the routes of these counts. labels: of the model."""
        self.table = np.zeros(0, ROUTE_COUNTS) if counts is None else counts.route_counts()
        self._names = () if counts is None else tuple(shape.name for shape in counts.zones.shapes)
        self.labels = tuple(labels)
        self.refresh()

    def keys(self, column: int, table: NDArray[np.void]) -> NDArray[Any]:
        """What these routes are sorted by: places in their order, classes by label."""
        return self.ranks(table["class_id"]) if column == 2 else np.asarray(table[_FIELDS[column]])

    def cell(self, row: np.void, column: int) -> str:
        """The text of a cell."""
        value = int(row[_FIELDS[column]])
        if column == 2:
            return self.label(value)
        if column == 3:
            return formats.count(value)
        return self._names[value] if value >= 0 else translate("events", "no other place")


class RoutesPanel(Panel):
    """Lists the routes of the shown file."""

    def __init__(self) -> None:
        super().__init__()
        self.model = RouteModel(self)
        self.table = sorted_table(self.model, translate("events", "Routes"), _WIDTHS, 0, 1)
        hint = translate("events", "From the first line or zone of a track to its last one.")
        column((self.table, 1), label("small", hint, wrap=True), spacing=6, of=self)
