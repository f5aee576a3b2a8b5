"""What is known of one device, folded from the pool's events into frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from engine.backends.base import EngineInfo
from engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, DeviceStats
from engine.types import DeviceId

HISTORY = 60.0  # seconds


class Phase(StrEnum):
    """What a device is doing. IDLE: its session has ended."""

    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"
    IDLE = "idle"


@dataclass(frozen=True)
class Sample:
    """One point of the charts: a monotonic time in seconds, frames/s, latencies in ms (None without a frame)."""

    time: float
    frames_per_second: float
    latency_p50: float | None
    latency_p99: float | None


@dataclass(frozen=True)
class DeviceStatus:
    """One device as its panel shows it. message: why it failed. stages: mean ms that the latest frames spent in each."""

    device: DeviceId
    phase: Phase = Phase.STARTING
    attempt: int = 1
    engine: EngineInfo | None = None
    message: str = ""
    frames: int = 0
    stages: Mapping[str, float] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()

    @property
    def working(self) -> bool:
        """Whether frames went through it in the last interval."""
        return self.phase is Phase.READY and bool(self.samples) and self.samples[-1].frames_per_second > 0

    @property
    def latest(self) -> Sample | None:
        """The figures of the last interval with frames in it."""
        return next((sample for sample in reversed(self.samples) if sample.latency_p50 is not None), None)


def fold(status: DeviceStatus, event: DeviceStarting | DeviceReady | DeviceFailed | DeviceStats, now: float) -> DeviceStatus:
    """The status after one more event at a monotonic time."""
    if isinstance(event, DeviceStarting):
        return replace(status, phase=Phase.STARTING if event.attempt == 1 else Phase.RESTARTING, attempt=event.attempt)
    if isinstance(event, DeviceReady):
        return replace(status, phase=Phase.READY, engine=event.engine, message="")
    if isinstance(event, DeviceFailed):
        return replace(status, phase=Phase.RESTARTING if event.restarting else Phase.FAILED, message=event.message)
    sample = Sample(now, event.frames_per_second, event.latency_p50, event.latency_p99)
    kept = tuple(old for old in status.samples if now - old.time <= HISTORY)
    return replace(status, frames=event.frames, stages=dict(event.stages) or status.stages, samples=(*kept, sample))
