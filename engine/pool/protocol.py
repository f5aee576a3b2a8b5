"""The messages between the pool, its workers and the members of groups. All are frozen and picklable.

To a worker: ``Probe``, ``Detect``, ``Stream``, ``Watch``, ``Drop``, ``Revoke``, ``Stop``. To the pool: the rest. Within one task, a
worker's messages come in this order: ``Began``, ``Frames`` (in careful mode each after a ``Trying``), ``Done``. ``Failed`` or
``Stopped`` is a worker's last message; the pool then closes the connection. ``Failed`` with ``retry`` ends the worker's process, too. A
group's worker sends ``SharedMemory`` and ``Infer`` to its members, which answer ``Inferred`` or ``InferenceFailed``. It forwards a
``Detect`` to a member that has sent ``Need``, and the member's ``Frames`` to the pool.

Results are packed, since one array for a whole batch costs as much to pickle as one for a single picture.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.types import Sampling, Segment, SourceInfo
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, EngineBuilding, EpochStarted, StreamPicture
from framefleet.engine.pool.groups.shared_pictures import Chunk, PictureLocation
from framefleet.engine.processes.outcome import Failed as Failed
from framefleet.engine.settings import EngineSettings, Isolation, ModelFiles, Parallel, Tiles
from framefleet.engine.types import UNNUMBERED, Detections, DeviceId, Found, FrameRef, FrameResult, InferenceFailure


@dataclass(frozen=True, eq=False)
class PackedResults:
    """The results of several pictures.

    counts: int32 (n,), number of detections per picture. boxes, scores, class_ids: of all pictures, concatenated. failures: by position,
    why a picture has no detections.
    """

    counts: NDArray[np.int32]
    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    class_ids: NDArray[np.int32]
    failures: Mapping[int, Notice]

    @classmethod
    def pack(cls, found: Sequence[Found]) -> Self:
        """Pack the results of at least one picture."""
        none = Detections()
        detections = [each if isinstance(each, Detections) else none for each in found]
        scores = [each.scores for each in detections]
        return cls(
            np.array(list(map(len, scores)), np.int32),  # the length of an array is found faster than that of detections
            np.concatenate([each.boxes for each in detections]),
            np.concatenate(scores),
            np.concatenate([each.class_ids for each in detections]),
            {at: each.reason for at, each in enumerate(found) if isinstance(each, InferenceFailure)},
        )

    def __len__(self) -> int:
        return len(self.counts)

    def unpack(self) -> Iterator[Found]:
        """The result of each picture. Detections are views of the arrays."""
        start = 0
        for at, end in enumerate(np.cumsum(self.counts).tolist()):
            reason = self.failures.get(at)
            if reason is None:
                yield Detections(self.boxes[start:end], self.scores[start:end], self.class_ids[start:end])
            else:
                yield InferenceFailure(reason)
            start = end


@dataclass(frozen=True, eq=False)
class Frames:
    """A worker's message: consecutive frames of one segment.

    first: position of the first frame in its segment. pts: float64 (n,), seconds. sizes: int32 (n, 2), width and height, pixels. names,
    devices: by position in this message; devices only where it is not the worker's. indices: of frames whose index does not follow from
    their order. created: of pictures, as in ``FrameRef``.
    """

    source: int
    segment: int
    first: int
    pts: NDArray[np.float64]
    sizes: NDArray[np.int32]
    results: PackedResults
    names: Mapping[int, str] = field(default_factory=dict)
    devices: Mapping[int, DeviceId] = field(default_factory=dict)
    indices: Mapping[int, int] = field(default_factory=dict)
    created: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def pack(cls, segment: int, first: int, results: Sequence[FrameResult], device: DeviceId) -> Self:
        """Pack at least one frame. device: the worker's."""
        sources, indices, pts, names, created = zip(*[result.ref for result in results], strict=True)
        return cls(
            sources[0],
            segment,
            first,
            np.array(pts, np.float64),
            np.array([side for result in results for side in (result.width, result.height)], np.int32).reshape(-1, 2),
            PackedResults.pack([result.found for result in results]),
            _by_position(names),
            {at: result.device for at, result in enumerate(results) if result.device is not device},
            {at: index for at, index in enumerate(indices) if index != UNNUMBERED} if max(indices) != UNNUMBERED else {},
            _by_position(created),
        )

    def __len__(self) -> int:
        return len(self.pts)

    def unpack(self, device: DeviceId, index: int, before: float, step: float) -> Iterator[FrameResult]:
        """The frames, numbered. Detections are views of the message's arrays.

        device: of the worker. index: of the first frame, where the message holds none. before: pts of the frame before it, seconds. step:
        seconds between two frames, for frames without a time.
        """
        frames = zip(self.pts.tolist(), self.sizes.tolist(), self.results.unpack(), strict=True)
        for at, (pts, (width, height), found) in enumerate(frames):
            index = self.indices.get(at, index)
            before = before + step if math.isnan(pts) else pts
            ref = FrameRef(self.source, index, before, self.names.get(at), self.created.get(at))
            yield FrameResult(ref, self.devices.get(at, device), width, height, found)
            index += 1


def _by_position(texts: Sequence[str | None]) -> dict[int, str]:
    """The texts that are not None, by position. Usually all are."""
    return {at: text for at, text in enumerate(texts) if text is not None} if any(texts) else {}


@dataclass(frozen=True)
class SharedMemory:
    """To a member: the chunks that hold pictures from now on."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Infer:
    """To a member: detect in the pictures at these places. They stay valid until the answer, ``Inferred`` or ``InferenceFailed``."""

    number: int
    places: tuple[PictureLocation, ...]
    still: bool


@dataclass(frozen=True)
class Inferred:
    """The results for an ``Infer``."""

    number: int
    results: PackedResults


@dataclass(frozen=True)
class InferenceFailed:
    """The negative answer to ``Infer``: why these pictures have no detections. The engine may still work."""

    number: int
    message: Notice


@dataclass(frozen=True)
class Setup:
    """Start parameters of a worker. stall_seconds: the watchdogs on both sides end a worker that hangs for this long.

    parallel, isolation, tiles: how the devices work together, if the device is a group. member: the worker belongs to a member of a group
    and receives batches of pictures in shared memory, too (``SharedMemory``, ``Infer``). decodes: whether it asks for segments. sampling:
    which frames of each source are wanted, None: all.
    """

    device: DeviceId
    model: ModelFiles
    engine: EngineSettings
    stall_seconds: float = 60.0
    parallel: Parallel = Parallel.SEGMENTS
    isolation: Isolation = Isolation.PROCESS
    tiles: Tiles = Tiles()  # noqa: RUF009
    member: bool = False
    decodes: bool = True
    sampling: Sampling | None = None


@dataclass(frozen=True)
class Unreachable(Failed):
    """The last message on behalf of a worker on another machine that cannot be reached. The worker's tasks are not to blame."""


@dataclass(frozen=True)
class Probe:
    """Probe a source. The answer is ``Probed`` or ``ProbeFailed``."""

    source: int
    path: Path


@dataclass(frozen=True)
class Detect:
    """Detect in one segment. skip: number of frames to leave out at its start. limit: most frames after them, None = to its end.

    info: the source's, without the list of segments, which grows with the video. careful: announce each frame, and send its result
    before decoding the next one, so that a crash shows its frame.
    """

    source: int
    info: SourceInfo
    segment: Segment
    skip: int = 0
    limit: int | None = None
    careful: bool = False


@dataclass(frozen=True)
class Stream:
    """Detect in a live source. The descriptor of the connection with its packets follows.

    epoch: the number of the first epoch, of which each is a segment in the messages that answer: ``StreamBegan``, then ``EpochStarted``,
    ``Frames`` and ``StreamCounts``, then ``Done``. watched: see ``LiveSource``.
    """

    source: int
    info: SourceInfo
    epoch: int
    watched: bool = False


@dataclass(frozen=True)
class StreamBegan:
    """The first packet of a ``Stream`` has arrived. number: its number."""

    source: int
    number: int


@dataclass(frozen=True)
class StreamCounts:
    """What became of received frames since the last message of this type. decoded: number of them that the decoder returned."""

    source: int
    decoded: int
    dropped: Mapping[Notice, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Watch:
    """Send ``StreamPicture`` of a live source from now on.

    size: the largest width and height, pixels, (0, 0): send none. interval: the shortest time between two, seconds.
    """

    source: int
    size: tuple[int, int]
    interval: float


@dataclass(frozen=True)
class Drop:
    """Stop working on a source. Its tasks still end with ``Done``."""

    source: int


@dataclass(frozen=True)
class Revoke:
    """End the task of a segment, or of a live source, with ``Done`` after the decoded frames; another device continues.

    Harmless after the task's end.
    """

    source: int
    segment: int


@dataclass(frozen=True)
class Stop:
    """Finish the pictures in the engine, send the last statistics and end. The answer is ``Stopped``."""


PROBE_THREADS = 3
"""Most sources that a worker opens at the same time."""


@dataclass(frozen=True)
class Listening:
    """The first message of a worker: its process runs, and it can probe sources."""


@dataclass(frozen=True)
class Stopped:
    """The answer to ``Stop``: the worker has ended. Other workers can do its unfinished work."""


@dataclass(frozen=True)
class Began:
    """The worker begins a task: a ``Detect``, or a ``Probe`` if segment is None."""

    source: int
    segment: int | None


@dataclass(frozen=True)
class Trying:
    """In careful mode: this frame is decoded and enters the engine next. position: in its segment. width, height: as in ``FrameResult``."""

    ref: FrameRef
    segment: int
    position: int
    width: int
    height: int


@dataclass(frozen=True)
class Need:
    """Request one ``Detect``: a decode thread needs work."""


@dataclass(frozen=True)
class Probed:
    """The answer to ``Probe``."""

    source: int
    info: SourceInfo


@dataclass(frozen=True)
class ProbeFailed:
    """The negative answer to ``Probe``: why the source cannot be opened."""

    source: int
    error: Notice


@dataclass(frozen=True)
class Done:
    """The end of a ``Detect``. frames: number of frames of the segment up to here, including skipped ones.

    complete: whether the segment has no more frames; if not, the task reached its limit, was revoked, or its source was dropped.
    error: why the segment could not be read to its end. The missing frames then count as failed. decoder: what decoded this task's frames.
    """

    source: int
    segment: int
    frames: int
    complete: bool
    error: Notice | None = None
    decoder: DecoderUse = DecoderUse()  # noqa: RUF009


@dataclass(frozen=True, eq=False)
class Stats:
    """Statistics of a device since the last message of this type. seconds: the time between the two.

    latencies: float32 (n,), ms from decoded to detections available for each inferred frame. stages: ms per stage, summed over these
    frames. busy: ms per stage of the device (see ``Backend.timings``). feeding: seconds per stage of the thread that feeds the engine
    (see ``Inference``). worth: if several devices share each frame, this device's part of the work, in frames. live: latencies of the
    frames of each live source, by its number.
    """

    device: DeviceId
    seconds: float
    latencies: NDArray[np.float32]
    stages: Mapping[str, float]
    busy: Mapping[str, float] = field(default_factory=dict)
    feeding: Mapping[str, float] = field(default_factory=dict)
    worth: float | None = None
    live: Mapping[int, NDArray[np.float32]] = field(default_factory=dict)


DeviceEvent: TypeAlias = DeviceStarting | EngineBuilding | DeviceReady | DeviceFailed | Stats
"""About the worker's device, or about a member of its group: then a failed member leaves the group, which goes on without it."""

Task: TypeAlias = Probe | Detect | Stream
LiveMessage: TypeAlias = StreamBegan | EpochStarted | StreamCounts | StreamPicture
ToWorker: TypeAlias = Task | Watch | Drop | Revoke | Stop | SharedMemory | Infer
FromWorker: TypeAlias = (
    Listening
    | DeviceEvent
    | Failed
    | Stopped
    | Need
    | Began
    | Trying
    | Probed
    | ProbeFailed
    | Frames
    | Done
    | LiveMessage
    | Inferred
    | InferenceFailed
)
