"""Reads the structure of container files without FFmpeg, and finds damage that it does not report."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_EBML = b"\x1a\x45\xdf\xa3"
_SEGMENT, _CLUSTER, _BLOCK = 0x18538067, 0x1F43B675, 0xA3
_IN_SEGMENT = (0x114D9B74, 0x1549A966, 0x1654AE6B, _CLUSTER, 0x1C53BB6B, 0x1254C367, 0x1043A770, 0x1941A469)
_IN_CLUSTER = (0xE7, _BLOCK, 0xA0, 0xA7, 0xAB, 0xAF, 0x5854)
_BLOCK_GROUP, _BLOCK_HEAD = 0xA0, 4
_MATROSKA_IDS = frozenset((_SEGMENT, *_IN_SEGMENT, *_IN_CLUSTER, 0xEC, 0xBF))  # RFC 9559, 5.1, with Void and CRC-32
_ASF_HEADER = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
_FLV = b"FLV\1"
_FLV_TAGS, _FLV_VIDEO, _FLV_AVC = (8, 9, 18), 9, 7  # sound, video, data: the FLV specification, annex E.4
_FLV_HEAD, _FLV_SIZE = 4096, b"\0\x08filesize\0"  # many programs state the size of the file, as a number of eight bytes
_TS_PACKETS, _TS_SYNC = (188, 192), 0x47  # bytes of a packet: ISO 13818-1, 2.4.3.2, and M2TS
_TS_ADAPTATION, _TS_PAYLOAD = 0x20, 0x10  # adaptation_field_control
_TS_BEGINS, _TS_TIMES = 0x4000, 14  # payload_unit_start_indicator; bytes from the start code to the presentation time
_CHUNK = 1 << 16  # packets


def is_fragmented(path: Path) -> bool:
    """Whether the index of an MP4 may be incomplete: the file has movie fragments or a broken box."""
    return any(kind == b"moof" or start == end for kind, start, end in _mp4_boxes(path))


def unreadable_bytes(path: Path, read_until: int) -> tuple[int, bool]:
    """Return the number of unread bytes from the first broken box of an MP4 on, 0 if no box is broken, and whether this box is truncated.

    read_until: the position in the file where the last packet ends, bytes.
    """
    size = path.stat().st_size
    for _, start, end in _mp4_boxes(path):
        if start == end or end > size:
            return max(0, size - max(start, read_until)), end > size
    return 0, False


def media_bytes(path: Path) -> int:
    """Return the size of the media data of an MP4, bytes."""
    size = path.stat().st_size
    return sum(min(end, size) - start - 8 for kind, start, end in _mp4_boxes(path) if kind == b"mdat" and end > start)


def _mp4_boxes(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """Yield the type, start and end of each outermost box (ISO 14496-12, 4.2).

    A truncated box ends beyond the end of the file. An invalid box has its start as its end, and is the last.
    """
    with path.open("rb") as file:
        position, size = 0, path.stat().st_size
        while position < size:
            file.seek(position)
            header = file.read(16)
            length = int.from_bytes(header[:4], "big")
            if length == 1:
                length = int.from_bytes(header[8:16], "big")
            elif length == 0:
                length = size - position
            if length < 8 or not header[4:8].strip().isalnum():
                yield header[4:8], position, position
                return
            yield header[4:8], position, position + length
            position += length


def composition_offsets(path: Path, track: int, samples: int) -> NDArray[np.int64] | None:
    """Read the difference of presentation and decoding time of each sample of an MP4's track (ISO 14496-12, 8.6.1.3).

    path: the file. track: the identifier of the track. samples: their number. Returns int64 (samples,), in units of the track's time base.
    None: the file has no such track, or its table has another length.
    """
    for track_box in _tracks(path):
        header = _box_at(track_box, b"tkhd")
        place = 20 if header[:1] == b"\1" else 12  # two times before it, of 64 or 32 bits
        if int.from_bytes(header[place : place + 4], "big") == track:
            table = _box_at(track_box, b"mdia", b"minf", b"stbl", b"ctts")
            if not table:
                return np.zeros(samples, np.int64)
            runs = np.frombuffer(table[8 : len(table) - len(table) % 8], ">i4").reshape(-1, 2).astype(np.int64)
            counts, offsets = runs.T
            complete = counts.min(initial=0) >= 0 and counts.sum() == samples
            return np.repeat(offsets, counts) if complete else None
    return None


def _tracks(path: Path) -> Iterator[bytes]:
    """Yield the contents of the boxes of an MP4's tracks."""
    for kind, start, end in _mp4_boxes(path):
        if kind == b"moov" and end > start:
            with path.open("rb") as file:
                file.seek(start)
                movies = _boxes_in(file.read(end - start))
            for _, movie in movies:
                yield from (content for inner, content in _boxes_in(movie) if inner == b"trak")
            return


def _boxes_in(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the type and content of each box."""
    position = 0
    while position + 8 <= len(content):
        length, head = int.from_bytes(content[position : position + 4], "big"), 8
        if length == 1:
            length, head = int.from_bytes(content[position + 8 : position + 16], "big"), 16
        if length < head:
            return
        yield content[position + 4 : position + 8], content[position + head : position + length]
        position += length


def _box_at(content: bytes, *kinds: bytes) -> bytes:
    """The content of the box at this path of types, empty if there is none."""
    for kind in kinds:
        content = next((inner for found, inner in _boxes_in(content) if found == kind), b"")
    return content


def joined_files(path: Path) -> tuple[str, int]:
    """The name of the format of which a file holds several files, one after the other, and their number. FFmpeg reads only the first one.

    The number is 1 for a single file, and 0 for files of other formats.
    """
    with path.open("rb") as file:
        head = file.read(len(_ASF_HEADER))
    if head == _ASF_HEADER:
        return "ASF", _asf_files(path)
    if head.startswith(_FLV):
        return "FLV", _flv_files(path)
    return "MP4", sum(kind == b"moov" for kind, start, end in _mp4_boxes(path) if end > start)


def _asf_files(path: Path) -> int:
    """Count the headers among the outermost objects of an ASF file (ASF specification, 2.1)."""
    files = position = 0
    size = path.stat().st_size
    with path.open("rb") as file:
        while position < size:
            file.seek(position)
            head = file.read(24)
            length = int.from_bytes(head[16:], "little")
            if length < 24:
                break
            files += head.startswith(_ASF_HEADER)
            position += length
    return files


def _flv_files(path: Path) -> int:
    """Count the headers before and between the tags of an FLV file. After each header and tag, there is a length of four bytes."""
    files = position = 0
    with path.open("rb") as file:
        while True:
            file.seek(position)
            head = file.read(11)
            if head.startswith(_FLV):
                files += 1
                position += int.from_bytes(head[5:9], "big") + 4
            elif head[:1] and head[0] in _FLV_TAGS:
                position += 11 + int.from_bytes(head[1:4], "big") + 4
            else:
                return files


def is_truncated_avi(path: Path) -> bool:
    """Whether an AVI ends before its header says."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(8)[4:], "little") + 8 > path.stat().st_size


def empty_avi_chunks(path: Path, stream: int) -> int:
    """Count the chunks of a video stream that hold no data (Microsoft, "AVI RIFF File Reference").

    Such a chunk repeats the picture before it. The header counts it as a frame, but FFmpeg returns no packet for it.
    """
    pictures = tuple(b"%02d" % stream + kind for kind in (b"dc", b"db"))
    empty = 0
    with path.open("rb") as file:
        while len(head := file.read(8)) == 8 and head[:4].isascii() and head[:4].strip(b"\0"):
            name, size = head[:4], int.from_bytes(head[4:], "little")
            if name in (b"RIFF", b"LIST"):
                file.seek(4, os.SEEK_CUR)  # the kind of list; its chunks follow
            else:
                empty += name in pictures and size == 0
                file.seek(size + size % 2, os.SEEK_CUR)
    return empty


def is_damaged(path: Path, tracks: int, track: int, packets: int) -> bool:
    """Whether the headers in a Matroska, FLV or MPEG-TS file contradict each other, or the file is truncated. False for other containers.

    Reads the headers of all packets.

    tracks: the number of tracks that FFmpeg finds. track: identifier of the video's packets. packets: their number in all tracks.
    """
    with path.open("rb") as file:
        head = file.read(1024)
    if head.startswith(_EBML):
        return _matroska_is_damaged(path, tracks, packets)
    if head.startswith(b"FLV"):
        return _flv_is_damaged(path)
    layout = _ts_layout(head)
    return layout is not None and _ts_is_damaged(path, *layout, track)


def _ts_layout(head: bytes) -> tuple[int, int] | None:
    """The length of the packets of an MPEG-TS, and the offset of their synchronisation byte. None: the file begins with something else."""
    for length in _TS_PACKETS:
        offset = length - 188  # the packets of M2TS begin with four bytes for the time
        if len(head) > 4 * length and set(head[offset : offset + 4 * length : length]) == {_TS_SYNC}:
            return length, offset
    return None


def _matroska_is_damaged(path: Path, tracks: int, packets: int) -> bool:
    size, blocks = path.stat().st_size, 0
    with path.open("rb") as file:
        length, start = _ebml_size(file.read(16), len(_EBML))
        position = start + length
        while position < size:
            file.seek(position)
            head = file.read(16)
            width = 9 - head[0].bit_length()
            element = int.from_bytes(head[:width], "big")
            length, start = _ebml_size(head, width)
            if element not in _MATROSKA_IDS or start >= len(head) or (element == _BLOCK and not 0 < head[start] & 0x7F <= tracks):
                return True
            if element == _SEGMENT and position + start + length > size:
                return True
            position += start if element in (_SEGMENT, _CLUSTER) else start + length
            blocks += element in (_BLOCK, _BLOCK_GROUP) and length > _BLOCK_HEAD
    return position != size or blocks > packets


def _ebml_size(content: bytes, position: int) -> tuple[int, int]:
    """Read the size of an EBML element (RFC 8794, 4). Returns it, 0 if it is unknown, and the position of the element's data."""
    first = content[position] if position < len(content) else 0
    width = 9 - first.bit_length()
    end = position + width
    value = int.from_bytes(content[position:end], "big") & (1 << 7 * width) - 1
    return (0 if value == (1 << 7 * width) - 1 else value), end


def _flv_is_damaged(path: Path) -> bool:
    size, before, codec = path.stat().st_size, 0, None
    with path.open("rb") as file:
        head = file.read(_FLV_HEAD)
        position = int.from_bytes(head[5:9], "big")
        stated = head.partition(_FLV_SIZE)[2][:8]
        if len(stated) == 8 and size < struct.unpack(">d", stated)[0]:
            return True
        while position + 4 < size:
            file.seek(position)
            head = file.read(17)
            if int.from_bytes(head[:4], "big") not in (before, 0) or len(head) < 17 or head[4] not in _FLV_TAGS:
                return True
            if head[4] == _FLV_VIDEO:
                codec = codec or head[15] & 15
                if head[15] & 15 != codec or (codec == _FLV_AVC and head[16] > 2):
                    return True
            before = 11 + int.from_bytes(head[5:8], "big")
            position += 4 + before
    return position + 4 != size


def _ts_is_damaged(path: Path, length: int, offset: int, track: int) -> bool:
    """Whether a packet is incomplete, lacks its synchronisation byte, or should begin a frame and lacks fixed bits (2.4.3.6).

    length: of a packet. offset: of its synchronisation byte. track: identifier of the video's packets.
    """
    with path.open("rb") as file:
        while content := file.read(length * _CHUNK):
            if len(content) % length:
                return True
            packets = np.frombuffer(content, np.uint8).reshape(-1, length)[:, offset:]
            begins = packets[((packets[:, 1] & 0x5F).astype(np.int32) << 8 | packets[:, 2]) == (_TS_BEGINS | track)].astype(np.int32)
            start = 4 + np.where(begins[:, 3] & 0x20, 1 + begins[:, 4], 0)  # after the adaptation field
            begins, start = begins[start <= 188 - _TS_TIMES], start[start <= 188 - _TS_TIMES]
            head = np.take_along_axis(begins, start[:, None] + np.arange(_TS_TIMES), axis=1)
            timed = head[head[:, 7] >= 0x80]  # the head of a frame with a time
            if np.any(packets[:, 0] != _TS_SYNC) or np.any(head[:, :3] != (0, 0, 1)) or np.any(timed[:, [9, 11, 13]] & 1 == 0):
                return True
    return False


def incomplete_ts_frames(path: Path, track: int, *, decoder_reports: bool) -> frozenset[int] | None:
    """Find the frames of an MPEG-TS of which packets are missing, by the packets' continuity counters (ISO 13818-1, 2.4.3.3).

    FFmpeg marks the frame before a jump of the counters as corrupt, and the jump may lie between two complete frames, as in joined files.

    path: the file. track: identifier of the video's packets. decoder_reports: whether the decoder reports a frame without its end. If it
    does not, a frame before a jump counts as incomplete unless its last packet is padded: only the last packet of a frame is. Returns
    position in the file of each such frame's first packet, bytes. None: the packets do not follow each other without gaps.
    """
    incomplete: set[int] = set()
    position, begin, counter, padded = 0, 0, -1, True  # of the packet before
    with path.open("rb") as file:
        layout = _ts_layout(file.read(1024))
        if layout is None:
            return None
        length, offset = layout
        file.seek(0)
        while content := file.read(length * _CHUNK):
            packets = np.frombuffer(content, np.uint8, len(content) // length * length).reshape(-1, length)[:, offset:]
            if np.any(packets[:, 0] != _TS_SYNC):
                return None
            mine = np.flatnonzero(((packets[:, 1] & 0x1F).astype(np.int32) << 8 | packets[:, 2]) == track)
            head = packets[mine, :6].astype(np.int32)
            starts = head[:, 1] & 0x40 != 0
            padding, discontinuity = _ts_adaptation(head)
            counters = head[:, 3] & 15
            expected = (np.append(counter, counters)[:-1] + (head[:, 3] & _TS_PAYLOAD != 0)) & 15
            jumps = (counters != expected) & ~discontinuity
            if counter < 0:
                jumps[:1] = False
            begins = np.maximum.accumulate(np.append(begin, np.where(starts, position + mine * length, -1)))
            pads = np.append(padded, padding)
            for number in np.flatnonzero(jumps | (head[:, 1] & 0x80 != 0)).tolist():
                if not starts[number] or head[number, 1] & 0x80:
                    incomplete.add(int(begins[number + 1]))
                elif not (pads[number] or decoder_reports):
                    incomplete.add(int(begins[number]))
            if len(mine):
                begin, counter, padded = int(begins[-1]), int(counters[-1]), bool(pads[-1])
            position += len(content)
    return frozenset(incomplete)


def _ts_adaptation(head: NDArray[np.int32]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether packets are padded, and whether they announce a discontinuity (2.4.3.4). head: their first six bytes, int32 (packets, 6)."""
    field, length, flags = head[:, 3] & _TS_ADAPTATION != 0, head[:, 4], head[:, 5]
    used = 1 + 6 * (flags & 0x10 != 0) + 6 * (flags & 0x08 != 0) + (flags & 0x04 != 0) + 183 * (flags & 0x03 != 0)
    return field & ((length == 0) | (length > used)), field & (length > 0) & (flags & 0x80 != 0)
