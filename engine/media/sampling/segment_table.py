"""Reads the packets of a segment without decoding, and finds those needed for its wanted frames."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.container.video_file import VideoFile, VideoPacket
from framefleet.engine.media.segment import covers, packets_of
from framefleet.engine.media.types import Segment

_KEPT_BYTES = 16 * 2**20
"""The packets of a segment are kept in memory up to this size. Those of larger segments are read again."""


@dataclass(frozen=True)
class Run:
    """Consecutive packets that are decoded together: from number ``first``, a keyframe, to number ``last`` of the segment's packets.

    part: the frames from the keyframe to the last wanted one, as a segment.
    """

    first: int
    last: int
    part: Segment


class SegmentTable:
    """The packets of a segment. The constructor reads them.

    ordered: pts of the segment's frames, ascending, int64 (frames,).
    regular: whether all frames have different times and whole packets, so that frames can be recognised by their times.
    """

    def __init__(self, file: VideoFile, segment: Segment) -> None:
        self._file, self._segment = file, segment
        self._kept: list[VideoPacket] | None = []
        size, read = 0, 0
        self.regular = True
        pts, keys, counted = array("q"), array("b"), array("b")
        for packet in packets_of(file, segment):
            shown = file.shows(packet)
            time = packet.pts if packet.pts is not None else packet.dts
            if time is None:
                time = round(read / (file.rate * file.time_base))
            read += shown
            self.regular &= packet.pts is not None and not packet.is_corrupt
            pts.append(time)
            keys.append(packet.is_keyframe)
            counted.append(shown and covers(segment, time))
            size += packet.size
            if self._kept is not None:
                self._kept.append(packet)
                if size > _KEPT_BYTES:
                    self._kept = None
        self._pts: NDArray[np.int64] = np.array(pts, np.int64)
        self._keys = np.flatnonzero(np.array(keys, np.bool_))
        self._packets = np.flatnonzero(np.array(counted, np.bool_))  # numbers of the packets of the segment's frames
        self._order = np.argsort(self._pts[self._packets], kind="stable")
        self.ordered = self._pts[self._packets][self._order]
        self.regular &= file.error is None and not file.clock_restarts and bool(np.all(np.diff(self.ordered) > 0))

    def __len__(self) -> int:
        return len(self.ordered)

    def wanted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of the wanted frames in ``ordered``, and their indices in the source."""
        wanted = self._segment.wanted
        assert wanted is not None
        step = round(1 / (self._file.rate * self._file.time_base))
        end = self._segment.end
        last = end if end is not None else int(self.ordered[-1]) + step if len(self) else 0
        indices = wanted.first + np.arange(len(self))
        positions = np.flatnonzero(wanted.includes(indices, self.ordered, np.append(self.ordered[1:], last)))
        return positions, indices[positions]

    def runs(self, positions: NDArray[np.int64]) -> list[Run]:
        """Return the packets to decode for the frames at these positions of ``ordered``."""
        bounds: list[tuple[int, int]] = []
        for packet in sorted(self._packets[self._order[positions]].tolist()):
            key = int(np.searchsorted(self._keys, packet, "right")) - 1
            # a frame that is stored after a keyframe and shown before it may need the keyframe before that one
            if key > 0 and self._pts[packet] < self._pts[self._keys[key]]:
                key -= 1
            first = int(self._keys[key]) if key >= 0 else 0
            while bounds and first <= bounds[-1][1] + 1:
                first = min(first, bounds.pop()[0])
            bounds.append((first, packet))
        wanted = self._packets[self._order[positions]]
        return [Run(first, last, self._part(first, last, wanted[(wanted >= first) & (wanted <= last)])) for first, last in bounds]

    def _part(self, first: int, last: int, wanted: NDArray[np.int64]) -> Segment:
        start = int(self._pts[first]) if first else self._segment.start
        whole = last == len(self._pts) - 1
        return replace(self._segment, start=start, end=self._segment.end if whole else int(self._pts[wanted].max()) + 1, frames=0)

    def packets(self, runs: list[Run]) -> Iterator[Iterator[VideoPacket]]:
        """Yield the packets of each run. Exhaust each iterator before the next one."""
        if self._kept is not None:
            for run in runs:
                yield iter(self._kept[run.first : run.last + 1])
            return
        if self._segment.start is None:
            self._file.reopen()
        packets, position = packets_of(self._file, self._segment), 0
        for run in runs:
            yield islice(packets, run.first - position, run.last + 1 - position)
            position = run.last + 1
