"""Runs one detection session in a thread and folds its events into the feed."""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from framefleet.app.window.devices.status import DeviceStatus
from framefleet.app.window.session.feed import Feed
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.errors import ExportError, FramefleetError, UsageError
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import SourceFinished, SourceOpened, StrategyChosen
from framefleet.engine.pool.progress import SourceProgress
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import RunSettings
from framefleet.engine.store.facts import CREATED, differences, run_facts
from framefleet.engine.store.schema import explained
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.sources import readable
from framefleet.engine.types import DeviceId


class SessionThread(threading.Thread):
    """Runs one session until ``finish`` or ``stop``. Only the window's thread calls its methods, except ``run``.

    wake: called in this thread when the feed has a new snapshot. cluster: has the devices, None = this machine.
    go_on: end at once, with ``differs``, instead of replacing the results of other settings in ``database``.
    ``numbers``: the source number in the pool by queue item key. created: identifies the session, "" before it has begun.
    """

    def __init__(
        self,
        settings: RunSettings,
        database: Path,
        labels: Sequence[str],
        wake: Callable[[], None],
        cluster: ClusterConnection | None = None,
        go_on: bool = False,
    ) -> None:
        super().__init__(name="framefleet session", daemon=True)
        self.settings = settings
        self.database = database
        self.labels = tuple(labels)
        self.feed = Feed()
        self.numbers: dict[int, int] = {}
        self.created = ""
        self.cluster = cluster
        self.differs = False
        self._go_on = go_on
        self._wake = wake
        self._lock = threading.Lock()
        self._session: DetectionRun | None = None
        self._waiting: dict[int, Path] = {}
        self._finishing = False
        self._stopped = False
        self._over = False

    def run(self) -> None:
        """Run the session; store its error in the feed."""
        error: Notice | None = None
        try:
            self._drive()
        except FramefleetError as caught:
            error = caught.notice
        except BaseException as caught:
            error = Notice("general.detail", detail=f"{type(caught).__name__}: {caught}")
            raise  # a bug: the handler of unexpected errors shows and logs it
        finally:
            with self._lock:
                self._over = True
            if self.feed.end(error):
                self._wake()

    def _drive(self) -> None:
        with explained(self.database, "create"):
            self.database.parent.mkdir(parents=True, exist_ok=True)
        self.differs = self._go_on and not self._continues()
        if self.differs:
            return
        with DetectionRun(self.settings, self.database, self.labels, hosts=self.cluster) as session:
            with SessionReader(self.database) as reader:
                self.created = reader.facts[CREATED]
            with self._lock:
                self._session = session
                for key, path in self._waiting.items():
                    self.numbers[key] = session.add(path)
                self._waiting.clear()
                if self._finishing:
                    session.finish()
                if self._stopped:
                    session.cancel()
            tallied: set[int] = set()
            for event in session.events():
                if isinstance(event, SourceOpened | SourceFinished) and event.source not in tallied:
                    tallied.add(event.source)
                    self._tally_stored(event.source, session.sources[event.source])
                if self.feed.apply(event, session.progress_of(event)):
                    self._wake()

    def _continues(self) -> bool:
        """Whether the results in the database are of these settings, so that a run takes them over. True if they cannot be read."""
        with suppress(ExportError), SessionReader(self.database) as reader:
            return reader.labels == tuple(map(readable, self.labels)) and not differences(reader.facts, run_facts(self.settings))
        return True

    def _tally_stored(self, source: int, progress: SourceProgress) -> None:
        """Count the detections that an earlier run stored of a source."""
        if progress.frames:
            with SessionReader(self.database) as reader:
                self.feed.tally(source).add_stored(reader, source, progress.info)

    @property
    def notes(self) -> list[Notice]:
        """What the session takes over from an earlier run, for the user."""
        return [] if self._session is None else self._session.notes  # without the lock, which is held while files are examined

    def add(self, key: int, path: Path) -> bool:
        """Queue a file, also before the thread has started. Return False if the session takes no more files."""
        with self._lock:
            if self._finishing or self._over:
                return False
            if self._session is None:
                self._waiting[key] = path
                return True
            try:
                self.numbers[key] = self._session.add(path)
            except RuntimeError:  # the pool has ended, and this thread ends soon
                return False
            return True

    def cancel(self, key: int) -> None:
        """Stop detection in one file."""
        with self._lock:
            self._waiting.pop(key, None)
            if self._session is not None and key in self.numbers:
                self._session.cancel(self.numbers[key])

    def add_device(self, device: DeviceId) -> None:
        """Let a device join the session, also one that has left or failed. DeviceStarting follows in the feed.

        Raises:
            UsageError: it takes part already, or cannot join a running session; the message is for the user.
            RuntimeError: no session runs.
        """
        self._running().add_device(device)

    def remove_device(self, device: DeviceId) -> None:
        """Take a device out of the session. The others take over its work, and DeviceLeft follows in the feed.

        Raises:
            UsageError: it is the last one while work remains, or it cannot leave; the message is for the user.
            RuntimeError: no session runs.
        """
        self._running().remove_device(device)
        self.feed.leaving(device)

    def can_use(self, strategy: StrategyChosen, settings: RunSettings, labels: Sequence[str]) -> bool:
        """Whether the session can continue with these settings, because devices can join and leave it. strategy: of the session.

        It cannot with automatic devices, which are chosen at the start of a session, nor on a cluster.
        """
        if self.cluster is not None or self.labels != tuple(labels) or not strategy.elastic:
            return False
        return bool(settings.devices) and replace(settings, devices=self.settings.devices) == self.settings

    def use_devices(self, statuses: Iterable[DeviceStatus], settings: RunSettings) -> bool:
        """Let devices join and leave the session until they are those of the settings; return False if that is refused."""
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
            if self._session is None or self._over:
                raise RuntimeError("nothing is being detected")
            return self._session

    def finish(self) -> None:
        """End the session after its last file."""
        with self._lock:
            self._finishing = True
            if self._session is not None:
                self._session.finish()

    def stop(self) -> None:
        """Stop the session at once. Does not wait for the end of the thread."""
        with self._lock:
            self._stopped = True
            self._waiting.clear()
            if self._session is not None:
                self._session.cancel()
        self.finish()
