"""What is known of one device, folded from the pool's events into frozen values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from engine.pool.events import DeviceFailed, DeviceLeft, DeviceReady, DeviceStarting, DeviceStats, EngineBuilding
from engine.settings import Parallel
from engine.types import DeviceId, EngineInfo

HISTORY = 60.0  # seconds
ELASTIC = (Parallel.SEGMENTS, Parallel.STREAMS)
"""Strategies with which devices can join and leave while a run goes on."""


class Phase(StrEnum):
    """What a device is doing. LEAVING: it was taken out of the run and ends what it has; LEFT: and has ended it. IDLE: its session
    has ended. RECORDED: it is another machine's, and does nothing here."""

    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"
    LEAVING = "leaving"
    LEFT = "left"
    IDLE = "idle"
    RECORDED = "recorded"


DeviceEvent: TypeAlias = DeviceStarting | EngineBuilding | DeviceReady | DeviceFailed | DeviceLeft | DeviceStats


@dataclass(frozen=True)
class Sample:
    """One point of the charts: a monotonic time in seconds, frames/s, latencies in ms (None without a frame)."""

    time: float
    frames_per_second: float
    latency_p50: float | None
    latency_p99: float | None


@dataclass(frozen=True)
class DeviceStatus:
    """One device as its panel shows it.

    building: what is being done to build its engine, and how far that is, 0..1. message: why it failed. note: what has changed
    since it began, and why. stages: mean ms that the latest frames spent in each; busy: ms of the device's own time that a frame
    took in each. bottleneck: the stage that set the pace.
    """

    device: DeviceId
    phase: Phase = Phase.STARTING
    attempt: int = 1
    engine: EngineInfo | None = None
    building: tuple[str, float] | None = None
    message: str = ""
    note: str = ""
    frames: int = 0
    stages: Mapping[str, float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    bottleneck: str | None = None
    samples: tuple[Sample, ...] = ()

    @property
    def takes_part(self) -> bool:
        """Whether it has, or will get, work of a running session."""
        return self.phase in (Phase.STARTING, Phase.READY, Phase.RESTARTING)

    @property
    def working(self) -> bool:
        """Whether frames went through it in the last interval."""
        return self.phase in (Phase.READY, Phase.LEAVING) and bool(self.samples) and self.samples[-1].frames_per_second > 0

    @property
    def latest(self) -> Sample | None:
        """The figures of the last interval with frames in it."""
        return next((sample for sample in reversed(self.samples) if sample.latency_p50 is not None), None)


def fold(status: DeviceStatus, event: DeviceEvent, now: float) -> DeviceStatus:
    """The status after one more event at a monotonic time."""
    if isinstance(event, DeviceStarting):
        phase = Phase.STARTING if event.attempt == 1 else Phase.RESTARTING
        return replace(status, phase=phase, attempt=event.attempt, building=None, note="")
    if isinstance(event, EngineBuilding):
        return replace(status, building=(event.phase, event.fraction))
    if isinstance(event, DeviceReady):
        before = status.engine.batch if status.engine is not None and status.phase is Phase.READY else event.engine.batch
        note = status.note
        if before != event.engine.batch:
            note = f"The batch went from {before} to {event.engine.batch}: {event.engine.reason.rpartition(': ')[2]}"
        phase = Phase.LEAVING if status.phase is Phase.LEAVING else Phase.READY
        began = status.samples if status.phase in (Phase.READY, Phase.LEAVING) else _at_rest(status, now)
        return replace(status, phase=phase, engine=event.engine, building=None, message="", note=note, samples=began)
    if isinstance(event, DeviceFailed):
        phase = Phase.RESTARTING if event.restarting else Phase.FAILED
        return replace(status, phase=phase, building=None, message=reason_of(event), samples=_at_rest(status, now))
    if isinstance(event, DeviceLeft):
        return replace(status, phase=Phase.LEFT, building=None, message="", note="", samples=_at_rest(status, now))
    samples = _recent(status, now)
    if not (event.final and samples):  # a mean over the whole run is no news of the last interval
        samples = (*samples, Sample(now, event.frames_per_second, event.latency_p50, event.latency_p99))
    return replace(
        status,
        frames=event.frames,
        stages=dict(event.stages) or status.stages,
        busy=dict(event.busy) or status.busy,
        bottleneck=event.bottleneck or status.bottleneck,
        samples=samples,
    )


def _recent(status: DeviceStatus, now: float) -> tuple[Sample, ...]:
    return tuple(sample for sample in status.samples if now - sample.time <= HISTORY)


def _at_rest(status: DeviceStatus, now: float) -> tuple[Sample, ...]:
    """Nothing goes through it now: or else the charts would draw a line from what it did before to what it does when it is back."""
    return (*_recent(status, now), Sample(now, 0.0, None, None)) if status.samples else ()


def reason_of(event: DeviceFailed) -> str:
    """Why it failed, without its name: that stands beside it."""
    return event.message.removeprefix(f"{event.device}: ")


def shares_of(statuses: Iterable[DeviceStatus]) -> dict[DeviceId, float]:
    """Which part of the work so far each device did, 0..1; empty where one device has all of it, or none has any yet."""
    frames = {status.device: status.frames for status in statuses}
    total = sum(frames.values())
    return {device: count / total for device, count in frames.items()} if total and len(frames) > 1 else {}
