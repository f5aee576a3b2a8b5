"""One detection run of the command line or the window: a pool whose results are stored as they come."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

from framefleet.engine.devices.discovery import discover
from framefleet.engine.media.live.messages import RecordSettings
from framefleet.engine.notices import DeviceError, Notice, Option, UsageError
from framefleet.engine.pool import live_sources, pool
from framefleet.engine.pool.events import (
    SOURCE_EVENTS,
    AlertRaised,
    DeviceFailed,
    DeviceReady,
    DeviceStats,
    EpochStarted,
    Event,
    FramesDone,
    SourceFinished,
    SourceProgress,
    StreamSnapshot,
)
from framefleet.engine.pool.hosts import Hosts
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.run import recorder
from framefleet.engine.run.alerts import COMMAND_SECONDS, INTERRUPTED_SECONDS, Alerts
from framefleet.engine.run.resume import ResumePlan, SourceResume
from framefleet.engine.settings import Parallel, Precision, RunSettings, Track
from framefleet.engine.settings.checks import require_possible
from framefleet.engine.store import live_tracking, sources
from framefleet.engine.store.facts import run_facts
from framefleet.engine.store.session import SessionWriter, StoredSource
from framefleet.engine.types import Closing, DeviceId, EngineInfo


class DetectionRun(Closing):
    """Detects in sources on the devices of a pool and stores every frame in a session database.

    ``events`` and ``close`` belong to one thread; the other methods may be called from any thread.

    Parameters
    ----------
    settings : RunSettings
        Model, devices and how to detect. Detections are stored from their confidence on, see ``engine.run.resume.storing``.
    database : Path
        The file, which ``SessionReader`` can read while the run goes on.
    labels : sequence of str
        One per class.
    restart : bool
        Begin again, although the database holds results of the same settings.
    lock : FileLock, optional
        Of the database, from ``lock_session``. None: hold it until ``close``.
    facts : mapping
        Further facts of the run, see ``engine.store.facts.REPLACED``.
    hosts : Hosts, optional
        See ``EnginePool``.
    alerts : Alerts, optional
        Rules that are checked in each frame of live sources. The run closes it.

    Attributes
    ----------
    sources : dict
        The progress of each source, by number.
    inferred_before : int
        Number of frames that earlier runs inferred.
    withdrawn : bool
        Whether no device could be used, so that the database holds the earlier results again that this run had replaced.

    Raises
    ------
    DeviceError, UsageError
        The settings do not fit the devices.
    ExportError
        The database cannot be created; from ``events``: it cannot be written.
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
        alerts: Alerts | None = None,
    ) -> None:
        self._alerts = alerts
        self.database = database
        self.sources: dict[int, SourceProgress] = {}
        self.inferred_before = 0
        self.withdrawn = False
        self._refused = False  # by a device
        self._engines: dict[DeviceId, EngineInfo] = {}
        self._stats: dict[DeviceId, DeviceStats] = {}
        self._adding = Lock()  # a source's first event may come before ``EnginePool.add`` returns its number
        self._resumes: dict[int, SourceResume] = {}
        self._kept = deque[StoredSource]()
        self._queued: list[tuple[int, Path]] = []
        self._notes: list[Notice] = []
        self._cancelled = False
        own, hosts = hosts is None, hosts or Hosts()
        if settings.model.is_onnx and settings.parallel is Parallel.DEPTH:
            raise UsageError(Notice("run.onnx_no_stages", option=Option("parallel", "segments")))
        devices = self._suitable(settings, hosts.devices(settings.devices))
        if own and database.exists():
            _require_offered(settings, devices)
        writer = SessionWriter(database, labels, {**run_facts(settings), **facts}, go_on=not restart, lock=lock)
        try:
            self._plan = ResumePlan(database if writer.continued else None)
            as_before = replace(settings.engine, earlier=self._plan.engines)
            self._pool = pool.EnginePool(replace(settings, engine=as_before), devices, hosts)
            tracking = None if settings.track is Track.NONE else live_tracking.LiveTracking(database)
            days, gib = settings.recordings.record_days, settings.recordings.record_gib
            age, size = timedelta.max if days is None else timedelta(days), math.inf if gib is None else gib * 2**30
            limits = recorder.RecordLimits(age, size, settings.recordings.session_minutes)
            self._recorder = recorder.Recorder(writer, self._plan, settings.clock_settings, tracking, limits)
            # where the user named the devices, no other one joins
            self._cpu_fallback = pool.CpuFallback(self._pool, devices) if own and not settings.devices else None
        except BaseException:
            writer.close(complete=False)
            raise

    def _suitable(self, settings: RunSettings, devices: Sequence[DeviceId]) -> Sequence[DeviceId]:
        """The devices that can run the model. Those that the user names stay, as do those of a cluster: they say what they lack."""
        chosen = bool(settings.devices) or any(device.node for device in devices)
        if chosen or not settings.model.is_onnx or all(device.kind != "cuda" for device in devices):
            return devices
        from framefleet.engine.model.onnx.suppression import lacking_on_gpus  # few models need it

        lacking = lacking_on_gpus(settings.model.cfg)
        if not lacking:
            return devices
        refused = tuple(str(device) for device in devices if device.kind == "cuda")
        self._notes.append(Notice("run.onnx_on_cpu", devices=refused, operators=lacking))
        return [device for device in devices if device.kind != "cuda"] or [DeviceId("cpu", "0")]

    @property
    def notes(self) -> list[Notice]:
        """What the run takes over from an earlier one, for the user."""
        return [*self._recorder.notes, *self._plan.notes, *self._notes]

    def add(self, path: Path, number: int | None = None, again: bool = False) -> int:
        """Queue a source and return its number. No device gets a source that an earlier run has finished.

        number, again: see ``ResumePlan.start``.
        """
        with self._adding:
            resume = self._plan.start(path, number, again)
            self._resumes[resume.number] = resume
            if resume.kept is not None:
                self.sources[resume.number] = _progress_of(path, resume.kept)
                self._kept.append(resume.kept)
                if resume.number in self._plan.joined_or_split and self._recorder.needs_tracks(resume.kept):
                    self._notes.append(Notice("run.tracks_stay", path=path, option=Option("drop-corrections")))
            else:
                self._pool.add(path, resume.number, resume.position)
                self._queued.append((resume.number, path))
                self.sources[resume.number] = SourceProgress.continued(path, resume.position)
            self.inferred_before += self.sources[resume.number].ledger.inferred
        return resume.number

    def add_stream(self, source: live_sources.LiveSource) -> int:
        """Add a live source, which is read at once, and return its number. Stored results of the same source stay."""
        name = Path(source.address.name)
        with self._adding:
            resume = self._plan.start_live()
            self._resumes[resume.number] = resume
            self.sources[resume.number] = SourceProgress(name, address=str(source.address))
            self._pool.add_stream(source, resume.number)
            self._queued.append((resume.number, name))
        return resume.number

    def record(self, source: int, settings: RecordSettings | None) -> None:
        """Record a live source from its next keyframe on, or stop recording it (None)."""
        self._pool.record(source, settings)

    def watch(self, source: int, size: tuple[int, int], interval: float) -> None:
        """Let the events of a live source contain pictures: see ``EnginePool.watch``."""
        self._pool.watch(source, size, interval)

    def seek(self, source: int, seconds: float) -> None:
        """Detect the segment of a video that contains this time next: see ``EnginePool.seek``. Its results are stored in order, later."""
        self._pool.seek(source, seconds)

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
            if self._queued:
                with self._adding:
                    queued, self._queued = self._queued, []
                self._recorder.queue(queued)
                for number, _ in queued:
                    if (address := self.sources[number].address) is not None:
                        self._recorder.begin_live(number, address)
            if isinstance(event, SOURCE_EVENTS):
                path, resume = self.sources[event.source].path, self._resumes[event.source]
                checked = event = self._recorder.checked(event, path)
                with self._adding:
                    self.sources[checked.source] = self.sources[checked.source].after(checked)
                self._recorder.store(checked, path, resume)
            else:
                self._recorder.store(event, None, None)
            self._see_device(event)
            yield event
            if self._alerts is not None:
                yield from self._raised(self._alerts, event)
        yield from self._kept_events()
        if self._alerts is not None:
            self._alerts.close(INTERRUPTED_SECONDS if self._cancelled else COMMAND_SECONDS)
            yield from self._alerts.take()
        self._recorder.finish(self._cancelled)
        if self._refused and not self._engines and self._recorder.withdraw():
            self.withdrawn = True
            self._notes.append(Notice("run.earlier_results_back", path=self.database))

    def _raised(self, alerts: Alerts, event: Event) -> list[AlertRaised]:
        """Check the rules of alerts. Returns what is new about them."""
        match event:
            case FramesDone(source, frames):
                progress = self.sources[source]
                if progress.address is not None and progress.info is not None:
                    for seconds in alerts.see(source, progress.address, progress.info, frames):
                        self._pool.snapshot(source, seconds)
            case EpochStarted(source):
                alerts.restart(source)
            case StreamSnapshot():
                alerts.picture(event)
        return alerts.take()

    def _see_device(self, event: Event) -> None:
        match event:
            case DeviceReady(engine):
                self._engines[engine.device] = engine
            case DeviceFailed(restarting=False):
                self._refused = True
            case DeviceStats(device):
                self._stats[device] = event
        if self._cpu_fallback is not None:
            self._cpu_fallback.see(event)

    def _kept_events(self) -> Iterator[Event]:
        """The last events of sources that an earlier run has finished."""
        while self._kept:
            stored = self._kept.popleft()
            progress = self.sources[stored.number]
            self._recorder.keep(stored, progress.path)
            if progress.finished is not None:
                yield progress.finished

    def progress_of(self, event: Event) -> SourceProgress | None:
        """The progress of an event's source, or None if the event has none. For the thread that takes the events."""
        return self.sources[event.source] if isinstance(event, SOURCE_EVENTS) else None

    def report(self, outcome: str) -> dict[str, Any]:
        """The run in numbers, as ``framefleet detect --json`` prints it. outcome: "ok", "failed", …"""
        devices = [_device_figures(engine, self._stats.get(device)) for device, engine in self._engines.items()]
        return {"sources": [_source_figures(source) for source in self.sources.values()], "devices": devices, "exit": outcome}

    def close(self) -> None:
        """Stop the pool, store the last results and close the database; harmless when repeated."""
        try:
            self._pool.close()
        finally:
            if self._alerts is not None:
                self._alerts.close(INTERRUPTED_SECONDS)
            self._recorder.close(all(source.complete and source.error is None for source in self.sources.values()))


def _require_offered(settings: RunSettings, devices: Sequence[DeviceId]) -> None:
    """Raise UsageError if a device of this machine lacks the chosen precision, before an earlier session is replaced."""
    if settings.engine.precision in (Precision.AUTO, Precision.FP32):  # every device has these
        return
    with suppress(DeviceError):  # the run says what is wrong
        offered = {each.id: each.precisions for each in discover() if each.available}
        require_possible(settings.values, devices, offered)


def _progress_of(path: Path, stored: StoredSource) -> SourceProgress:
    """The progress of a source that an earlier run has finished."""
    finished = SourceFinished(stored.number, stored.ledger, stored.seconds or 0.0, stored.error, stored.cancelled)
    failed, end = sum(stored.ledger.failed.values()), stored.info.duration if stored.info is not None else None
    return SourceProgress(path, stored.info, stored.ledger.decoded, failed, end, finished)


def _source_figures(source: SourceProgress) -> dict[str, Any]:
    ledger = source.ledger
    received = {} if ledger.received is None else {"received": ledger.received}
    latency = {}
    if ledger.received is not None:
        values = (None, None) if source.latency is None else (round(source.latency[0], 2), round(source.latency[1], 2))
        latency = {"latency_ms": dict(zip(("p50", "p99"), values, strict=True))}
    recorded = {} if source.recording is None else {"recorded": {"files": source.recorded, "bytes": source.recorded_bytes}}
    return {
        "path": sources.readable_name(str(source.path)) if source.address is None else source.address,
        "frames": {
            **received,
            "decoded": ledger.decoded,
            "inferred": ledger.inferred,
            "skipped": ledger.skipped,
            "dropped": sum(ledger.dropped.values()),
            "failed": sum(ledger.failed.values()),
        },
        "decoder": source.decoder.name,
        "decoder_reason": "" if source.decoder.reason is None else str(source.decoder.reason),
        "seconds": round(source.seconds, 3),
        "fps": round((ledger.inferred - source.before) / source.seconds, 2) if source.seconds else 0.0,
        **latency,
        **recorded,
    }


def _device_figures(engine: EngineInfo, stats: DeviceStats | None) -> dict[str, Any]:
    stats = stats or DeviceStats(engine.device, 0, 0.0, None, None)
    latency = {"p50": stats.latency_p50, "p99": stats.latency_p99}
    return {
        "id": str(engine.device),
        "name": engine.device_name,
        "backend": engine.backend,
        "precision": engine.precision,
        "frames": stats.frames,
        "fps": round(stats.frames_per_second, 2),
        "latency_ms": {name: None if value is None else round(value, 2) for name, value in latency.items()},
    }
