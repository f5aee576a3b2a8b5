"""How many frames a video has and where it can be cut, found without decoding it.

Two ways lead there. MP4 and MOV carry an index of all samples: counting it, and looking at each cut, reads next to nothing of the
file. Any other container is read through once.

A cut is a keyframe from which decoding can start: everything decoded before it is shown before it, and after it come first
the leading frames (shown before it: an open GOP), then only frames shown after it. Where that cannot be relied upon – times
missing or doubled, damage, a container that does not seek exactly – there are no cuts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import dropwhile, islice, pairwise
from pathlib import Path

from engine.media.container.lost_frames import announced
from engine.media.container.mp4_boxes import is_fragmented
from engine.media.container.packets import PacketTable
from engine.media.container.video_file import VideoFile
from engine.media.types import Segment

SEGMENT_FRAMES = 100
"""A segment has at least so many frames, about 4 s: the file is opened anew for each, which costs about a frame's decoding."""

_LEADING = 64  # packets: no codec has more leading frames


@dataclass(frozen=True)
class Cut:
    """A keyframe where a segment starts: its pts, and the number of frames shown before it."""

    pts: int
    before: int


@dataclass(frozen=True)
class Scan:
    """frames: announced, as in ``SourceInfo``. cuts: none if the video stays whole. seconds: from the first frame to the last one's end."""

    frames: int
    cuts: tuple[Cut, ...]
    seconds: float | None

    def segments(self) -> tuple[Segment, ...]:
        """The segments between the cuts."""
        bounds = [Cut(0, 0), *self.cuts, Cut(0, self.frames)]
        last = len(self.cuts)
        return tuple(
            Segment(number, first.pts if number else None, after.pts if number < last else None, after.before - first.before)
            for number, (first, after) in enumerate(pairwise(bounds))
        )


def scan(path: Path) -> Scan:
    """Count and cut a video.

    Raises:
        SourceError: it cannot be opened.
    """
    with VideoFile(path) as file:
        if result := _scan_index(file):
            return result
    with VideoFile(path, other_tracks=True) as file:
        table = PacketTable(file)
        frames = announced(table, file)
        seconds = float((table.span + (frames - len(table)) * table.step) * file.time_base)
    cuts: tuple[Cut, ...] = ()
    if table.sound and frames == len(table):
        cuts = _cuts(table)
        with VideoFile(path) as file:
            if not table.seeks_exactly(file, [cut.pts for cut in cuts]):
                cuts = ()
    return Scan(frames, cuts, seconds)


def _cuts(table: PacketTable) -> tuple[Cut, ...]:
    cuts: list[Cut] = []
    frames = len(table)
    for pts, before in table.clean_keyframes():
        if before - (cuts[-1].before if cuts else 0) >= SEGMENT_FRAMES and frames - before >= SEGMENT_FRAMES // 2:
            cuts.append(Cut(pts, before))
    return tuple(cuts)


def _scan_index(file: VideoFile) -> Scan | None:
    """The scan of an MP4 or MOV with a complete index, None for any other file."""
    if "mov" not in file.container.format.name or file.hidden.possible or is_fragmented(file.path):
        return None
    entries = [(entry.timestamp, entry.is_keyframe, entry.is_discard) for entry in file.stream.index_entries]
    if not entries or any(after[0] <= before[0] for before, after in pairwise(entries)):
        return None
    frames = sum(not discard for _, _, discard in entries)
    cuts: list[Cut] = []
    shown, next_cut = 0, SEGMENT_FRAMES
    for number, (dts, key, discard) in enumerate(entries):
        if key and not discard and next_cut <= shown <= frames - SEGMENT_FRAMES // 2:
            cut = _look_at_cut(file, entries[number - 1][0], dts, shown)
            if cut is None or (cuts and cut.pts <= cuts[-1].pts):
                return None
            cuts.append(cut)
            next_cut = shown + SEGMENT_FRAMES
        shown += not discard
    duration = file.stream.duration
    return Scan(frames, tuple(cuts), float(duration * file.time_base) if duration else None)


def _look_at_cut(file: VideoFile, dts_before: int, dts: int, decoded_before: int) -> Cut | None:
    """The cut at the keyframe with this dts, which comes after so many shown frames in decoding order."""
    # seeking to a keyframe goes by its pts, which the index does not hold; to any other frame it goes by dts
    nearby = islice(file.packets_at(dts_before, any_frame=True), 2 * _LEADING)
    packets = dropwhile(lambda packet: packet.dts != dts, nearby)
    first = next(packets, None)
    if first is None or first.pts is None:
        return None
    leading = 0
    for packet in packets:
        if packet.pts is None:
            return None
        if packet.pts > first.pts:
            break
        leading += not packet.is_discard
    return Cut(first.pts, decoded_before + leading)
