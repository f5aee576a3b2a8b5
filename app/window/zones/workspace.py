"""Connects lines, zones, counts and events with the shown file."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, QTimer

from framefleet.app.window.context import Context, Feature, Place, Placed
from framefleet.app.window.events.detections import WAIT_MS, DetectionsPanel
from framefleet.app.window.events.panel import EventsPanel, EventTabs, RoutesPanel
from framefleet.app.window.floating import SIZE, Floating
from framefleet.app.window.player.preview_client import Shown
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.selection import Target
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import build, formats
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.zones.counts.chart import CountChart
from framefleet.app.window.zones.counts.counting import Counted, Counting, Total, Totals, remark_on
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.app.window.zones.drawing.layer import ZoneLayer
from framefleet.app.window.zones.panel import BOXES, BY_TRACK, HEAT, LABELS, NUMBERS, TRAILS, ZONES, ShownParts, ZonesPanel
from framefleet.engine.store.appearances import EVENTS
from framefleet.engine.zones.counts import Counts


class Zones(QObject):
    """The panels below the picture and the layer over it.

    Attributes: spoken: says what the keys did. parts: what is drawn over the picture.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        viewer, items, background = context.viewer, context.queue, context.background
        self._viewer, self._show_panel, self._activity = viewer, context.actions.zones, context.activity
        self.set, self.editor = context.zones, context.zones.editor
        self.parts = ShownParts(context.store, context.window)
        self.layer = ZoneLayer(viewer.canvas, self.editor)
        self.panel = ZonesPanel(self.editor, self.set, self.layer, self.parts, lambda: self._labels, context.actions)
        self.list, self.detections, self.routes = EventsPanel(viewer.bindings), DetectionsPanel(background), RoutesPanel()
        self.chart = CountChart(viewer.canvas.label_of)
        self.tabs = EventTabs(self.list, self.detections, self.chart, self.routes)
        self._filter = ViewFilter()
        self._filtering = QTimer(self, singleShot=True, interval=WAIT_MS)
        present = lambda: self.editor.zones, lambda: self._filter
        self.counting = Counting(background, *present, self)
        self.totals = Totals(background, self.set.files, *present, self)
        self.spoken = build.ElidedLabel("small")
        self._item: QueueItem | None = None
        self._to_take: Path | None = None
        self._counts: Counts | None = None
        self._total: Total | None = None
        self._on = self._tracking = self._can_track = False
        self._length = 0.0
        for changed in (self.editor.changed, self._filtering.timeout):
            changed.connect(self.counting.count_again)
        self.editor.drawn.connect(self._show_chart)
        self.layer.keyboard.said.connect(self.spoken.setText)
        self.counting.found.connect(self._found)
        self.counting.found_live.connect(self._found_live)
        self.counting.failed.connect(lambda problem: self._take_counts(None, problem))
        self.totals.found.connect(self._found_total)
        for changed in (items.dataChanged, items.rowsInserted, items.rowsRemoved, self.set.shared):
            changed.connect(lambda *_: self.totals.count_soon())
        self.parts.changed.connect(self._parts_changed)
        viewer.player.shown.connect(self._shown)
        viewer.transport.clock_found.connect(self.chart.set_clock)
        for table in (self.list, self.detections):
            table.sought.connect(viewer.player.seek)
        self.panel.scope_chosen.connect(self._set_scope)
        self.panel.track.clicked.connect(self._track)
        self._parts_changed()

    def set_shown(self, shown: bool) -> None:
        """Read what the panels show, and let mouse and keys change lines and zones, or not."""
        self._on = shown
        self.layer.set_editing(shown)
        self._read_what_is_missing()

    def show_item(self, item: QueueItem | None) -> None:
        """Show the lines, zones and events of another file, or of the same one in another state."""
        before, self._item = self._item, item
        self.detections.show_item(item)
        self.list.set_running(item is not None and not item.ended, item is not None and item.begun is not None)
        known = before is not None and item is not None and before.key == item.key
        again = before is not None and before.results is not None and item is not None and item.stored is None
        if not known or again or before is None or item is None or (before.progress.info is None) != (item.progress.info is None):
            self._load()
        elif (
            before.results != item.results
            or before.state is not item.state
            or item.state is ItemState.RUNNING
            or before.progress.finished != item.progress.finished  # the last frames of a paused file are stored
        ):
            self.counting.update_item(item)
            if before.ended and not item.ended:  # it goes on
                self._take_counts(self._counts, "")
        if self._to_take is not None and item is not None and item.progress.info is not None:
            path, self._to_take = self._to_take, None
            self.take(path)

    def take(self, path: Path) -> None:
        """Import a file with lines and zones for the shown video; if none can be shown, for the next one that is."""
        if self._item is None or self._item.progress.info is None:
            self._to_take = path
            said = translate("zones", "The lines and zones of {name} wait for the next video that can be shown.")
            self._activity.show_done(said.format(name=path.name))
            return
        self.set.take(path)
        self._show_panel.setChecked(True)

    def set_filter(self, shown: ViewFilter) -> None:
        """List and count only these detections."""
        self._filter = shown
        self.detections.set_filter(shown)
        self._filtering.start()

    def reread(self) -> None:
        """Count and list the corrected results."""
        self.counting.read()
        self.detections.reread()

    def _load(self) -> None:
        """Show the set and the tracks of the current file."""
        self._length, self._tracking = 0.0, False
        self.layer.set_tracks(None)
        self.list.set_events(np.zeros(0, EVENTS), (), None)
        self._viewer.transport.set_events(np.zeros(0, EVENTS))
        self.counting.show_item(None)
        self._take_counts(None, "")
        self.set.load(self._item)
        self.counting.whole = self._whole
        self.counting.show_item(self._item)

    @property
    def _whole(self) -> bool:
        """Whether the results must be read although they have no tracks. Millions of boxes take seconds."""
        return self._on or self.parts[HEAT]

    def _read_what_is_missing(self) -> None:
        tracks = self.counting.tracks
        self.counting.whole = self._whole
        if self._item is not None and self._whole and (tracks is None or not tracks.whole):
            self.counting.read()

    def _parts_changed(self) -> None:
        self._viewer.canvas.show_parts(*(self.parts[part] for part in (BOXES, LABELS, NUMBERS)))
        self.layer.show_parts(*(self.parts[part] for part in (ZONES, TRAILS, HEAT)))
        self._viewer.transport.timeline.show_tracks(self.parts[BY_TRACK])
        self._read_what_is_missing()

    def _found(self, counted: Counted) -> None:
        if self._tracking and counted.tracks.tracked:
            self._tracking = False
            self._viewer.player.reread()  # the boxes have numbers now
        self._length = counted.tracks.length
        self.layer.set_tracks(counted.tracks)
        self.list.model.begin = self._viewer.transport.begin
        self.list.set_events(counted.events, counted.tracks.labels, counted.zones, self._pictures)
        self._viewer.transport.set_events(counted.events)
        self._take_counts(counted.counts, counted.problem)

    def _set_scope(self, all_files: bool) -> None:
        """Let the table, the chart and the routes count the shown file, or all files with its set."""
        self.totals.on, self._total = all_files, None
        self._show_chart()
        self.counting.count_again() if self.counting.tracks is not None else self._take_counts(None, "")

    def _found_total(self, total: Total | None, problem: str, remark: str) -> None:
        self._total = total
        self.panel.set_counts(total.counts if total is not None else None, problem, can_track=self._can_track, remark=remark)
        self._show_chart()
        self._show_routes()

    def _found_live(self, counts: Counts, until: float) -> None:
        self.layer.set_counts(counts, until)
        self._counts, self._length = counts, until
        if not self.totals.on:
            remark = translate("zones", "Counted while detecting, up to {time}.").format(
                time=formats.clock(until - self._viewer.transport.begin)
            )
            self.panel.set_counts(counts, "", remark=remark)
        self._show_chart()
        self._show_routes()

    def _take_counts(self, counts: Counts | None, problem: str) -> None:
        self._counts = counts
        self.layer.set_counts(counts)
        item = self._item
        said = remark_on(self.counting.tracks, problem, self._pictures, ended=item is not None and item.ended)
        self._can_track = said.can_track
        self.panel.set_counts(None if self.totals.on else counts, said.note, can_track=said.can_track, remark=said.remark)
        self.totals.count()
        self._show_chart()
        self._show_routes()

    @property
    def _pictures(self) -> bool:
        return self._item is not None and self._item.pictures

    @property
    def _labels(self) -> tuple[str, ...]:
        return self._item.results.labels if self._item is not None and self._item.results is not None else ()

    def _show_routes(self) -> None:
        self.routes.model.show_counts(self._counts if self._total is None else self._total.counts, self._labels)

    def _show_chart(self) -> None:
        total, selected = self._total, self.editor.selected
        clocked = total is not None and total.clock is not None
        if total is not None and clocked:
            self.chart.show_counts(total.counts, selected, float(total.recorded.max()), clock=total.clock, recorded=total.recorded)
        else:
            self.chart.show_counts(self._counts, selected, self._length, self._pictures, self._viewer.transport.begin)
        files = self.list, self.detections, *(() if clocked else (self.chart,)), *(() if self._total is not None else (self.routes,))
        self.tabs.mark_one_file(files if self.totals.on else ())

    def _track(self) -> None:
        if self.counting.track():
            self._tracking, self._can_track = True, False
            self.panel.set_counts(None, "", remark=translate("zones", "Tracking the objects…"))

    def _shown(self, shown: Shown) -> None:
        self.layer.set_time(shown.pts)
        self.list.set_time(shown.pts)
        if self.chart.isVisible():
            self.chart.set_time(shown.pts)


def _select_and_delete(context: Context, editor: ZoneEditor) -> None:
    """Let Delete delete the selected line or zone, until the user selects something of another kind."""
    actions, selection = context.actions, context.selection

    def deselect(target: Target | None) -> None:
        if target is not Target.SHAPE and editor.selected is not None:
            editor.select(None)

    def delete() -> None:
        if selection.target is Target.SHAPE and editor.selected is not None:
            name = editor.zones.shapes[editor.selected].name
            editor.delete()
            actions.offer_undo(translate("zones", "'{name}' is deleted.").format(name=name))

    editor.drawn.connect(lambda: selection.aim(Target.SHAPE, editor.selected is not None))
    selection.target_changed.connect(deselect)
    actions.delete.triggered.connect(delete)


def attach(context: Context) -> Feature:
    """Add lines, zones and events to the window."""
    zones = Zones(context)
    actions, requests, selection = context.actions, context.requests, context.selection
    context.filter.changed.connect(zones.set_filter)
    for changed in (selection.file_changed, selection.item_changed):
        changed.connect(zones.show_item)
    _select_and_delete(context, zones.editor)
    context.run.corrected.connect(zones.reread)
    context.opening.zones.connect(zones.take)
    requests.draw.connect(zones.panel.begin)
    actions.zones.toggled.connect(zones.set_shown)
    zones.set_shown(actions.zones.isChecked())
    actions.add_parts(list(zones.parts.actions.values()))
    zones.list.save.clicked.connect(lambda: requests.export.emit(selection.item, "events"))
    zones.list.clips.clicked.connect(lambda: requests.clips.emit(selection.item, None))
    events = Floating(zones.list, translate("window", "Events"), "events", context.store, lambda: SIZE)
    zones.list.detach.clicked.connect(events.toggle)
    actions.zones.toggled.connect(events.set_shown)
    events.set_shown(actions.zones.isChecked())
    panels = Placed(zones.panel, Place.BELOW, 460), Placed(zones.tabs, Place.BELOW, 540), Placed(zones.spoken, Place.STATUS, 10)
    return Feature(panels, [events])
