"""Detects in the files of the queue: passes them to runs, and shows their progress in the queue, without blocking."""

import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.queue.item import Ahead, ItemState, Part, QueueItem, Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.run.files import FileSettings, Removed, SettingsAndLabels, session_name, with_progress
from framefleet.app.window.run.thread import RunThread
from framefleet.app.window.streams.pictures import LivePictures
from framefleet.app.window.timeline.class_counts import Tally
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.media.live.messages import RecordSettings
from framefleet.engine.notices import Notice, UsageError, literal
from framefleet.engine.pool.events import SourceProgress, StrategyChosen
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.settings import RunSettings
from framefleet.engine.types import DeviceId

TICK_MS = 200
"""Time between updates from a run."""
STOP_SECONDS = 8.0

MIN_AHEAD, MAX_AHEAD = 4, 256
"""The number of unfinished files that a run knows. The others wait in the queue, where the user can reorder them."""

_log = logging.getLogger(__name__)


class DetectionController(QObject):
    """Runs detection for the window.

    There is one run at a time. It stays open when its files are done, so that the next files use the same engines. Other settings
    need another run, which starts when the current one has ended.

    Signals
    -------
    devices_changed : tuple of DeviceStatus.
    figures_changed : the same with new figures only.
    strategy_changed : StrategyChosen.
    device_failed : DeviceFailed.
    failed : why a run ended.
    noted : list of what a run takes over from an earlier run, the newest first.
    item_changed : key of a file.
    file_done : QueueItem of a file that detection has finished.
    corrected : key of a file whose stored results were corrected.
    rate_changed : the throughput of all files, frames/s.
    refused : why a device cannot join or leave.
    pause_changed : whether the run is paused now.
    pictured : key of a live source, and its newest LivePicture.

    Attributes
    ----------
    folder : for session databases.
    paused : whether no run begins.
    """

    devices_changed = Signal(object)
    figures_changed = Signal(object)
    strategy_changed = Signal(object)
    device_failed = Signal(object)
    failed = Signal(object)
    noted = Signal(object)
    item_changed = Signal(int)
    file_done = Signal(object)
    corrected = Signal(int)
    rate_changed = Signal(float)
    refused = Signal(object)
    pause_changed = Signal(bool)
    pictured = Signal(int, object)
    _woken = Signal()
    _picture_came = Signal()

    def __init__(self, model: QueueModel, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.folder = folder
        self._settings = FileSettings()
        self._run: RunThread | None = None
        self._tallies: dict[int, Tally] = {}
        self._strategy: StrategyChosen | None = None
        self._devices: tuple[DeviceStatus, ...] = ()
        self._cluster: ClusterConnection | None = None
        self._releases: list[Callable[[], None]] = []
        self._closing = False
        self.paused = False
        self._timer = QTimer(self, interval=TICK_MS, singleShot=True)
        self._timer.timeout.connect(self.refresh)
        self._ahead = MIN_AHEAD
        self._rate = 0.0
        self._notes: list[Notice] = []
        self._continued: set[Path] = set()  # files that go on after the user has stopped them in this window
        self._keys = itertools.count(1)
        self._counts_on = False  # the next run continues a paused run
        model.rowsMoved.connect(self._submit)
        self._woken.connect(self._wake)
        self._picture_came.connect(self._show_pictures)
        self._watched: dict[int, tuple[tuple[int, int], float]] = {}

    def tally(self, key: int) -> Tally | None:
        """The current counts of a file's detections, None before detection begins."""
        return self._tallies.get(key)

    @property
    def running(self) -> bool:
        """Whether detection runs in a file that has no settings of its own."""
        return any(item.state is ItemState.RUNNING and item.key not in self._settings.by_file for item in self._model)

    @property
    def has_run(self) -> bool:
        """Whether there is a run, which may wait for further files."""
        return self._run is not None

    def has_own_settings(self, key: int) -> bool:
        """Whether a file has settings and labels of its own, which no other file uses."""
        return key in self._settings.by_file

    def set_tally(self, key: int, tally: Tally) -> None:
        """Replace the counts of a file's detections, because they were corrected."""
        if key in self._tallies:
            self._tallies[key] = tally
            self.item_changed.emit(key)

    def add(self, paths: Iterable[Path], settings: SettingsAndLabels | None = None) -> list[int]:
        """Queue files.

        Parameters
        ----------
        paths : iterable of Path
            Files or folders of pictures.
        settings : tuple of RunSettings and labels, optional
            For these files only; None = the common ones.

        Returns
        -------
        list of int
            The key of each file in the queue.
        """
        return self.go_on(((path, None, None) for path in paths), settings)

    def go_on(self, files: Iterable[tuple[Path, Part | None, Results | None]], settings: SettingsAndLabels | None = None) -> list[int]:
        """Queue files of which a session may have the first frames; return their keys.

        files: each with the part to which detection is limited, None = no limit, and where these frames are, None = nowhere.
        """
        if self.paused and all(item.ended for item in self._model):
            self.set_paused(False)
        items = []
        for path, part, begun in files:
            key = next(self._keys)
            if begun is not None:
                self._continued.discard(path)
            if settings is not None:
                self._settings.by_file[key] = settings
            items.append(QueueItem(key, SourceProgress(path), reason=self._settings.waits_for(key), part=part, begun=begun))
        self._model.extend(items)
        self._submit()
        return [item.key for item in items]

    def add_streams(self, sources: Iterable[LiveSource]) -> list[int]:
        """Queue live sources; return their keys."""
        keys, items = [], []
        for source in sources:
            keys.append(key := next(self._keys))
            progress = SourceProgress(Path(source.address.name), address=str(source.address))
            items.append(QueueItem(key, progress, reason=self._settings.waits_for(key), stream=source))
        if self.paused and all(item.ended for item in self._model):
            self.set_paused(False)
        self._model.extend(items)
        self._submit()
        return keys

    def watch(self, key: int, size: tuple[int, int], interval: float) -> None:
        """Let pictures of a live source come from now on.

        Parameters
        ----------
        key : int
            Of the source.
        size : tuple of int
            The largest width and height, device pixels; (0, 0): no pictures.
        interval : float
            The shortest time between two pictures, seconds.
        """
        if self._watched.get(key) != (size, interval):
            self._watched[key] = size, interval
            if self._run is not None:
                self._run.watch(key, size, interval)

    def record(self, key: int, settings: RecordSettings | None) -> None:
        """Record a live source that is being detected, or stop recording it (None)."""
        if self._run is not None:
            self._run.record(key, settings)

    def unfinished(self) -> list[QueueItem]:
        """The whole files that wait or are being detected with the settings of files that are added now."""
        run = self._run
        same = run is None or (run.settings, run.labels) == self._settings.common
        whole = [item for item in self._model if not item.ended and item.part is None and item.key not in self._settings.by_file]
        return [item for item in whole if same or item.results is None or item.state is ItemState.PAUSED]

    def stopped(self) -> list[QueueItem]:
        """The whole files whose detection was cancelled or failed, so that it can go on."""
        states = ItemState.CANCELLED, ItemState.FAILED
        return [item for item in self._model if item.state in states and item.part is None and not item.replaced]

    def restore(self, found: Iterable[QueueItem]) -> list[QueueItem]:
        """Put the stored results of an earlier run into the queue, with empty tallies; return the items with their keys."""
        items = [replace(item, key=next(self._keys)) for item in found]
        self._tallies |= {item.key: Tally(complete=False) for item in items}
        self._model.extend(items)
        return items

    def mark_replaced(self, results: Results) -> None:
        """Mark all files with results of this session, because another run has replaced it."""
        for item in self._model:
            if item.results is not None and (item.results.database, item.results.created) == (results.database, results.created):
                self._put(replace(item, replaced=True))

    def would_change(self, settings: RunSettings, labels: Sequence[str]) -> bool:
        """Whether a run with these settings must be a new one."""
        common = self._settings.common
        return common is not None and (settings, tuple(labels)) != common and not self._can_continue(settings, labels)

    def begun(self) -> list[QueueItem]:
        """The files that are being detected and use the common settings."""
        return [item for item in self._model if item.state is ItemState.RUNNING and item.key not in self._settings.by_file]

    def set_settings(self, settings: RunSettings, labels: Sequence[str], restart: bool) -> None:
        """Use other settings from now on. If only the devices differ, they join and leave the current run.

        Parameters
        ----------
        settings : RunSettings
        labels : sequence of str
            The names of the model's classes.
        restart : bool
            Whether files whose detection runs start again.
        """
        if (settings, tuple(labels)) == self._settings.common:
            return
        elastic = self._can_continue(settings, labels)
        self._settings.common = settings, tuple(labels)
        for item in self._model:
            if item.state is ItemState.WAITING and item.results is None and item.reason is not None:
                self._put(replace(item, reason=self._settings.waits_for(item.key)))
        run = self._run
        if run is not None and not (elastic and run.use_devices(self._devices, settings)):
            for item in self._model:
                begun = item.results is not None and not item.ended and item.key not in self._settings.by_file
                if begun and (restart or item.state is ItemState.WAITING):
                    run.cancel(item.key)
                    self._forget(item, item.part)
            run.finish()
        self._submit()

    def set_paused(self, paused: bool) -> None:
        """Stop detection in all files, or go on behind the stored frames. A paused run uses no device; the stored results stay."""
        self.paused = paused
        run = self._run
        if paused and run is not None:
            for item in self._model:
                if item.results is not None and item.active:
                    run.cancel(item.key)
                    if item.state is ItemState.RUNNING:
                        self._put(replace(item, state=ItemState.PAUSED, rate=None, reason=None, ahead=Ahead(), begun=self._begun(item)))
                        self._counts_on = True
                    else:
                        self._forget(item, item.part, keep=True)
            run.finish()
        elif not paused:
            self.continue_files([item.key for item in self._model if item.state is ItemState.PAUSED])
        self.pause_changed.emit(paused)

    def set_cluster(self, cluster: ClusterConnection | None, released: Callable[[], None] = lambda: None) -> None:
        """Use the devices of a cluster from now on. Unfinished files go on with them, in the same session database.

        Parameters
        ----------
        cluster : ClusterConnection or None
            None = the devices of this machine.
        released : callable
            Called when no run uses the earlier devices any more.
        """
        self._cluster = cluster
        run = self._run
        if run is None:
            released()
            return
        self._releases.append(released)
        for item in self._model:
            if item.results is not None and not item.ended:
                run.cancel(item.key)
                self._forget(item, item.part, keep=True)
        run.finish()
        self._submit()

    def renew(self) -> None:
        """End the run if none of its files is unfinished, so that the next file gets new engines."""
        if self._run is not None and not self.running:
            self._run.finish()

    def add_device(self, device: DeviceId) -> None:
        """Let a device join the current run, also one that has left or failed."""
        self._change_devices(RunThread.add_device, device)

    def remove_device(self, device: DeviceId) -> None:
        """Take a device out of the current run; the others take over its work."""
        self._change_devices(RunThread.remove_device, device)

    def _change_devices(self, change: Callable[[RunThread, DeviceId], None], device: DeviceId) -> None:
        try:
            if self._run is None:
                raise RuntimeError("there is no run")
            change(self._run, device)
        except UsageError as error:
            self.refused.emit(error.notice)
        except RuntimeError:
            self.refused.emit(literal(translate("run", "nothing is being detected")))
        self._wake()

    def _can_continue(self, settings: RunSettings, labels: Sequence[str]) -> bool:
        """Whether the run can go on with these settings."""
        now, run = self._settings.common, self._run
        if now is None or run is None or self._strategy is None:
            return False
        return (run.settings, run.labels) == now and run.can_use(self._strategy, settings, labels)

    def cancel(self, key: int) -> None:
        """Stop detection in a file; the stored results stay. A stream ends when its last frames have their results."""
        item = self._model.get(key)
        if item is None or item.ended:
            return
        if self._run is not None and item.results is not None:
            self._run.cancel(key)
            if item.stream is not None and item.results.source >= 0 and item.active:
                return
        self._put(replace(item, state=ItemState.CANCELLED, rate=None, ahead=Ahead(), begun=self._begun(item)))

    def seek(self, key: int, pts: float) -> None:
        """Detect the place with this time (seconds) next in a file, before what comes before it, where the file can be cut."""
        if self._run is not None:
            self._run.seek(key, pts)

    def remove(self, key: int) -> Removed | None:
        """Remove a file from the queue; return what ``put_back`` needs. None: it is not in the queue."""
        item = self._model.get(key)
        if item is None:
            return None
        row = self._model.row_of(key)
        self.cancel(key)
        self._model.remove(key)
        self._watched.pop(key, None)
        return Removed(row, item, self._tallies.pop(key, None), self._settings.by_file.pop(key, None))

    def put_back(self, removed: Removed) -> None:
        """Put a removed file back into its row. If detection had not ended, it goes on."""
        item = removed.item
        if removed.settings is not None:
            self._settings.by_file[item.key] = removed.settings
        if removed.tally is not None:
            self._tallies[item.key] = removed.tally
        self._model.insert(removed.row, item)
        if not item.ended:
            self._continue([item])

    def continue_files(self, keys: Iterable[int]) -> None:
        """Detect in the rest of files that are paused or have ended: behind the stored frames, if the settings are the same.

        Other files go on already: two questions about the same file can be open.
        """
        items = [item for key in keys if (item := self._model.get(key)) is not None]
        self._continue([item for item in items if item.ended or item.state is ItemState.PAUSED])

    def _continue(self, items: Iterable[QueueItem]) -> None:
        for item in items:
            self._continued.add(item.path)
            self._forget(item, item.part, keep=True)
        self._submit()

    def retry(self, key: int) -> None:
        """Detect again in a file that has ended; in one that failed, behind the frames that it has in the folder for sessions."""
        item = self._model.get(key)
        if item is None or not item.ended:
            return
        if self.goes_on(item):
            self._continue([item])
        else:
            self.detect_again(key)

    def goes_on(self, item: QueueItem) -> bool:
        """Whether ``retry`` continues this file behind its stored frames."""
        stored = item.results if item.progress.frames > 0 else item.begun
        return item.state is ItemState.FAILED and not item.replaced and stored is not None and stored.database.parent == self.folder

    def detect_again(self, key: int, part: Part | None = None) -> None:
        """Detect again in a file with the current settings. part: only in this part."""
        item = self._model.get(key)
        if item is not None:
            if self._run is not None and item.results is not None and not item.ended:
                self._run.cancel(key)
            self._forget(item, part)
            self._submit()

    def stop(self) -> None:
        """Stop the run and wait for the end of its processes, usually one or two seconds."""
        self._closing = True
        self._timer.stop()
        if self._run is not None:
            self._run.stop()
            self._run.join(STOP_SECONDS)
            if self._run.is_alive():
                _log.error("the run's thread does not end; its processes end with this process")
            self._run = None

    def _forget(self, item: QueueItem, part: Part | None = None, keep: bool = False) -> None:
        """Let a file wait for detection. part: the only one to detect in. keep: continue behind the stored frames."""
        begun = self._begun(item) if keep else None
        if self._run is not None:
            self._run.numbers.pop(item.key, None)
        self._tallies.pop(item.key, None)
        reason = self._settings.waits_for(item.key)
        progress = SourceProgress(item.path, None if item.live else item.progress.info, address=item.progress.address)
        self._put(QueueItem(item.key, progress, reason=reason, part=part, stream=item.stream, begun=begun))

    def _begun(self, item: QueueItem) -> Results | None:
        """Where the first frames of a file are that was stopped, None if it begins as a new source."""
        run, results = self._run, item.results
        if results is None or item.stored is results:
            return results or item.begun
        if run is None or run.database != results.database or item.ended:
            return item.begun
        if item.key in run.numbers:
            return replace(results, source=run.numbers[item.key])
        return item.begun if run.resumes else results  # in a new session, the run has stored no source yet

    def _put(self, item: QueueItem) -> None:
        self._model.update(item)
        self.item_changed.emit(item.key)
        if item.state is ItemState.DONE:
            self.file_done.emit(item)

    def _submit(self) -> None:
        """Pass waiting files to the run; start a run if there is none."""
        waiting = self._settings.waiting(self._model)
        if self._closing or self.paused or not waiting:
            return
        is_new = self._run is None
        if self._run is None:
            first, (settings, labels) = waiting[0]
            resumes = first.begun is not None
            database = self.folder / session_name(first.path) if first.begun is None else first.begun.database
            devices, self._counts_on = self._devices if self._counts_on and resumes else (), False
            pictures = LivePictures(self._picture_came.emit)
            self._run = RunThread(settings, database, labels, self._woken.emit, self._cluster, resumes, devices, pictures)
        run = self._run
        common = (run.settings, run.labels, run.cluster)
        now = [item for item, settings in waiting if (*settings, self._cluster) == common and run.takes(item.key, item.begun)]
        in_run = [item for item in self._model if item.results is not None and item.results.database == run.database]
        room = self._room(in_run)
        for item in now[:room]:
            if item.key in self._watched:
                run.watch(item.key, *self._watched[item.key])
            if not run.add(item.key, item.stream or item.path, item.begun):
                break  # the next run takes them
            begun = item.begun if item.stream is None else None
            self._put(replace(item, reason=None, results=Results(run.database, -1, run.labels), begun=begun))
        else:
            if len(now) <= room and len(now) < len(waiting):
                run.finish()  # the others need a run with their settings
        if is_new:
            run.start()
        self._wake()

    def _room(self, in_run: Sequence[QueueItem]) -> int:
        """The number of files to pass on now, so that no device waits even if it finishes them quickly. in_run: those it has."""
        unfinished = sum(not item.ended for item in in_run)
        if in_run and not unfinished:  # all were finished before more arrived
            self._ahead = min(2 * self._ahead, MAX_AHEAD)
        return max(max(self._ahead, 2 * sum(status.takes_part for status in self._devices)) - unfinished, 0)

    @Slot()
    def _wake(self) -> None:
        if not self._timer.isActive() and not self._closing:
            self._timer.start()

    @Slot()
    def _show_pictures(self) -> None:
        run = self._run
        if run is None:
            return
        keys = {number: key for key, number in list(run.numbers.items())}
        for number, picture in run.pictures.take().items():
            if number in keys:
                self.pictured.emit(keys[number], picture)

    def refresh(self) -> None:
        """Show the present state of the run in the queue."""
        run = self._run
        if run is None:
            return
        snapshot = run.feed.take()
        keys = {number: key for key, number in list(run.numbers.items())}
        ended = False
        for number in snapshot.sources.keys() | snapshot.rates.sources.keys():
            item, progress = self._model.get(keys.get(number, -1)), snapshot.sources.get(number)
            if item is None or item.results is None:
                continue
            if item.state in (ItemState.CANCELLED, ItemState.PAUSED) and progress is not None and item.results.source == number:
                self._put(replace(with_progress(item, progress, None), state=item.state))  # what was under way is stored, too
            if item.active:
                if item.results.source != number:
                    self._tallies[item.key] = run.feed.tally(number)
                    item = replace(item, results=replace(item.results, source=number, created=run.created))
                after = with_progress(item, progress or item.progress, snapshot.rates.sources.get(number))
                after = replace(after, ahead=snapshot.ahead.get(number, item.ahead))
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
        self._show_notes(run.notes)
        self._explain_waiting(run)
        (self.devices_changed if snapshot.states_changed else self.figures_changed).emit(snapshot.devices)
        for problem in snapshot.problems:
            self.device_failed.emit(problem)
        if snapshot.ended:
            self._ended(run, snapshot.error)
        elif snapshot.devices and all(status.phase in (Phase.FAILED, Phase.LEFT) for status in snapshot.devices):
            run.finish()  # the next file starts another run with new processes
        elif ended:
            self._submit()

    def _show_notes(self, notes: Sequence[Notice]) -> None:
        known = self._continued
        notes = [note for note in notes if not (note.code == "run.goes_on" and Path(str(note.fields["path"])) in known)]
        new = [note for note in notes if note not in self._notes]
        self._notes = [*new, *(note for note in self._notes if note in notes)]
        if new:
            self.noted.emit(self._notes)

    def _explain_waiting(self, run: RunThread) -> None:
        """Say in the rows of the run's files that they wait for the model, while no device is ready."""
        preparing = not any(status.phase in (Phase.READY, Phase.LEAVING) for status in self._devices)
        reason = translate("run", "Preparing the model") if preparing else None
        for item in self._model:
            in_run = item.results is not None and item.results.database == run.database
            if in_run and item.active and item.reason != reason:
                self._put(replace(item, reason=reason))

    def _ended(self, run: RunThread, error: Notice | None) -> None:
        run.join()
        self._run = None
        releases, self._releases = self._releases, []
        for release in releases:
            release()
        again: list[str] = []
        lost = bool(self._devices) and all(status.phase in (Phase.FAILED, Phase.LEFT) for status in self._devices)
        for item in self._model:
            in_run = item.results is not None and item.results.database == run.database
            # files with the same settings would fail, too
            next_ = (error is not None or lost) and item.results is None and self._settings.of(item) == (run.settings, run.labels)
            if in_run and item.active and run.differs:
                self._forget(item, item.part)  # its results stay there; the file gets another run
                again.append(item.name)
            elif (in_run or next_) and item.active:
                reason = error or translate("run", "Detection ended before this file.")
                self._put(replace(item, state=ItemState.FAILED, reason=reason, rate=None, ahead=Ahead()))
        if self._rate:
            self._rate = 0.0
            self.rate_changed.emit(self._rate)
        if again:
            one = translate("run", "{name} is detected from the beginning: the model or the settings are not those of its stored frames.")
            many = translate("run", "%Ln files are detected from the beginning: the model or the settings have changed.", None, len(again))
            self.noted.emit([literal(one.format(name=again[0]) if len(again) == 1 else many)])
        if error is not None:
            self.failed.emit(error)
        self._submit()
