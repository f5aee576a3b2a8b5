"""Counts the frames of a video and divides it into segments, without decoding.

MP4 and MOV files have an index of all samples: ``scan`` counts its entries and reads only a few packets around each cut and at the
end. It reads all other files once from start to end.

A cut is a keyframe from which decoding can start. All frames before it in decoding order are shown before it. After it come the leading
frames, which are shown before it (an open GOP). All later frames are shown after it. A video stays one segment if times are missing
or repeated, if the file is damaged, or if its container does not seek exactly.
"""

from dataclasses import dataclass
from itertools import dropwhile, islice, pairwise
from pathlib import Path

from framefleet.engine.media.container.lost_frames import COVERED, expected_frames, frames_left_out
from framefleet.engine.media.container.packet_table import PacketTable
from framefleet.engine.media.container.structure import is_fragmented, media_bytes
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.types import Segment

SEGMENT_FRAMES = 100
"""The minimum number of frames of a segment, about 4 s of video. Opening a file takes about as long as decoding a frame."""

_LEADING = 64  # no codec allows more leading frames


@dataclass(frozen=True)
class Cut:
    """A keyframe where a segment starts. before: the number of frames shown before it."""

    pts: int
    before: int


def scan(path: Path) -> tuple[int, float | None, tuple[Segment, ...], bool]:
    """Return a video's number of frames, duration in seconds (None if unknown), segments, and whether it can seek by time.

    Raises SourceError if the video cannot be opened.
    """
    with VideoFile(path) as file:
        result = _scan_index(file)
    frames, seconds, cuts, seekable = (*result, True) if result else _scan_packets(path)
    bounds = [Cut(0, 0), *cuts, Cut(0, frames)]
    segments = [
        Segment(number, first.pts if number else None, after.pts if number < len(cuts) else None, after.before - first.before)
        for number, (first, after) in enumerate(pairwise(bounds))
    ]
    return frames, seconds, tuple(segments), seekable


def _scan_packets(path: Path) -> tuple[int, float, list[Cut], bool]:
    """Read all packets of any video. Returns its number of frames, duration, cuts, and whether its clock never restarts."""
    with VideoFile(path, other_tracks=True) as file:
        table = PacketTable(file)
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


def _scan_index(file: VideoFile) -> tuple[int, float | None, list[Cut]] | None:
    """Return the number of frames, duration and cuts of an MP4 or MOV with a complete index; None for any other file."""
    if "mov" not in file.container.format.name or file.hidden.possible or is_fragmented(file.path):
        return None
    entries = [(entry.timestamp, entry.is_keyframe, entry.is_discard) for entry in file.stream.index_entries]
    if not entries or any(after[0] <= before[0] for before, after in pairwise(entries)):
        return None
    if sum(entry.size for stream in file.container.streams for entry in stream.index_entries) < COVERED * media_bytes(file.path):
        return None
    if frames_left_out(file) > 1 / 2:
        return None
    frames = sum(not discard for _, _, discard in entries)
    cuts: list[Cut] = []
    shown, next_cut = 0, SEGMENT_FRAMES
    for number, (dts, key, discard) in enumerate(entries):
        if key and not discard and next_cut <= shown <= frames - SEGMENT_FRAMES // 2:
            cut = _cut_at(file, entries[number - 1][0], dts, shown)
            if cut is None or (cuts and cut.pts <= cuts[-1].pts):
                return None
            cuts.append(cut)
            next_cut = shown + SEGMENT_FRAMES
        shown += not discard
    duration = file.stream.duration
    if duration:
        duration = max(duration, _least_duration(file, entries[max(0, len(entries) - _LEADING)][0]))
    return frames, float(duration * file.time_base) if duration else None, cuts


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
    """Return the cut at the keyframe with this dts, None if there is none.

    dts_before: of the packet before it. decoded_before: the number of shown frames before it in decoding order.
    """
    # FFmpeg seeks keyframes by their pts, which the index does not contain, and other frames by their dts
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
