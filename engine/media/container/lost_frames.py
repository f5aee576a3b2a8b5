"""Estimates how many frames of a damaged file are missing. For an undamaged file the estimate is 0.

The evidence depends on the container:
- Matroska and FLV store packets without gaps, so bytes between two packets are unreadable packets.
- Matroska, FLV and some MP4 files state a duration.
- MPEG-TS usually holds broadcasts, whose frames have a constant interval.
- In a fragmented MP4, everything after a broken box is lost.
- All other containers have only their packets and the number of frames in the header.
- In an AVI, that number includes chunks that repeat the picture before them.
"""

from __future__ import annotations

import numpy as np

from engine.media.container.file_structure import empty_avi_chunks, unreadable_bytes
from engine.media.container.packet_table import PacketTable
from engine.media.container.video_file import VideoFile

_DENSE = ("matroska", "flv")
_DECLARING = ("matroska", "flv", "mov")
_HOLE = 128  # bytes: packets of an undamaged file are at most a few dozen bytes apart
_DECLARED_SECONDS = 0.5  # stated durations are rounded; if more is missing, the file is truncated
_CREDIBLE = 1000  # times the number of frames read: a header that states more is damaged itself
_LONGEST_GAP = 10.0  # seconds: a longer gap in a broadcast is a cut or a restarted clock
_EVEN = 0.95  # share of equal intervals from which on a sequence counts as even


def expected_frames(table: PacketTable, file: VideoFile) -> int:
    """Return the number of frames the file should have.

    This is the number of frames in its packets plus the estimated number of lost frames, or the header's number if that is larger.
    """
    kind = file.container.format.name
    step = table.step * float(file.time_base)
    lost = 0
    if any(name in kind for name in _DENSE):
        lost += _lost_in_holes(table)
    if "mpegts" in kind:
        lost += _lost_in_gaps(table, step)
    counted = file.stream.frames - file.empty_packets
    if kind == "avi" and counted > len(table):
        counted -= empty_avi_chunks(file.path, file.stream.index)
    if "mov" in kind:
        lost += round(unreadable_bytes(file.path, table.read_until) * len(table) / max(table.size, 1))
        counted = sum(not entry.is_discard for entry in file.stream.index_entries)
    if file.container.duration and any(name in kind for name in _DECLARING):
        missing = file.container.duration / 1e6 - table.end
        lost += round(missing / step) if missing > _DECLARED_SECONDS else 0
    return max(len(table), *(count for count in (len(table) + lost, counted - table.hidden) if count <= _CREDIBLE * len(table)))


def _lost_in_holes(table: PacketTable) -> int:
    """Estimate the frames lost in unreadable bytes between packets. The size of these bytes limits the estimate."""
    lost = 0
    for frames, size in table.holes:
        if size >= _HOLE and 0 < frames < len(table):
            gap = int(table.pts[frames:].min() - table.pts[:frames].max())
            lost += max(0, min(round(gap / table.step) - 1, 8 + 4 * size * len(table) // table.size))
    return lost


def _lost_in_gaps(table: PacketTable, step: float) -> int:
    """Count the frames missing from an otherwise even sequence. step: interval of two frames, seconds."""
    steps = np.diff(table.ordered) / table.step
    if not table.timed or np.mean(np.abs(steps - 1) < 0.2) < _EVEN:
        return 0
    gaps = steps[(steps > 1.5) & (steps * step < _LONGEST_GAP)]
    return int(np.sum(np.round(gaps) - 1))
