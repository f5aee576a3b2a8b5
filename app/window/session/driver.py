"""Passes the queue's waiting files to sessions, and shows their progress in the queue, without blocking."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.queue.item import ItemState, Part, QueueItem, Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.session.folding import ChosenSettings, folded, session_name
from framefleet.app.window.session.thread import SessionThread
from framefleet.app.window.timeline.class_counts import Tally
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.pool.progress import SourceProgress

TICK_MS = 200
"""Time between updates from a running session."""
STOP_SECONDS = 8.0

FEWEST_AHEAD, MOST_AHEAD = 4, 256
"""The number of unfinished files that a session knows. The others wait in the queue, where the user can reorder them."""

_log = logging.getLogger(__name__)


class SessionDriver(QObject):
    """Passes waiting files to a session and shows its progress in the queue.

    One session runs at a time. It stays open when its files are done, so that the next files use the same engines. Other settings
    need another session, which starts when the current one has ended.

    devices_changed: tuple of DeviceStatus. figures_changed: the same with new figures only. strategy_changed: StrategyChosen.
    device_failed: DeviceFailed. failed: why a session ended. noted: list of sentences about what a session takes over from an earlier
    run, the newest first. item_changed: key. file_done: QueueItem of a file that detection has finished. rate_changed: the throughput of
    all files, frames/s. paused: whether no session begins.
    """

    devices_changed = Signal(object)
    figures_changed = Signal(object)
    strategy_changed = Signal(object)
    device_failed = Signal(object)
    failed = Signal(str)
    noted = Signal(object)
    item_changed = Signal(int)
    file_done = Signal(object)
    rate_changed = Signal(float)
    _woken = Signal()

    def __init__(self, model: QueueModel, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.folder = folder
        self._chosen = ChosenSettings()
        self._session: SessionThread | None = None
        self._tallies: dict[int, Tally] = {}
        self._strategy: StrategyChosen | None = None
        self._devices: tuple[DeviceStatus, ...] = ()
        self._next_database: Path | None = None
        self._cluster: ClusterConnection | None = None
        self._left: list[Callable[[], None]] = []
        self._closing = False
        self.paused = False
        self._timer = QTimer(self, interval=TICK_MS, singleShot=True)
        self._timer.timeout.connect(self._tick)
        self._ahead = FEWEST_AHEAD
        self._rate = 0.0
        self._notes: list[str] = []
        model.rowsMoved.connect(self._submit)
        self._woken.connect(self._wake)

    def tally(self, key: int) -> Tally | None:
        """The current counts of a file's detections, None before detection begins."""
        return self._tallies.get(key)

    def _forget(self, item: QueueItem, part: Part | None = None) -> None:
        if self._session is not None:
            self._session.numbers.pop(item.key, None)
        self._tallies.pop(item.key, None)
        reason = self._chosen.waits_for(item.key)
        self._put(QueueItem(item.key, SourceProgress(item.path, item.progress.info), reason=reason, part=part))

    def _put(self, item: QueueItem) -> None:
        self._model.update(item)
        self.item_changed.emit(item.key)
        if item.state is ItemState.DONE:
            self.file_done.emit(item)

    def _submit(self) -> None:
        """Pass waiting files to the session; start a session if there is none."""
        waiting = [
            (item, settings)
            for item in self._model
            if item.state is ItemState.WAITING and item.results is None and (settings := self._chosen.of(item)) is not None
        ]
        if self._closing or self.paused or not waiting:
            return
        fresh = self._session is None
        if self._session is None:
            first, (run, labels) = waiting[0]
            earlier, self._next_database = self._next_database, None
            database = earlier or self.folder / session_name(first.path)
            self._session = SessionThread(run, database, labels, self._woken.emit, self._cluster, go_on=earlier is not None)
        common = (self._session.settings, self._session.labels, self._session.cluster)
        now = [item for item, settings in waiting if (*settings, self._cluster) == common]
        given = [item for item in self._model if item.results is not None and item.results.database == self._session.database]
        room = self._room(given)
        for item in now[:room]:
            if not self._session.add(item.key, item.path):
                break  # the next session takes them
            self._put(replace(item, reason=None, results=Results(self._session.database, -1, self._session.labels)))
        else:
            if len(now) <= room and len(now) < len(waiting):
                self._session.finish()  # the others need a session with their settings
        if fresh:
            self._session.start()
        self._wake()

    def _room(self, given: Sequence[QueueItem]) -> int:
        """The number of files to pass on now, so that no device waits even if it finishes them quickly. given: those of the session."""
        unfinished = sum(not item.ended for item in given)
        if given and not unfinished:  # all were finished before more arrived
            self._ahead = min(2 * self._ahead, MOST_AHEAD)
        return max(max(self._ahead, 2 * sum(status.takes_part for status in self._devices)) - unfinished, 0)

    @Slot()
    def _wake(self) -> None:
        if not self._timer.isActive() and not self._closing:
            self._timer.start()

    def _tick(self) -> None:
        session = self._session
        if session is None:
            return
        snapshot = session.feed.take()
        keys = {number: key for key, number in list(session.numbers.items())}
        ended = False
        for number in snapshot.sources.keys() | snapshot.rates.sources.keys():
            item, progress = self._model.get(keys.get(number, -1)), snapshot.sources.get(number)
            if item is not None and item.results is not None and item.active:
                if item.results.source != number:
                    self._tallies[item.key] = session.feed.tally(number)
                    item = replace(item, results=replace(item.results, source=number, created=session.created))
                after = folded(item, progress or item.progress, snapshot.rates.sources.get(number))
                if after != self._model.get(item.key):
                    self._put(after)
                ended |= after.ended
        if snapshot.rates.total != self._rate:
            self._rate = snapshot.rates.total
            self.rate_changed.emit(self._rate)
        if snapshot.strategy is not None and snapshot.strategy != self._strategy:
            self._strategy = snapshot.strategy
            self.strategy_changed.emit(snapshot.strategy)
        self._devices = snapshot.devices
        self._show_notes(session.notes)
        self._explain_waiting(session)
        (self.devices_changed if snapshot.states_changed else self.figures_changed).emit(snapshot.devices)
        for problem in snapshot.problems:
            self.device_failed.emit(problem)
        if snapshot.ended:
            self._ended(session, snapshot.error)
        elif snapshot.devices and all(status.phase in (Phase.FAILED, Phase.LEFT) for status in snapshot.devices):
            session.finish()  # the next file starts another session with new processes
        elif ended:
            self._submit()

    def _show_notes(self, notes: Sequence[str]) -> None:
        fresh = [note for note in notes if note not in self._notes]
        self._notes = [*fresh, *(note for note in self._notes if note in notes)]
        if fresh:
            self.noted.emit(self._notes)

    def _explain_waiting(self, session: SessionThread) -> None:
        """Say in the rows of the session's files that they wait for the model, while no device is ready."""
        preparing = not any(status.phase in (Phase.READY, Phase.LEAVING) for status in self._devices)
        reason = translate("session", "Preparing the model") if preparing else None
        for item in self._model:
            given = item.results is not None and item.results.database == session.database
            if given and item.active and item.reason != reason:
                self._put(replace(item, reason=reason))

    def _ended(self, session: SessionThread, error: str | None) -> None:
        session.join()
        self._session = None
        left, self._left = self._left, []
        for leave in left:
            leave()
        lost = bool(self._devices) and all(status.phase in (Phase.FAILED, Phase.LEFT) for status in self._devices)
        for item in self._model:
            given = item.results is not None and item.results.database == session.database
            # files with the same settings would fail, too
            next_ = (error is not None or lost) and item.results is None and self._chosen.of(item) == (session.settings, session.labels)
            if given and item.active and session.differs:
                self._forget(item, item.part)  # its results stay there; the file gets another session
            elif (given or next_) and item.active:
                reason = error or translate("session", "Detection ended before this file.")
                self._put(replace(item, state=ItemState.FAILED, reason=reason, rate=None))
        if error is not None:
            self.failed.emit(error)
        self._submit()

    def stop(self) -> None:
        """Stop the session and wait for the end of its processes, usually one or two seconds."""
        self._closing = True
        self._timer.stop()
        if self._session is not None:
            self._session.stop()
            self._session.join(STOP_SECONDS)
            if self._session.is_alive():
                _log.error("the session's thread does not end; its processes end with this process")
            self._session = None
