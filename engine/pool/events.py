"""The events of an ``EnginePool``, in the order in which they happened. All frozen, all picklable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from engine.media.types import SourceInfo
from engine.types import DeviceId, EngineInfo, FrameResult


@dataclass(frozen=True)
class Ledger:
    """Where every frame of a source went: decoded = inferred + Σ dropped + Σ failed, each by reason."""

    decoded: int = 0
    inferred: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)

    @property
    def balanced(self) -> bool:
        """Whether every frame is accounted for."""
        return self.decoded == self.inferred + sum(self.dropped.values()) + sum(self.failed.values())


@dataclass(frozen=True)
class StrategyChosen:
    """How the devices share the work, and why in one sentence: the first event of a run. elastic: devices can join and leave the run.

    Comes again, with the same strategy, where another reason follows from devices that join or leave, or from the sources' keyframes.
    """

    strategy: str
    reason: str
    elastic: bool = True


@dataclass(frozen=True)
class DeviceStarting:
    """A worker process is being started; ``attempt`` counts from 1."""

    device: DeviceId
    attempt: int


@dataclass(frozen=True)
class EngineBuilding:
    """A device's engine is being built; comes at most ten times a second.

    phase: what is being done, in words. fraction: how much of the phase is done, 0..1; also 0 where that is not known. Only backends that
    take long report this. The other devices work meanwhile.
    """

    device: DeviceId
    phase: str
    fraction: float


@dataclass(frozen=True)
class DeviceReady:
    """The device's engine is built.

    Comes again when the engine has changed: after running out of memory it goes on with a smaller batch, and its ``reason`` says so.
    """

    engine: EngineInfo


@dataclass(frozen=True)
class DeviceFailed:
    """A worker ended unexpectedly. restarting: the worker is being restarted; otherwise the device takes no further part in the run."""

    device: DeviceId
    message: str
    restarting: bool


@dataclass(frozen=True)
class DeviceLeft:
    """A device that was removed has given its work back and ended. Its final ``DeviceStats`` came before. The device may join again."""

    device: DeviceId


@dataclass(frozen=True)
class DeviceStats:
    """One device over the last interval (about 0.5 s).

    frames: since the start. frames_per_second: in this interval. latency_p50, latency_p99: ms from frame decoded to
    detections available, None without a frame. stages: mean ms a frame spent in each stage, in order: "decode", "queue"
    (until a slot of the engine was free), "preprocess", "infer", "deliver" (until the pool took the results). busy: mean ms
    of the device's own time per frame and stage, by its own clock (see ``Backend.timings``; empty where it has none): 1000 ÷
    ms is the rate that the stage alone would allow. bottleneck: the stage that limits the throughput, None without a frame: "decode",
    "preprocess", "infer" or "deliver", or the longest stage of the device's own, where the engine is the limit and reports its stages.
    final: the last event of a device, over its whole run; frames_per_second then over the time in which it had work.
    """

    device: DeviceId
    frames: int
    frames_per_second: float
    latency_p50: float | None
    latency_p99: float | None
    stages: Mapping[str, float] = field(default_factory=dict)
    final: bool = False
    busy: Mapping[str, float] = field(default_factory=dict)
    bottleneck: str | None = None


@dataclass(frozen=True)
class SourceOpened:
    """A source was probed; its frames follow."""

    source: int
    info: SourceInfo


@dataclass(frozen=True)
class FramesDone:
    """The next frames of one source, in display order, without gaps."""

    source: int
    frames: tuple[FrameResult, ...]


@dataclass(frozen=True)
class SourceFinished:
    """The last event of a source.

    error: why the source could not be opened or read to its end, else None. cancelled: it was ended early, on request or because no
    device was left. seconds: from its first segment to its end.
    """

    source: int
    ledger: Ledger
    seconds: float
    error: str | None
    cancelled: bool = False


Event: TypeAlias = (
    StrategyChosen
    | DeviceStarting
    | EngineBuilding
    | DeviceReady
    | DeviceFailed
    | DeviceLeft
    | DeviceStats
    | SourceOpened
    | FramesDone
    | SourceFinished
)
