"""Shared by ``detect``, ``demo`` and ``results``: write the results of a run to files."""

import argparse
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from framefleet.app.cli.arguments import options
from framefleet.app.cli.run.progress import PLAIN_SECONDS, draws
from framefleet.app.cli.run.summary import MOST_LINES, number_of
from framefleet.app.cli.run.zones import scaling_notes
from framefleet.app.streams import print_line
from framefleet.engine.errors import ExportError, UsageError
from framefleet.engine.media.types import SourceKind
from framefleet.engine.model.labels import class_ids
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.export.run import Exported, export_session
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.common.coco_ids import check_coco_labels
from framefleet.engine.store.exporters.common.options import (
    DEFAULTS,
    ExportOptions,
    Least,
    Part,
    PictureFormat,
    read_between,
    read_category_map,
    read_interval,
    read_parts,
)
from framefleet.engine.store.facts import SHOWN
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.zones.file import parse_zones, read_zones

DATABASE = "session.sqlite"
_LEAST_SEEN = "csv: a file without a class in N frames, or for a time such as 0.5s, counts as empty; with tracks, in one track (1)"
_BETWEEN = "yolo: only frames with a detection of a confidence between these two, to train again with: 0.3,0.6"


def add_session_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``SESSION``."""
    parser.add_argument("session", type=Path, metavar="SESSION", help=f"a session database, or the folder that holds {DATABASE}")


def session_database(named: Path) -> Path:
    """The database that the user named as ``SESSION``. Raises UsageError if it does not exist."""
    database = named / DATABASE if named.is_dir() else named
    if not database.exists():
        raise UsageError(f"there is no {database}: give the folder that an earlier run wrote to, or its session database")
    return database


def choose_detections(reader: SessionReader, confidence: float | None, classes: Sequence[str] | None) -> None:
    """Let a reader return the detections that the user wants. confidence: None = those that the run exported. classes: None = all.

    Prints a note if the user wants weaker detections than those that are stored.
    """
    with suppress(KeyError, ValueError):  # another program wrote the session
        if confidence is not None and confidence < (stored := float(reader.facts["confidence"])):
            words = f"detections below a confidence of {stored:g} are not stored: detect again with --confidence {confidence:g}"
            print_line(f"framefleet: {reader.path}: {words}", sys.stderr)
    reader.confidence = float(reader.facts.get(SHOWN, 0.0)) if confidence is None else confidence
    reader.classes = class_ids(classes, reader.labels)


def add_format_options(parser: argparse._ActionsContainer) -> None:
    """Add ``--format`` and the options of formats."""
    formats = options.some_of([*EXPORTERS])
    parser.add_argument("--overwrite", action="store_true", help="replace files of the same names that Framefleet did not write")
    parser.add_argument("--format", type=formats, default=["jsonl"], metavar="LIST", help=f"formats: {', '.join(EXPORTERS)} (jsonl)")
    interval, categories = options.checked(read_interval), options.checked(read_category_map)
    parser.add_argument("--interval", type=interval, metavar="TIME", help="csv: length of the intervals in counts.csv: 30s, 15m, 1h (15m)")
    parser.add_argument("--least-seen", type=options.checked(Least.read), metavar="N|TIME", help=_LEAST_SEEN)
    parser.add_argument("--coco-ids", action="store_true", help="coco: COCO's own category ids, 1 to 90, for models with its 80 labels")
    parser.add_argument("--bom", action="store_true", help="csv: begin with a byte order mark, so that Excel reads all letters")
    parser.add_argument("--one-table", action="store_true", help="csv, parquet: one table of the detections in all files, not one for each")
    parser.add_argument("--pictures", choices=[*map(str, PictureFormat)], help="yolo: also write the frames, as jpeg or png")
    parser.add_argument("--between", type=options.checked(read_between), metavar="A,B", help=_BETWEEN)
    parser.add_argument("--zones", type=Path, metavar="FILE", help="lines and zones at which tracks are counted, as JSON")
    parts, words = options.checked(read_parts), f"video: what to draw: {', '.join(Part)} (all but {Part.HEAT} and {Part.CHART})"
    parser.add_argument("--draw", type=parts, metavar="LIST", help=words)
    parser.add_argument("--category-map", type=categories, metavar="LIST", help="megadetector: dog=animal,car=vehicle … (of COCO's labels)")


def export_options(arguments: argparse.Namespace, labels: Sequence[str], stored_zones: str = "") -> ExportOptions:
    """The options of formats that were given. labels: the model's. stored_zones: used without ``--zones``: text of a zones file, "" = none.

    Raises UsageError if an option belongs to a format that was not chosen, or does not suit the labels.
    """
    names = [field.name for field in fields(ExportOptions) if field.name != "clock"]
    # ``detect --every`` is a setting of the run, ``results --every`` an option of a format
    others = {name: value for name, value in vars(arguments).items() if not isinstance(value, Moment)}
    given = {name: value for name, value in others.items() if name in names and value not in (None, False)}
    for name in given:
        if name in ("zones", "least_seen"):
            continue  # the command prints the counts and the number of empty files for every format
        users = [form for form, exporter in EXPORTERS.items() if name in exporter.options]
        if not set(users) & set(arguments.format):
            raise UsageError(f"--{name.replace('_', '-')} is for --format {' or '.join(users)}")
    if "coco_ids" in given:
        check_coco_labels(labels)
    if "zones" in given:
        path, given["zones"] = given["zones"], read_zones(given["zones"])
        if not given["zones"].shapes:
            raise UsageError(f"{path} has no lines and no zones: nothing can be counted")
        given["zones"].class_ids(labels)  # a label that the model does not have is an error before any work
    elif stored_zones and any("zones" in EXPORTERS[form].options for form in arguments.format):
        given["zones"] = parse_zones(stored_zones)
    elif "zones" in arguments.format:
        raise UsageError("--format zones needs lines and zones, and the session has none: give --zones FILE")
    if "pictures" in given:
        given["pictures"] = PictureFormat(given["pictures"])
    return ExportOptions(**given)


def export(
    reader: SessionReader,
    folder: Path,
    formats: Sequence[str],
    quiet: bool,
    options: ExportOptions = DEFAULTS,
    sources: Collection[int] | None = None,
    overwrite: bool = False,
    whole: bool = True,
) -> tuple[list[Exported], bool]:
    """Write the results, with progress, notes and failures on standard error. A file that fails does not stop the others.

    sources: the numbers of the sources to write, None = all. whole: see ``plan_export``. Returns the written files, and whether all could
    be written.

    Raises ExportError if the folder cannot be made.
    """
    chosen = [source for source in reader.sources() if sources is None or source.number in sources]
    for source in chosen:
        for name in formats:
            if source.kind is not None and source.kind not in EXPORTERS[name].kinds:
                print_line(f"{source.path}: pictures have no {name}; their detections are in {reader.path}", sys.stderr)
    problems: list[ExportError] = []
    with closing(Writing(quiet)) as writing:
        waiting = partial(_say_waiting, folder)
        exported = export_session(reader, folder, formats, writing.show, problems.append, options, sources, overwrite, waiting, whole)
    scaled = [] if options.zones is None else scaling_notes(options.zones, chosen)
    for message in dict.fromkeys([*(note for item in exported for note in item.notes), *scaled, *map(str, problems)]):
        print_line(f"framefleet: {message}", sys.stderr)
    return exported, not problems


def note_untimed(reader: SessionReader, sources: Iterable[StoredSource], clock: ClockSettings) -> None:
    """Say how many pictures get no clock time by these settings, if there are some."""
    pictures = timed = 0
    for source in sources:
        if source.kind is SourceKind.IMAGES:
            pictures += reader.count(source.number)
            timed += len(Clock.of(reader, replace(source, picture_clock=clock.for_pictures)).taken)
    if timed == pictures:
        return
    why = "--clock gives the start of a video: use name or metadata"
    if isinstance(clock.clock, ClockSource):
        why = "none is in the name"
        if clock.clock is ClockSource.METADATA:
            why = "none is stored from EXIF data; in a session of an older Framefleet, detect --restart stores them"
    print_line(f"framefleet: no clock time for {pictures - timed:,} of {number_of(pictures, 'picture')}: {why}", sys.stderr)


def _say_waiting(folder: Path, other: str) -> None:
    print_line(f"framefleet: waiting until {other} has written its results to {folder}", sys.stderr)


def print_exported(exported: Sequence[Exported], verbose: bool) -> None:
    """Print the written files on standard output. verbose: all, also if they are many."""
    many = len(exported) > MOST_LINES and not verbose
    for item in exported:
        if not item.complete:
            print_line(f"{item.path} (incomplete: {number_of(item.frames, 'frame')})")
        elif not many:
            print_line(item.path)
    if many:
        print_line(f"{len(exported):,} files in {exported[0].path.parent}")


class Writing:
    """Progress of writing files, on standard error. quiet: show nothing."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._draws = draws()
        self._next = 0.0
        self._width = 0

    def show(self, path: Path, frames: int, total: int) -> None:
        """Show how much of a file is written."""
        self.tell(path.name, frames, total)

    def tell(self, what: str, done: int, total: int) -> None:
        """Show how much of something is written."""
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + (0.2 if self._draws else PLAIN_SECONDS)
        text = f"writing {what}: {100 * done // max(total, 1)} %"
        self._width = max(self._width, len(text))
        print(text.ljust(self._width), end="\r" if self._draws else "\n", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clear the line."""
        if self._draws and self._width:
            print(" " * self._width, end="\r", file=sys.stderr, flush=True)
