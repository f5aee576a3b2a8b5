"""One detection run of the command line or the window: a pool whose results are stored as they come."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

from framefleet.engine.media.stamp import Stamp, has_same_content, is_unchanged, stamp_of
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.cpu_fallback import CpuFallback
from framefleet.engine.pool.events import DeviceReady, DeviceStats, Event, FramesDone, SourceFinished, SourceOpened
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.progress import SourceProgress
from framefleet.engine.pool.supervision.hosts import Hosts
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.settings import RunSettings, Track
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store.facts import run_facts
from framefleet.engine.store.going_on import GoingOn, Start
from framefleet.engine.store.objects.following import Following
from framefleet.engine.store.report import device_figures, source_figures
from framefleet.engine.store.session import SessionWriter, StoredSource
from framefleet.engine.store.tracks import tracked_with
from framefleet.engine.tracking.follow import TrackerName
from framefleet.engine.types import Closing, DeviceId, EngineInfo


class DetectionSession(Closing):
    """Detects in sources on the devices of a pool and stores every frame in a session database.

    ``events`` and ``close`` belong to one thread; the other methods may be called from any thread. labels: one per class. sources: the
    progress of each source, by number. database: the file, which ``SessionReader`` can read while the session runs. restart: begin again,
    although the database holds results of the same settings. lock: of the database, from ``lock_session``; None = hold it until ``close``.
    facts: further facts of the run, see ``engine.store.facts.REPLACED``. hosts: see ``EnginePool``.

    Attributes: notes: sentences for the user about what the session takes over from an earlier run. inferred_before: number of frames that
    earlier runs inferred.

    Raises:
        DeviceError, UsageError: the settings do not fit the devices.
        ExportError: the database cannot be created; from ``events``: it cannot be written.
    """

    def __init__(
        self,
        settings: RunSettings,
        database: Path,
        labels: Sequence[str],
        *,
        restart: bool = False,
        lock: FileLock | None = None,
        facts: Mapping[str, str] = MappingProxyType({}),
        hosts: Hosts | None = None,
    ) -> None:
        self.database = database
        self.sources: dict[int, SourceProgress] = {}
        self.inferred_before = 0
        self._engines: dict[DeviceId, EngineInfo] = {}
        self._stats: dict[DeviceId, DeviceStats] = {}
        self._adding = Lock()  # a source's first event may come before ``EnginePool.add`` returns its number
        self._clock = settings.clock_settings
        self._starts: dict[int, Start] = {}
        self._kept: list[tuple[Path, StoredSource, SourceFinished]] = []
        self._notes: list[str] = []
        self._queued: list[tuple[int, str]] = []
        self._segments: dict[int, SourceInfo] = {}
        self._stamps: dict[int, Stamp | None] = {}
        self._segment: dict[int, int | None] = {}
        self._cancelled = False
        own, hosts = hosts is None, hosts or Hosts()
        devices = hosts.devices(settings.devices)
        self._writer = SessionWriter(database, labels, {**run_facts(settings), **facts}, go_on=not restart, lock=lock)
        try:
            self._going_on = GoingOn(database if self._writer.continued else None)
            self._pool = EnginePool(settings, devices, hosts)
            # where the user named the devices, no other one joins
            self._following = None if settings.track is Track.NONE else Following(database, TrackerName(settings.track))
            self._cpu_fallback = CpuFallback(self._pool, devices) if own and not settings.devices else None
        except BaseException:
            self._writer.close(complete=False)
            raise

    @property
    def notes(self) -> list[str]:
        """Sentences for the user about what the session takes over from an earlier run."""
        return self._writer.notes + self._going_on.notes + self._notes

    def add(self, path: Path, number: int | None = None) -> int:
        """Queue a source and return its number. No device gets a source that an earlier run has finished.

        number: see ``GoingOn.start``.
        """
        with self._adding:
            start = self._going_on.start(path, number)
            self._starts[start.number] = start
            if start.kept is not None:
                progress = self.sources[start.number] = _progress_of(path, start.kept)
                if progress.finished is not None:
                    self._kept.append((path, start.kept, progress.finished))
                if self._needs_tracks(start.kept) and start.number in self._going_on.joined_or_split:
                    what = "its tracks were joined or split by hand and stay: 'framefleet track --drop-corrections' tracks again"
                    self._notes.append(f"{path}: {what}")
            else:
                self._pool.add(path, start.number, start.position)
                self._queued.append((start.number, str(self._going_on.path_of(path))))
                self.sources[start.number] = SourceProgress.continued(path, start.position)
            self.inferred_before += self.sources[start.number].ledger.inferred
        return start.number

    def finish(self) -> None:
        """Accept no more sources: ``events`` ends after the last one."""
        self._pool.finish()

    def cancel(self, source: int | None = None) -> None:
        """Cancel one source, or all. The stored results stay."""
        self._cancelled |= source is None
        self._pool.cancel(source)

    def add_device(self, device: DeviceId) -> None:
        """Add a device to the run: see ``EnginePool.add_device``."""
        self._pool.add_device(device)

    def remove_device(self, device: DeviceId) -> None:
        """Remove a device from the run: see ``EnginePool.remove_device``."""
        self._pool.remove_device(device)

    def events(self) -> Iterator[Event]:
        """The pool's events, each after it has been stored. Readers of the database see frames at most half a second later.

        If objects are tracked, the events end when all complete sources have their tracks.
        """
        for event in self._pool.events():
            yield from self._kept_events()
            event = self._compared(event)
            self._store(event)
            if self._cpu_fallback is not None:
                self._cpu_fallback.see(event)
            yield event
        yield from self._kept_events()
        self._writer.commit()
        if self._following is not None and not self._cancelled:
            self._following.finish()

    def _compared(self, event: Event) -> Event:
        """The event. If it ends a video whose file has changed since the run opened it, the event has an error."""
        if not isinstance(event, SourceFinished) or event.cancelled or event.error is not None:
            return event
        stamp, path = self._stamps.pop(event.source, None), self.sources[event.source].path
        if stamp is None or is_unchanged(path, stamp) or (now := stamp_of(path)) is None or has_same_content(now, stamp):
            return event
        why = "changed while it was read, so its results may mix two contents: run again when nothing writes to it"
        return replace(event, error=f"{path} {why}")

    def _kept_events(self) -> Iterator[Event]:
        """The last events of sources that an earlier run has finished."""
        while self._kept:
            path, stored, event = self._kept.pop(0)
            if stored.info is not None:
                self._set_clock(self._clock, stored.number, path, stored.info.kind, stored.created)
            if self._following is not None and self._needs_tracks(stored) and stored.number not in self._going_on.joined_or_split:
                self._following.begin(event.source)
                self._following.end(event.source)
            yield event

    def _needs_tracks(self, stored: StoredSource) -> bool:
        """Whether this run would track the objects of a video that an earlier run has finished."""
        if self._following is None or stored.kind is not SourceKind.VIDEO:
            return False
        return not tracked_with(self.database, stored.number, self._following.tracker)

    def _set_clock(self, clock: ClockSettings, number: int, path: Path, kind: SourceKind, created: str | None) -> None:
        """Store when a video begins or pictures were taken, if a setting says where the time comes from. created: a video's metadata."""
        if kind is SourceKind.IMAGES and clock.for_pictures is not None:
            self._writer.set_picture_clock(number, path, clock)
        elif kind is SourceKind.VIDEO and clock.clock is not None:
            self._writer.set_start(number, clock.started(path, created))

    def _store(self, event: Event) -> None:
        if self._queued:
            with self._adding:
                queued, self._queued = self._queued, []
            self._writer.add_queued(queued)
        if isinstance(event, SourceOpened | FramesDone | SourceFinished):
            with self._adding:
                self.sources[event.source] = self.sources[event.source].after(event)
        match event:
            case FramesDone(source, frames, segment):
                if self._segment.get(source, -1) != segment:
                    self._segment[source] = segment
                    pts = None if segment is None else self._segments[source].segments[segment].start
                    self._writer.begin_segment(source, segment, pts, frames[0].ref.index)
                self._writer.add_frames(frames)
            case SourceOpened(source, info):
                path = self.sources[source].path
                start = self._starts[source]
                if start.again:
                    self._writer.discard(source)
                elif start.stored:
                    self._writer.go_on(source, 0 if start.position is None else start.position.frames)
                stamp = stamp_of(path)
                self._writer.add_source(source, str(self._going_on.path_of(path)), info, stamp)
                clock = self._going_on.clock if self._clock.clock is None else self._clock
                self._set_clock(clock, source, path, info.kind, info.created)
                if info.kind is SourceKind.VIDEO:
                    self._stamps[source] = stamp
                    self._writer.describe_source(source, info=info)
                    if self._following is not None:
                        self._following.begin(source)
                self._segments[source] = info
            case SourceFinished(source, ledger, seconds, error, cancelled, decoder):
                start = self._starts[source]
                opened = self._segments.pop(source, None) is not None
                if opened or not start.stored:  # else the stored results of an earlier run stay
                    self._writer.describe_source(source, decoder=str(decoder) or None)
                    path = self._going_on.path_of(self.sources[source].path)
                    self._writer.finish_source(source, str(path), ledger, seconds, error, cancelled)
                    if self._following is not None:
                        self._following.cancel(source) if cancelled or error is not None else self._following.end(source)
            case DeviceReady(engine):
                self._engines[engine.device] = engine
                self._writer.add_device(engine)
            case DeviceStats(device):
                self._stats[device] = event
        self._writer.commit_due()

    def progress_of(self, event: Event) -> SourceProgress | None:
        """The progress of an event's source, or None if the event has none. For the thread that takes the events."""
        return self.sources[event.source] if isinstance(event, SourceOpened | FramesDone | SourceFinished) else None

    def report(self, outcome: str) -> dict[str, Any]:
        """The run in numbers, as ``framefleet detect --json`` prints it. outcome: "ok", "failed", …"""
        devices = [device_figures(engine, self._stats.get(device)) for device, engine in self._engines.items()]
        return {"sources": [source_figures(source) for source in self.sources.values()], "devices": devices, "exit": outcome}

    def close(self) -> None:
        """Stop the pool, store the last results and close the database; harmless when repeated."""
        try:
            self._pool.close()
        finally:
            if self._following is not None:
                self._following.close()
            complete = all(source.complete and source.error is None for source in self.sources.values())
            self._writer.close(complete)


def _progress_of(path: Path, stored: StoredSource) -> SourceProgress:
    """The progress of a source that an earlier run has finished."""
    finished = SourceFinished(stored.number, stored.ledger, stored.seconds or 0.0, stored.error, stored.cancelled)
    failed, end = sum(stored.ledger.failed.values()), stored.info.duration if stored.info is not None else None
    return SourceProgress(path, stored.info, stored.ledger.decoded, failed, end, finished)
