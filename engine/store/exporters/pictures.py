"""Writes selected frames of a source as pictures: which ones, and under which names. A child process decodes (``pictures_process``).

A name contains the frame's time in units of 1/10,000 s. A name therefore denotes the same frame whichever program extracts it: a program
may decode frames that another one finds damaged, so that the number of a picture would not identify a frame.
"""

import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from math import floor
from pathlib import Path, PurePath

from framefleet.engine.media.sources import has_same_content, stamp_of
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.store.exporters.base import Export, run_child
from framefleet.engine.store.exporters.options import ExportOptions, PictureFormat
from framefleet.engine.store.session import StoredSource, View
from framefleet.engine.store.sources import name_key, readable_name
from framefleet.engine.types import FrameResult

SUFFIXES = {PictureFormat.JPEG: "jpg", PictureFormat.PNG: "png"}

UNITS = 10_000
"""Units of time per second in a picture's name."""


def picture_name(pts: float) -> str:
    """Return the name of a frame's picture without suffix. pts: seconds; halves of a unit are rounded away from zero, as FFmpeg does."""
    units = int(abs(round(pts * UNITS, 4)) + 0.5)
    return f"{'-' if pts < 0 and units else ''}{units:08d}"  # FFmpeg writes 8 digits after the minus


class PictureNames:
    """Names the exported pictures of one source, without suffix: after the time of a video's frame, else after the file."""

    def __init__(self, source: StoredSource) -> None:
        self._source = source
        self._taken: set[str] = set()

    def __call__(self, frame: FrameResult) -> str:
        """Return a name that no other frame has. Call it once for each frame."""
        if self._source.timed:
            return picture_name(frame.ref.pts)
        file = frame.ref.name or self._source.file.name
        whole = file.replace(".", "_")
        names = chain((PurePath(file).stem, whole), (f"{whole}-{number}" for number in count(2)))
        name = next(name for name in names if name_key(name) not in self._taken)
        self._taken.add(name_key(name))
        return name


def ffmpeg_command(source: StoredSource, base: Path, folder: str, suffix: str = "jpg") -> str | None:
    """Return the command that writes all frames of a video as pictures in the size that boxes refer to; None if it is not a video.

    base: the folder in which the command is run, in a POSIX shell. folder: the folder in it for the pictures, which the command makes.
    """
    if source.info is None or source.kind is not SourceKind.VIDEO:
        return None
    filters = f"scale={source.info.width}:{source.info.height}"
    if PurePath(source.path).suffix.lower() == ".avi":  # with B-frames, ffmpeg begins some frames late: AVI has decoding times only
        filters = f"setpts=PTS-STARTPTS+{source.info.begin:.6f}/TB,{filters}"
    names = shlex.quote(_as_file(f"{folder.replace('%', '%%')}/%08d.{suffix}"))
    timed = f"-fps_mode passthrough -enc_time_base 1:{UNITS} -frame_pts 1"
    return f"mkdir -p -- {shlex.quote(folder)} && ffmpeg -copyts -i {shlex.quote(_seen_from(base, source))} -vf {filters} {timed} {names}"


def _seen_from(base: Path, source: StoredSource) -> str:
    """The path of a source for a program that runs in another folder. An absolute path stays as the user entered it."""
    if PurePath(source.path).is_absolute():
        return source.path
    try:
        return _as_file(readable_name(os.path.relpath(source.file, base)))
    except ValueError:  # on Windows: another drive
        return readable_name(str(source.file))


def _as_file(path: str) -> str:
    """A relative path that ffmpeg takes neither for an option nor for a protocol."""
    return f"./{path}" if path.startswith("-") or ":" in path.partition("/")[0] else path


def select(frames: Iterable[FrameResult], options: ExportOptions) -> Iterator[FrameResult]:
    """Yield the frames that ``between`` and ``every`` of the options choose, without failed frames.

    ``every`` counts the frames that ``between`` chooses, so that not all of several similar neighbouring frames are chosen.
    """
    low, high = options.between or (0.0, 1.0)
    number, interval = 0, None
    for frame in frames:
        found = frame.detections
        if found is None or (options.between is not None and not ((found.scores >= low) & (found.scores <= high)).any()):
            continue
        if options.every.seconds is None:
            chosen = number % options.every.frames == 0
        else:
            current = floor(round(frame.ref.pts / options.every.seconds, 9))  # 0.3 / 0.1 is slightly too small
            chosen, interval = current != interval, current
        number += 1
        if chosen:
            yield frame


@dataclass(frozen=True)
class PicturesJob:
    """The task of the child process.

    view: which detections count. source: number of the source in the session. file: the source. folder: for the pictures; it exists.
    options: say which frames, and the format.
    """

    view: View
    source: int
    file: str
    folder: str
    options: ExportOptions


def write_pictures(export: Export, source: StoredSource, folder: Path, last: int) -> None:
    """Write the frames of a source that the options select into a new folder. last: index of the last one in the whole source.

    Raises ExportError if the source is missing, has changed, or cannot be decoded again, or the pictures cannot be written.
    """
    stamp = stamp_of(source.file)
    if stamp is None:
        raise ExportError(Notice("store.pictures_without_source", path=source.file))
    if source.stamp is not None and not has_same_content(stamp, source.stamp):
        raise ExportError(Notice("store.pictures_of_changed_source", path=source.file))
    folder.mkdir(parents=True)
    job = PicturesJob(export.reader.view, source.number, str(source.file), str(folder), export.options)
    count = export.reader.count(source.number)  # fewer frames than the process decodes, if the session or the view has a part of them

    def progress(decoded: int) -> None:
        export.progress(export.written + count * min(decoded, last + 1) // (last + 1))

    crash = run_child("pictures", Notice("store.writes_pictures"), "framefleet.engine.store.exporters.pictures_process", job, progress)
    if crash is not None:
        raise ExportError(crash)
