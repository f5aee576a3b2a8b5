"""Finds sources in folders by the suffixes of file names. Loads no media library, so the window may import it."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePath

from framefleet.engine.notices import Notice, SourceError

DIGESTED = 65536
"""Bytes at the start and at the end of a file that are included in its digest."""


@dataclass(frozen=True)
class Stamp:
    """The identity of a source's content.

    size: bytes; of a folder, of its pictures together. modified: time of the last change, ns; of a folder, of the newest picture.
    digest: hexadecimal, of the first and last ``DIGESTED`` bytes; of a folder, of the names, sizes and times of its pictures.
    """

    size: int
    modified: int
    digest: str


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a file, or of the pictures in a folder. None if it cannot be read."""
    try:
        return _folder_stamp(path) if is_folder(path) else _file_stamp(path)
    except (OSError, SourceError):
        return None


def is_unchanged(path: Path, stamp: Stamp | None) -> bool:
    """Whether a source still has the content that a stamp was made of. False if there is no stamp or the source cannot be read.

    Reads the file only if its time has changed: a file that was copied or touched has another time and the same content.
    """
    if stamp is None:
        return False
    try:
        status = path.stat()
    except OSError:
        return False
    if is_folder(path) or (status.st_size == stamp.size and status.st_mtime_ns != stamp.modified):
        return has_same_content(stamp_of(path), stamp)
    return status.st_size == stamp.size


def has_same_content(one: Stamp | None, other: Stamp | None) -> bool:
    """Whether two stamps are of the same content, whatever the times are."""
    return one is not None and other is not None and (one.size, one.digest) == (other.size, other.digest)


def begins_with(folder: Path, stamp: Stamp, count: int) -> bool:
    """Whether the first ``count`` pictures of a folder are those of a stamp, so that others were only added behind them."""
    try:
        return is_folder(folder) and has_same_content(_folder_stamp(folder, count), stamp)
    except (OSError, SourceError):
        return False


def _file_stamp(path: Path) -> Stamp:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        digest = blake2b(file.read(DIGESTED), digest_size=16)
        file.seek(max(file.tell(), status.st_size - DIGESTED))
        digest.update(file.read(DIGESTED))
    return Stamp(status.st_size, status.st_mtime_ns, digest.hexdigest())


def _folder_stamp(folder: Path, count: int | None = None) -> Stamp:
    digest, size, modified = blake2b(digest_size=16), 0, 0
    for picture in pictures_in(folder)[:count]:
        status = picture.stat()
        digest.update(os.fsencode(f"{picture.name}\0{status.st_size} {status.st_mtime_ns}\0"))
        size, modified = size + status.st_size, max(modified, status.st_mtime_ns)
    return Stamp(size, modified, digest.hexdigest())


def _suffixes(names: str) -> frozenset[str]:
    return frozenset("." + name for name in names.split())


VIDEO_SUFFIXES = _suffixes(
    "3g2 3gp asf avi dav divx dv f4v flv gif h264 h265 hevc ivf m1v m2t m2ts m2v m4v mjpeg mjpg mkv mov mp4 mpeg mpg mts mxf nut obu"
    " ogg ogm ogv qt rm rmvb ts vob webm wmv wtv y4m"
)
PICTURE_SUFFIXES = _suffixes("bmp dib jfif jpe jpeg jpg pbm pgm png ppm tif tiff webp")
OTHER_PICTURE_SUFFIXES = _suffixes("arw avif cr2 cr3 dng heic heif jxl nef nrw orf raf rw2 srw")
"""Of pictures that cannot be read: raw data of cameras, and formats of telephones."""
PLAYLIST_SUFFIXES = _suffixes("asx concat cue ffconcat m3u m3u8 mpd pls sdp txt xspf")

_DATABASE_PARTS = (".sqlite-wal", ".sqlite-shm", ".sqlite-journal")
"""SQLite's files beside a database. A process that opens and closes one itself loses SQLite's locks, and damages the database."""


def is_video(path: Path) -> bool:
    """Whether the suffix is one of video files."""
    return path.suffix.lower() in VIDEO_SUFFIXES


def is_picture(path: PurePath) -> bool:
    """Whether the suffix is one of picture files."""
    return path.suffix.lower() in PICTURE_SUFFIXES


def is_folder(path: Path) -> bool:
    """Whether the path is a folder. False if the path cannot be examined."""
    try:
        return path.is_dir()
    except OSError:
        return False


def natural_key(name: str) -> tuple[tuple[str | int, ...], str]:
    """Return a sort key that puts ``frame2`` before ``frame10`` and ignores case."""
    parts = re.split(r"(\d+)", name.casefold())  # text and digits alternate, so that text is only compared with text
    return tuple(int(part) if number % 2 else part for number, part in enumerate(parts)), name


def pictures_in(folder: Path) -> list[Path]:
    """Return the pictures directly in a folder, without hidden ones, in natural order of their names.

    Raises SourceError if the folder cannot be read.
    """
    return [path for path in _entries(folder) if is_picture(path) and _may_be_file(path)]


def expand_sources(paths: Iterable[Path]) -> list[Path]:
    """Replace folders by the sources in them. Returns one path per source.

    A file is always a source. In a folder, the sources are each video at any depth and each folder, itself included, that directly
    contains pictures. They are in natural order. Hidden entries and linked folders are left out.

    Raises SourceError if a path does not exist, is a URL or a part of a database, a folder cannot be read, or it contains neither videos
    nor pictures.
    """
    sources: list[Path] = []
    for path in paths:
        if is_folder(path):
            found = list(_walk(path))
            if not found:
                known = len(VIDEO_SUFFIXES | PICTURE_SUFFIXES)
                raise SourceError(Notice("media.no_source_in_folder", path=path, known=known))
            sources += found
        elif path.name.endswith(_DATABASE_PARTS):
            raise SourceError(Notice("media.part_of_a_session", path=path))
        elif _exists(path):
            sources.append(path)
        else:
            raise SourceError(missing(path))
    return sources


def unreadable_pictures(folder: Path) -> list[Path]:
    """Return the pictures in a folder, at any depth, that ``expand_sources`` leaves out because their formats cannot be read."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = [Path(place, name) for name in sorted(names) if not name.startswith(".")]
        found += [path for path in paths if path.suffix.lower() in OTHER_PICTURE_SUFFIXES]
    return found


def hide_login(rest: str) -> str:
    """Return an address without its scheme, its user and its password."""
    return rest.rpartition("@")[2]


_STREAMS = dict.fromkeys(("rtsp", "rtsps"), "media.stream_address")
_STREAMS |= dict.fromkeys(("rtmp", "rtp", "udp", "srt", "mms"), "media.other_stream")


def missing(path: Path) -> Notice:
    """Return what to say about a path that does not exist. Recognises cameras, and URLs, in which ``Path`` reduces ``//`` to one slash."""
    address = re.fullmatch(r"([A-Za-z][A-Za-z0-9+.-]+):/(.*)", path.as_posix())
    if address is None:
        camera = re.fullmatch(r"\d{1,2}|/dev/video\d+", str(path))
        if re.fullmatch(r"(\d{1,3}\.){3}\d{1,3}(:\d+)?(/.*)?|localhost:\d+(/.*)?", path.as_posix()):
            return Notice("media.missing_scheme", path=path)
        return Notice("media.missing_camera" if camera else "general.missing", path=path)
    scheme, rest = address[1], hide_login(address[2])
    if scheme.lower() == "file":
        return Notice("media.file_address", rest=rest)
    return Notice(_STREAMS.get(scheme.lower(), "media.address"), scheme=scheme, rest=rest)


def _walk(folder: Path) -> Iterator[Path]:
    if pictures_in(folder):
        yield folder
    for path in _entries(folder):
        if is_folder(path):
            if not path.is_symlink():  # a link may lead back to a folder above
                yield from _walk(path)
        elif is_video(path):
            yield path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # no permission for a folder above it, or the name is too long
        raise SourceError(Notice("media.path_not_read", path=path, detail=error.strerror)) from error


def _may_be_file(path: Path) -> bool:
    """Whether the path is a file. True if it cannot be examined, so that reading it says why."""
    try:
        return path.is_file()
    except OSError:
        return True


def _entries(folder: Path) -> list[Path]:
    try:
        paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise SourceError(Notice("media.folder_not_read", folder=folder, detail=error.strerror)) from error
    return sorted(paths, key=lambda path: natural_key(path.name))
