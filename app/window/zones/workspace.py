"""Connects lines, zones, counts and events with the shown file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QSettings, Qt, QTimer
from PySide6.QtWidgets import QSplitter

from app.window.events.panel import EventsPanel
from app.window.queue.item import ItemState, QueueItem, Results
from app.window.queue.model import QueueModel
from app.window.session.background import Background
from app.window.viewer.preview_conversation import Shown
from app.window.viewer.viewer import Viewer
from app.window.widgets import formats
from app.window.widgets.translation import translate
from app.window.zones.editor import EMPTY, ZoneEditor
from app.window.zones.layer import ZoneLayer
from app.window.zones.library import ZoneLibrary
from app.window.zones.panel import ZonesPanel
from app.window.zones.tracks import Tracks, count, events, read_tracks
from engine.errors import FramefleetError
from engine.media.types import SourceKind
from engine.store.file.lock import lock_session
from engine.store.objects.events import EVENTS
from engine.store.objects.live_counts import LiveCounts
from engine.store.tracks import track_session
from engine.tracking.follow import TrackerName
from engine.zones.counts import Counts
from engine.zones.file import read_zones
from engine.zones.shapes import ZoneSet

REREAD_MS = 2000
"""Time from one reading of a running file to the next, at least."""
SAVE_MS = 400
LIVE_SECONDS = 0.25
"""Time for counting at once, so that it takes an eighth of a core at most, however fast the devices are."""


@dataclass(frozen=True, eq=False)
class _Counted:
    key: int
    tracks: Tracks
    counts: Counts | None
    events: NDArray[np.void]
    zones: ZoneSet
    problem: str = ""


class Zones(QObject):
    """The panels below the picture and the layer over it. They read the session only while the panels are shown.

    folder: for the user's sets. Attributes: area: holds both panels.
    """

    def __init__(self, viewer: Viewer, items: QueueModel, background: Background, store: QSettings, folder: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._viewer, self._items, self._background = viewer, items, background
        self.library = ZoneLibrary(folder, store)
        self.editor = ZoneEditor(self)
        self.layer = ZoneLayer(viewer.canvas, self.editor)
        self.panel = ZonesPanel(self.editor, self.layer, viewer.canvas)
        self.list = EventsPanel()
        self.area = QSplitter(Qt.Orientation.Horizontal)
        self.area.addWidget(self.panel)
        self.area.addWidget(self.list)
        self.area.setSizes([560, 440])
        self.area.hide()
        self.layer.hide()
        self._item: QueueItem | None = None
        self._tracks: Tracks | None = None
        self._name: str | None = None
        self._live: tuple[tuple[int, Results, ZoneSet], LiveCounts | partial[LiveCounts]] | None = None
        self._on = self._reading = self._stale = False
        self._again = QTimer(self, singleShot=True, interval=REREAD_MS)
        self._again.timeout.connect(self._read)
        self._saving = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._saving.timeout.connect(self._save)
        self.editor.changed.connect(self._edited)
        viewer.player.shown.connect(self._shown)
        viewer.player.result.connect(self._found)
        self.list.sought.connect(viewer.player.seek)
        panel = self.panel
        panel.chosen.connect(self._choose)
        panel.create_requested.connect(self._create)
        panel.delete_requested.connect(self._delete)
        panel.apply_requested.connect(self._apply)
        panel.track_requested.connect(self._track)
        panel.import_requested.connect(self._import)
        panel.export_requested.connect(self._export)

    def set_shown(self, shown: bool) -> None:
        """Show or hide the panels and the layer."""
        self._on = shown
        self.area.setVisible(shown)
        self.layer.setVisible(shown)
        self.layer.set_editing(shown)
        if shown:
            self._load()

    def show_item(self, item: QueueItem | None) -> None:
        """Show the lines, zones and events of another file, or of the same one in another state."""
        before, self._item = self._item, item
        if not self._on:
            return
        known = before is not None and item is not None and before.key == item.key
        if not known or before is None or item is None or (before.progress.info is None) != (item.progress.info is None):
            self._load()
        elif before.results != item.results or before.state is not item.state or item.state is ItemState.RUNNING:
            self._wanted()

    def stop(self) -> None:
        """Store what was changed last."""
        if self._saving.isActive():
            self._saving.stop()
            self._save()

    def _load(self) -> None:
        """Show the set and the tracks of the current file."""
        self.stop()
        self._tracks = None
        self.layer.set_tracks(None)
        self._take_counts(None, "")
        self.list.set_events(np.zeros(0, EVENTS), (), None)
        item, info = self._item, self._item.progress.info if self._item is not None else None
        found = self.library.read_for(item.path) if item is not None and info is not None else None
        problem = ""
        if info is None or info.kind is not SourceKind.VIDEO:
            self._use(None, EMPTY)
        elif found is None:
            self._use(None, ZoneSet((info.width, info.height)))
        else:
            try:
                self._use(found[0], found[1].scaled_to((info.width, info.height)))
            except FramefleetError as error:
                problem = str(error)
                self._use(None, ZoneSet((info.width, info.height)))
        if problem:
            self.panel.set_counts(None, 0.0, problem)
        self._read()

    def _use(self, name: str | None, zones: ZoneSet) -> None:
        self._name = None  # loading does not make changes that must be saved
        self.editor.load(zones)
        self._saving.stop()
        self._name = name
        self.panel.set_sets(self.library.names(), name)

    def _edited(self) -> None:
        """Save the set soon, and count again."""
        item = self._item
        if item is not None and self.editor.zones.size != EMPTY.size:
            if self._name is None and self.editor.zones.shapes:
                self._name = self.library.free_name(item.path.absolute().parent.name)
                self.library.assign(item.path, self._name)
                self._saving.start()
                self._save()
                self.panel.set_sets(self.library.names(), self._name)
            elif self._name is not None:
                self._saving.start()
        if self._tracks is not None and not self._reading:
            self._count(self._tracks)
        elif self._item is not None and self._item.state is ItemState.RUNNING:
            self._wanted()
        else:
            self._stale = self._reading

    def _save(self) -> None:
        self._saving.stop()
        if self._name is not None:
            self._try(partial(self.library.save, self._name, self.editor.zones))

    def _choose(self, name: str) -> None:
        if self._item is not None:
            self.stop()
            self.library.assign(self._item.path, name or None)
            self._load()

    def _create(self, name: str) -> None:
        if self._item is not None and name.strip() and self.editor.zones.size != EMPTY.size:
            self.stop()
            free = self.library.free_name(name)
            if self._try(partial(self.library.save, free, ZoneSet(self.editor.zones.size))):
                self.library.assign(self._item.path, free)
                self._load()

    def _delete(self) -> None:
        if self._name is not None and self._item is not None:
            self._saving.stop()
            self.library.delete(self._name)
            self._load()

    def _apply(self) -> None:
        if self._name is not None:
            for item in self._items:
                self.library.assign(item.path, self._name)

    def _import(self, path: Path) -> None:
        if self._item is None:
            return
        try:
            zones = read_zones(path)
            if self.editor.zones.size != EMPTY.size:
                zones.scaled_to(self.editor.zones.size)
        except FramefleetError as error:
            self.panel.set_counts(self.panel.counts, self._length, str(error))
            return
        name = self.library.free_name(path.stem)
        if self._try(partial(self.library.save, name, zones)):
            self.library.assign(self._item.path, name)
            self._load()

    def _export(self, path: Path) -> None:
        self._try(partial(self.library.write, path, self.editor.zones))

    def _try(self, act: partial[None]) -> bool:
        try:
            act()
        except FramefleetError as error:
            self.panel.set_counts(self.panel.counts, self._length, str(error))
            return False
        return True

    def _wanted(self) -> None:
        """Read the file again soon."""
        if not self._again.isActive():
            self._again.start()

    def _read(self) -> None:
        item = self._item
        if item is None or item.results is None or item.results.source < 0 or not self._on:
            return
        if self._reading:
            self._stale = True
            return
        if item.state is ItemState.RUNNING:
            if self.editor.zones.shapes and item.progress.frames:
                self._count_live(item, item.results)
            return
        self._start(item, partial(_read_and_count, item.key, item.results, self.editor.zones))

    def _count_live(self, item: QueueItem, results: Results) -> None:
        """Count what a run has stored so far. The tracks are stored when it ends."""
        key = item.key, results, self.editor.zones
        if self._live is None or self._live[0] != key:
            self._live = key, partial(LiveCounts, results.database, results.source, self.editor.zones)
        self._reading, self._stale = True, False
        self._background.start(partial(_count_live, self._live[1]), partial(self._live_counted, key), partial(self._failed, item.key))

    def _live_counted(self, key: tuple[int, Results, ZoneSet], counted: tuple[LiveCounts, Counts]) -> None:
        self._reading = False
        if self._live is None or self._live[0] != key or self._item is None or self._item.key != key[0]:
            self._read()
            return
        live, counts = counted
        self._live = key, live
        if self._item.state is not ItemState.RUNNING:
            self._live = None
            self._read()
            return
        self.layer.set_counts(counts, live.time)
        self.panel.set_counts(
            counts, max(live.time, 1e-3), translate("zones", "Counted while detecting, up to {time}.").format(time=formats.clock(live.time))
        )
        self._wanted()

    def _count(self, tracks: Tracks) -> None:
        if self._item is not None:
            self._start(self._item, partial(_count, self._item.key, tracks, self.editor.zones))

    def _start(self, item: QueueItem, work: partial[_Counted]) -> None:
        self._reading, self._stale = True, False
        self._background.start(work, self._counted, partial(self._failed, item.key))

    def _counted(self, counted: _Counted) -> None:
        self._reading = False
        if self._item is None or counted.key != self._item.key:
            self._read()
            return
        self._tracks = counted.tracks
        self.layer.set_tracks(counted.tracks)
        if counted.zones == self.editor.zones:
            self._take_counts(counted.counts, counted.problem)
            self.list.set_events(counted.events, counted.tracks.labels, counted.zones)
        elif not self._stale:
            self._count(counted.tracks)
        if self._stale:
            self._read()

    def _failed(self, key: int, problem: str) -> None:
        self._reading = False
        if self._item is not None and key == self._item.key:
            self._take_counts(None, problem)

    @property
    def current(self) -> ZoneSet | None:
        """The lines and zones of the shown file, None if it has none."""
        item, info = self._item, self._item.progress.info if self._item is not None else None
        if self._on and self.editor.zones.shapes:
            return self.editor.zones
        found = self.library.read_for(item.path) if item is not None and info is not None else None
        return found[1] if found is not None and info is not None and found[1].fits((info.width, info.height)) else None

    @property
    def _length(self) -> float:
        return self._tracks.length if self._tracks is not None else 0.0

    def _take_counts(self, counts: Counts | None, problem: str) -> None:
        self.layer.set_counts(counts)
        untracked = self._tracks is not None and self._tracks.table is None
        item = self._item
        idle = item is not None and item.state is not ItemState.RUNNING
        note = problem or (
            translate("zones", "Lines and zones count tracked objects, and these results have no tracks.") if untracked else ""
        )
        self.panel.set_counts(counts, self._length, note, can_track=untracked and idle)

    def _track(self) -> None:
        item = self._item
        if item is not None and item.results is not None and not self._reading:
            self.panel.set_counts(None, self._length, translate("zones", "Following the objects…"))
            self._start(item, partial(_track_and_count, item.key, item.results, self.editor.zones))

    def _shown(self, shown: Shown) -> None:
        self.layer.set_shown(shown.pts, shown.result)
        self.list.set_time(shown.pts)
        if self.area.isVisible():
            self.panel.chart.set_time(shown.pts)

    def _found(self, _result: object) -> None:
        self.layer.update()


def _count_live(live: LiveCounts | partial[LiveCounts]) -> tuple[LiveCounts, Counts]:
    made = live if isinstance(live, LiveCounts) else live()
    return made, made.update(LIVE_SECONDS)


def _read_and_count(key: int, results: Results, zones: ZoneSet) -> _Counted:
    return _count(key, read_tracks(results), zones)


def _track_and_count(key: int, results: Results, zones: ZoneSet) -> _Counted:
    with lock_session(results.database):
        track_session(results.database, TrackerName.BYTETRACK)
    return _read_and_count(key, results, zones)


def _count(key: int, tracks: Tracks, zones: ZoneSet) -> _Counted:
    problem = ""
    try:
        counts = count(tracks, zones) if zones.shapes else None
    except FramefleetError as error:
        counts, problem = None, str(error)
    return _Counted(key, tracks, counts, events(tracks, counts), zones, problem)
