"""Finds damage in the structure of Matroska, FLV and MPEG-TS files. Reads the headers of all packets."""

import struct
from pathlib import Path

import numpy as np

from framefleet.engine.media.container.video_file import VideoFile

_EBML = b"\x1a\x45\xdf\xa3"
_SEGMENT, _CLUSTER, _BLOCK = 0x18538067, 0x1F43B675, 0xA3
_IN_SEGMENT = (0x114D9B74, 0x1549A966, 0x1654AE6B, _CLUSTER, 0x1C53BB6B, 0x1254C367, 0x1043A770, 0x1941A469)
_IN_CLUSTER = (0xE7, _BLOCK, 0xA0, 0xA7, 0xAB, 0xAF, 0x5854)
_BLOCK_GROUP, _BLOCK_HEAD = 0xA0, 4
_MATROSKA_IDS = frozenset((_SEGMENT, *_IN_SEGMENT, *_IN_CLUSTER, 0xEC, 0xBF))  # RFC 9559, 5.1, with Void and CRC-32
_FLV_TAGS, _FLV_VIDEO, _FLV_AVC = (8, 9, 18), 9, 7  # sound, video, data: the FLV specification, annex E.4
_FLV_HEAD, _FLV_SIZE = 4096, b"\0\x08filesize\0"  # many programs state the size of the file, as a number of eight bytes
_TS_PACKETS, _TS_SYNC = (188, 192), 0x47  # bytes of a packet: ISO 13818-1, 2.4.3.2, and M2TS
_TS_BEGINS, _TS_TIMES = 0x4000, 14  # payload_unit_start_indicator; bytes from the start code to the presentation time
_CHUNK = 1 << 16  # packets


def is_damaged(video: VideoFile, packets: int) -> bool:
    """Whether the headers in a file contradict each other, or the file is truncated. False for other containers.

    packets: the number of packets that FFmpeg finds in all tracks.
    """
    path = video.path
    with path.open("rb") as file:
        head = file.read(1024)
    if head.startswith(_EBML):
        return _matroska_is_damaged(path, len(video.container.streams), packets)
    if head.startswith(b"FLV"):
        return _flv_is_damaged(path)
    for length in _TS_PACKETS:
        offset = length - 188  # the packets of M2TS begin with four bytes for the time
        if len(head) > 4 * length and set(head[offset : offset + 4 * length : length]) == {_TS_SYNC}:
            return _ts_is_damaged(path, length, offset, video.stream.id)
    return False


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
            packets = np.frombuffer(content, np.uint8).reshape(-1, length)[:, offset:].astype(np.int32)
            begins = packets[((packets[:, 1] & 0x5F) << 8 | packets[:, 2]) == (_TS_BEGINS | track)]
            start = 4 + np.where(begins[:, 3] & 0x20, 1 + begins[:, 4], 0)  # after the adaptation field
            begins, start = begins[start <= 188 - _TS_TIMES], start[start <= 188 - _TS_TIMES]
            head = np.take_along_axis(begins, start[:, None] + np.arange(_TS_TIMES), axis=1)
            timed = head[head[:, 7] >= 0x80]  # the head of a frame with a time
            if np.any(packets[:, 0] != _TS_SYNC) or np.any(head[:, :3] != (0, 0, 1)) or np.any(timed[:, [9, 11, 13]] & 1 == 0):
                return True
    return False
