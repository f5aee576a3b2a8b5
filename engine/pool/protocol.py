"""Every message between the pool and its workers, and between a group's decoding worker and its members. All frozen, all picklable.

Towards a worker: ``Probe``, ``Detect``, ``Drop``, ``Revoke``, ``Stop``. Towards the pool: the rest. Within one task a worker's
messages keep their order: ``Began``, ``Frames`` (in careful mode a ``Trying`` before each), ``Done``. After ``Failed`` or ``Stopped``
there is none; the pool then closes the connection. ``Failed`` with ``retry`` ends the worker's process, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.media.types import Segment, SourceInfo
from engine.pool.groups.shared_pictures import Chunk, Place
from engine.processes.outcome import Failed as Failed
from engine.settings import EngineSettings, Isolation, ModelFiles, Parallel, Tiles
from engine.types import Detections, DeviceId, EngineInfo, FrameRef, FrameResult


@dataclass(frozen=True)
class Setup:
    """What a worker is started with. stall_seconds: after how long the watchdogs on both sides end it.

    parallel, isolation, tiles: how the devices work together, if the device is a group. inferring: the worker belongs to a member of a
    group: it decodes nothing, and gets batches of pictures in shared memory (``SharedMemory``, ``Infer``).
    """

    device: DeviceId
    model: ModelFiles
    engine: EngineSettings
    stall_seconds: float = 60.0
    parallel: Parallel = Parallel.SEGMENTS
    isolation: Isolation = Isolation.PROCESS
    tiles: Tiles = Tiles()  # noqa: RUF009
    inferring: bool = False


@dataclass(frozen=True)
class Probe:
    """Find out what this source is. Answered by ``Probed`` or ``ProbeFailed``."""

    source: int
    path: Path


@dataclass(frozen=True)
class Detect:
    """Detect in one segment, after its first ``skip`` frames, in at most ``limit`` more (None = to its end).

    info: the source's, without its segments: they would make every task as long as the video. careful: one frame after
    the other, announced before and its result sent before the next is decoded, so that a crash tells where it happened.
    """

    source: int
    info: SourceInfo
    segment: Segment
    skip: int = 0
    limit: int | None = None
    careful: bool = False


@dataclass(frozen=True)
class Drop:
    """Whatever is held of this source is no longer wanted; its tasks still end with ``Done``."""

    source: int


@dataclass(frozen=True)
class Revoke:
    """Another device goes on with this segment: its task ends with ``Done`` when what is decoded is done. Harmless if it has ended."""

    source: int
    segment: int


@dataclass(frozen=True)
class SharedMemory:
    """To a member: pictures lie in these chunks from now on."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True)
class Infer:
    """To a member: detect in the pictures at these places. They stay there until ``Inferred`` or ``InferenceFailed`` comes."""

    number: int
    places: tuple[Place, ...]
    still: bool


@dataclass(frozen=True, eq=False)
class Inferred:
    """The detections of an ``Infer``, column by column: an array costs as much to pickle as its whole batch.

    counts: int32 (n,), of each picture. boxes, scores, class_ids: of all, concatenated. busy: as ``Backend.timings``.
    """

    number: int
    counts: NDArray[np.int32]
    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    class_ids: NDArray[np.int32]
    busy: Mapping[str, float]

    @classmethod
    def pack(cls, number: int, found: Sequence[Detections], busy: Mapping[str, float]) -> Inferred:
        """One message of at least one picture."""
        return cls(number, *_columns(found), busy)

    def unpack(self) -> Iterator[Detections]:
        """Picture by picture, as views."""
        start = 0
        for end in np.cumsum(self.counts).tolist():
            yield Detections(self.boxes[start:end], self.scores[start:end], self.class_ids[start:end])
            start = end


@dataclass(frozen=True)
class InferenceFailed:
    """The other answer to ``Infer``: why these pictures have no detections. The engine may still work."""

    number: int
    message: str


@dataclass(frozen=True)
class Stop:
    """Finish what is in the engine, report the last statistics and end. Answered by ``Stopped``."""


@dataclass(frozen=True)
class Building:
    """The engine is being built: what is done now, in words, and how far that is, 0..1."""

    phase: str
    fraction: float


@dataclass(frozen=True)
class Ready:
    """The engine is built; sent again when it has changed."""

    engine: EngineInfo


@dataclass(frozen=True)
class Stopped:
    """The answer to ``Stop``: the worker has ended. What it had not done it gives back."""


@dataclass(frozen=True)
class Began:
    """The worker starts on a task: on a ``Detect``, or, where segment is None, on a ``Probe``."""

    source: int
    segment: int | None


@dataclass(frozen=True)
class Trying:
    """In careful mode: this frame is decoded and goes into the engine next. Fields as in ``FrameEntry``."""

    source: int
    segment: int
    position: int
    pts: float
    width: int
    height: int
    name: str | None


@dataclass(frozen=True)
class Need:
    """A slot is free: one ``Detect``, please."""


@dataclass(frozen=True)
class Probed:
    """The answer to ``Probe``."""

    source: int
    info: SourceInfo


@dataclass(frozen=True)
class ProbeFailed:
    """The other answer to ``Probe``: why the source cannot be opened."""

    source: int
    error: str


@dataclass(frozen=True)
class Done:
    """The end of a ``Detect``. frames: of the segment seen so far, the skipped ones included.

    complete: the segment has no more; otherwise the task's limit was reached or its source dropped. error: why the
    segment could not be read to its end (the frames that it should still have had are among its failed ones).
    """

    source: int
    segment: int
    frames: int
    complete: bool
    error: str | None = None


@dataclass(frozen=True, eq=False)
class Stats:
    """What a worker did since its last one. seconds: how long that is.

    latencies: float32, ms of every inferred frame from decoded to detections available. stages: ms per stage, summed
    over these frames. busy: ms per stage of the device, as ``Backend.timings``. feeding: seconds that the engine's feeder
    spent on each stage's account (see ``Inference``). worth: where several devices do each frame together, how many frames' worth
    of the work this one did.
    """

    seconds: float
    latencies: NDArray[np.float32]
    stages: Mapping[str, float]
    busy: Mapping[str, float] = field(default_factory=dict)
    feeding: Mapping[str, float] = field(default_factory=dict)
    worth: float | None = None


@dataclass(frozen=True)
class Starting:
    """The engine of a group's member is being built, for the ``attempt``-th time."""

    attempt: int


@dataclass(frozen=True)
class Member:
    """About one device of a group. ``Failed.retry`` says here whether it is started again; the group goes on without it."""

    device: DeviceId
    message: Starting | Building | Ready | Failed | Stats


@dataclass(frozen=True)
class FrameEntry:
    """One frame on the worker's side, before its index is known. pts: seconds, NaN where unknown. device: which of a group did it."""

    pts: float
    width: int
    height: int
    detections: Detections | None
    failure: str | None = None
    name: str | None = None
    device: DeviceId | None = None


@dataclass(frozen=True, eq=False)
class Frames:
    """Consecutive frames of one segment, column by column: an array costs as much to pickle as its whole batch.

    first: position of the first in its segment. pts: float64 (n,). sizes: int32 (n, 2), width and height. counts:
    int32 (n,), detections of each frame. boxes, scores, class_ids: of all frames, concatenated. failures, names and devices
    (where it is not the worker's): by position in this message.
    """

    source: int
    segment: int
    first: int
    pts: NDArray[np.float64]
    sizes: NDArray[np.int32]
    counts: NDArray[np.int32]
    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    class_ids: NDArray[np.int32]
    failures: Mapping[int, str] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    devices: Mapping[int, DeviceId] = field(default_factory=dict)

    @classmethod
    def pack(cls, source: int, segment: int, first: int, entries: list[FrameEntry]) -> Frames:
        """At least one frame, as one message."""
        found = [entry.detections or Detections() for entry in entries]
        return cls(
            source,
            segment,
            first,
            np.array([entry.pts for entry in entries], np.float64),
            np.array([(entry.width, entry.height) for entry in entries], np.int32),
            *_columns(found),
            {at: entry.failure for at, entry in enumerate(entries) if entry.failure is not None},
            {at: entry.name for at, entry in enumerate(entries) if entry.name is not None},
            {at: entry.device for at, entry in enumerate(entries) if entry.device is not None},
        )

    def __len__(self) -> int:
        return len(self.pts)

    def unpack(self, device: DeviceId, index: int) -> Iterator[FrameResult]:
        """The frames again, the first of them with this index. Detections are views of the message's arrays."""
        ends = np.cumsum(self.counts).tolist()
        start = 0
        for at, (pts, size, end) in enumerate(zip(self.pts.tolist(), self.sizes.tolist(), ends, strict=True)):
            failure = self.failures.get(at)
            detections = (
                None if failure is not None else Detections(self.boxes[start:end], self.scores[start:end], self.class_ids[start:end])
            )
            name, done_by = self.names.get(at), self.devices.get(at, device)
            yield FrameResult(FrameRef(self.source, index + at, pts), done_by, size[0], size[1], detections, failure, name)
            start = end


def _columns(
    found: Sequence[Detections],
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32], NDArray[np.int32]]:
    """How many detections each picture has, and the boxes, scores and class ids of all of them."""
    return (
        np.array([len(detections) for detections in found], np.int32),
        np.concatenate([detections.boxes for detections in found]),
        np.concatenate([detections.scores for detections in found]),
        np.concatenate([detections.class_ids for detections in found]),
    )


Task: TypeAlias = Probe | Detect
ToWorker: TypeAlias = Task | Drop | Revoke | Stop | SharedMemory | Infer
FromWorker: TypeAlias = (
    Building
    | Ready
    | Failed
    | Stopped
    | Need
    | Began
    | Trying
    | Probed
    | ProbeFailed
    | Frames
    | Done
    | Stats
    | Member
    | Inferred
    | InferenceFailed
)
