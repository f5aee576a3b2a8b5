"""Identifies the content of a source by size, time and a digest, so that a later change is noticed. Loads no media library."""

import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from framefleet.engine.errors import SourceError
from framefleet.engine.media.sources import is_folder, pictures_in

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
