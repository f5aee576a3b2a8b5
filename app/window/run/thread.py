"""Does one detection run in a thread, and gives the window's thread snapshots of its state.

The window reads small values a few times per second, independent of the number of frames.

A device's rate is the number of frames per second whose detections it completed in the last ``RATE_SECONDS``. The total is the sum of
the devices. The files divide the total in proportion to the frames that each received: results arrive in whole segments and in order,
so a file's own count moves in leaps.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from framefleet.app.window.devices.status import RATE_SECONDS, DeviceEvent, DeviceStatus, Phase, continued, fold
from framefleet.app.window.queue.item import Ahead, RateMeter, Results
from framefleet.app.window.streams.pictures import LivePictures
from framefleet.app.window.timeline.class_counts import Tally
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.media.live.messages import RecordSettings
from framefleet.engine.notices import ExportError, FramefleetError, Notice, UsageError, unexpected
from framefleet.engine.pool import events, live_sources
from framefleet.engine.run.resume import continuing
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import RunSettings
from framefleet.engine.store import facts, schema
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import DeviceId

HOLD_SECONDS = 0.5
"""Time for which rates stay as they are, so that every part of the window shows the same figures and they can be read."""


@dataclass(frozen=True)
class Rates:
    """Frames/s. devices: those that work. sources: those that run."""

    devices: Mapping[DeviceId, float] = field(default_factory=dict)
    sources: Mapping[int, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """The throughput of the run."""
        return sum(self.devices.values()) or sum(self.sources.values())


def measure(devices: Iterable[DeviceStatus], received: Mapping[int, float]) -> Rates:
    """The rates now. received: the frames per second that arrived of each unfinished source.

    Before the first report of a device, the sources keep their own rates; afterwards they are 0 while no device completes a frame.
    """
    devices = tuple(devices)
    of_devices = {status.device: status.rate for status in devices if status.rate}
    if not of_devices and any(status.samples and status.phase is Phase.READY for status in devices):
        return Rates({}, dict.fromkeys(received, 0.0))
    total, files = sum(of_devices.values()), sum(received.values())
    factor = total / files if total and files else 1.0
    return Rates(of_devices, {source: rate * factor for source, rate in received.items()})


class HeldRates:
    """Measures at most every ``HOLD_SECONDS``, but at once if other devices or sources are at work."""

    def __init__(self) -> None:
        self._rates = Rates()
        self._at: float | None = None

    def at(self, now: float, devices: Iterable[DeviceStatus], received: Mapping[int, float]) -> Rates:
        """The rates to show at a monotonic time, seconds."""
        measured = measure(devices, received)
        same = measured.devices.keys() == self._rates.devices.keys() and measured.sources.keys() == self._rates.sources.keys()
        if self._at is None or not same or now - self._at >= HOLD_SECONDS:
            self._rates, self._at = measured, now
        return self._rates


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at one moment.

    sources: those that have changed since the last snapshot. ahead: their results that are not stored yet. rates: those of the devices are
    also in their statuses. states_changed: a device has changed in more than its figures. problems: device failures since the last
    snapshot. ended: no further events follow. error: why the run ended, None without an error.
    """

    sources: Mapping[int, events.SourceProgress]
    ahead: Mapping[int, Ahead]
    rates: Rates
    devices: tuple[DeviceStatus, ...]
    states_changed: bool
    strategy: events.StrategyChosen | None
    problems: tuple[events.DeviceFailed, ...]
    ended: bool
    error: Notice | None


class Feed:
    """Folds a run's events into snapshots. One thread writes, another reads.

    clock: returns the monotonic time, seconds. devices: of a paused run that this run continues.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, devices: Iterable[DeviceStatus] = ()) -> None:
        self._clock = clock
        self._lock = Lock()
        self._sources: dict[int, events.SourceProgress] = {}
        self._changed: set[int] = set()
        self._ahead: dict[int, Ahead] = {}
        self._meters: dict[int, RateMeter] = {}
        self._rates: dict[int, float] = {}
        self._held = HeldRates()
        self._tallies: dict[int, Tally] = {}
        self._devices = {status.device: continued(status) for status in devices}
        self._states_changed = False
        self._strategy: events.StrategyChosen | None = None
        self._problems: list[events.DeviceFailed] = []
        self._ended = False
        self._error: Notice | None = None
        self._reader_woken = False

    def apply(self, event: events.Event, progress: events.SourceProgress | None = None) -> bool:
        """Fold one event; return True if the reader must be woken. progress: of the event's source after the event."""
        now = self._clock()
        with self._lock:
            match event:
                case (
                    events.SourceOpened(source)
                    | events.FramesDone(source)
                    | events.SourceFinished(source)
                    | events.StreamChanged(source)
                    | events.StreamCounted(source)
                ) if progress is not None:
                    self._sources[source] = progress
                    self._changed.add(source)
                    if isinstance(event, events.FramesDone):
                        self._frames(event, progress, now)
                    if (held := self._ahead.get(source)) is not None and not isinstance(event, events.SourceOpened):
                        self._ahead[source] = held.behind(event.segment if isinstance(event, events.FramesDone) else None)
                case events.FramesAhead(source):
                    self._ahead[source] = self._ahead.get(source, Ahead()).after(event)
                    self._changed.add(source)
                case events.StrategyChosen():
                    self._strategy = event
                case _ if isinstance(event, DeviceEvent):
                    self._device(event, now)
            return self._must_wake()

    def leaving(self, device: DeviceId) -> None:
        """Mark a device that the user took out of the run. It does not wake the reader."""
        with self._lock:
            status = self._devices.get(device)
            if status is not None and status.takes_part:
                self._devices[device] = replace(status, phase=Phase.LEAVING)
                self._states_changed = True

    def end(self, error: Notice | None) -> bool:
        """Mark the end of the run; return True as ``apply`` does."""
        with self._lock:
            self._ended, self._error, self._states_changed = True, error, True
            self._devices = {device: _at_the_end(status) for device, status in self._devices.items()}
            return self._must_wake()

    def take(self) -> Snapshot:
        """A snapshot with the sources that have changed since the last one, and all devices."""
        with self._lock:
            self._reader_woken = False
            changed, self._changed = self._changed, set()
            states_changed, self._states_changed = self._states_changed, False
            problems, self._problems = tuple(self._problems), []
            sources = {number: self._sources[number] for number in changed}
            ahead = {number: self._ahead[number] for number in changed if number in self._ahead}
            received = {number: rate for number, rate in self._rates.items() if self._sources[number].finished is None}
            running = self._running
            rates = self._held.at(self._clock(), self._devices.values() if running else (), received)
            devices = tuple(
                replace(status, rate=rates.devices.get(status.device, 0.0), resting=not running) for status in self._devices.values()
            )
            return Snapshot(sources, ahead, rates, devices, states_changed, self._strategy, problems, self._ended, self._error)

    @property
    def _running(self) -> bool:
        """Whether a source is not finished."""
        return any(progress.finished is None for progress in self._sources.values())

    def tally(self, source: int) -> Tally:
        """The counts of one source, which increase with further frames."""
        with self._lock:
            return self._tallies.setdefault(source, Tally())

    def _must_wake(self) -> bool:
        first, self._reader_woken = not self._reader_woken, True
        return first

    def _frames(self, event: events.FramesDone, progress: events.SourceProgress, now: float) -> None:
        self._tallies.setdefault(event.source, Tally()).add_frames(event.frames, progress.info)
        rate = self._meters.setdefault(event.source, RateMeter(RATE_SECONDS)).mark(now, progress.frames)
        if rate is not None:
            self._rates[event.source] = rate

    def _device(self, event: DeviceEvent, now: float) -> None:
        device = event.engine.device if isinstance(event, events.DeviceReady) else event.device
        before = self._devices.get(device)
        resting = replace(before or DeviceStatus(device), resting=not self._running)
        self._devices[device] = after = fold(resting, event, now)
        self._states_changed |= before is None or before.state != after.state
        if isinstance(event, events.DeviceFailed):
            self._problems.append(event)


def _at_the_end(status: DeviceStatus) -> DeviceStatus:
    if status.phase in (Phase.FAILED, Phase.LEFT):
        return status
    return replace(status, phase=Phase.LEFT if status.phase is Phase.LEAVING else Phase.IDLE, building=None, rate=0.0)


class RunThread(threading.Thread):
    """Does one run until ``finish`` or ``stop``. Only the window's thread calls its methods, except ``run``.

    wake: called in this thread when the feed has a new snapshot. cluster: has the devices, None = this machine.
    resumes: end at once, with ``differs``, instead of replacing the results of other settings in ``database``.
    devices: of a paused run that this run continues. pictures: of the live sources.
    ``numbers``: the source number in the pool by queue item key. created: identifies the session, "" before it has begun.
    """

    def __init__(
        self,
        settings: RunSettings,
        database: Path,
        labels: Sequence[str],
        wake: Callable[[], None],
        cluster: ClusterConnection | None = None,
        resumes: bool = False,
        devices: Iterable[DeviceStatus] = (),
        pictures: LivePictures | None = None,
    ) -> None:
        super().__init__(name="framefleet run", daemon=True)
        self.settings = settings
        self.database = database
        self.labels = tuple(labels)
        self.feed = Feed(devices=devices)
        self.pictures = pictures or LivePictures(lambda: None)
        self.numbers: dict[int, int] = {}
        self.created = ""
        self.cluster = cluster
        self.differs = False
        self.resumes = resumes
        self._wake = wake
        self._lock = threading.Lock()
        self._run: DetectionRun | None = None
        self._waiting: dict[int, tuple[Path | live_sources.LiveSource, Results | None]] = {}
        self._watched: dict[int, tuple[tuple[int, int], float]] = {}
        self._taken: set[int] = set()
        self._finishing = False
        self._stopped = False
        self._over = False

    def run(self) -> None:
        """Detect until the run ends; store its error in the feed."""
        error: Notice | None = None
        try:
            self._drive()
        except FramefleetError as caught:
            error = caught.notice
        except BaseException as caught:
            error = unexpected(caught)
            raise  # a bug: the handler of unexpected errors shows and logs it
        finally:
            with self._lock:
                self._over = True
            if self.feed.end(error):
                self._wake()

    def _drive(self) -> None:
        with schema.explained(self.database, "create"):
            self.database.parent.mkdir(parents=True, exist_ok=True)
        settings = self._continuing() if self.resumes else self.settings
        self.differs = settings is None
        if settings is None:
            return
        with DetectionRun(settings, self.database, self.labels, hosts=self.cluster) as run:
            with SessionReader(self.database) as reader:
                self.created = reader.facts[facts.CREATED]
            with self._lock:
                self._run = run
                for key, waiting in self._waiting.items():
                    self._add(run, key, *waiting)
                self._waiting.clear()
                if self._finishing:
                    run.finish()
                if self._stopped:
                    run.cancel()
            tallied: set[int] = set()
            for event in run.events():
                if isinstance(event, events.SourceOpened | events.SourceFinished) and event.source not in tallied:
                    tallied.add(event.source)
                    self._tally_stored(event.source, run.sources[event.source])
                self.pictures.apply(event)
                if self.feed.apply(event, run.progress_of(event)):
                    self._wake()

    def _continuing(self) -> RunSettings | None:
        """The settings of a run that takes over the results in the database; None if they are of others. The run says why it cannot."""
        with suppress(ExportError), SessionReader(self.database) as reader:
            return continuing(self.settings, self.labels, reader)
        return self.settings

    def _tally_stored(self, source: int, progress: events.SourceProgress) -> None:
        """Count the detections that an earlier run stored of a source."""
        if progress.frames:
            with SessionReader(self.database) as reader:
                most = progress.frames if progress.finished is None else None
                self.feed.tally(source).add_stored(reader, source, progress.info, most)

    @property
    def notes(self) -> list[Notice]:
        """What the run takes over from an earlier run, for the user."""
        return [] if self._run is None else self._run.notes  # without the lock, which is held while files are examined

    def takes(self, key: int, begun: Results | None) -> bool:
        """Whether this session can detect in a file. begun: where its first frames are, None = nowhere.

        A run knows what its database held when it began. So a file that it had already goes on in the next run.
        """
        return begun is None or (begun.database == self.database and key not in self._taken)

    def _add(self, run: DetectionRun, key: int, source: Path | live_sources.LiveSource, begun: Results | None) -> None:
        if isinstance(source, Path):
            number = run.add(source, None if begun is None else begun.source, again=begun is None)
        else:
            number = run.add_stream(source)
        self.numbers[key] = number
        if key in self._watched:
            run.watch(number, *self._watched[key])

    def watch(self, key: int, size: tuple[int, int], interval: float) -> None:
        """Get pictures of a live source, also before it is added: see ``DetectionRun.watch``."""
        with self._lock:
            self._watched[key] = size, interval
            if self._run is not None and key in self.numbers:
                self._run.watch(self.numbers[key], size, interval)

    def record(self, key: int, settings: RecordSettings | None) -> None:
        """Record a live source that was added, or stop recording it (None)."""
        with self._lock:
            if self._run is not None and key in self.numbers:
                self._run.record(self.numbers[key], settings)

    def add(self, key: int, path: Path | live_sources.LiveSource, begun: Results | None) -> bool:
        """Queue a file or a live source, also before the thread has started. Return False if the run takes no more files.

        begun: see ``takes``.
        """
        self._taken.add(key)
        with self._lock:
            if self._finishing or self._over:
                return False
            if self._run is None:
                self._waiting[key] = path, begun
                return True
            try:
                self._add(self._run, key, path, begun)
            except RuntimeError:  # the pool has ended, and this thread ends soon
                return False
            return True

    def cancel(self, key: int) -> None:
        """Stop detection in one file."""
        with self._lock:
            self._waiting.pop(key, None)
            if self._run is not None and key in self.numbers:
                self._run.cancel(self.numbers[key])

    def seek(self, key: int, pts: float) -> None:
        """Detect the place with this time next in one file: see ``DetectionRun.seek``."""
        with self._lock:
            if self._run is not None and key in self.numbers:
                self._run.seek(self.numbers[key], pts)

    def add_device(self, device: DeviceId) -> None:
        """Let a device join the run, also one that has left or failed. DeviceStarting follows in the feed.

        Raises
        ------
            UsageError: it takes part already, or cannot join this run; the message is for the user.
            RuntimeError: there is no run.
        """
        self._running().add_device(device)

    def remove_device(self, device: DeviceId) -> None:
        """Take a device out of the run. The others take over its work, and DeviceLeft follows in the feed.

        Raises
        ------
            UsageError: it is the last one while work remains, or it cannot leave; the message is for the user.
            RuntimeError: there is no run.
        """
        self._running().remove_device(device)
        self.feed.leaving(device)

    def can_use(self, strategy: events.StrategyChosen, settings: RunSettings, labels: Sequence[str]) -> bool:
        """Whether the run can continue with these settings, because devices can join and leave it. strategy: of the run.

        It cannot with automatic devices, which are chosen at the start of a run, nor on a cluster.
        """
        if self.cluster is not None or self.labels != tuple(labels) or not strategy.elastic:
            return False
        return bool(settings.devices) and replace(settings, devices=self.settings.devices) == self.settings

    def use_devices(self, statuses: Iterable[DeviceStatus], settings: RunSettings) -> bool:
        """Let devices join and leave the run until they are those of the settings; return False if that is refused."""
        now = {status.device for status in statuses if status.takes_part}
        try:
            for device in settings.devices:  # first, because the last device cannot leave
                if device not in now:
                    self.add_device(device)
            for device in now.difference(settings.devices):
                self.remove_device(device)
        except (UsageError, RuntimeError):
            return False
        self.settings = settings
        return True

    def _running(self) -> DetectionRun:
        with self._lock:
            if self._run is None or self._over:
                raise RuntimeError("nothing is being detected")
            return self._run

    def finish(self) -> None:
        """End the run after its last file."""
        with self._lock:
            self._finishing = True
            if self._run is not None:
                self._run.finish()

    def stop(self) -> None:
        """Stop the run at once. Does not wait for the end of the thread."""
        with self._lock:
            self._stopped = True
            self._waiting.clear()
            if self._run is not None:
                self._run.cancel()
        self.finish()
