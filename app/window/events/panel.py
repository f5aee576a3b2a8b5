"""The panels of events and routes, and their tabs."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QWidget

from framefleet.app.window.events.detections import DetectionsPanel
from framefleet.app.window.events.model import CLASS, EVENT, TRACK, ArrayModel, EventModel
from framefleet.app.window.keys.bindings import Bindings, Command, Shortcuts
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import ElidedLabel, Flow, Panel, column, label, push_button, row, tool_button
from framefleet.app.window.widgets.fields import clearable, combo_box, fit_names, sorted_table
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.app.window.zones.counts.chart import CountChart
from framefleet.engine.store.appearances import EventKind
from framefleet.engine.zones.counts import ROUTE_COUNTS, Counts
from framefleet.engine.zones.shapes import ZoneSet

HEADINGS = marked("events", "From"), marked("events", "To"), marked("events", "Class"), marked("events", "Tracks")
_FIELDS = "origin", "target", "class_id", "tracks"
_ROUTE_WIDTHS = (100, 100, 90, 60)


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
        self.table = sorted_table(self.model, translate("events", "Routes"), _ROUTE_WIDTHS, 0, 1)
        hint = translate("events", "From the first line or zone of a track to its last one.")
        column((self.table, 1), label("small", hint, wrap=True), spacing=6, of=self)


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
_WIDTHS = (62, 76, 48, 54, 56, 76)
_WITH_TRACKS = (56, 76, 44, 54, 50, 66)
"""Widths of the columns, logical pixels: without and with the one of tracks, beside which all others shall be visible, too."""


class EventsPanel(Panel):
    """Lists events. sought: the time of the event that the user chose, seconds."""

    sought = Signal(float)

    def __init__(self, bindings: Bindings) -> None:
        super().__init__()
        self._bindings = bindings
        bindings.add(COMMANDS)
        bindings.changed.connect(self._say)
        self.model = EventModel(self)
        self._time, self._running, self._begun = 0.0, False, False
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
        tracked = bool((events["track"] >= 0).any())
        self.table.setColumnHidden(TRACK, not tracked)
        for number, width in enumerate(_WITH_TRACKS if tracked else _WIDTHS):
            if number not in (CLASS, EVENT):
                self.table.setColumnWidth(number, width)
        fit_names(self.table, CLASS, [self.model.label(number) for number in np.unique(events["class_id"]).tolist()])
        self._say()

    def set_running(self, running: bool, begun: bool = False) -> None:
        """Say whether the file is not finished, so that its events are not known yet. begun: those of its first frames are."""
        if (running, begun) != (self._running, self._begun):
            self._running, self._begun = running, begun
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
            later, short = translate("events", "The events are listed when the file is done."), translate("events", "later")
            if self._begun and (number := self.model.rowCount()):
                short = translate("events", "%Ln events", None, number)
                later = translate("events", "{count}. The others are listed when the file is done.").format(count=short)
            self.count.show_longest([later, short])
            self.count.setToolTip(later)
            return
        keys = {name: self._bindings.short(f"events/{name}") for name in ("next", "previous")}
        hint = translate("events", "{next}, {previous}: next, previous").format(**keys)
        self.count.show_parts([translate("events", "%Ln events", None, self.model.rowCount()), hint])
        self.count.setToolTip(hint)


MARGIN = 12
"""Left and right, logical pixels."""


class EventTabs(Panel):
    """Shows one of them."""

    def __init__(self, events: EventsPanel, detections: DetectionsPanel, chart: CountChart, routes: RoutesPanel) -> None:
        super().__init__()
        self.stack, self.buttons = QStackedWidget(), QButtonGroup(self)
        titles = (
            *(translate("events", "Events"), translate("events", "Detections")),
            *(translate("events", "Counts over time"), translate("events", "Routes")),
        )
        for number, title in enumerate(titles):
            button = push_button(title, role="flat")
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.buttons.addButton(button, number)
        self.buttons.idClicked.connect(self.stack.setCurrentIndex)
        self.buttons.button(0).setChecked(True)
        # below the list: beside the heads, it would push some of them into a second row
        self.one_file = label("small", translate("events", "This file only"))
        self._marked: Collection[QWidget] = ()
        self.stack.currentChanged.connect(lambda _: self.mark_one_file(self._marked))
        self.mark_one_file(())
        self._heads = Flow(*self.buttons.buttons(), spacing=2)
        self._two_rows = self._heads.sizeHint().width() // 2 + self._heads.minimumSize().width()
        column(self._heads, (self.stack, 1), self.one_file, spacing=6, margins=(MARGIN, 8, MARGIN, 8), of=self)
        for panel in (events, detections, chart, routes):
            self.stack.addWidget(panel)

    def minimumSizeHint(self) -> QSize:
        """The height of one or two rows of heads, and of the panel."""
        least = super().minimumSizeHint()
        width = max(self.width() - 2 * MARGIN, self._two_rows)  # before its first layout, the panel is very narrow
        return QSize(least.width(), least.height() + self._heads.minimumHeightForWidth(width) - self._heads.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for the height that the heads need at the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def mark_one_file(self, panels: Collection[QWidget]) -> None:
        """Say that these panels show one file, while counts of several files are shown elsewhere."""
        self._marked = panels
        self.one_file.setVisible(self.stack.currentWidget() in panels)
