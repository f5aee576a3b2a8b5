"""Events as a CSV table: when objects appear, cross lines and are in zones, a row each (RFC 4180, UTF-8).

Times are seconds of the source. ``clock`` is empty if it is unknown when the source began. An appearance is a track's; in sources without
tracks, it is a class's: objects of the class were seen without a gap. ``confidence`` and ``best`` belong to its most confident detection.
"""

from collections.abc import Iterator
from typing import TextIO

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, UsageError
from framefleet.engine.store import appearances, sources
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, Output
from framefleet.engine.store.exporters.csv import row, table_file
from framefleet.engine.store.session import StoredSource
from framefleet.engine.store.zones import require_any_tracks, require_tracks, zones_for
from framefleet.engine.zones.shapes import ZoneSet

COLUMNS = (
    *("source", "event", "start", "end", "clock", "seconds", "track", "class_id", "label", "place", "direction"),
    *("confidence", "best"),
)


def write(export: Export) -> None:
    """Write a row per event of each video. Raises ExportError if there are lines and zones, but no video has tracks.

    Videos without tracks or of another shape than the lines and zones have appearances only, and a note says so.
    """
    if export.options.zones is not None:
        try:
            require_any_tracks(export.reader, export.sources)
        except UsageError as error:
            raise ExportError(error.notice) from error
    with table_file(export, COLUMNS) as file:
        for source in export.sources:
            if source.timed:
                _write_source(export, source, file)
                export.written += export.reader.count(source.number)
                export.progress(export.written)


def _write_source(export: Export, source: StoredSource, file: TextIO) -> None:
    zones = export.options.zones
    if zones is not None:
        try:
            require_tracks(export.reader, source.number)
            zones, note = zones_for(zones, source)
        except UsageError as error:
            zones, note = None, None
            export.notes.append(Notice("store.not_counted", problem=error.notice))
        export.notes += [note] if note else []
    try:
        file.writelines(row(cells) + "\r\n" for cells in _rows(export, source, zones))
    except UsageError as error:
        raise ExportError(error.notice) from error


def _rows(export: Export, source: StoredSource, zones: ZoneSet | None) -> Iterator[list[object]]:
    clock = Clock.of(export.reader, source)
    for kind, start, end, class_id, track, shape, forward, confidence, best in appearances.read_events(
        export.reader, source, zones
    ).tolist():
        times = round(start, 6), round(end, 6), clock.text(start), round(end - start, 6)
        place = zones.shapes[shape].name if zones is not None and shape >= 0 else None
        direction = ("forward" if forward else "backward") if kind == appearances.EventKind.CROSSING else None
        seen = (round(confidence, 4), round(best, 6)) if kind == appearances.EventKind.APPEARANCE else (None, None)
        who = track if track >= 0 else None, class_id, sources.label_of(export.labels, class_id)
        yield [source.name, appearances.EventKind(kind).name.lower(), *times, *who, place, direction, *seen]


EXPORTER = Exporter(
    "List of events",
    "A row each time an object appears, crosses a line or is in a zone, for spreadsheets",
    (Output("events.csv", write, per_session=True),),
    frozenset((SourceKind.VIDEO, SourceKind.LIVE)),
    options=("zones", "bom"),
)
