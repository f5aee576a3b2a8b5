"""Estimates how many frames a damaged file lost. Each container gives other evidence; an undamaged file never seems damaged.

Matroska and FLV store packets without gaps: bytes between two packets could not be read. They, and some MP4 files, state a duration.
MPEG-TS carries broadcasts, whose frames follow each other evenly. A fragmented MP4 is a chain of boxes: everything after a broken box is
lost. Other containers give no evidence but their packets and the number of frames in the header. In an AVI that number includes chunks
that repeat the picture before them.
"""

from __future__ import annotations

import numpy as np

from engine.media.container.file_structure import empty_avi_chunks, unreadable_bytes
from engine.media.container.packet_table import PacketTable
from engine.media.container.video_file import VideoFile

_DENSE = ("matroska", "flv")
_DECLARING = ("matroska", "flv", "mov")
_HOLE = 128  # bytes: between two packets of an undamaged file lie a few dozen
_DECLARED_SECONDS = 0.5  # stated durations are rounded; if more is missing, the file is truncated
_CREDIBLE = 1000  # times the frames that were read: a header that states more is damaged itself
_LONGEST_GAP = 10.0  # seconds: a longer gap in a broadcast is a cut or a restarted clock
_EVEN = 0.95  # share of the steps


def expected_frames(table: PacketTable, file: VideoFile) -> int:
    """The number of frames the file should have: those of its packets and the lost ones, or the header's number if that is larger."""
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
    """Frames missing between two packets with unreadable bytes between them, at most as many as these bytes can hold."""
    lost = 0
    for frames, size in table.holes:
        if size >= _HOLE and 0 < frames < len(table):
            gap = int(table.pts[frames:].min() - table.pts[:frames].max())
            lost += max(0, min(round(gap / table.step) - 1, 8 + 4 * size * len(table) // table.size))
    return lost


def _lost_in_gaps(table: PacketTable, step: float) -> int:
    """Frames missing from an otherwise even sequence. step: seconds."""
    steps = np.diff(table.ordered) / table.step
    if not table.timed or np.mean(np.abs(steps - 1) < 0.2) < _EVEN:
        return 0
    gaps = steps[(steps > 1.5) & (steps * step < _LONGEST_GAP)]
    return int(np.sum(np.round(gaps) - 1))
