"""How many frames a damaged file lost without a trace in its packets: only where there is evidence, so that no sound file is suspected.

The evidence differs. Matroska and FLV pack their data densely: bytes between two packets are bytes that could not be read. They, and
some MP4s, declare a duration. MPEG-TS carries broadcasts, whose frames follow each other evenly. A fragmented MP4 is a chain
of boxes: what lies behind a broken link is lost. Other containers tell nothing beyond their packets and the count in their header,
which in an AVI includes pictures that only repeat the one before them.
"""

from __future__ import annotations

import numpy as np

from engine.media.container.avi_chunks import empty_chunks
from engine.media.container.mp4_boxes import unreadable_bytes
from engine.media.container.packets import PacketTable
from engine.media.container.video_file import VideoFile

_DENSE = ("matroska", "flv")
_DECLARING = ("matroska", "flv", "mov")
_HOLE = 128  # bytes: between two packets of a sound file lie some tens
_DECLARED_SECONDS = 0.5  # declared durations are rounded; a longer absence is a truncated file
_CREDIBLE = 1000  # times the frames that are there: a header that announces more is damaged itself
_LONGEST_GAP = 10.0  # seconds: a longer one in a broadcast is a cut or a new clock
_EVEN = 0.95  # share of the steps


def announced(table: PacketTable, file: VideoFile) -> int:
    """The frames there should be: those of the packets and those lost, or as many as the header counts, whichever is more."""
    kind = file.container.format.name
    step = table.step * float(file.time_base)
    lost = 0
    if any(name in kind for name in _DENSE):
        lost += _in_holes(table)
    if "mpegts" in kind:
        lost += _in_gaps(table, step)
    counted = file.stream.frames - file.empty_packets
    if kind == "avi" and counted > len(table):
        counted -= empty_chunks(file.path, file.stream.index)
    if "mov" in kind:
        lost += round(unreadable_bytes(file.path, table.read_until) * len(table) / max(table.size, 1))
        counted = sum(not entry.is_discard for entry in file.stream.index_entries)
    if file.container.duration and any(name in kind for name in _DECLARING):
        missing = file.container.duration / 1e6 - table.end
        lost += round(missing / step) if missing > _DECLARED_SECONDS else 0
    return max(len(table), *(count for count in (len(table) + lost, counted - table.hidden) if count <= _CREDIBLE * len(table)))


def _in_holes(table: PacketTable) -> int:
    """Frames whose times are skipped where bytes are, and no more than could have been in those bytes."""
    lost = 0
    for frames, size in table.holes:
        if size >= _HOLE and 0 < frames < len(table):
            gap = int(table.pts[frames:].min() - table.pts[:frames].max())
            lost += max(0, min(round(gap / table.step) - 1, 8 + 4 * size * len(table) // table.size))
    return lost


def _in_gaps(table: PacketTable, step: float) -> int:
    """Frames missing from an even sequence."""
    steps = np.diff(table.ordered) / table.step
    if not table.timed or np.mean(np.abs(steps - 1) < 0.2) < _EVEN:
        return 0
    gaps = steps[(steps > 1.5) & (steps * step < _LONGEST_GAP)]
    return int(np.sum(np.round(gaps) - 1))
