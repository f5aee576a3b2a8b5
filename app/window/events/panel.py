"""The list of events beside the timeline: sort, search, jump to an event by click or key, and save as CSV."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, Qt, Signal

from framefleet.app.window.events.model import CLASS, EVENT, TRACK, EventModel
from framefleet.app.window.keys.bindings import Bindings, Command
from framefleet.app.window.keys.shortcuts import Shortcuts
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import ElidedLabel, Panel, column, push_button, row, tool_button
from framefleet.app.window.widgets.fields import clearable, combo_box, fit_names, sorted_table
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.store.objects.events import EventKind
from framefleet.engine.zones.shapes import ZoneSet

_KINDS = {
    None: marked("events", "All"),
    EventKind.APPEARANCE: marked("events", "Appearances"),
    EventKind.CROSSING: marked("events", "Crossings"),
    EventKind.VISIT: marked("events", "Visits to zones"),
}
COMMANDS = (
    Command("events/next", marked("keys", "Next event of the list"), ("Shift+N",)),
    Command("events/previous", marked("keys", "Previous event of the list"), ("Shift+P",)),
)
SEARCH = 8
"""Least width of the search field, times the height of body text: the placeholder fits."""
_WIDTHS = (62, 76, 48, 72, 56, 80)


class EventsPanel(Panel):
    """Lists events. sought: the time of the event that the user chose, seconds."""

    sought = Signal(float)

    def __init__(self, bindings: Bindings) -> None:
        super().__init__()
        self._bindings = bindings
        bindings.add(COMMANDS)
        bindings.changed.connect(self._say)
        self.model = EventModel(self)
        self._time, self._running = 0.0, False
        kinds = {kind: translate("events", title) for kind, title in _KINDS.items()}
        self.kinds = combo_box(translate("events", "Kind of event"), kinds, elided=True)
        self.search = clearable(translate("events", "Search"))
        self.search.setMinimumWidth(SEARCH * theme.base_size())
        self.search.setToolTip(translate("events", "Class, track or place"))
        self.search.setAccessibleName(translate("events", "Search events"))
        self.count = ElidedLabel("small")
        self.detach = tool_button("detach", translate("events", "Events in their own window, or back here"))
        self.save = push_button(translate("events", "CSV…"), role="flat")
        self.clips = push_button(translate("events", "Clips…"), role="flat")
        self.clips.setToolTip(translate("events", "Cut the appearances of objects out of the video"))
        self.table = sorted_table(self.model, translate("events", "Events"), _WIDTHS, EVENT)
        column(
            row(self.kinds, (self.search, 1), self.detach, spacing=6),
            (self.table, 1),
            row((self.count, 1), self.clips, self.save, spacing=6),
            spacing=6,
            of=self,
        )
        self.kinds.currentIndexChanged.connect(self._filter)
        self.search.textChanged.connect(self._filter)
        self.table.clicked.connect(self._jump)
        self.table.activated.connect(self._jump)
        acts = {"events/next": partial(self.step, forward=True), "events/previous": partial(self.step, forward=False)}
        Shortcuts(self, bindings, acts, Qt.ShortcutContext.ApplicationShortcut)

    def set_events(self, events: NDArray[np.void], labels: Sequence[str], zones: ZoneSet | None, pictures: bool = False) -> None:
        """Show other events; the filter stays. pictures: of a folder of pictures."""
        self.model.pictures = pictures
        self.model.set_events(events, labels, zones)
        self.table.setColumnHidden(TRACK, not (events["track"] >= 0).any())
        fit_names(self.table, CLASS, [self.model.label(number) for number in np.unique(events["class_id"]).tolist()])
        self._say()

    def set_running(self, running: bool) -> None:
        """Say whether the file is not finished, so that its events are not known yet."""
        if running != self._running:
            self._running = running
            self._say()

    def set_time(self, time: float) -> None:
        """The time of the picture, seconds: the next event lies after it."""
        self._time = time

    def step(self, forward: bool) -> None:
        """Jump to the next listed event, or to the one before."""
        found = self.model.row_near(self._time, forward)
        if found is not None:
            self.table.selectRow(found)
            self._jump(self.model.index(found, 0))

    def _jump(self, index: QModelIndex) -> None:
        time = self.model.time_at(index.row())
        self._time = time
        self.sought.emit(time)

    def _filter(self) -> None:
        self.model.set_filter(self.search.text(), self.kinds.currentData())
        self._say()

    def _say(self) -> None:
        if self._running:
            self.count.setText(translate("events", "The events are listed when the file is done."))
            return
        keys = {name: self._bindings.short(f"events/{name}") for name in ("next", "previous")}
        text = translate("events", "%Ln events · {next}, {previous}: next, previous", None, self.model.rowCount())
        self.count.setText(text.format(**keys))
