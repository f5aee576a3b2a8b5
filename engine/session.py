"""One detection run of the command line or the window: a pool whose results are stored as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from engine.devices.discovery import default_devices
from engine.media.stamp import stamp_of
from engine.pool.cpu_fallback import CpuFallback
from engine.pool.events import DeviceReady, DeviceStats, Event, FramesDone, SourceFinished, SourceOpened
from engine.pool.pool import EnginePool
from engine.pool.progress import SourceProgress
from engine.settings import RunSettings
from engine.store.facts import run_facts
from engine.store.session import SessionWriter
from engine.types import Closing, DeviceId, EngineInfo


class DetectionSession(Closing):
    """Detects in sources on the devices of a pool and stores every frame in a session database.

    ``events`` and ``close`` belong to one thread; the other methods may be called from any thread. labels: one per class. sources: the
    progress of each source, by number. database: the file, which ``SessionReader`` can read while the session runs.

    Raises:
        DeviceError, UsageError: the settings do not fit the devices.
        ExportError: the database cannot be created; from ``events``: it cannot be written.
    """

    def __init__(self, settings: RunSettings, database: Path, labels: Sequence[str]) -> None:
        self.database = database
        self.sources: dict[int, SourceProgress] = {}
        self._engines: dict[DeviceId, EngineInfo] = {}
        self._stats: dict[DeviceId, DeviceStats] = {}
        self._adding = Lock()  # a source's first event may come before ``EnginePool.add`` returns its number
        self._writer = SessionWriter(database, labels, run_facts(settings))
        try:
            devices = settings.devices or default_devices()
            self._pool = EnginePool(settings, devices)
            # where the user named the devices, no other one joins
            self._cpu_fallback = None if settings.devices else CpuFallback(self._pool, devices)
        except BaseException:
            self._writer.close(complete=False)
            raise

    def add(self, path: Path) -> int:
        """Queue a source and return its number."""
        with self._adding:
            number: int = self._pool.add(path)
            self.sources[number] = SourceProgress(path)
        return number

    def finish(self) -> None:
        """Accept no more sources: ``events`` ends after the last one."""
        self._pool.finish()

    def cancel(self, source: int | None = None) -> None:
        """Cancel one source, or all. Results so far stay stored."""
        self._pool.cancel(source)

    def add_device(self, device: DeviceId) -> None:
        """Add a device to the run: see ``EnginePool.add_device``."""
        self._pool.add_device(device)

    def remove_device(self, device: DeviceId) -> None:
        """Remove a device from the run: see ``EnginePool.remove_device``."""
        self._pool.remove_device(device)

    def events(self) -> Iterator[Event]:
        """The pool's events, each after it has been stored. Readers of the database see frames at most half a second later."""
        for event in self._pool.events():
            self._store(event)
            if self._cpu_fallback is not None:
                self._cpu_fallback.see(event)
            yield event
        self._writer.commit()

    def _store(self, event: Event) -> None:
        if isinstance(event, SourceOpened | FramesDone | SourceFinished):
            with self._adding:
                self.sources[event.source] = self.sources[event.source].after(event)
        match event:
            case FramesDone(_, frames):
                self._writer.add_frames(frames)
            case SourceOpened(source, info):
                path = self.sources[source].path
                self._writer.add_source(source, str(path), info, stamp_of(path))
            case SourceFinished(source, ledger, seconds, error, cancelled, decoder):
                self._writer.describe_source(source, decoder=str(decoder) or None)
                self._writer.finish_source(source, str(self.sources[source].path), ledger, seconds, error, cancelled)
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
        sources = [
            {
                "path": str(source.path),
                "frames": {
                    "decoded": source.ledger.decoded,
                    "inferred": source.ledger.inferred,
                    "skipped": source.ledger.skipped,
                    "dropped": sum(source.ledger.dropped.values()),
                    "failed": sum(source.ledger.failed.values()),
                },
                "decoder": source.decoder.name,
                "decoder_reason": source.decoder.reason,
                "seconds": round(source.seconds, 3),
                "fps": round(source.ledger.inferred / source.seconds, 2) if source.seconds else 0.0,
            }
            for source in self.sources.values()
        ]
        return {"sources": sources, "devices": [self._device(engine) for engine in self._engines.values()], "exit": outcome}

    def _device(self, engine: EngineInfo) -> dict[str, Any]:
        stats = self._stats.get(engine.device, DeviceStats(engine.device, 0, 0.0, None, None))
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

    def close(self) -> None:
        """Stop the pool, store the last results and close the database; harmless when repeated."""
        try:
            self._pool.close()
        finally:
            self._writer.close(complete=all(source.complete for source in self.sources.values()))
