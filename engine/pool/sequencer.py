"""Puts the results of one source into display order, and counts where its frames went.

The results come from several devices, in any order of segments. A frame's index is the running count over the segments in order, so that a
wrong frame count in the container does no harm. Results of later segments wait here in their messages. If the source ends early, they are
numbered by the container's frame counts.

The ledger counts ``decoded`` when a result arrives, the other counts when it is handed on. It therefore shows frames lost in between.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import Ledger, Position
from framefleet.engine.pool.protocol import Frames
from framefleet.engine.types import DeviceId, FrameResult

MAX_REASONS = 50
"""Most reasons that are counted separately. Reasons may contain a frame's time, so that the ledger would grow with the video."""


_OTHER = Notice("pool.other_reasons")


class LedgerBook:
    """Counts the frames of one source. arrived: number of frames from a decoder, also of those that cannot be decoded."""

    def __init__(self) -> None:
        self.arrived = 0
        self._inferred = 0
        self._failed: Counter[Notice] = Counter()

    def resume(self, position: Position) -> None:
        """Count the frames of an earlier run."""
        self.arrived = position.frames
        self._inferred = position.frames - sum(position.failed.values())
        self._failed = Counter(position.failed)

    def handed_on(self, results: Iterable[FrameResult]) -> None:
        """Count results that were handed to the consumer of the events."""
        for result in results:
            if result.failure is None:
                self._inferred += 1
            else:
                known = result.failure in self._failed or len(self._failed) < MAX_REASONS
                self._failed[result.failure if known else _OTHER] += 1

    def close(self, wanted_of: int | None = None) -> Ledger:
        """The final ledger. wanted_of: the number of frames of the source, if only some of them were wanted.

        Raises RuntimeError if the counts do not balance, which is a bug.
        """
        skipped = 0 if wanted_of is None else max(0, wanted_of - self.arrived)
        ledger = Ledger(self.arrived, self._inferred, {}, dict(self._failed), skipped)  # files never drop frames
        if not ledger.balanced:
            raise RuntimeError(f"frames are unaccounted for: {ledger}")
        return ledger


@dataclass
class _Part:
    """The results of one segment. received, total: numbers of frames; total is None until known. waiting: results not handed on yet."""

    received: int = 0
    total: int | None = None
    waiting: deque[tuple[DeviceId, Frames]] = field(default_factory=deque)


class Sequencer:
    """Takes the results of one source in any order of segments, and returns them in display order without gaps.

    announced: number of frames of each segment, according to the container. step: seconds between two frames, for frames without a time.
    position: where an earlier run stopped; frames before it are not expected.

    Attributes: segment: number of the oldest segment with frames that have not been handed on. Frames from ``pop`` belong to it.
    """

    def __init__(self, announced: Sequence[int], step: float = 0.0, position: Position | None = None) -> None:
        self._announced = announced
        self._step = step
        self._parts: dict[int, _Part] = {}
        self.segment = 0
        self._head_start = 0  # index of the first frame of the oldest unfinished segment
        self._index = 0
        self._pts = -step
        if position is not None:
            self.segment, self._index, self._pts = position.segment, position.frames, position.pts
            self._parts[position.segment] = _Part(position.skip)
            self._head_start = position.frames - position.skip

    @property
    def complete(self) -> bool:
        """Whether every frame of every segment has been handed on."""
        return self.segment == len(self._announced)

    @property
    def waiting(self) -> int:
        """Number of frames received and not handed on."""
        return sum(len(frames) for part in self._parts.values() for _, frames in part.waiting)

    def received(self, segment: int) -> int:
        """Number of frames received of a segment."""
        return self._part(segment).received

    def add(self, device: DeviceId, frames: Frames) -> None:
        """Take the next frames of a segment.

        Raises RuntimeError if they are not the next frames. A frame was lost or came twice, which is a bug.
        """
        part = self._part(frames.segment)
        if part.total is not None or frames.first != part.received:
            raise RuntimeError(
                f"segment {frames.segment} of source {frames.source}: frame {frames.first} came where {part.received} was due"
            )
        part.received += len(frames)
        part.waiting.append((device, frames))

    def finish(self, segment: int, total: int) -> None:
        """Mark a segment as complete. total: its number of frames.

        Raises RuntimeError if frames are missing, or the segment was finished before, which is a bug.
        """
        part = self._part(segment)
        if part.total is not None or part.received != total:
            raise RuntimeError(f"segment {segment} ended at frame {total}, with {part.received} received")
        part.total = total

    def pop(self) -> Iterator[tuple[FrameResult, ...]]:
        """Yield the results that are next in display order, one message at a time."""
        while not self.complete:
            part = self._part(self.segment)
            while part.waiting:
                yield self._number(*part.waiting.popleft())
            if part.total is None:
                return
            del self._parts[self.segment]
            self.segment += 1
            self._head_start = self._index

    def rest(self) -> Iterator[tuple[FrameResult, ...]]:
        """Yield all waiting results in display order, one message at a time, since the source ends early. Call ``pop`` before.

        The missing frames of earlier segments leave gaps in the indices: see docs/adr/0018-interrupted-runs.md.
        """
        start = self._head_start
        for segment in range(self.segment, max(self._parts, default=-1) + 1):
            part = self._parts.pop(segment, None) or _Part()
            if part.waiting:
                self._pts += (start - self._index) * self._step
                self._index = start
            while part.waiting:
                yield self._number(*part.waiting.popleft())
            start += max(self._announced[segment], part.received) if part.total is None else part.total

    def _part(self, segment: int) -> _Part:
        if not self.segment <= segment < len(self._announced):
            raise RuntimeError(f"segment {segment} is not open: {self.segment} is the oldest unfinished one of {len(self._announced)}")
        return self._parts.setdefault(segment, _Part())

    def _number(self, device: DeviceId, frames: Frames) -> tuple[FrameResult, ...]:
        results = tuple(frames.unpack(device, self._index, self._pts, self._step))
        last = results[-1].ref
        self._index, self._pts = last.index + 1, last.pts
        return results
