"""Estimates how many frames of a damaged file are missing. For an undamaged file the estimate is 0.

The evidence depends on the container:
- Matroska and FLV store packets without gaps, so bytes between two packets are unreadable packets.
- Matroska, FLV and some MP4 files state a duration. Matroska also states the file's size.
- MPEG-TS usually holds broadcasts, whose frames have a constant interval. An undamaged file ends with a whole packet.
- In a fragmented MP4, everything after a broken box is lost.
- All other containers have only their packets and the number of frames in the header.
- In an AVI, that number includes chunks that repeat the picture before them.
"""

from __future__ import annotations

import math
import re

import numpy as np

from engine.media.container.file_structure import empty_avi_chunks, is_truncated, unreadable_bytes
from engine.media.container.packet_table import PacketTable
from engine.media.container.video_file import VideoFile

_HOLES = {"matroska": 128, "flv": 32}  # bytes: packets of an undamaged file are closer to each other
_DECLARING = ("matroska", "flv", "mov")
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
    truncated = is_truncated(file.path)
    least = next((least for name, least in _HOLES.items() if name in kind), math.inf)
    holes = [hole for hole in table.holes if hole[1] >= least]
    lost = _lost_in_holes(table, holes)
    if "mpegts" in kind or truncated or holes:
        lost = max(lost, _lost_in_gaps(table, step))
    if "mpegts" in kind and truncated:
        lost = max(lost, 1)
    counted = file.stream.frames - file.empty_packets
    if kind == "avi" and counted > len(table):
        counted -= empty_avi_chunks(file.path, file.stream.index)
    if "mov" in kind:
        lost += round(unreadable_bytes(file.path, table.read_until) * len(table) / max(table.size, 1))
        counted = sum(not entry.is_discard for entry in file.stream.index_entries)
    if any(name in kind for name in _DECLARING):
        missing = _missing_at_end(table, file, truncated)
        lost += round(missing / step) if missing > (0 if truncated else _DECLARED_SECONDS) else 0
    return max(len(table), *(count for count in (len(table) + lost, counted - table.hidden) if count <= _CREDIBLE * len(table)))


def _missing_at_end(table: PacketTable, file: VideoFile, truncated: bool) -> float:
    """Return the seconds from the end of the packets to the end that the file states, 0 if it states none."""
    stated = re.fullmatch(r"(\d+):(\d+):(\d+(?:\.\d+)?)", file.stream.metadata.get("DURATION", ""))
    if truncated and stated:  # the video track's own end; other programs may leave old values in the tags of undamaged files
        hours, minutes, seconds = map(float, stated.groups())
        return 3600 * hours + 60 * minutes + seconds - float((table.ordered[-1] + table.step) * file.time_base)
    return file.container.duration / 1e6 - table.end if file.container.duration else 0


def _lost_in_holes(table: PacketTable, holes: list[tuple[int, int]]) -> int:
    """Estimate the frames lost in these holes. The size of a hole limits the estimate."""
    lost = 0
    for frames, size in holes:
        if 0 < frames < len(table):
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
