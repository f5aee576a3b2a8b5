"""Reads sources that are pictures: one file, or all pictures of a folder in natural order of their names. Writes pictures.

OpenCV applies the EXIF orientation, reduces 16 bits to 8, converts grey and CMYK, drops alpha, and rejects truncated files.
(FFmpeg decodes half a JPEG without an error, and PyAV cannot read frames with EXIF data.)
"""

import os
import re
import stat
import struct
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.container.video_file import MAX_SIDE
from framefleet.engine.media.sources import is_folder, pictures_in
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, Segment, SourceInfo, SourceKind
from framefleet.engine.notices import ExportError, Notice, SourceError
from framefleet.engine.settings.clock import time_in_metadata
from framefleet.engine.types import UNNUMBERED, FrameRef, Image

warnings.filterwarnings("ignore", module=r"PIL\.")  # about damaged EXIF data, which are not used

_EXIF, _ORIENTATION = 0x8769, 0x0112
"""Tags of the part of the metadata with times, and of the orientation."""

_TIMES = ((0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012))
"""Tags of time, fraction of a second and offset from UTC, of the taking and the digitizing of a picture (Exif 3.0, section 4.6.6). The tag
DateTime is not used: it says when the file was changed.
"""

_TIME_TAGS = frozenset(chain.from_iterable(_TIMES))
_ASCII = 2
"""The type of text."""

_TIME = re.compile(r"(\d{4})[:/.-](\d\d)[:/.-](\d\d)[T ]+(\d\d:\d\d:\d\d)")
_OFFSET = re.compile(r"([+-])([01]?\d):?([0-5]\d)")


def time_taken(content: Any) -> str | None:
    """Return when a picture was taken, such as ``2026-11-01T08:00:00.25+01:00``, as its EXIF data say it; None if they do not.

    An offset from UTC that is unknown or cannot be read is left out. content: the bytes of the file.
    """
    data = memoryview(content)
    if bytes(data[:2]) == _JPEG:
        return _taken(next((_exif_tags(body) for marker, body, _ in _segments(data) if _is_exif(marker, body)), {}))
    try:
        with _opened(content) as picture:
            if picture.format == "PNG" and "exif" not in picture.info:
                return None  # Pillow would decode the picture to look behind it
            return _taken(picture.getexif().get_ifd(_EXIF))
    except Exception:  # damaged files raise errors of many kinds, and OpenCV may still decode them
        return None


def _opened(content: Any) -> Any:
    """Open a picture with Pillow, to read what it says about itself. Raises errors of many kinds."""
    from PIL import Image as Pillow  # videos do not need it

    Pillow.MAX_IMAGE_PIXELS = None  # no pixels are read
    return Pillow.open(BytesIO(content))


def _taken(tags: Mapping[int, Any]) -> str | None:
    """When a picture was taken."""
    for names in _TIMES:
        text = _in_iso_8601(*(_text(tags.get(name)) for name in names))
        if time_in_metadata(text) is not None:
            return text
    return None


_JPEG = b"\xff\xd8"
_SOF0, _DHT, _SOS, _APP1, _APP14 = 0xC0, 0xC4, 0xDA, 0xE1, 0xEE
"""Markers: a baseline frame, Huffman tables, a scan, EXIF data, and Adobe's colour transform."""


def _segments(data: memoryview) -> Iterator[tuple[int, bytes, int]]:
    """Yield marker, content and end of each segment of a JPEG's header, up to the first scan's; fewer if the header is damaged."""
    at, marker = 2, 0
    while marker != _SOS:
        head = bytes(data[at : at + 4])
        if len(head) < 4 or head[0] != 0xFF:
            return
        if head[1] == 0xFF:  # any number of these bytes may come before a marker
            at += 1
            continue
        marker, start = head[1], at + 4
        at += 2 + int.from_bytes(head[2:])
        yield marker, bytes(data[start:at]), at


def _is_exif(marker: int, body: bytes) -> bool:
    return marker == _APP1 and body.startswith(b"Exif\0\0")


def _exif_tags(body: bytes) -> dict[int, Any]:
    """Read orientation and times in a JPEG's EXIF data (Exif 3.0, section 4.6), as far as they can be read. Pillow reads all tags: 0.3 ms.

    Like OpenCV, this takes the first of several equal tags, and an orientation of any type for one of 16 bits.
    """
    data, found = body[6:], dict[int, Any]()
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None:
        return found
    with suppress(struct.error):  # the data end too early
        places = list(struct.unpack_from(order + "I", data, 4))
        for place in places:
            (count,) = struct.unpack_from(order + "H", data, place)
            entries = data[place + 2 : place + 2 + 12 * count]
            for tag, kind, length, value in struct.iter_unpack(order + "HHI4s", entries[: len(entries) // 12 * 12]):
                (start,) = struct.unpack(order + "I", value)
                if len(places) == 1 and tag == _EXIF:
                    places.append(start)
                elif place == places[0] and tag == _ORIENTATION:
                    found.setdefault(tag, struct.unpack(order + "H", value[:2])[0])
                elif place != places[0] and tag in _TIME_TAGS and kind == _ASCII:
                    text = value[:length] if length <= len(value) else data[start : start + length]
                    found.setdefault(tag, text.decode("latin-1"))
    return found


def _in_iso_8601(time: str, fraction: str, offset: str) -> str:
    found, zone = _TIME.match(time), _OFFSET.fullmatch(offset.upper().replace("Z", "+00:00"))
    if found is None:
        return ""
    year, month, day, clock = found.groups()
    part = f".{fraction[:6]}" if fraction.isdecimal() else ""
    return f"{year}-{month}-{day}T{clock}{part}" + (f"{zone[1]}{zone[2]:0>2}:{zone[3]}" if zone else "")


def _text(value: object) -> str:
    """Return the value of a tag as text without padding, "" if it is none."""
    return value.strip("\0 ") if isinstance(value, str) else ""


os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(1 << 28))  # cv2 reads it on its first import; the default is 2^30


SEGMENT_PICTURES = 32
"""Number of pictures in a segment."""

JPEG_QUALITY = 95

_HEAD = 1 << 16  # bytes in which an animation says that it is one

_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")  # the last two: BigTIFF
_SUBFILE, _PREVIEW_OR_MASK = 254, 1 | 4  # NewSubfileType (TIFF 6.0, section 8)

cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)  # the errors raised here contain what OpenCV would print


def read_picture(path: Path) -> Image:
    """Read one picture, upright and RGB.

    Raises SourceError if the file is missing, damaged, not a regular file, not a picture, an animation, of several pages, or larger than
    16384×16384.
    """
    return picture_from(path, content_of(path))


_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_BINARY"))
"""Do not wait for the writer of a pipe."""


def content_of(path: Path) -> NDArray[np.uint8]:
    """Read the bytes of a picture's file, as an array that cannot be written to. Raises SourceError."""
    try:
        descriptor = os.open(path, _READ)  # few calls, each of which hands over the interpreter's lock: a file object makes more
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise SourceError(Notice("media.not_a_picture_file", path=path))
            content = os.read(descriptor, status.st_size)  # nothing of the system's files that have no size: reading could wait for ever
            while len(content) < status.st_size and (more := os.read(descriptor, status.st_size - len(content))):
                content += more
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SourceError(Notice("media.picture_file_not_read", path=path, detail=error.strerror or str(error))) from error
    if not content:
        raise SourceError(Notice("media.empty_file", path=path))
    return np.frombuffer(content, np.uint8)


def picture_from(path: Path, content: NDArray[np.uint8]) -> Image:
    """Decode the bytes of a file. path: for errors. Raises SourceError."""
    if _is_animation(content[:_HEAD].tobytes()):
        raise SourceError(Notice("media.animation", path=path))
    if (pages := _pages(content)) > 1:
        raise SourceError(Notice("media.several_pages", path=path, count=pages))
    try:
        image = cv2.imdecode(content, cv2.IMREAD_COLOR_RGB)
    except (cv2.error, MemoryError) as error:
        raise SourceError(Notice("media.picture_not_used", path=path, detail=str(getattr(error, "err", error)))) from error
    if image is None:
        raise SourceError(Notice("media.no_picture", path=path))
    if max(image.shape) > MAX_SIDE:
        raise SourceError(Notice("media.picture_too_large", path=path, width=image.shape[1], height=image.shape[0], limit=MAX_SIDE))
    return np.asarray(image, np.uint8)


def write_picture(image: Image, path: Path) -> None:
    """Write a picture in the format that the suffix names, ".jpg" or ".png".

    Raises OSError if the file cannot be written, ExportError if the picture cannot be encoded.
    """
    parameters = [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY] if path.suffix == ".jpg" else []
    encoded, content = cv2.imencode(path.suffix, cv2.cvtColor(image, cv2.COLOR_RGB2BGR), parameters)
    if not encoded:
        raise ExportError(Notice("media.picture_not_encoded", suffix=path.suffix))
    path.write_bytes(content.tobytes())


def _is_animation(head: bytes) -> bool:
    """Whether a file that begins with these bytes is an animated WebP or PNG."""
    if head.startswith(b"RIFF") and head[8:16] == b"WEBPVP8X":
        return bool(head[20:21] and head[20] & 2)
    return head.startswith(b"\x89PNG") and b"acTL" in head.partition(b"IDAT")[0]


def _pages(content: NDArray[np.uint8]) -> int:
    """Number of pages of a TIFF. Previews, masks and levels of other sizes do not count. Other files have one, and damaged ones, too."""
    if content[:4].tobytes() not in _TIFF:
        return 1
    count = 0
    with suppress(Exception), _opened(content) as picture:  # damaged files raise errors of many kinds
        width, height = picture.size
        for number in range(getattr(picture, "n_frames", 1)):
            picture.seek(number)
            share = picture.size[0] * picture.size[1] / (width * height)
            count += not picture.tag_v2.get(_SUBFILE, 0) & _PREVIEW_OR_MASK and 1 / 2 < share < 2
    return max(1, count)


def probe_images(path: Path) -> SourceInfo:
    """Probe a picture or a folder of pictures. Raises SourceError if there is no picture, or no picture can be read."""
    folder = is_folder(path)
    files = pictures_in(path) if folder else [path]
    if not files:
        raise SourceError(Notice("media.no_picture_in_folder", path=path))
    first, codec = _first_readable(files)
    height, width = first.shape[:2]
    segments = tuple(
        Segment(number, start, start + len(part), len(part), tuple(file.name for file in part) if folder else ())
        for number, start in enumerate(range(0, len(files), SEGMENT_PICTURES))
        for part in [files[start : start + SEGMENT_PICTURES]]
    )
    return SourceInfo(str(path), SourceKind.IMAGES, codec, width, height, len(files), None, None, segments)


def decode_images(info: SourceInfo, segment: Segment, skip: int) -> Iterator[DecodedFrame[Image] | DecodeFailure]:
    """Yield the pictures of a segment without the first ``skip``, and a failure for each picture that cannot be read."""
    for ref, file in wanted_pictures(info, segment, skip):
        try:
            content = content_of(file)
        except SourceError as error:
            yield DecodeFailure(ref, 1, error.notice)
        else:
            yield decode_picture(ref, file, content)


def wanted_pictures(info: SourceInfo, segment: Segment, skip: int) -> list[tuple[FrameRef, Path]]:
    """Return the wanted pictures of a segment without the first ``skip``, and their files."""
    path = Path(info.path)
    pictures = enumerate(segment.names or (None,), segment.start or 0)
    wanted = [(index, name) for index, name in pictures if segment.wanted is None or segment.wanted.includes(index, 0, 1)]
    return [
        (FrameRef(info.number, UNNUMBERED if segment.wanted is None else position, float(position), name), path / name if name else path)
        for position, name in wanted[skip:]
    ]


def decode_picture(ref: FrameRef, file: Path, content: NDArray[np.uint8]) -> DecodedFrame[Image] | DecodeFailure:
    """Decode the bytes of a picture's file, with the time when it was taken."""
    try:
        return DecodedFrame(ref._replace(created=time_taken(content)), picture_from(file, content))
    except SourceError as error:
        return DecodeFailure(ref, 1, error.notice)


class PlainJpeg(NamedTuple):
    """What the header of a JPEG says.

    width, height: as stored, pixels. orientation: whether to transpose the stored picture, then the code for ``cv2.flip`` or None. taken:
    as ``time_taken``.
    """

    width: int
    height: int
    orientation: tuple[bool, int | None]
    taken: str | None


_END = b"\xff\xd9"
_TAIL = 1 << 16
"""Bytes at the end of a file in which the end of the picture has to be. Cameras append data to it."""

_LUMA = 0x11, 0x21, 0x12, 0x22
"""Sampling factors of luma, for chroma of 0x11: 4:4:4, 4:2:2, 4:4:0 and 4:2:0."""


def plain_jpeg(content: NDArray[np.uint8]) -> PlainJpeg | None:
    """Read the header of a JPEG that decoders agree on; None: the file is something else, or too large.

    Such a JPEG is complete and baseline, and has 8 bits, one scan, and grey or YCbCr with usual sampling (ITU-T T.81, Annex B, and T.871).
    """
    data = content.data
    if bytes(data[:2]) != _JPEG:
        return None
    frame = scan = transform = b""
    tags, rest = dict[int, Any](), data[:0]
    for marker, body, end in _segments(data):
        if marker == _SOS:
            scan, rest = body, data[end:]
        elif marker == _SOF0:
            frame = body
        elif _SOF0 < marker < _SOS and marker != _DHT:  # another kind of frame, or a marker that does not belong here
            return None
        elif _is_exif(marker, body):
            tags = tags or _exif_tags(body)
        elif marker == _APP14 and body.startswith(b"Adobe"):
            transform = body[11:12]
    size = _size_of(frame, transform)
    if size is None or scan[:1] != frame[5:6] or not _ends(rest):
        return None
    return PlainJpeg(*size, _turn(tags.get(_ORIENTATION, 1)), _taken(tags))


def _ends(scan: memoryview) -> bool:
    """Whether the data of a scan, and what a camera appended to them, contain the picture's end."""
    return bytes(scan[-2:]) == _END or _END in bytes(scan[-_TAIL:])


def _size_of(frame: bytes, transform: bytes) -> tuple[int, int] | None:
    """Width and height in a frame's header, None if decoders may not agree on its pixels. transform: Adobe's, b"" if it is not there."""
    if len(frame) < 9:
        return None
    precision, height, width, components = struct.unpack(">BHHB", frame[:6])
    kinds = [tuple(frame[at : at + 2]) for at in range(6, len(frame), 3)]
    if precision != 8 or len(kinds) != components or not 0 < min(width, height) <= max(width, height) <= MAX_SIDE:
        return None
    colour = components == 3 and kinds[0][1] in _LUMA and kinds == [(1, kinds[0][1]), (2, 0x11), (3, 0x11)] and transform in (b"", b"\1")
    grey = components == 1 and kinds[0][1] == 0x11
    return (width, height) if colour or grey else None


_UPRIGHT: tuple[bool, int | None] = (False, None)
_TURNS = _UPRIGHT, (False, 1), (False, -1), (False, 0), (True, None), (True, 1), (True, -1), (True, 0)
"""How EXIF's orientations from 1 on become upright."""


def _turn(orientation: int) -> tuple[bool, int | None]:
    """How a picture of this orientation becomes upright; an impossible orientation is upright."""
    return _TURNS[orientation - 1] if 1 <= orientation <= len(_TURNS) else _UPRIGHT


def _first_readable(files: list[Path]) -> tuple[Image, str]:
    """Return the first picture that can be read, and its format (the suffix)."""
    for file in files[:-1]:
        with suppress(SourceError):
            return read_picture(file), file.suffix[1:].lower()
    return read_picture(files[-1]), files[-1].suffix[1:].lower()
