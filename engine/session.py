"""One detection run as both the command line and the window start it: the pool, whose frames are stored as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Self

from engine.devices.discovery import default_devices
from engine.pool.cpu_fallback import CpuFallback
from engine.pool.events import DeviceReady, DeviceStats, Event, FramesDone, Ledger, SourceFinished, SourceOpened
from engine.pool.pool import EnginePool
from engine.settings import RunSettings
from engine.store.session import SessionWriter
from engine.types import DeviceId, EngineInfo


@dataclass
class SourceState:
    """One source as far as the run has come. ledger, seconds, error: known once it is finished."""

    path: Path
    frames: int = 0
    finished: bool = False
    cancelled: bool = False
    ledger: Ledger = field(default_factory=Ledger)
    seconds: float = 0.0
    error: str | None = None


class DetectionSession:
    """Detects in sources on the devices of a pool and stores every frame in a session database.

    ``events`` and ``close`` belong to one thread, everything else may be called from any. labels: one per class.
    sources: by number. database: the file, which SessionReader can read at once.

    Raises:
        DeviceError, UsageError: the settings do not fit the devices.
        ExportError: the database cannot be created; from ``events``: it cannot be written.
    """

    def __init__(self, settings: RunSettings, database: Path, labels: Sequence[str]) -> None:
        self.database = database
        self.sources: dict[int, SourceState] = {}
        self._engines: dict[DeviceId, EngineInfo] = {}
        self._stats: dict[DeviceId, DeviceStats] = {}
        self._adding = Lock()  # a source's first event may come before its number is returned
        self._writer = SessionWriter(database, labels, _facts(settings))
        try:
            devices = settings.devices or default_devices()
            self._pool = EnginePool(settings, devices)
            # nobody is let in beside devices that the user named
            self._cpu_fallback = None if settings.devices else CpuFallback(self._pool, devices)
        except BaseException:
            self._writer.close(complete=False)
            raise

    def add(self, path: Path) -> int:
        """Queue a source and give its number."""
        with self._adding:
            number: int = self._pool.add(path)
            self.sources[number] = SourceState(path)
        return number

    def finish(self) -> None:
        """Nothing more is added: ``events`` ends after the last source."""
        self._pool.finish()

    def cancel(self, source: int | None = None) -> None:
        """Stop one source, or all; what is detected stays stored."""
        self._pool.cancel(source)

    def add_device(self, device: DeviceId) -> None:
        """One more device takes part, also one that has left or failed: see ``EnginePool.add_device``."""
        self._pool.add_device(device)

    def remove_device(self, device: DeviceId) -> None:
        """A device leaves, and the others do the rest of its work: see ``EnginePool.remove_device``."""
        self._pool.remove_device(device)

    def events(self) -> Iterator[Event]:
        """The pool's events, each after it has been stored; frames are visible to readers at most half a second later."""
        for event in self._pool.events():
            self._store(event)
            if self._cpu_fallback is not None:
                self._cpu_fallback.see(event)
            yield event
        self._writer.commit()

    def _store(self, event: Event) -> None:
        match event:
            case FramesDone(source, frames):
                self._state(source).frames += len(frames)
                self._writer.add_frames(frames)
            case SourceOpened(source, info):
                self._writer.add_source(source, str(self._state(source).path), info)
            case SourceFinished(source, ledger, seconds, error, cancelled):
                state = self._state(source)
                state.ledger, state.seconds, state.error, state.cancelled, state.finished = ledger, seconds, error, cancelled, True
                self._writer.finish_source(source, str(state.path), ledger, seconds, error, cancelled)
            case DeviceReady(engine):
                self._engines[engine.device] = engine
                self._writer.add_device(engine)
            case DeviceStats(device):
                self._stats[device] = event
        self._writer.commit_due()

    def _state(self, source: int) -> SourceState:
        with self._adding:
            return self.sources[source]

    def report(self, outcome: str) -> dict[str, Any]:
        """The run in numbers, as ``framefleet detect --json`` prints it. outcome: "ok", "failed", …"""
        sources = [
            {
                "path": str(state.path),
                "frames": {
                    "decoded": state.ledger.decoded,
                    "inferred": state.ledger.inferred,
                    "dropped": sum(state.ledger.dropped.values()),
                    "failed": sum(state.ledger.failed.values()),
                },
                "seconds": round(state.seconds, 3),
                "fps": round(state.ledger.inferred / state.seconds, 2) if state.seconds else 0.0,
            }
            for state in self.sources.values()
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
        """Stop the pool, store what waits and close the database; harmless when repeated."""
        try:
            self._pool.close()
        finally:
            self._writer.close(complete=all(state.finished and not state.cancelled for state in self.sources.values()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _facts(settings: RunSettings) -> dict[str, str]:
    model, engine = settings.model, settings.engine
    return {
        "folder": str(Path.cwd()),
        "model": model.cfg.stem,
        "cfg": str(model.cfg.absolute()),
        "weights": str(model.weights.absolute() if isinstance(model.weights, Path) else model.weights),
        "parallel": settings.parallel.value,
        "isolation": settings.isolation.value,
        "confidence": str(engine.confidence),
        "iou": str(engine.iou),
    }
