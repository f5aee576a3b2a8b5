"""CSV tables (RFC 4180, UTF-8): the detections of each source, counts per interval, and a row per file.

Frames count from 0. Times are seconds of the source; pictures have none. Boxes are in source pixels, origin top left. ``track`` and
``tracks`` are empty in sessions without tracks. The column ``verified`` is there if a person corrected the session, ``drawn`` if a person
drew or moved a box. ``clock`` is empty if it is unknown when the source began or the picture was taken. Text that spreadsheet programs
would take for a formula begins with an apostrophe; Parquet and JSON Lines have it without.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from operator import add
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, Output, text_file
from framefleet.engine.store.exporters.options import Least
from framefleet.engine.store.exporters.tallies import (
    Group,
    Times,
    classes_of_tracks,
    intervals_of_pictures,
    is_empty,
    main_failure,
    read_files,
    read_groups,
)
from framefleet.engine.store.session import Block, StoredSource
from framefleet.engine.store.sources import label_of
from framefleet.engine.zones.counts import interval_numbers

MAX_ROWS = 1_048_576
"""Number of rows that spreadsheet programs show, heading included."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Beginnings of text that spreadsheet programs take for a formula, also as full-width characters.

Such a formula may come from a file name or from a model's labels."""

_QUOTED = re.compile('[,"\r\n]')
_WHOLES = [str(number) for number in range(1 << 14)]
_DECIMALS = [f".{number:02}".rstrip("0") if number else ".0" for number in range(100)]

DETECTIONS = (
    *("source", "frame", "time", "clock", "class_id", "label", "confidence", "x", "y", "width", "height"),
    *("picture_width", "picture_height", "device", "track"),
)
COUNTS = ("source", "start", "end", "clock", "class_id", "label", "frames", "frames_with", "most_at_once", "mean", "tracks")
FILES = ("file", "clock", "duration", "inferred", "failed", "dropped", "skipped", "empty", "complete", "path", "error")
PER_CLASS = ("first", "last", "frames_with", "most_at_once")


def columns_of(export: Export) -> tuple[str, ...]:
    """The columns of the table of detections."""
    return (*DETECTIONS, *["verified"] * export.reader.corrected, *["drawn"] * export.reader.has_drawn)


def write_detections(export: Export) -> None:
    """Write a row per detection. If the source is a folder, ``source`` is the picture."""
    rows = 1
    devices = {number: row([device]) for number, device in export.reader.device_names().items()}
    with table_file(export, columns_of(export)) as table:
        for source in export.sources:
            rows += _write_detections(export, source, devices, table)
    if rows > MAX_ROWS:
        export.notes.append(Notice("store.too_many_rows", path=export.path, rows=rows, limit=MAX_ROWS))


def _write_detections(export: Export, source: StoredSource, devices: Mapping[int, str], table: TextIO) -> int:
    """Write the rows of one source, and return their number. devices: names of the devices by their numbers, as fields."""
    clock, video, rows = Clock.of(export.reader, source), row([source.name]), 0
    timed = source.kind is not SourceKind.IMAGES
    classes: dict[int, str] = {}
    drawn = export.reader.has_drawn
    for block in export.blocks(source):
        for class_id in {*block.class_ids.tolist()} - classes.keys():
            classes[class_id] = row([class_id, label_of(export.reader.labels, class_id)])
        files = [video if frame.name is None else row([file_of(source, frame.name)]) for frame in block.frames]
        heads = [
            f"{file},{frame.number},{round(frame.pts, 6) if timed else ''},{clock.text(frame.pts)}"
            for file, frame in zip(files, block.frames, strict=True)
        ]
        tails = [f"{frame.width},{frame.height},{devices[frame.device]}" for frame in block.frames]
        frames, tracks = block.frame.tolist(), (str(track) if track >= 0 else "" for track in block.tracks.tolist())
        columns = (
            map(heads.__getitem__, frames),
            map(classes.__getitem__, block.class_ids.tolist()),
            map(repr, block.scores.tolist()),
            *map(number_texts, block.boxes.T),
            map(tails.__getitem__, frames),
            tracks,
            *([map(("FALSE", "TRUE").__getitem__, block.verified.tolist())] if export.reader.corrected else []),
            *([map(("FALSE", "TRUE").__getitem__, block.drawn.tolist())] if drawn else []),
        )
        table.writelines(f"{','.join(values)}\r\n" for values in zip(*columns, strict=True))
        rows += len(frames)
    return rows


def number_texts(values: NDArray[np.float64]) -> Iterable[str]:
    """Return numbers with at most two decimals as ``repr`` writes them, in half of its time."""
    hundredths = np.rint(values * 100).astype(np.int64)
    if not len(values) or hundredths.min() < 0 or hundredths.max() >= 100 * len(_WHOLES):
        return map(repr, values.tolist())
    wholes, rest = np.divmod(hundredths, 100)
    return map(add, map(_WHOLES.__getitem__, wholes.tolist()), map(_DECIMALS.__getitem__, rest.tolist()))


def write_counts(export: Export) -> None:
    """Write a row per source, interval and class that occurs in the exported sources, also if it does not occur in the interval.

    A track counts in its class only, also if it has detections of other classes. ``tracks`` is empty for sources without tracks.

    Intervals begin at full multiples of their length since midnight, or since the source's first frame if the clock time is unknown. The
    first one begins with the source, and its ``clock`` is that of the full interval.
    ``frames`` is the number of frames inferred in the interval, ``mean`` the mean number of detections in these frames. Pictures count in
    the interval of the day in which they were taken. Those whose clock time is unknown have rows without times.
    """
    reader, length = export.reader, export.options.interval
    with table_file(export, COUNTS) as file:
        for source in export.sources:
            if source.kind is None:
                continue
            clock, video = Clock.of(reader, source), source.timed
            kinds, tracked = export.track_classes(source), reader.is_tracked(source.number)
            blocks = export.blocks(source)
            intervals = (
                _intervals_of_video(blocks, clock, length, *offset_of(export, source, clock, length))
                if video
                else intervals_of_pictures(blocks, clock, length)
            )
            for times, group in intervals:
                tracks_of = Counter(map(kinds.get, group.tracks))
                for class_id in export.counted_class_ids:
                    tally = group.classes.get(class_id)
                    frames, most, mean = (tally.frames, tally.most, tally.detections / group.inferred) if tally else (0, 0, 0.0)
                    label = label_of(reader.labels, class_id)
                    tracks = tracks_of[class_id] if tracked else None
                    counts = (group.inferred, frames, most, round(mean, 4), tracks)
                    file.write(row([source.name, *times, class_id, label, *counts]) + "\r\n")


def offset_of(export: Export, source: StoredSource, clock: Clock, length: float) -> tuple[float, float]:
    """The seconds from the begin of an interval to time 0 of a video, and the time of its first frame, seconds. length: of an interval."""
    first = source.origin if source.origin is not None else export.reader.first_pts(source.number)
    begin = first or 0.0
    return (clock.offset(length) if clock.known else -begin), begin


def _intervals_of_video(blocks: Iterable[Block], clock: Clock, length: float, offset: float, begin: float) -> Iterator[tuple[Times, Group]]:
    for group in read_groups(blocks, partial(interval_numbers, length=length, offset=offset)):
        start = round(group.key * length - offset, 6)
        yield (max(start, round(begin, 6)), round(start + length, 6), clock.text(start)), group


def write_files(export: Export) -> None:
    """Write a row per file: its frames, whether it is empty, and for each class that occurs in these files when and how many.

    Each picture of a folder has its own row, and is complete if it could be read, even if others of the folder are missing. A class that
    is not seen long enough (``least_seen``) counts as not seen. Where objects were tracked, this is the time of a track, in the class of
    the track. ``empty`` is missing if nothing was found and no frame was inferred, the run was stopped, or more than single frames failed.
    """
    reader = export.reader
    classes = export.counted_class_ids
    labels = [label_of(reader.labels, class_id) for class_id in classes]
    names = [label if Counter(labels)[label] == 1 else f"{label} {class_id}" for class_id, label in zip(classes, labels, strict=True)]
    with table_file(export, [*FILES, *(f"{name}_{column}" for name in names for column in PER_CLASS)]) as file:
        for source in export.sources:
            video = source.timed
            clock, tracks = Clock.of(reader, source), classes_of_tracks(reader, source)
            for group in read_files(export.blocks(source), source):
                start = clock.start if video or group.last is None else clock.text(group.last.pts)
                file.write(row(_file_row(source, group, start, classes, export.options.least_seen, tracks)) + "\r\n")


def _file_row(
    source: StoredSource, group: Group, start: str, classes: Iterable[int], least: Least, tracks: Mapping[int, int] | None
) -> list[object]:
    video = source.timed
    duration = round(source.info.duration, 6) if source.info is not None and source.info.duration is not None else None
    name, failure = (group.last.name, group.last.failure) if group.last is not None and not video else (None, None)
    unread = group.unread if video else failure is not None
    problem = source.error or failure or (main_failure(source) if unread else None)
    # the row of one picture does not count the others of its folder
    dropped, skipped = (sum(source.ledger.dropped.values()), source.ledger.skipped) if name is None else (0, 0)
    values: list[object] = [file_of(source, name), start, duration, group.inferred, group.failed, dropped, skipped]
    complete = not unread and (source.succeeded or (name is not None and source.error is None))
    values += [
        is_empty(source, group, least, tracks),
        complete,
        file_path(source, name),
        None if problem is None else str(problem),
    ]
    long_enough = group.seen(least, tracks)
    for class_id in classes:
        tally = long_enough.get(class_id)
        seen = (round(tally.first, 6), round(tally.last, 6)) if tally and tally.frames and video else (None, None)
        values += [*seen, *((tally.frames, tally.most) if tally else (0, 0))]
    return values


def file_of(source: StoredSource, name: str | None) -> str:
    """Return the name of a source, or of a picture in it."""
    return source.name if name is None else f"{source.name}/{name}"


def file_path(source: StoredSource, name: str | None) -> str:
    """Return the path of a source as the run got it, or of a picture in it."""
    return source.path if name is None else f"{source.path.rstrip('/')}/{name}"


@contextmanager
def table_file(export: Export, heading: Iterable[object]) -> Iterator[TextIO]:
    """Open a table that appears when the context ends without an error, and write its heading. Raises ExportError."""
    with text_file(export.path, "utf-8-sig" if export.options.bom else "utf-8") as file:
        file.write(row(heading) + "\r\n")
        yield file


def row(values: Iterable[object]) -> str:
    """Return values as fields of a CSV row. None is an empty field."""
    return ",".join(map(_field, values))


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"  # R and spreadsheets take small letters for text
    text = f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


EXPORTER = Exporter(
    "CSV tables",
    "A row per detection, counts per interval and a row per file, for spreadsheets, R and pandas",
    (
        Output(".detections.csv", write_detections, joins=True),
        Output("counts.csv", write_counts, per_session=True),
        Output("files.csv", write_files, per_session=True),
    ),
    options=("interval", "bom", "least_seen", "one_table"),
)
