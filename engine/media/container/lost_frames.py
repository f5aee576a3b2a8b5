"""Estimates how many frames of a damaged file are missing. For an undamaged file the estimate is 0.

The evidence depends on the container:
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

import numpy as np

from framefleet.engine.media.container.packet_table import PacketTable
from framefleet.engine.media.container.structure import empty_avi_chunks, is_damaged, is_fragmented, media_bytes, unreadable_bytes
from framefleet.engine.media.container.video_file import VideoFile

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
        lost = max(_lost_in_gaps(table, step), _is_damaged(table, file))
    counted = file.stream.frames - file.empty_packets
    if kind == "avi" and counted > len(table):
        counted -= empty_avi_chunks(file.path, file.stream.index)
    if kind == "ivf":  # older FFmpegs write the duration there, in units of the time base
        counted = min((each for each in (counted, round(counted / table.step)) if each >= len(table)), default=0)
    if "mov" in kind:
        unread, truncated = unreadable_bytes(file.path, table.read_until)
        lost += max(round(unread * len(table) / max(table.size, 1)), truncated and unread > 0)
        counted = sum(not entry.is_discard for entry in file.stream.index_entries)
        missing = _stated_end(file) - table.end
        unused = media_bytes(file.path) - table.total
        if unused > (1 - COVERED) * (unused + table.total):
            lost = max(lost, _lost_in_gaps(table, step))
            if is_fragmented(file.path):  # no edit list leaves out parts of its data
                lost = max(lost, round(unused * len(table) / max(table.size, 1)))
            span = int(table.ordered[-1] - table.ordered[0]) if len(table) else 0
            missing = max(missing, float(((file.stream.duration or 0) - span) * file.time_base) - step)
        lost += round(missing / step) if missing > _STATED_SECONDS else 0
        left_out = frames_left_out(file)
        gaps = np.any(np.diff(np.sort([*table.ordered, *table.left_out])) > 1.5 * table.step)
        least = 1 - _ROUNDED if gaps else 1 + _ROUNDED_SECONDS / step if _begins_within_a_frame(table) else 1
        lost = max(lost, round(left_out) if left_out >= least else 0)
    return max(len(table), *(count for count in (len(table) + lost, counted - table.hidden) if count <= _CREDIBLE * len(table)))


def frames_left_out(file: VideoFile) -> float:
    """Estimate how many frames FFmpeg leaves out of an MP4 although its edit list includes their time.

    This happens if the index is damaged. Less than one frame is normal: a list may begin within a frame, which FFmpeg leaves out.
    """
    entries = file.stream.index_entries
    shown = np.array([not entry.is_discard for entry in entries], bool)
    frames, stated = int(shown.sum()), file.stream.frames
    hidden = (stated if len(shown) < stated <= _CREDIBLE * frames else len(shown)) - frames
    if not hidden or len(shown) < 2:
        return 0
    steps = np.diff([entry.timestamp for entry in entries])
    step = float(np.median(steps))
    if file.stream.duration is None or frames <= _FEW < len(shown) / _FEW or step <= 0:
        return hidden
    if np.mean(np.abs(steps / step - 1) < 0.2) < _EVEN:  # the duration of the last frame is unknown
        return 0
    return min(hidden, (file.stream.duration - int(np.append(steps, round(step))[shown].sum())) / step)


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
