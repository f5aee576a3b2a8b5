"""Results as workers send them: packed, since one array for a whole batch costs as much to pickle as one for a single picture."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.types import Detections, DeviceId, Found, FrameRef, FrameResult, InferenceFailure


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
    failures: Mapping[int, str]

    @classmethod
    def pack(cls, found: Sequence[Found]) -> Self:
        """Pack the results of at least one picture."""
        none = Detections()
        detections = [each if isinstance(each, Detections) else none for each in found]
        return cls(
            np.array([len(each) for each in detections], np.int32),
            np.concatenate([each.boxes for each in detections]),
            np.concatenate([each.scores for each in detections]),
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


@dataclass(slots=True)  # one for every frame: freezing would make that three times as slow
class FrameEntry:
    """One frame in the worker, before its index is known. pts: seconds, NaN if unknown. device: the member of a group that inferred it.

    index: of the frame in the source, None: it follows from the order. created: as in ``DecodedFrame``.
    """

    pts: float
    width: int
    height: int
    found: Found
    name: str | None = None
    device: DeviceId | None = None
    index: int | None = None
    created: str | None = None


@dataclass(frozen=True, eq=False)
class Frames:
    """A worker's message: consecutive frames of one segment.

    first: position of the first frame in its segment. pts: float64 (n,), seconds. sizes: int32 (n, 2), width and height, pixels. names,
    devices: by position in this message; devices only where it is not the worker's. indices: of frames whose index does not follow from
    their order. created: of pictures, as in ``DecodedFrame``.
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
    def pack(cls, source: int, segment: int, first: int, entries: list[FrameEntry]) -> Self:
        """Pack at least one frame."""
        return cls(
            source,
            segment,
            first,
            np.array([entry.pts for entry in entries], np.float64),
            np.array([(entry.width, entry.height) for entry in entries], np.int32),
            PackedResults.pack([entry.found for entry in entries]),
            {at: entry.name for at, entry in enumerate(entries) if entry.name is not None},
            {at: entry.device for at, entry in enumerate(entries) if entry.device is not None},
            {at: entry.index for at, entry in enumerate(entries) if entry.index is not None},
            {at: entry.created for at, entry in enumerate(entries) if entry.created is not None},
        )

    def __len__(self) -> int:
        return len(self.pts)

    def unpack(self, device: DeviceId, index: int) -> Iterator[FrameResult]:
        """The frames. index: that of the first one, where the message holds none. Detections are views of the message's arrays."""
        frames = zip(self.pts.tolist(), self.sizes.tolist(), self.results.unpack(), strict=True)
        for at, (pts, (width, height), found) in enumerate(frames):
            detections, failure = (found, None) if isinstance(found, Detections) else (None, found.reason)
            index, done_by = self.indices.get(at, index), self.devices.get(at, device)
            texts = self.names.get(at), self.created.get(at)
            yield FrameResult(FrameRef(self.source, index, pts), done_by, width, height, detections, failure, *texts)
            index += 1
