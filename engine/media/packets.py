"""What reading a video through, packet by packet, tells about its frames."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.media.hidden import is_hidden
from engine.media.video import VideoFile

_CHECKED_CUTS = 8
_CHECKED_PACKETS = 16
_HOLE_BYTES = 1024  # Matroska: between two packets of a healthy file lie some tens of bytes
_MISSING_SECONDS = 0.5  # declared durations are rounded; a longer absence is a truncated file
_DECLARING = ("matroska", "flv", "mov")  # containers whose header states a duration, not one estimated from the data


class PacketTable:
    """The frames that a file's packets show, in decoding order.

    pts: int64, in units of the stream's time base; without one, the dts stands for it, without both the position. keys: bool,
    keyframes. announced: how many frames there should be: the packets, those that a header counts or a declared duration
    asks for, and those lost in bytes that belong to no packet. seconds: from the first frame to the last one's end.
    """

    pts: NDArray[np.int64]
    keys: NDArray[np.bool_]

    def __init__(self, file: VideoFile) -> None:
        pts, keys, self._reliable = array("q"), array("b"), True
        holes: list[int] = []  # number of frames before each
        end, behind = 0.0, None
        counts_bytes = "matroska" in file.container.format.name
        for packet in file.packets():
            if packet.pts is not None:
                end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
            if counts_bytes and packet.pos is not None:
                if behind is not None and packet.pos - behind > _HOLE_BYTES:
                    holes.append(len(pts))
                behind = packet.pos + packet.size
            if packet.stream_index != file.stream.index or packet.is_discard or is_hidden(packet, file.codec.name):
                continue
            if packet.is_corrupt or packet.pts is None:
                self._reliable = False
            pts.append(next(time for time in (packet.pts, packet.dts, len(pts)) if time is not None))
            keys.append(packet.is_keyframe)
        self.pts = np.array(pts, np.int64)
        self.keys = np.array(keys, np.bool_)
        self._codec = file.codec.name
        self._ordered = np.sort(self.pts)
        self._measure(file, holes, end)

    def __len__(self) -> int:
        return len(self.pts)

    def _measure(self, file: VideoFile, holes: list[int], end: float) -> None:
        steps = np.diff(self._ordered)
        steps = steps[steps > 0]
        timed = self._reliable and len(steps) > 0
        step = float(np.median(steps) * file.time_base) if timed else float(1 / file.rate)
        lost = sum(self._lost_in(hole, step / float(file.time_base)) for hole in holes)
        kind = file.container.format.name
        if file.container.duration and any(name in kind for name in _DECLARING):
            missing = file.container.duration / 1e6 - end
            lost += round(missing / step) if missing > _MISSING_SECONDS else 0
        if "mov" in kind:
            counted = sum(not entry.is_discard for entry in file.stream.index_entries)
        else:
            counted = file.stream.frames - file.empty_packets
        self.announced = max(len(self) + lost, counted if file.codec.name != "gif" else 0)
        shown = float((self._ordered[-1] - self._ordered[0]) * file.time_base) + step if timed else len(self) * step
        self.seconds = shown + (self.announced - len(self)) * step
        self._reliable &= not lost and file.error is None and len(steps) == len(self) - 1

    def _lost_in(self, hole: int, step: float) -> int:
        if not 0 < hole < len(self):
            return 0
        gap = int(self.pts[hole:].min() - self.pts[:hole].max())
        return max(0, round(gap / step) - 1)

    def clean_keyframes(self) -> Iterator[tuple[int, int]]:
        """pts, and the number of frames shown before, of the keyframes that satisfy the definition of a cut (scan.py), in order."""
        if not self._reliable or not len(self):
            return
        latest_before = np.maximum.accumulate(self.pts)
        earliest_from = np.minimum.accumulate(self.pts[::-1])[::-1]
        for index in np.flatnonzero(self.keys[1:]) + 1:
            pts = int(self.pts[index])
            before = int(np.searchsorted(self._ordered, pts))
            trailing = before + 1  # in decoding order: the keyframe and its leading frames come first
            if latest_before[index - 1] < pts and (trailing >= len(self) or earliest_from[trailing] > pts):
                yield pts, before

    def seeks_exactly(self, file: VideoFile, cuts: Sequence[int]) -> bool:
        """Whether seeking to some of these keyframes finds the same packets again."""
        for pts in cuts[:: -(-len(cuts) // _CHECKED_CUTS) or 1]:
            packets = file.seek(pts)
            if packets is None:
                return False
            index = int(np.flatnonzero(self.pts == pts)[0])
            found = (packet.pts for packet in packets if not packet.is_discard and not is_hidden(packet, self._codec))
            if any(wanted != pts for wanted, pts in zip(self.pts[index : index + _CHECKED_PACKETS], found, strict=False)):
                return False
        return True
