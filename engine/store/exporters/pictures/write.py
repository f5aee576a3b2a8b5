"""Writes selected frames of a source as pictures. A child process decodes (``process``)."""

from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.errors import ExportError
from framefleet.engine.media.sources import has_same_content, stamp_of
from framefleet.engine.notices import Notice
from framefleet.engine.store.exporters.common.base import Export
from framefleet.engine.store.exporters.common.child import run_child
from framefleet.engine.store.exporters.common.options import ExportOptions
from framefleet.engine.store.reader import View
from framefleet.engine.store.session import StoredSource


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

    crash = run_child("pictures", "the process that writes pictures", "framefleet.engine.store.exporters.pictures.process", job, progress)
    if crash is not None:
        raise ExportError(crash)
