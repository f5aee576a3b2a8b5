"""What the user does with the queue: adds, cancels, removes and repeats detection in files, and changes settings and devices."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from framefleet.app.window.queue.item import ItemState, Part, QueueItem, Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.session.driver import SessionDriver
from framefleet.app.window.session.elastic import only_devices_differ, use_devices
from framefleet.app.window.session.folding import Chosen
from framefleet.app.window.session.thread import SessionThread
from framefleet.app.window.timeline.class_counts import Tally
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.errors import UsageError
from framefleet.engine.pool.progress import SourceProgress
from framefleet.engine.settings import RunSettings
from framefleet.engine.types import DeviceId


@dataclass(frozen=True)
class Removed:
    """A file that was removed from the queue. own: settings and labels for this file only."""

    row: int
    item: QueueItem
    tally: Tally | None
    own: Chosen | None


class DetectionController(SessionDriver):
    """Runs detection for the window. refused: why a device cannot join or leave. pause_changed: whether the run is paused now.

    corrected: key of a file whose stored results were corrected.
    """

    corrected = Signal(int)
    refused = Signal(str)
    pause_changed = Signal(bool)

    def __init__(self, model: QueueModel, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(model, folder, parent)
        self._keys = itertools.count(1)
        self._paused_run: Chosen | None = None

    @property
    def running(self) -> bool:
        """Whether detection runs in a file that has no settings of its own."""
        return any(item.state is ItemState.RUNNING and item.key not in self._chosen.own for item in self._model)

    def has_own_settings(self, key: int) -> bool:
        """Whether a file has settings and labels of its own, which no other file uses."""
        return key in self._chosen.own

    def set_tally(self, key: int, tally: Tally) -> None:
        """Replace the counts of a file's detections, because they were corrected."""
        if key in self._tallies:
            self._tallies[key] = tally
            self.item_changed.emit(key)

    def add(self, paths: Iterable[Path], own: Chosen | None = None) -> list[int]:
        """Queue files; return their keys. own: settings and labels for these files only."""
        return self._add(((path, None) for path in paths), own)

    def _add(self, files: Iterable[tuple[Path, Part | None]], own: Chosen | None = None) -> list[int]:
        if self.paused and all(item.ended for item in self._model):
            self.set_paused(False)
        items = []
        for path, part in files:
            key = next(self._keys)
            if own is not None:
                self._chosen.own[key] = own
            items.append(QueueItem(key, SourceProgress(path), reason=self._chosen.waits_for(key), part=part))
        self._model.extend(items)
        self._submit()
        return [item.key for item in items]

    def unfinished(self) -> list[QueueItem]:
        """The whole files that wait or are being detected with the settings of files that are added now."""
        session = self._session
        same = session is None or (session.settings, session.labels) == self._chosen.common
        whole = [item for item in self._model if not item.ended and item.part is None and item.key not in self._chosen.own]
        return [item for item in whole if same or item.results is None or item.state is ItemState.PAUSED]

    def go_on(self, database: Path | None, files: Iterable[tuple[Path, Part | None]]) -> list[int]:
        """Queue unfinished files with their parts; return their keys. The next session goes on with this database, if there is one."""
        if self._session is None:
            self._next_database = database
        return self._add(files)

    def restore(self, found: Iterable[QueueItem]) -> list[QueueItem]:
        """Put the stored results of an earlier run into the queue, with empty tallies; return the items with their keys."""
        items = [replace(item, key=next(self._keys)) for item in found]
        self._tallies |= {item.key: Tally() for item in items}
        self._model.extend(items)
        return items

    def mark_replaced(self, results: Results) -> None:
        """Mark all files with results of this session, because another run has replaced it."""
        for item in self._model:
            if item.results is not None and (item.results.database, item.results.created) == (results.database, results.created):
                self._put(replace(item, replaced=True))

    def would_change(self, settings: RunSettings, labels: Sequence[str]) -> bool:
        """Whether a session with these settings must be a new one."""
        common = self._chosen.common
        return common is not None and (settings, tuple(labels)) != common and not self._elastic(settings, labels)

    def set_settings(self, settings: RunSettings, labels: Sequence[str], restart: bool) -> None:
        """Use other settings from now on. restart: also for files whose detection runs; they start again.

        If only the devices differ, they join and leave the current session.
        """
        if (settings, tuple(labels)) == self._chosen.common:
            return
        elastic = self._elastic(settings, labels)
        self._chosen.common = settings, tuple(labels)
        for item in self._model:
            if item.state is ItemState.WAITING and item.results is None and item.reason is not None:
                self._put(replace(item, reason=self._chosen.waits_for(item.key)))
        session = self._session
        if session is not None and not (elastic and use_devices(session, self._devices, settings)):
            for item in self._model:
                begun = item.results is not None and not item.ended and item.key not in self._chosen.own
                if begun and (restart or item.state is ItemState.WAITING):
                    session.cancel(item.key)
                    self._forget(item, item.part)
            session.finish()
        self._submit()

    def set_paused(self, paused: bool) -> None:
        """Stop detection in all files, or go on behind the stored frames. A paused run uses no device; the stored results stay."""
        self.paused = paused
        session = self._session
        if paused and session is not None:
            begun = [item for item in self._model if item.results is not None and item.active]
            for item in begun:
                session.cancel(item.key)
                if item.state is ItemState.RUNNING:
                    self._put(replace(item, state=ItemState.PAUSED, rate=None, reason=None))
                else:
                    self._forget(item, item.part)
            if begun:
                self._next_database, self._paused_run = session.database, (session.settings, session.labels)
            session.finish()
        elif not paused:
            for item in self._model:
                if item.state is ItemState.PAUSED:
                    self._forget(item, item.part)
            waiting = (item for item in self._model if item.state is ItemState.WAITING and item.results is None)
            if self._paused_run is not None and next(filter(None, map(self._chosen.of, waiting)), None) != self._paused_run:
                self._next_database = None  # with other settings, a session would replace the results there
            self._paused_run = None
            self._submit()
        self.pause_changed.emit(paused)

    def set_cluster(self, cluster: ClusterConnection | None, left: Callable[[], None] = lambda: None) -> None:
        """Use the devices of a cluster from now on, None = of this machine. left: called when nothing uses the earlier ones any more.

        Unfinished files go on with the other devices, in the same session database. What is stored stays.
        """
        self._cluster = cluster
        session = self._session
        if session is None:
            left()
            return
        self._left.append(left)
        begun = [item for item in self._model if item.results is not None and not item.ended]
        for item in begun:
            session.cancel(item.key)
            self._forget(item, item.part)
        if begun:
            self._next_database = session.database
        session.finish()
        self._submit()

    def add_device(self, device: DeviceId) -> None:
        """Let a device join the current session, also one that has left or failed."""
        self._change_devices(SessionThread.add_device, device)

    def remove_device(self, device: DeviceId) -> None:
        """Take a device out of the current session; the others take over its work."""
        self._change_devices(SessionThread.remove_device, device)

    def _change_devices(self, change: Callable[[SessionThread, DeviceId], None], device: DeviceId) -> None:
        try:
            if self._session is None:
                raise RuntimeError("nothing is being detected")
            change(self._session, device)
        except (UsageError, RuntimeError) as problem:
            self.refused.emit(str(problem))
        self._wake()

    def _elastic(self, settings: RunSettings, labels: Sequence[str]) -> bool:
        now = self._chosen.common[0] if self._chosen.common is not None else None
        return only_devices_differ(self._session, self._strategy, now, settings, labels)

    def cancel(self, key: int) -> None:
        """Stop detection in a file; the stored results stay."""
        item = self._model.get(key)
        if item is None or item.ended:
            return
        if self._session is not None and item.results is not None:
            self._session.cancel(key)
        self._put(replace(item, state=ItemState.CANCELLED, rate=None))

    def remove(self, key: int) -> Removed | None:
        """Remove a file from the queue; return what ``put_back`` needs. None: it is not in the queue."""
        item = self._model.get(key)
        if item is None:
            return None
        row = self._model.row_of(key)
        self.cancel(key)
        self._model.remove(key)
        return Removed(row, item, self._tallies.pop(key, None), self._chosen.own.pop(key, None))

    def put_back(self, removed: Removed) -> None:
        """Put a removed file back into its row. If detection had not ended, it starts again."""
        item = removed.item
        if removed.own is not None:
            self._chosen.own[item.key] = removed.own
        if removed.tally is not None:
            self._tallies[item.key] = removed.tally
        self._model.insert(removed.row, item)
        if not item.ended:
            self._forget(item, item.part)
            self._submit()

    def detect_again(self, key: int, part: Part | None = None) -> None:
        """Detect again in a file with the current settings. part: only in this part."""
        item = self._model.get(key)
        if item is not None:
            if self._session is not None and item.results is not None and not item.ended:
                self._session.cancel(key)
            self._forget(item, part)
            self._submit()
