"""Results as workers send them: packed, since one array for a whole batch costs as much to pickle as one for a single picture."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice
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
