"""Counts the frames of a video and divides it into segments, without decoding. Estimates how many frames of a damaged file are missing.

MP4 and MOV files have an index of all samples: ``scan`` counts its entries and reads only a few packets around some of the cuts and at
the end. It reads all other files once from start to end.

A cut is a keyframe from which decoding can start. All frames before it in decoding order are shown before it. After it come the leading
frames, which are shown before it (an open GOP). All later frames are shown after it. A video stays one segment if times are missing
or repeated, if the file is damaged, or if its container does not seek exactly.

For an undamaged file, the estimate of lost frames is 0. The evidence depends on the container:

- Matroska and FLV store packets without gaps, so bytes between two packets are unreadable packets.
- Matroska, FLV and some MP4 files state a duration. Matroska also states the file's size.
- MPEG-TS usually holds broadcasts, whose frames have a constant interval. An undamaged file ends with a whole packet.
- In a fragmented MP4, everything after a broken box is lost. Media data that no packet covers shows a damaged index.
- The edit list of an MP4 states a duration, which its frames must fill if they have one rate. A list may show any part of a video, so
  damage that makes it shorter cannot be told from a cut, unless at most two frames remain or the duration is missing.
- All other containers have only their packets and the number of frames in the header.
- In an IVF, that number may be the duration.
- In an AVI, that number includes chunks that repeat the picture before them.
"""

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from av.stream import Stream
from numpy.typing import NDArray

from framefleet.engine.media.container.hidden_packets import LeadIn
from framefleet.engine.media.container.structure import (
    composition_offsets,
    empty_avi_chunks,
    is_damaged,
    is_fragmented,
    is_truncated_avi,
    media_bytes,
    unreadable_bytes,
)
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.types import Segment

_KEYFRAME, _DISCARD = 1, 2  # AVINDEX_KEYFRAME, AVINDEX_DISCARD_FRAME
_CHECKED_CUTS = 8
_CHECKED_PACKETS = 16


class PacketTable:
    """The frames in a file's packets, in decoding order. The constructor reads the whole file.

    Times are in units of the stream's time base, unless stated otherwise.

    pts: int64 (frames,): the dts where a packet has no pts, the frame's position where it has neither. ordered: the pts, ascending.
    keys: bool (frames,): whether each frame is a keyframe.
    last_dts: of the last frame in decoding order; the pts of the last frame where packets have no dts.
    step: the interval of two frames. timed: whether ``step`` comes from the packets' times, not from the stated rate.
    intact: whether all packets are complete, have different times of one clock, and were read without an error.
    hidden: the number of hidden packets (see ``HiddenPackets`` and ``LeadIn``). size: bytes of all other packets.
    packets, total: number and bytes of all tracks' packets.
    left_out: the pts of frames that the edit list of an MP4 leaves out.
    holes: for each gap in the file between two packets, the number of frames before it and its bytes.
    read_until: the position where the last packet ends, bytes. end: when the last packet of any track ends, seconds.
    """

    def __init__(self, file: VideoFile, leading: int | None = None) -> None:
        lead_in = LeadIn(leading)
        pts, keys = array("q"), array("b")
        self.intact, self.hidden, self.size, self.total, self.packets = True, 0, 0, 0, 0
        self.read_until, timed = 0, True
        last_dts: int | None = None
        ends: dict[int, int] = {}  # by track: a product with its unit for every packet would take a fifth of the time
        self.holes: list[tuple[int, int]] = []
        self.left_out: list[int] = []
        for packet in file.packets():
            self.packets += 1
            self.total += packet.size
            if packet.pts is not None:
                end = packet.pts + (packet.duration or 0)
                ends[packet.stream_index] = max(end, ends.get(packet.stream_index, end))
            if packet.pos is not None:
                if self.read_until and packet.pos > self.read_until:
                    self.holes.append((len(pts), packet.pos - self.read_until))
                self.read_until = packet.pos + packet.size
            if packet.stream_index != file.stream.index:
                continue
            if lead_in.holds(packet) or not file.shows(packet):
                self.hidden += not packet.is_discard
                if packet.is_discard and packet.pts is not None:
                    self.left_out.append(packet.pts)
                continue
            self.intact &= packet.pts is not None and not packet.is_corrupt
            time = packet.pts if packet.pts is not None else packet.dts
            timed &= time is not None
            pts.append(time if time is not None else len(pts))
            keys.append(packet.is_keyframe)
            last_dts = packet.dts if packet.dts is not None else last_dts
            self.size += packet.size
        units = {stream.index: stream.time_base or Fraction(0) for stream in file.container.streams}
        self.end = max([0.0, *(float(end * units[track]) for track, end in ends.items())])
        self.pts: NDArray[np.int64] = np.array(pts, np.int64)
        self.keys: NDArray[np.bool_] = np.array(keys, np.bool_)
        self.ordered: NDArray[np.int64] = np.sort(self.pts)
        self.last_dts = last_dts if last_dts is not None else max(pts, default=0)
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

    @property
    def cut_off(self) -> int:
        """The number of frames missing between others because a part of a video ends before the place where they were stored.

        Copied parts of a video end so: their last frames in decoding order are shown after frames that would follow.
        """
        gaps = np.round(np.diff(self.ordered) / self.step) - 1
        before = np.floor(np.maximum(self.last_dts - self.ordered[:-1], 0) / self.step + _ROUNDED)
        return int(np.sum(np.maximum(gaps - before, 0)))

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


# Estimates how many frames of a damaged file are missing. For an undamaged file the estimate is 0.
#
# The evidence depends on the container:
# - Matroska and FLV store packets without gaps, so bytes between two packets are unreadable packets.
# - Matroska, FLV and some MP4 files state a duration. Matroska also states the file's size.
# - MPEG-TS usually holds broadcasts, whose frames have a constant interval. An undamaged file ends with a whole packet.
# - In a fragmented MP4, everything after a broken box is lost. Media data that no packet covers shows a damaged index.
# - The edit list of an MP4 states a duration, which its frames must fill if they have one rate. A list may show any part of a video, so
#   damage that makes it shorter cannot be told from a cut, unless at most two frames remain or the duration is missing.
# - All other containers have only their packets and the number of frames in the header.
# - In an IVF, that number may be the duration.
# - In an AVI, that number includes chunks that repeat the picture before them.

_DENSE = ("matroska", "flv")
_HOLE = 128  # bytes: packets of an undamaged file are at most a few dozen bytes apart
_LATE = 4  # frames: a damaged video that begins later than this lost its beginning
_STATED_SECONDS = 0.5  # stated durations are rounded; if more is missing, the file is truncated
COVERED = 0.99  # share of an MP4's media data that the packets of an undamaged file cover at least
_CREDIBLE = 1000  # times the number of frames read: a header that states more is damaged itself
_ROUNDED = 0.05  # frames: the durations of edit lists are rounded to milliseconds
_ROUNDED_SECONDS = 0.001  # the same, in most files
_FEW = 2  # frames: a cut of a longer video has more
_LONGEST_GAP = 10.0  # seconds: a longer gap in a broadcast is a cut or a restarted clock
_EVEN = 0.95  # share of equal intervals from which on a sequence counts as even
_LESS_EVEN = 0.75  # the same for a file that is damaged: a few frames around one gap


def expected_frames(table: PacketTable, file: VideoFile) -> int:
    """Return the number of frames the file should have.

    This is the number of frames in its packets plus the estimated number of lost frames, or the header's number if that is larger.
    """
    kind = file.container.format.name
    step = table.step * float(file.time_base)
    lost = 0
    if any(name in kind for name in _DENSE):
        lost = _lost_of_dense(table, file, step)
    elif "mpegts" in kind:
        lost = max(_lost_in_gaps(table, step) - table.cut_off, _is_damaged(table, file))
    counted = file.stream.frames - file.empty_packets
    if kind == "avi" and counted > len(table):
        empty = empty_avi_chunks(file.path, file.stream.index)
        # the missing end of a truncated file has as many empty chunks among its frames as the rest
        share = len(table) / max(len(table) + empty, 1) if is_truncated_avi(file.path) else 1
        counted = len(table) + round((counted - empty - len(table)) * share)
    if kind == "ivf":  # older FFmpegs write the duration there, in units of the time base
        counted = min((each for each in (counted, round(counted / table.step)) if each >= len(table)), default=0)
    if "mov" in kind:
        unread, truncated = unreadable_bytes(file.path, table.read_until)
        lost += max(round(unread * len(table) / max(table.size, 1)), truncated and unread > 0)
        entries = IndexTable(file.stream)
        counted = entries.frames
        missing = _stated_end(file) - table.end
        unused = media_bytes(file.path) - table.total
        if unused > (1 - COVERED) * (unused + table.total):
            lost = max(lost, _lost_in_gaps(table, step))
            if is_fragmented(file.path):  # no edit list leaves out parts of its data
                lost = max(lost, round(unused * len(table) / max(table.size, 1)))
            span = int(table.ordered[-1] - table.ordered[0]) if len(table) else 0
            missing = max(missing, float(((entries.stated_length(file.stream) or 0) - span) * file.time_base) - step)
        lost += round(missing / step) if missing > _STATED_SECONDS else 0
        left_out = frames_left_out(file, entries) - table.cut_off
        gaps = np.any(np.diff(np.sort([*table.ordered, *table.left_out])) > 1.5 * table.step)
        least = 1 - _ROUNDED if gaps else 1 + _ROUNDED_SECONDS / step if _begins_within_a_frame(table) else 1
        lost = max(lost, round(left_out) if left_out >= least else 0)
    return max(len(table), *(count for count in (len(table) + lost, counted - table.hidden) if count <= _CREDIBLE * len(table)))


class IndexTable:
    """The index of an MP4's track, in decoding order, as FFmpeg has it.

    dts: int64 (entries,), in units of the track's time base. keys, shown: bool (entries,), whether each is a keyframe, and whether its
    frame is shown. size: bytes of all packets. frames: the number of frames shown. step: the usual interval of two frames; 0: unknown.
    length: the sum of the intervals after the shown frames.
    """

    def __init__(self, stream: Stream) -> None:
        entries = ((entry.timestamp, entry.flags, entry.size) for entry in stream.index_entries)
        self.dts, flags, sizes = np.fromiter(chain.from_iterable(entries), np.int64).reshape(-1, 3).T
        self.keys, self.shown = flags & _KEYFRAME != 0, flags & _DISCARD == 0
        self.size, self.frames = int(sizes.sum()), int(self.shown.sum())
        steps = np.diff(self.dts)
        self.step = float(np.median(steps)) if len(steps) else 0.0
        self.length = int(np.append(steps, round(self.step))[self.shown].sum()) if len(self) else 0

    def stated_length(self, stream: Stream) -> int | None:
        """How long the frames are shown according to the edit list. FFmpeg's duration may include the time before the first frame."""
        duration = stream.duration
        return duration and min(duration, max(duration - max(stream.start_time or 0, 0), self.length))

    def __len__(self) -> int:
        return len(self.dts)


def frames_left_out(file: VideoFile, entries: IndexTable) -> float:
    """Estimate how many frames FFmpeg leaves out of an MP4 although its edit list includes their time.

    This happens if the index is damaged. Less than one frame is normal: a list may begin within a frame, which FFmpeg leaves out.
    """
    frames, stated = entries.frames, file.stream.frames
    hidden = (stated if len(entries) < stated <= _CREDIBLE * frames else len(entries)) - frames
    if not hidden or len(entries) < 2:
        return 0
    length, step = entries.stated_length(file.stream), entries.step
    if length is None or frames <= _FEW < len(entries) / _FEW or step <= 0:
        return hidden
    if np.mean(np.abs(np.diff(entries.dts) / step - 1) < 0.2) < _EVEN:  # the duration of the last frame is unknown
        return 0
    return min(hidden, (length - entries.length) / step)


def _begins_within_a_frame(table: PacketTable) -> bool:
    """Whether an edit list may begin within a frame: FFmpeg leaves out the frame before the first shown one."""
    return bool(len(table)) and any(0 < table.ordered[0] - pts < 1.5 * table.step for pts in table.left_out)


def _lost_of_dense(table: PacketTable, file: VideoFile, step: float) -> int:
    """Estimate the frames that a Matroska or FLV file lost. step: interval of two frames, seconds."""
    holes = [hole for hole in table.holes if hole[1] >= _HOLE]
    missing = _stated_end(file) - table.end
    gaps, start = _lost_in_gaps(table, step, _LESS_EVEN), float(table.ordered[0] * file.time_base) if len(table) else 0.0
    tail = _stated_end(file, own=True) - float((table.ordered[-1] + table.step) * file.time_base) if len(table) else 0.0
    suspicious = gaps or tail > step / 2 or start > _LATE * step
    if suspicious and (holes or _is_damaged(table, file)):
        if start > _LATE * step:
            gaps += round(start / step)
        return max(_lost_in_holes(table, holes), gaps) + max(0, round(tail / step))
    return _lost_in_holes(table, holes) + (round(missing / step) if missing > _STATED_SECONDS else 0)


def _is_damaged(table: PacketTable, file: VideoFile) -> bool:
    return is_damaged(file.path, len(file.container.streams), file.stream.id, table.packets)


def _stated_end(file: VideoFile, own: bool = False) -> float:
    """Return the end that the file states, seconds; 0 if it states none. own: the end of the video track, not of all tracks."""
    end = file.container.duration / 1e6 if file.container.duration else 0.0
    stated = re.fullmatch(r"(\d+):(\d+):(\d+(?:\.\d+)?)", file.stream.metadata.get("DURATION", "")) if own else None
    if stated is None:
        return end
    hours, minutes, seconds = map(float, stated.groups())
    return min(end or math.inf, 3600 * hours + 60 * minutes + seconds)


def _lost_in_holes(table: PacketTable, holes: list[tuple[int, int]]) -> int:
    """Estimate the frames lost in these holes. The size of a hole limits the estimate."""
    lost = 0
    for frames, size in holes:
        if 0 < frames < len(table):
            gap = int(table.pts[frames:].min() - table.pts[:frames].max())
            lost += max(0, min(round(gap / table.step) - 1, 8 + 4 * size * len(table) // table.size))
    return lost


def _lost_in_gaps(table: PacketTable, step: float, even: float = _EVEN) -> int:
    """Count the frames missing from an otherwise even sequence. step: interval of two frames, seconds. even: share of equal intervals."""
    steps = np.diff(table.ordered) / table.step
    if not table.timed or np.mean(np.abs(steps - 1) < 0.2) < even:
        return 0
    gaps = steps[(steps > 1.5) & (steps * step < _LONGEST_GAP)]
    return int(np.sum(np.round(gaps) - 1))


# Counts the frames of a video and divides it into segments, without decoding.
#
# MP4 and MOV files have an index of all samples: ``scan`` counts its entries and reads only a few packets around some of the cuts and at
# the end. It reads all other files once from start to end.
#
# A cut is a keyframe from which decoding can start. All frames before it in decoding order are shown before it. After it come the leading
# frames, which are shown before it (an open GOP). All later frames are shown after it. A video stays one segment if times are missing
# or repeated, if the file is damaged, or if its container does not seek exactly.

SEGMENT_FRAMES = 100
"""The minimum number of frames of a segment, about 4 s of video. Opening a file takes about as long as decoding a frame."""

LEADING = 64
"""Most frames that are stored after a keyframe and shown before it: no codec allows more."""
_REORDERED = 16  # most frames that are stored before a frame and shown after it: no codec allows more


@dataclass(frozen=True)
class Cut:
    """A keyframe where a segment starts. before: the number of frames shown before it."""

    pts: int
    before: int


Index: TypeAlias = tuple[int, float | None, list[Cut]]
"""What a file's index tells: the number of frames, the duration in seconds (None if unknown), and the cuts."""


def scan(path: Path, index: Index | None, leading: int | None = None) -> tuple[int, float | None, tuple[Segment, ...], bool]:
    """Return a video's number of frames, duration in seconds (None if unknown), segments, and whether it can seek by time.

    Parameters
    ----------
    path : Path
        The video.
    index : Index, optional
        The result of ``scan_index``. None: all packets are read.
    leading : int, optional
        See ``Segment``.

    Raises
    ------
    SourceError
        The video cannot be opened.
    """
    frames, seconds, cuts, seekable = (*index, True) if index else _scan_packets(path, leading)
    bounds = [Cut(0, 0), *cuts, Cut(0, frames)]
    segments = [
        Segment(number, first.pts if number else None, after.pts if number < len(cuts) else None, after.before - first.before)
        for number, (first, after) in enumerate(pairwise(bounds))
    ]
    return frames, seconds, (replace(segments[0], leading=leading), *segments[1:]), seekable


def _scan_packets(path: Path, leading: int | None) -> tuple[int, float, list[Cut], bool]:
    """Read all packets of any video. Returns its number of frames, duration, cuts, and whether its clock never restarts."""
    with VideoFile(path, other_tracks=True) as file:
        table = PacketTable(file, leading)
        frames = expected_frames(table, file)
        seekable = not file.clock_restarts
        seconds = float((table.span + (frames - len(table)) * table.step) * file.time_base)
    cuts: list[Cut] = []
    if table.intact and frames == len(table):
        for pts, before in table.possible_cuts():
            if before - (cuts[-1].before if cuts else 0) >= SEGMENT_FRAMES and frames - before >= SEGMENT_FRAMES // 2:
                cuts.append(Cut(pts, before))
        with VideoFile(path) as file:
            if not table.seeks_exactly(file, [cut.pts for cut in cuts]):
                cuts = []
    return frames, seconds, cuts, seekable


def scan_index(file: VideoFile) -> Index | None:
    """Read the index of an MP4 or MOV. None: another kind of file, or the index is not complete. The file may have been read before."""
    if "mov" not in file.container.format.name or file.hidden.possible or is_fragmented(file.path):
        return None
    entries = IndexTable(file.stream)
    if not len(entries) or np.any(np.diff(entries.dts) <= 0):
        return None
    others = sum(entry.size for each in file.container.streams if each.index != file.stream.index for entry in each.index_entries)
    if entries.size + others < COVERED * media_bytes(file.path):
        return None
    if frames_left_out(file, entries) > 1 / 2:
        return None
    cuts: list[Cut] = []
    for cut in _index_cuts(file, entries):
        if cut is None or (cuts and cut.pts <= cuts[-1].pts):
            return None
        cuts.append(cut)
    duration = entries.stated_length(file.stream)
    if duration:
        duration = max(duration, _least_duration(file, int(entries.dts[max(0, len(entries) - LEADING)])))
    return entries.frames, float(duration * file.time_base) if duration else None, cuts


def _index_cuts(file: VideoFile, entries: IndexTable) -> list[Cut | None]:
    """The cuts of an MP4. None: a keyframe is not where the index says, or frames before it are shown after it.

    FFmpeg's index lacks the presentation times. Reading them from the packets at each cut takes 0.3 ms, or the time of a hard disk's
    seek. So those of long videos come from the table in the file, and the packets at a few cuts show whether it is right.
    """
    before: NDArray[np.int64] = np.cumsum(entries.shown) - entries.shown  # shown frames before each entry, in decoding order
    places: list[int] = []
    for place in np.flatnonzero(entries.keys & entries.shown & (before <= entries.frames - SEGMENT_FRAMES // 2)).tolist():
        if before[place] >= SEGMENT_FRAMES + (before[places[-1]] if places else 0):
            places.append(place)

    def read(place: int) -> Cut | None:
        return _cut_at(file, int(entries.dts[max(0, place - _REORDERED)]), int(entries.dts[place]), int(before[place]))

    checked = {*places[:: -(-len(places) // _CHECKED_CUTS) or 1], *places[-1:]}
    offsets = composition_offsets(file.path, file.stream.id, len(entries)) if len(checked) < len(places) else None
    first = read(places[0]) if offsets is not None else None
    if offsets is None or first is None:
        return list(map(read, places))
    pts = entries.dts + offsets
    pts += first.pts - pts[places[0]]  # edit lists and negative offsets shift all times
    cuts: dict[int, Cut | None] = {}
    for place in places:
        later = pts[place + 1 : place + 2 * LEADING] > pts[place]
        leading = entries.shown[place + 1 : place + 1 + (int(later.argmax()) if later.any() else len(later))]
        nearby = slice(max(0, place - _REORDERED), place)
        ordered = np.all(pts[nearby][entries.shown[nearby]] < pts[place])
        cuts[place] = Cut(int(pts[place]), int(before[place] + leading.sum())) if ordered else None
    return list(cuts.values()) if all(cuts[place] == read(place) for place in checked) else list(map(read, places))


def _least_duration(file: VideoFile, dts: int) -> int:
    """The time from the start of the video until the last of the frames from a dts on ends; 0 if that is unknown.

    In MP4 of variable frame rate with B-frames, the stated duration may end before the last frame begins.
    """
    shown = [packet for packet in file.packets_at(dts, any_frame=True) if packet.pts is not None and not packet.is_discard]
    last = max(shown, key=lambda packet: packet.pts or 0, default=None)
    if last is None or last.pts is None or file.stream.start_time is None:
        return 0
    begins = last.pts - file.stream.start_time
    return begins + (last.duration or 0) if begins >= (file.stream.duration or 0) else 0


def _cut_at(file: VideoFile, dts_before: int, dts: int, decoded_before: int) -> Cut | None:
    """Return the cut at the keyframe with this dts, None if there is none, or frames before it are shown after it.

    dts_before: of a packet before it. decoded_before: the number of shown frames before it in decoding order.
    """
    # FFmpeg seeks keyframes by their pts, which the index does not contain, and other frames by their dts
    packets = islice(file.packets_at(dts_before, any_frame=True), _REORDERED + 2 * LEADING)
    earlier: list[int] = []
    first = next(packets, None)
    while first is not None and first.dts != dts:
        if first.pts is not None and not first.is_discard:
            earlier.append(first.pts)
        first = next(packets, None)
    if first is None or first.pts is None or not first.is_keyframe or any(pts >= first.pts for pts in earlier):
        return None
    leading = 0
    for packet in packets:
        if packet.pts is None:
            return None
        if packet.pts > first.pts:
            break
        leading += not packet.is_discard
    return Cut(first.pts, decoded_before + leading)
