"""The child process that writes selected frames of a source as JPEG or PNG pictures."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

import av

from framefleet.engine.media import cpu_decoding, images, picture, segment
from framefleet.engine.media.container.video_file import VideoFile, reason
from framefleet.engine.media.types import Segment, SourceKind
from framefleet.engine.notices import ExportError, Notice, SourceError
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.watchdog import Clock
from framefleet.engine.store import schema, sources
from framefleet.engine.store.exporters import base, options
from framefleet.engine.store.exporters.pictures import SUFFIXES, PictureNames, PicturesJob, select
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import FrameResult, Image

_Named: TypeAlias = tuple[str, FrameResult]
"""The name of a frame's picture, and the frame."""

_SAME = 1e-6
"""Times that differ by less are equal, seconds."""


def write_selected(job: PicturesJob, report: Callable[[int], None], clock: Clock) -> int:
    """Write the pictures. Returns the number of frames that were decoded.

    report: called with the number of decoded frames. clock: the watchdog's clock, stopped when all pictures are written.

    Raises SourceError: the source cannot be opened any more. Raises ExportError: a selected frame cannot be decoded again, or a picture
    cannot be written.
    """
    with SessionReader.of(job.view) as reader:
        source = reader.source(job.source)
        name_of = PictureNames(source)
        wanted = ((name_of(frame), frame) for frame in select(reader.frames(job.source), job.options))
        count = _write_frames(job, wanted, report) if source.kind is SourceKind.VIDEO else _write_images(job, wanted, report)
    clock.stop()
    return count


def _write_frames(job: PicturesJob, wanted: Iterator[_Named], report: Callable[[int], None]) -> int:
    """Write the wanted frames of a video."""
    decoded = 0
    named = next(wanted, None)
    with VideoFile(Path(job.file), cpu_decoding.THREADS) as file:
        convert = picture.Converter(file.stream.sample_aspect_ratio)
        for pts, outcome, count in segment.SegmentDecoder(file, Segment(0, None, None, 0)).outcomes():
            decoded += count
            report(decoded)
            if named is None:
                break
            name, frame = named
            if isinstance(outcome, Notice) or abs(file.seconds(pts) - frame.ref.pts) >= _SAME:
                continue
            try:
                image = convert(outcome)
            except (av.FFmpegError, ValueError) as error:
                raise ExportError(
                    Notice("media.frame_not_converted", path=Path(job.file), seconds=frame.ref.pts, detail=reason(error))
                ) from error
            _write_picture(job, name, image)
            named = next(wanted, None)
    if named is not None:
        raise ExportError(Notice("store.picture_not_found", path=Path(job.file), seconds=named[1].ref.pts))
    return decoded


def _write_images(job: PicturesJob, wanted: Iterator[_Named], report: Callable[[int], None]) -> int:
    """Write the wanted pictures of a folder, or the picture that is the source. They are decoded because boxes refer to upright ones."""
    path, written = Path(job.file), 0
    for name, frame in wanted:
        try:
            _write_picture(job, name, images.read_picture(path if frame.ref.name is None else path / sources.exact_name(frame.ref.name)))
        except SourceError as error:
            raise ExportError(error.notice) from error
        written = frame.ref.index + 1
        report(written)
    return written


def _write_picture(job: PicturesJob, name: str, image: Image) -> None:
    form = job.options.pictures or options.PictureFormat.JPEG
    path = Path(job.folder) / f"{name}.{SUFFIXES[form]}"
    with schema.explained(path, "write"):
        images.write_picture(image, path)


def main(connection: AnyConnection, job: PicturesJob) -> None:
    """Run one job: the main function of the process."""
    base.serve(
        connection,
        Notice("general.opening", path=Path(job.file)),
        Notice("store.writing_picture", path=Path(job.file)),
        partial(write_selected, job),
    )
