"""Which files are sources, and what a folder holds. Standard library only: the window uses it too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.errors import SourceError


def _suffixes(names: str) -> frozenset[str]:
    return frozenset("." + name for name in names.split())


VIDEO_SUFFIXES = _suffixes(
    "3g2 3gp asf avi dav divx dv f4v flv gif h264 h265 hevc ivf m1v m2t m2ts m2v m4v mjpeg mjpg mkv mov mp4 mpeg mpg mts mxf nut obu"
    " ogg ogm ogv qt rm rmvb ts vob webm wmv wtv y4m"
)
PICTURE_SUFFIXES = _suffixes("bmp dib jfif jpe jpeg jpg pbm pgm png ppm tif tiff webp")
PLAYLIST_SUFFIXES = _suffixes("asx concat cue ffconcat m3u m3u8 mpd pls sdp txt xspf")


def is_video(path: Path) -> bool:
    """Whether the name is a video's."""
    return path.suffix.lower() in VIDEO_SUFFIXES


def is_picture(path: Path) -> bool:
    """Whether the name is a picture's."""
    return path.suffix.lower() in PICTURE_SUFFIXES


def is_folder(path: Path) -> bool:
    """Whether it is a folder; no, if that cannot be found out."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_media(path: Path) -> bool:
    """Whether ``expand_sources`` is worth trying: a folder, or a file with the name of a video or a picture."""
    return is_folder(path) or is_video(path) or is_picture(path)


def natural_key(name: str) -> tuple[tuple[str | int, ...], str]:
    """A sort key by which ``frame2`` comes before ``frame10``, letters regardless of case."""
    parts = re.split(r"(\d+)", name.casefold())  # text and digits alternate, so only like is compared with like
    return tuple(int(part) if number % 2 else part for number, part in enumerate(parts)), name


def pictures_in(folder: Path) -> list[Path]:
    """The pictures that lie in a folder itself, hidden ones left out, in natural order of their names.

    Raises:
        SourceError: the folder cannot be read.
    """
    return [path for path in _entries(folder) if is_picture(path) and path.is_file()]


def expand_sources(paths: Iterable[Path]) -> list[Path]:
    """What a user's files and folders hold: one path for each source.

    A file stays as it is, whatever its name. A folder becomes its videos, at any depth, and every folder in it (itself
    included) that directly contains pictures; in natural order, hidden entries and linked folders left out.

    Raises:
        SourceError: a path does not exist or is an address, a folder cannot be read, or it holds neither videos nor pictures.
    """
    sources: list[Path] = []
    for path in paths:
        if is_folder(path):
            found = list(_walk(path))
            if not found:
                known = ", ".join(sorted(suffix[1:] for suffix in VIDEO_SUFFIXES | PICTURE_SUFFIXES))
                raise SourceError(f"no video and no picture in the folder {path}: files with these endings are looked for: {known}")
            sources += found
        elif _exists(path):
            sources.append(path)
        else:
            raise SourceError(missing(path))
    return sources


def missing(path: Path) -> str:
    """Why there is nothing at a path, and what to do. Addresses are told from names, though a path holds one slash of their two."""
    address = re.fullmatch(r"([A-Za-z][A-Za-z0-9+.-]+):/(.*)", path.as_posix())
    if address is None:
        return f"{path} does not exist: check the name and the folder"
    scheme, rest = address.groups()
    if scheme.lower() == "file":
        return f"file:///{rest} is an address: give the path alone, /{rest}"
    return f"{scheme}://{rest} is an address, and only files and folders can be read: save what it gives as a file, and name that"


def _walk(folder: Path) -> Iterator[Path]:
    if pictures_in(folder):
        yield folder
    for path in _entries(folder):
        if path.is_dir():
            if not path.is_symlink():  # a link may lead back up
                yield from _walk(path)
        elif is_video(path):
            yield path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # a folder above it is closed to us, or the name is too long
        raise SourceError(f"{path} cannot be read: {error.strerror}; check the name and the folder's permissions") from error


def _entries(folder: Path) -> list[Path]:
    try:
        paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise SourceError(f"the folder {folder} cannot be read: {error.strerror}") from error
    return sorted(paths, key=lambda path: natural_key(path.name))
