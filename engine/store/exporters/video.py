"""Exports a video as an MP4 with its detections drawn into it.

A child process decodes and encodes (``video_process``), so this process loads no media library.
"""

from dataclasses import dataclass, field

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, UsageError
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, Output, complete_file, run_child
from framefleet.engine.store.exporters.options import DRAWN, Part
from framefleet.engine.store.schema import explained
from framefleet.engine.store.session import View
from framefleet.engine.store.zones import zones_for
from framefleet.engine.zones.shapes import ZoneSet


@dataclass(frozen=True)
class Job:
    """The task of the child process.

    view: which frames to write and which detections to draw. source: number of the source in the session. video, target: files to read
    and write. parts: what to draw. zones: for pictures of the source's size. clock: of the source.
    """

    view: View
    source: int
    video: str
    target: str
    parts: frozenset[Part] = DRAWN
    zones: ZoneSet | None = None
    clock: Clock = field(default_factory=lambda: Clock(None))


def write(export: Export) -> None:
    """Write the annotated video. If the child process crashes, the written frames remain playable in ``part_of(path)``.

    Raises ExportError if the source has changed, the file cannot be written, or the child process crashed.
    """
    reader, source, path = export.reader, export.source, export.path
    if source.changed():
        raise ExportError(Notice("store.annotated_video_changed", path=source.file))
    drawn = export.options.draw, _zones(export), Clock.of(reader, source)
    with explained(path, "write"), complete_file(path, keep_part=True) as part:
        job = Job(reader.view, source.number, str(source.file), str(part), *drawn)
        try:
            module = "framefleet.engine.store.exporters.video_process"
            crash = run_child("annotated video", Notice("store.writes_videos"), module, job, export.progress, export.notes)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        finally:
            part.with_name(f"{part.name}.plain").unlink(missing_ok=True)
        if crash is not None:
            raise ExportError(Notice("store.part_kept", crash=crash, path=part) if part.exists() else crash)


def _zones(export: Export) -> ZoneSet | None:
    """The lines and zones to draw, for pictures of the source's size."""
    if export.options.zones is None or Part.ZONES not in export.options.draw:
        return None
    if not export.reader.is_tracked(export.source.number):
        export.notes.append(Notice("store.no_zones_without_tracks", path=export.path))
        return None
    try:
        zones, note = zones_for(export.options.zones, export.source)
    except UsageError as error:
        raise ExportError(error.notice) from error
    export.notes += [note] if note else []
    return zones


# the suffix differs from the source's, which may be in the same folder
EXPORTER = Exporter(
    "Annotated video",
    "A copy of the video with the boxes drawn into it",
    (Output(".annotated.mp4", write, slow=True),),
    frozenset((SourceKind.VIDEO,)),
    options=("draw", "zones"),
)
