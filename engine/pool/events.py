"""What a pool tells: its events in the order in which they happened, the progress of a source, and where an earlier run stopped."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.live.messages import LiveState, RecordedFile
from framefleet.engine.media.types import Segment, SourceInfo
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId, EngineInfo, FrameResult


@dataclass(frozen=True)
class Ledger:
    """Where every frame of a source went: decoded = inferred + Σ dropped + Σ failed, each by reason.

    skipped: frames that were not wanted. They are neither decoded nor inferred. received: of a live source, the number of frames that
    arrived, all of which are inferred, dropped or failed; damaged ones are dropped. None: of other sources.
    """

    decoded: int = 0
    inferred: int = 0
    dropped: Mapping[Notice, int] = field(default_factory=dict)
    failed: Mapping[Notice, int] = field(default_factory=dict)
    skipped: int = 0
    received: int | None = None

    @property
    def balanced(self) -> bool:
        """Whether every frame is accounted for."""
        came = self.decoded if self.received is None else self.received
        return came == self.inferred + sum(self.dropped.values()) + sum(self.failed.values())


@dataclass(frozen=True)
class StrategyChosen:
    """The first event of a run: the strategy, and its reason. elastic: devices can join and leave the run.

    Repeated when the reason changes: devices join or leave, the keyframes of all sources become known, or only live sources are left.
    """

    strategy: str
    reason: Notice
    elastic: bool = True


@dataclass(frozen=True)
class DeviceStarting:
    """A worker process is being started; ``attempt`` counts from 1."""

    device: DeviceId
    attempt: int


@dataclass(frozen=True)
class EngineBuilding:
    """A device's engine is being built; sent at most ten times per second.

    phase: the current step. fraction: how much of the phase is done, 0..1; 0 if unknown. Only backends with long builds send
    it. The other devices work meanwhile.
    """

    device: DeviceId
    phase: Notice
    fraction: float


@dataclass(frozen=True)
class DeviceReady:
    """The device's engine is built.

    Repeated when the engine changes: after running out of memory, it continues with a smaller batch and gives the cause in ``reason``.
    """

    engine: EngineInfo


@dataclass(frozen=True)
class DeviceFailed:
    """A worker ended unexpectedly. restarting: the worker is being restarted; otherwise the device takes no further part in the run."""

    device: DeviceId
    message: Notice
    restarting: bool


@dataclass(frozen=True)
class DeviceLeft:
    """A removed device has returned its work, sent its final ``DeviceStats`` and ended. It may join again."""

    device: DeviceId


_FLOOR = 1e-2
_RATIO = 1.02
_BUCKETS = 1000
"""Latencies of a run are counted in buckets 2 % wide, from 0.01 ms, so that memory does not grow with the video."""


def _no_latencies() -> NDArray[np.int64]:
    return np.zeros(_BUCKETS, np.int64)


@dataclass(frozen=True, eq=False)
class RunFigures:
    """Throughput and latencies of a whole run. The sum of two is that of two devices, or of two runs of one device.

    frames: measured ones. seconds: the time in which the device had work. latencies: the number of frames in each bucket, int64 (1000,).
    """

    frames: float = 0.0
    seconds: float = 0.0
    latencies: NDArray[np.int64] = field(default_factory=_no_latencies)

    @property
    def rate(self) -> float:
        """The average throughput, frames/s."""
        return self.frames / self.seconds if self.seconds else 0.0

    def latency(self, share: float) -> float | None:
        """The latency that this share of the frames did not exceed, ms, exact within 1 %; None without a frame."""
        sums = np.cumsum(self.latencies)
        return float(_FLOOR * _RATIO ** (np.searchsorted(sums, share * sums[-1]) + 0.5)) if sums[-1] else None

    def with_interval(self, frames: float, seconds: float, latencies: NDArray[np.float32]) -> Self:
        """These figures and those of another interval. latencies: ms, one for each measured frame."""
        buckets = (np.log(np.maximum(latencies, _FLOOR) / _FLOOR) / math.log(_RATIO)).astype(np.int64)
        counts = np.bincount(np.minimum(buckets, _BUCKETS - 1), minlength=_BUCKETS)
        return self + type(self)(frames, seconds, counts)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.frames + other.frames, self.seconds + other.seconds, self.latencies + other.latencies)

    @classmethod
    def total(cls, figures: Sequence[Self]) -> Self:
        """The sum of several. For a thousand, ``+`` would take 10 ms longer, because it makes an object for each."""
        latencies = _no_latencies()
        for each in figures:
            latencies += each.latencies
        return cls(sum(each.frames for each in figures), sum(each.seconds for each in figures), latencies)

    def __sub__(self, other: Self) -> Self:
        """The figures since an earlier time. other: those of the same run at that time."""
        return type(self)(self.frames - other.frames, self.seconds - other.seconds, self.latencies - other.latencies)


@dataclass(frozen=True)
class DeviceStats:
    """One device over the last interval (about 0.5 s).

    frames: number since the start. frames_per_second: in this interval. latency_p50, latency_p99: ms from frame decoded to detections
    available, None without a frame. stages: mean ms that a frame spent in each stage, in order: "decode", "queue" (until the engine had
    a free slot), "preprocess", "infer", "deliver" (until the pool took the results). busy: mean ms per frame and stage by the device's
    own clock (see ``Backend.timings``), empty if it has none; 1000 ÷ ms is the rate that the stage alone would allow. bottleneck: the
    stage that limits the throughput, None without a frame: "decode", "preprocess", "infer", "deliver", or "sources" if the
    device waits for live sources. If the engine is the limit and reports its own stages, the longest of these. final: the last event of a
    device, over its whole run; frames_per_second is then measured over the time in which the device had work. run: the figures since the
    start.
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
    run: RunFigures = field(default_factory=RunFigures, compare=False, repr=False)


@dataclass(frozen=True)
class SourceOpened:
    """A source was probed. Its frames follow."""

    source: int
    info: SourceInfo


@dataclass(frozen=True)
class FramesDone:
    """The next frames of one source, in display order.

    If the source ends early, gaps may come before its last events: results of later segments, without those of earlier ones.
    segment: number of the segment that all of them belong to; None after such a gap.
    """

    source: int
    frames: tuple[FrameResult, ...]
    segment: int | None = 0


@dataclass(frozen=True)
class FramesAhead:
    """Frames of one segment that wait for earlier ones, after ``EnginePool.seek``. ``FramesDone`` repeats them later.

    Their indices follow from the container's frame counts, which may be wrong; their times are right.
    """

    source: int
    frames: tuple[FrameResult, ...]
    segment: int


@dataclass(frozen=True)
class SourceFinished:
    """The last event of a source.

    error: why the source could not be opened or read to its end, else None. cancelled: whether the source ended early, on request or
    because no device was left. seconds: from its first segment to its end. decoder: what decoded its frames.
    """

    source: int
    ledger: Ledger
    seconds: float
    error: Notice | None
    cancelled: bool = False
    decoder: DecoderUse = DecoderUse()  # noqa: RUF009


@dataclass(frozen=True)
class StreamChanged:
    """A live source has another state. reason: why. seconds: in the time of the source."""

    source: int
    state: LiveState
    reason: Notice
    seconds: float


@dataclass(frozen=True)
class EpochStarted:
    """The frames of a live source that follow continue none before: trackers begin again.

    number: of the epoch, as ``FramesDone.segment``. seconds: time of its first frame. width, height: of its frames, pixels.
    """

    source: int
    number: int
    reason: Notice
    seconds: float
    codec: str
    width: int
    height: int


@dataclass(frozen=True)
class StreamCounted:
    """The frames of a live source up to now, about twice a second. Some are still under way.

    latency: from the arrival of a frame to its boxes, p50 and p99 of the whole run, ms; None: no frame was measured.
    """

    source: int
    ledger: Ledger
    latency: tuple[float, float] | None = None


@dataclass(frozen=True)
class StreamRecording:
    """Recording of a live source began or stopped, or something is missing in it.

    on: whether it is recorded now. reason: why. seconds: in the time of the source.
    """

    source: int
    on: bool
    reason: Notice
    seconds: float


@dataclass(frozen=True)
class StreamFile:
    """A file of the recording of a live source began, or is complete."""

    source: int
    file: RecordedFile


@dataclass(frozen=True, eq=False)
class StreamPicture:
    """A frame of a watched live source, as it goes to the engine: see ``EnginePool.watch``. Its ``FramesDone`` has the same time.

    The two come in either order. seconds: as in ``FrameRef.pts``. arrival: of its packet, ``perf_counter``. pixels: ``height`` rows of
    ``4 * width`` bytes: blue, green, red, 255.
    """

    source: int
    seconds: float
    arrival: float
    width: int
    height: int
    pixels: bytes = field(repr=False)


@dataclass(frozen=True)
class StreamSnapshot:
    """The picture of a moment of a live source, as it was received.

    seconds: the moment, in the time of the source. data: a Matroska file of the packets that it depends on. at: its time in this file.
    """

    source: int
    seconds: float
    data: bytes = field(repr=False)
    at: float


@dataclass(frozen=True)
class AlertRaised:
    """A rule has raised an alert, or something went wrong with one. rule: its text. reason: what was seen, or what went wrong."""

    source: int
    rule: str
    reason: Notice


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
    | FramesAhead
    | SourceFinished
    | StreamChanged
    | EpochStarted
    | StreamCounted
    | StreamRecording
    | StreamFile
    | StreamPicture
    | StreamSnapshot
    | AlertRaised
)


@dataclass(frozen=True)
class Position:
    """The place in a source where an earlier run stopped, and what that run counted before it.

    frames: number of frames before the place. pts: of the last of them, seconds. segment: number of the segment that it belongs to.
    start: of this segment, as in ``Segment``. skip: number of the frames that belong to this segment. failed: failed frames by reason.
    """

    frames: int
    pts: float
    segment: int
    start: int | None
    skip: int
    failed: Mapping[Notice, int] = field(default_factory=dict)

    def fits(self, segments: Sequence[Segment]) -> bool:
        """Whether a source with these segments has this place."""
        return self.segment < len(segments) and segments[self.segment].start == self.start


SourceEvent: TypeAlias = (
    SourceOpened
    | FramesDone
    | SourceFinished
    | StreamChanged
    | EpochStarted
    | StreamCounted
    | StreamRecording
    | StreamFile
    | StreamSnapshot
    | AlertRaised
)
SOURCE_EVENTS = (
    *(SourceOpened, FramesDone, SourceFinished, StreamChanged, EpochStarted, StreamCounted),
    *(StreamRecording, StreamFile, StreamSnapshot, AlertRaised),
)


@dataclass(frozen=True)
class SourceProgress:
    """One source of a run.

    info: None until the source is opened. frames: number handed on. failed: number of frames without detections among them. head:
    pts of the last frame, seconds. finished: the source's last event, None until then. before: number of frames that an earlier run
    inferred. address: of a live source; ``path`` is then only its name. state: its state. counted: its frames up to now.
    latency: see ``StreamCounted``. recording: whether it is recorded now, None: it never was. recorded,
    recorded_bytes: number and size of complete files.
    """

    path: Path
    info: SourceInfo | None = None
    frames: int = 0
    failed: int = 0
    head: float | None = None
    finished: SourceFinished | None = None
    before: int = 0
    address: str | None = None
    state: StreamChanged | None = None
    counted: Ledger | None = None
    recording: StreamRecording | None = None
    latency: tuple[float, float] | None = None
    recorded: int = 0
    recorded_bytes: int = 0

    @classmethod
    def continued(cls, path: Path, position: Position | None) -> Self:
        """The progress of a source that continues an earlier run. position: where that run stopped, None = there was none."""
        if position is None:
            return cls(path)
        failed = sum(position.failed.values())
        return cls(path, None, position.frames, failed, position.pts, None, position.frames - failed)

    def after(self, event: SourceEvent) -> Self:
        """The progress after one more event of this source."""
        match event:
            case SourceOpened(_, info):
                return replace(self, info=info)
            case FramesDone(_, frames):
                failed = sum(frame.failure is not None for frame in frames)
                return replace(self, frames=self.frames + len(frames), failed=self.failed + failed, head=frames[-1].ref.pts)
            case SourceFinished():
                return replace(self, finished=event)
            case StreamChanged():
                return replace(self, state=event)
            case StreamCounted(_, ledger, latency):
                return replace(self, counted=ledger, latency=latency)
            case StreamRecording():
                return replace(self, recording=event)
            case StreamFile(_, file):
                if file.end is None:
                    return self
                return replace(self, recorded=self.recorded + 1, recorded_bytes=self.recorded_bytes + file.size)
            case EpochStarted() | StreamSnapshot() | AlertRaised():
                return self

    @property
    def ledger(self) -> Ledger:
        """Where the frames went. Until the source is finished: those handed on, without reasons."""
        if self.finished is not None:
            return self.finished.ledger
        if self.counted is not None:
            return self.counted
        return Ledger(self.frames, self.frames - self.failed, {}, {Notice("pool.other_reasons"): self.failed} if self.failed else {})

    @property
    def seconds(self) -> float:
        """Time from the first segment to the end; 0 until the source is finished."""
        return self.finished.seconds if self.finished is not None else 0.0

    @property
    def decoder(self) -> DecoderUse:
        """What decoded the frames; empty until the source is finished."""
        return self.finished.decoder if self.finished is not None else DecoderUse()

    @property
    def error(self) -> Notice | None:
        """Why the source could not be opened or read to its end."""
        return self.finished.error if self.finished is not None else None

    @property
    def complete(self) -> bool:
        """Whether the source is finished and was not cancelled."""
        return self.finished is not None and not self.finished.cancelled
