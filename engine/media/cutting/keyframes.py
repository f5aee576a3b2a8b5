"""Reads a video from the last keyframe before a moment on."""

from collections.abc import Iterator
from itertools import chain, islice

from engine.errors import ExportError
from engine.media.container.video_file import SEEK_BACK, VideoFile, VideoPacket

_MOST = 20_000  # packets read in search of the keyframe


def packets_before(file: VideoFile, pts: int) -> tuple[int, Iterator[VideoPacket]]:
    """Return the pts of the last keyframe at or before a pts, and the packets from there on. If there is none, from the first keyframe on.

    Raises ExportError if the file has no keyframe.
    """
    for seconds in SEEK_BACK:
        found = _search(file.packets_at(pts - int(seconds / file.time_base)), pts)
        if found is not None and found[0] <= pts:
            return found
    file.reopen()
    found = _search(file.packets(), pts)
    if found is None:
        raise ExportError(f"{file.path} has no frame from which a clip can begin: repair the file")
    return found


def _search(packets: Iterator[VideoPacket], pts: int) -> tuple[int, Iterator[VideoPacket]] | None:
    keyframe, kept = None, list[VideoPacket]()
    for packet in islice(packets, _MOST):
        time = packet.pts if packet.pts is not None else packet.dts
        if time is None:
            continue
        if packet.is_keyframe and (keyframe is None or time <= pts):
            keyframe, kept = time, []
        kept.append(packet)
        if keyframe is not None and time > pts:
            break
    return None if keyframe is None else (keyframe, _with_dts(chain(kept, packets)))


def _with_dts(packets: Iterator[VideoPacket]) -> Iterator[VideoPacket]:
    """Give the first packets the decoding times that FFmpeg does not know after a seek in Matroska."""
    first: list[VideoPacket] = []
    for packet in packets:
        first.append(packet)
        if packet.dts is not None:
            break
    for packet, after in zip(first[-2::-1], first[:0:-1], strict=True):
        if after.dts is not None:
            packet.dts = after.dts - max(packet.duration or 0, 1)
    return chain(first, packets)
