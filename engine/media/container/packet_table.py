"""Reads all packets of a video and stores the times and keyframes of its frames."""

from array import array
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.container.video_file import VideoFile

_CHECKED_CUTS = 8
_CHECKED_PACKETS = 16


class PacketTable:
    """The frames in a file's packets, in decoding order. The constructor reads the whole file.

    Times are in units of the stream's time base, unless stated otherwise.

    pts: int64 (frames,): the dts where a packet has no pts, the frame's position where it has neither. ordered: the pts, ascending.
    keys: bool (frames,): whether each frame is a keyframe.
    step: the interval of two frames. timed: whether ``step`` comes from the packets' times, not from the stated rate.
    intact: whether all packets are complete, have different times of one clock, and were read without an error.
    hidden: the number of hidden packets (see ``HiddenPackets``). size: bytes of all other packets.
    packets, total: number and bytes of all tracks' packets.
    left_out: the pts of frames that the edit list of an MP4 leaves out.
    holes: for each gap in the file between two packets, the number of frames before it and its bytes.
    read_until: the position where the last packet ends, bytes. end: when the last packet of any track ends, seconds.
    """

    def __init__(self, file: VideoFile) -> None:
        pts, keys = array("q"), array("b")
        self.intact, self.hidden, self.size, self.total, self.packets = True, 0, 0, 0, 0
        self.read_until, self.end, timed = 0, 0.0, True
        self.holes: list[tuple[int, int]] = []
        self.left_out: list[int] = []
        for packet in file.packets():
            self.packets += 1
            self.total += packet.size
            if packet.pts is not None:
                self.end = max(self.end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
            if packet.pos is not None:
                if self.read_until and packet.pos > self.read_until:
                    self.holes.append((len(pts), packet.pos - self.read_until))
                self.read_until = packet.pos + packet.size
            if packet.stream_index != file.stream.index:
                continue
            if not file.shows(packet):
                self.hidden += not packet.is_discard
                if packet.is_discard and packet.pts is not None:
                    self.left_out.append(packet.pts)
                continue
            self.intact &= packet.pts is not None and not packet.is_corrupt
            time = packet.pts if packet.pts is not None else packet.dts
            timed &= time is not None
            pts.append(time if time is not None else len(pts))
            keys.append(packet.is_keyframe)
            self.size += packet.size
        self.pts: NDArray[np.int64] = np.array(pts, np.int64)
        self.keys: NDArray[np.bool_] = np.array(keys, np.bool_)
        self.ordered: NDArray[np.int64] = np.sort(self.pts)
        steps = np.diff(self.ordered)
        self.timed = timed and bool(steps.any())
        self.intact &= timed and file.error is None and not file.clock_restarts and bool(np.all(steps > 0))
        self.step = _usual(steps[steps > 0]) if self.timed else float(1 / (file.rate * file.time_base))

    def __len__(self) -> int:
        return len(self.pts)

    @property
    def span(self) -> float:
        """The duration from the start of the first frame to the end of the last one."""
        return float(self.ordered[-1] - self.ordered[0]) + self.step if self.timed else len(self) * self.step

    def possible_cuts(self) -> Iterator[tuple[int, int]]:
        """Yield the keyframes at which the video can be cut (see ``scan``): pts and number of frames shown earlier."""
        if not len(self):
            return
        latest_before = np.maximum.accumulate(self.pts)
        earliest_from = np.minimum.accumulate(self.pts[::-1])[::-1]
        for index in np.flatnonzero(self.keys[1:]) + 1:
            pts = int(self.pts[index])
            before = int(np.searchsorted(self.ordered, pts))
            trailing = before + 1  # in decoding order: the keyframe and its leading frames come first
            if latest_before[index - 1] < pts and (trailing >= len(self) or earliest_from[trailing] > pts):
                yield pts, before

    def seeks_exactly(self, file: VideoFile, cuts: Sequence[int]) -> bool:
        """Whether reading after a seek returns the same packets as reading from the start. Tries a few of ``cuts`` (keyframes' pts)."""
        for cut in cuts[:: -(-len(cuts) // _CHECKED_CUTS) or 1]:
            packets = file.seek(cut)
            if packets is None:
                return False
            index = int(np.flatnonzero(self.pts == cut)[0])
            found = (packet.pts for packet in packets if file.shows(packet))
            if any(wanted != pts for wanted, pts in zip(self.pts[index : index + _CHECKED_PACKETS], found, strict=False)):
                return False
        return True


def _usual(steps: NDArray[np.int64]) -> float:
    """Return the mean of the steps near the median. It is exact where steps of 33⅓ are stored as 33, 33 and 34."""
    middle = np.sort(steps)[len(steps) // 2]
    return float(np.mean(steps[np.abs(steps - middle) < middle / 2]))
