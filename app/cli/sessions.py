"""Sessions on the command line: their arguments, and what a run found, as files, in words, and counted at lines and in zones."""

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from framefleet.app.cli import options
from framefleet.app.cli.table import Table
from framefleet.app.terminal import PLAIN_SECONDS, draws, print_line
from framefleet.engine.media.types import SourceKind
from framefleet.engine.model.files import class_ids
from framefleet.engine.notices import ExportError, Notice, UsageError, literal, printable
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store import tracks
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.export import Exported, export_session
from framefleet.engine.store.exporters import EXPORTERS, coco, tallies
from framefleet.engine.store.exporters import options as values
from framefleet.engine.store.facts import ZONES
from framefleet.engine.store.files import session_parts, stamp_of_part
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.sources import label_of
from framefleet.engine.store.zones import LiveCounts, count_pictures, read_counts, zones_for
from framefleet.engine.zones.file import parse_zones, read_zones
from framefleet.engine.zones.shapes import ZoneSet

T = TypeVar("T")

DATABASE = "session.sqlite"
_SEEN_HELP = "csv: a file without a class in N frames, or for a time such as 0.5s, counts as empty; with tracks, in one track (1)"
_BETWEEN = "yolo: only frames with a detection of a confidence between these two, to train again with: 0.3,0.6"


def add_session_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``SESSION``."""
    parser.add_argument(
        "session", type=Path, metavar="SESSION", help=f"a session database, or the folder that holds {DATABASE} and its parts"
    )


def session_database(named: Path) -> Path:
    """The database that the user named as ``SESSION``. Raises UsageError if it does not exist."""
    database = named / DATABASE if named.is_dir() else named
    if not database.exists():
        raise UsageError(literal(f"there is no {database}: give the folder that an earlier run wrote to, or its session database"))
    return database


def session_databases(named: Path) -> list[Path]:
    """The databases that the user named as ``SESSION``: of a folder, also the parts of a session of streams, in the order of time.

    Raises UsageError if there is none.
    """
    parts = session_parts(named / DATABASE) if named.is_dir() else []
    return [*parts, named / DATABASE] if parts and (named / DATABASE).exists() else parts or [session_database(named)]


def folder_of_part(database: Path, out: Path | None) -> Path:
    """Where the files of a session go: a part of a session of streams has a folder of its own, named by its time."""
    part = stamp_of_part(database, database.with_name(DATABASE))
    return (out or database.parent) / part


def choose_detections(reader: SessionReader, confidence: float | None, classes: Sequence[str] | None) -> None:
    """Let a reader return the detections that the user wants. confidence: None = those that the run exported. classes: None = all.

    Prints a note if the user wants weaker detections than those that are stored.
    """
    with suppress(KeyError, ValueError):  # another program wrote the session
        if confidence is not None and confidence < (stored := float(reader.facts["confidence"])):
            words = f"detections below a confidence of {stored:g} are not stored: detect again with --confidence {confidence:g}"
            print_line(f"framefleet: {reader.path}: {words}", sys.stderr)
    reader.confidence = reader.shown_confidence if confidence is None else confidence
    reader.classes = class_ids(classes, reader.labels)


def add_format_options(parser: argparse._ActionsContainer) -> None:
    """Add ``--format`` and the options of formats."""
    formats = options.some_of([*EXPORTERS])
    parser.add_argument("--overwrite", action="store_true", help="replace files of the same names that Framefleet did not write")
    parser.add_argument("--format", type=formats, default=["jsonl"], metavar="LIST", help=f"formats: {', '.join(EXPORTERS)} (jsonl)")
    interval, categories = options.checked(values.read_interval), options.checked(values.read_category_map)
    flag = argparse.BooleanOptionalAction
    parser.add_argument("--interval", type=interval, metavar="TIME", help="csv: length of the intervals in counts.csv: 30s, 15m, 1h (15m)")
    parser.add_argument("--least-seen", type=options.checked(values.Least.read), metavar="N|TIME", help=_SEEN_HELP)
    parser.add_argument("--coco-ids", action=flag, help="coco: COCO's own category ids, 1 to 90, for models with its 80 labels")
    parser.add_argument("--bom", action=flag, help="csv: begin with a byte order mark, so that Excel reads all letters")
    parser.add_argument("--one-table", action=flag, help="csv, parquet: one table of the detections in all files, not one for each")
    parser.add_argument(
        "--pictures", choices=[*map(str, values.PictureFormat), values.NONE], help="yolo: also write the frames, as jpeg or png"
    )
    parser.add_argument("--between", type=options.checked(_checked_between), metavar="A,B", help=_BETWEEN)
    parser.add_argument("--zones", type=Path, metavar="FILE", help="lines and zones at which tracks are counted, as JSON")
    parts, words = (
        options.checked(values.read_parts),
        f"video: what to draw: {', '.join(values.Part)} (all but {values.Part.HEAT} and {values.Part.CHART})",
    )
    parser.add_argument("--draw", type=parts, metavar="LIST", help=words)
    parser.add_argument("--category-map", type=categories, metavar="LIST", help="megadetector: dog=animal,car=vehicle … (of COCO's labels)")


def _checked_between(text: str) -> str:
    values.read_between(text)
    return text


def export_options(
    arguments: argparse.Namespace, labels: Sequence[str], facts: Mapping[str, str] = MappingProxyType({})
) -> values.ExportOptions:
    """The options of formats that were chosen. labels: the model's. facts: of the session, whose zones and views hold without an option.

    Raises UsageError if an option belongs to a format that was not chosen, or does not suit the labels.
    """
    names = [field.name for field in fields(values.ExportOptions) if field.name != "clock"]
    # ``detect --every`` is a setting of the run, ``results --every`` an option of a format
    others = {name: value for name, value in vars(arguments).items() if not isinstance(value, Moment)}
    chosen = {name: value for name, value in others.items() if name in names and value is not None}
    for name in chosen:
        if name in ("zones", "least_seen"):
            continue  # the command prints the counts and the number of empty files for every format
        users = [form for form, exporter in EXPORTERS.items() if name in exporter.options]
        if not set(users) & set(arguments.format):
            option = name.replace("_", "-") if chosen[name] is not False else f"no-{name.replace('_', '-')}"
            raise UsageError(literal(f"--{option} is for --format {' or '.join(users)}"))
    if chosen.get("coco_ids"):
        coco.check_coco_labels(labels)
    if "zones" in chosen:
        path, chosen["zones"] = chosen["zones"], read_zones(chosen["zones"])
        if not chosen["zones"].shapes:
            raise UsageError(literal(f"{path} has no lines and no zones: nothing can be counted"))
        chosen["zones"].class_ids(labels)  # a label that the model does not have is an error before any work
    elif ZONES in facts and any("zones" in EXPORTERS[form].options for form in arguments.format):
        chosen["zones"] = _of_session(ZONES, lambda: parse_zones(facts[ZONES]))
    elif "zones" in arguments.format:
        raise UsageError(literal("--format zones needs lines and zones, and the session has none: give --zones FILE"))
    for name, read in (("pictures", values.read_pictures), ("between", values.read_between)):
        if name in chosen:
            chosen[name] = read(chosen[name])  # not earlier: "none" differs from no option
    return values.ExportOptions(**(_of_session("options of formats", lambda: values.view_options(facts)) | chosen))


def _of_session(what: str, read: Callable[[], T]) -> T:
    """Read facts of a session. Raises UsageError, which says so, if no run writes such facts."""
    try:
        return read()
    except UsageError as error:
        raise UsageError(literal(f"the {what} that the session holds cannot be used: {error}")) from error


def export(
    reader: SessionReader,
    folder: Path,
    formats: Sequence[str],
    quiet: bool,
    options: values.ExportOptions = values.DEFAULTS,
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
                what = "the pictures of a stream are not kept, so it has" if source.timed else "pictures have"
                print_line(f"{source.path}: {what} no {name}; their detections are in {reader.path}", sys.stderr)
    problems: list[ExportError] = []
    with closing(Writing(quiet)) as writing:
        waiting = partial(_say_waiting, folder)
        exported = export_session(reader, folder, formats, writing.show, problems.append, options, sources, overwrite, waiting, whole)
    scaled = [] if options.zones is None else scaling_notes(options.zones, chosen)
    for message in dict.fromkeys([*(str(note) for item in exported for note in item.notes), *scaled, *map(str, problems)]):
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


def _say_waiting(folder: Path, other: Notice) -> None:
    print_line(f"framefleet: waiting until {other} has written its results to {folder}", sys.stderr)


def print_exported(exported: Sequence[Exported], verbose: bool) -> None:
    """Print the written files on standard output. verbose: all, also if they are many."""
    many = len(exported) > MAX_LINES and not verbose
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
        text = f"writing {printable(what)}: {100 * done // max(total, 1)} %"
        self._width = max(self._width, len(text))
        print(text.ljust(self._width), end="\r" if self._draws else "\n", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clear the line."""
        if self._draws and self._width:
            print(" " * self._width, end="\r", file=sys.stderr, flush=True)


MAX_PARTS = 24
"""Of a session with more parts than this, the end of a run writes only the last one."""

MAX_LINES = 20
"""With more files than this, files without a problem get no line of their own, unless the user asks for it."""

MAX_NAMED = 3
"""The largest number of classes that the line of a file names, and of failed files in the last line."""


class Summary:
    """What was found in each file of a session. It reads the session once.

    least: see ``ExportOptions.least_seen``. only: numbers of sources, None = all. parts: what streams stored earlier.

    Attributes: found: what was found in each source, in words, by its number.

    Raises ExportError if the session cannot be read.
    """

    def __init__(self, reader: SessionReader, least: values.Least, only: Collection[int] | None = None, parts: Iterable[Path] = ()) -> None:
        self._sources = [source for source in reader.sources() if only is None or source.number in only]
        self._files, self._failed, self._frames = Counter[str](), list[str](), 0
        self._errors = list[str]()  # videos that ended with an error, and in which objects were found before
        self.found: dict[int, str] = {}
        earlier = defaultdict[int, Counter[int]](Counter)
        for part in parts:
            with SessionReader(part, reader.confidence) as stored:
                for source in stored.sources():
                    for group in tallies.read_files(stored.blocks(source.number), source):
                        self._frames += group.inferred
                        seen = group.seen(least, tallies.classes_of_tracks(stored, source))
                        earlier[source.number].update({class_id: tally.frames for class_id, tally in seen.items()})
        with reader.steady():
            for source in self._sources:
                before = earlier[source.number]
                frames, empty, tracks = Counter(before), list[bool | None](), tallies.classes_of_tracks(reader, source)
                for group in tallies.read_files(reader.blocks(source.number), source):
                    empty.append(False if before else tallies.is_empty(source, group, least, tracks))
                    failed = source.error is not None or group.failed > 0
                    unknown = "failed" if failed else "without frames" if source.complete else "incomplete"
                    kind = "empty" if empty[-1] else "with objects" if empty[-1] is False else unknown
                    self._files[kind] += 1
                    if kind == "with objects" and source.error is not None and source.timed:
                        self._errors.append(source.name)
                    if kind == "failed":
                        picture = group.last.name if group.last is not None else None
                        self._failed.append(source.name if picture is None else f"{source.name}/{picture}")
                    self._frames += group.inferred
                    frames.update({class_id: tally.frames for class_id, tally in group.seen(least, tracks).items()})
                self.found[source.number] = _found(reader.labels, source, frames, all(empty))

    def line(self, seconds: float | None = None, before: int = 0) -> str:
        """How many files are empty, have objects or failed, and how many frames there are; "" for a single file.

        seconds: that the run took, None = unknown. before: number of frames that earlier runs inferred.
        """
        if self._files.total() < 2 or (len(self._sources) == 1 and self._sources[0].kind is not SourceKind.IMAGES):
            return ""
        names = {"failed": _named(self._failed)}
        kinds = [
            f"{self._files[kind]:,} {kind}{names.get(kind, '')}"
            for kind in ("empty", "with objects", "failed", "incomplete", "without frames")
            if self._files[kind] or kind == "empty"
        ]
        errors = f"; errors in {number_of(len(self._errors), 'other')}{_named(self._errors)}" if self._errors else ""
        line = f"{self._files.total():,} files: {', '.join(kinds)}{errors}; {number_of(self._frames, 'frame')}"
        if seconds is None:
            return line
        return f"{line}{f', {self._frames - before:,} of them new,' if before else ''} in {in_words(seconds)}"


def _named(files: Sequence[str]) -> str:
    return f" ({', '.join(files)})" if 0 < len(files) <= MAX_NAMED else ""


def _found(labels: Sequence[str], source: StoredSource, frames: Counter[int], empty: bool) -> str:
    """``empty``, or ``person in 5 frames, car in 2``; "" if that is unknown. frames: with each class, by its id."""
    frames = +frames  # without classes that are in no frame, such as that of a track whose shown detections have others
    if not frames:
        return "empty" if empty else ""
    unit = "frame" if source.timed else "picture"
    (first, most), *others = frames.most_common()
    named = [f"{label_of(labels, first)} in {number_of(most, unit)}"]
    named += [f"{label_of(labels, class_id)} in {count:,}" for class_id, count in others[: MAX_NAMED - 1]]
    more = len(others) - MAX_NAMED + 1
    return ", ".join([*named, *([number_of(more, "more class", "more classes")] if more > 0 else [])])


def number_of(count: int, what: str, several: str = "") -> str:
    """``1 frame``, ``1,394 frames``. several: the plural, "" = with an s."""
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def in_words(seconds: float) -> str:
    """A duration, such as ``21 min 4 s``."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


LIVE_SECONDS, LIVE_SHARE = 1.0, 0.05
"""Time between two counts of a running source, and the share of it that counting may take."""

LIVE_FRAMES = 25
"""Frames of a source that are stored before it is counted."""

MAX_SHOWN = 3
"""Lines and zones in the progress."""


class LiveZones:
    """The current counts at lines and in zones, in a few words, while a run writes ``database``."""

    def __init__(self, database: Path, zones: ZoneSet, clock: Callable[[], float] = time.monotonic) -> None:
        self._database, self._zones, self._clock = database, zones, clock
        self._counts: dict[int, LiveCounts | None] = {}  # None: nothing is counted there
        self._next = 0.0

    def text(self, source: int) -> str:
        """The counts of a source of which frames are stored, "" if it is too early for others than those shown, or if there are none."""
        now = self._clock()
        if now < self._next:
            return ""
        self._next = now + LIVE_SECONDS
        if source not in self._counts and not self._begin(source):
            return ""
        live = self._counts[source]
        if live is None:
            return ""
        counts = live.update(LIVE_SECONDS * LIVE_SHARE)
        shown = [f"{shape.name}: {counts.text(number)}" for number, shape in enumerate(self._zones.shapes[:MAX_SHOWN])]
        return "; ".join(shown) + ("; …" if len(self._zones.shapes) > MAX_SHOWN else "")

    def _begin(self, source: int) -> bool:
        """Begin to count in a source. Whether enough frames of it are stored to know the usual time between them."""
        with SessionReader(self._database) as reader:
            stored = next((each for each in reader.sources() if each.number == source), None)
            if stored is None or reader.count(source) < LIVE_FRAMES:
                return False
            try:
                fitted = zones_for(self._zones, stored)[0] if stored.timed else None
            except UsageError:  # the end of the run says why
                fitted = None
        self._counts[source] = None if fitted is None else LiveCounts(self._database, source, fitted)
        return True


def count_sources(reader: SessionReader, zones: ZoneSet, only: Collection[int] | None = None) -> list[dict[str, Any]]:
    """Count the tracks of each video of a session, and the objects in each picture. only: numbers of sources, None = all.

    Returns for each source its path and either its counts or the error: it has no tracks, or its pictures have another shape.

    Raises ExportError: the session cannot be read.
    """
    found: list[dict[str, Any]] = []
    sources = [source for source in reader.sources() if source.kind is not None and (only is None or source.number in only)]
    for source in sources:
        try:
            found.append({"path": source.path, **_counted(reader, source, zones)})
        except UsageError as error:
            found.append({"path": source.path, "counts": [], "error": str(error)})
    return found


def counts_together(parts: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The sums of what ``count_sources`` returned for the parts of a session, for each source."""
    if len(parts) == 1:
        return parts[0]
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in (source for part in parts for source in part):
        found[each["path"]].append(each)
    together = []
    for path, sources in found.items():
        shapes = zip(*(source["counts"] for source in sources if "error" not in source), strict=True)
        counts = [{key: _sum(key, [each[key] for each in shape]) for key in shape[0]} for shape in shapes]
        errors = [source["error"] for source in sources if "error" in source]
        together.append({"path": path, "counts": counts, **({"error": errors[-1]} if errors else {})})
    return together


def without_notes(counted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What ``count_sources`` returned, for ``--json``."""
    return [{key: value for key, value in each.items() if key != "notes"} for each in counted]


def scaling_notes(zones: ZoneSet, sources: Iterable[StoredSource]) -> list[str]:
    """A note for each of these videos to whose size lines and zones are scaled."""
    notes = []
    for source in sources:
        with suppress(UsageError):  # another shape: the counts say so
            notes.append(zones_for(zones, source)[1] if source.timed else None)
    return [str(note) for note in notes if note is not None]


def untracked_lines(reader: SessionReader, only: Collection[int]) -> list[str]:
    """A line of text for each of these videos without tracks or with unreliable ones, which says why."""
    lines = []
    for source in reader.sources():
        if source.number in only and source.timed and reader.is_tracked(source.number):
            if problem := tracks.motion_problem(reader, source.number):
                lines.append(f"{source.path}: {problem}")
            elif why := tracks.why_untracked(reader, source.number):
                lines.append(f"{source.path}: no object was followed: {why}")
    return lines


def _counted(reader: SessionReader, source: StoredSource, zones: ZoneSet) -> dict[str, Any]:
    if source.timed:
        counts = read_counts(reader, source, zones_for(zones, source)[0])
        return {"counts": counts.as_json(), "notes": counts.notes(zones.class_ids(reader.labels))}
    pictures = count_pictures(reader, source, zones)
    rows = zip(zones.zones, pictures.sum(1).tolist(), pictures.max(1, initial=0).tolist(), strict=True)
    return {"pictures": pictures.shape[1], "counts": [{"zone": zone.name, "objects": total, "most": most} for zone, total, most in rows]}


def counts_lines(counted: list[dict[str, Any]], verbose: bool) -> list[str]:
    """The counts as lines of text: for each source a table of its lines and one of its zones; the totals of several sources first.

    verbose: also each of many sources.
    """
    lines: list[str] = []
    totals = [*_totals(counted, "videos"), *_totals(counted, "pictures")]
    many = len(counted) > MAX_LINES and not verbose
    for source in (*totals, *([each for each in counted if "error" in each] if many else counted)):
        lines.append(f"{source['path']}: {source['error']}" if "error" in source else f"{source['path']}:")
        at_lines = Table("  {:24} {:>9} {:>9}", ("line", "forward", "backward"))
        in_zones = Table("  {:24} {:>9} {:>9} {:>13}", ("zone", "visits", "entered", "seconds each"))
        in_pictures = Table("  {:24} {:>9} {:>13} {:>9}", ("zone", "objects", "per picture", "most"))
        for each in source["counts"]:
            if "line" in each:
                lines += at_lines.lines(each["line"], each["forward"], each["backward"])
        lines += [f"  {each}" for each in source.get("notes", ())]
        for each in source["counts"]:
            if "pictures" in source:
                number = max(source["pictures"], 1)
                lines += in_pictures.lines(each["zone"], each["objects"], f"{each['objects'] / number:.2f}", each["most"])
            elif "zone" in each:
                lines += in_zones.lines(each["zone"], each["visits"], each["entered"], _mean(each))
    return lines


def _totals(counted: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The sums over all videos, or over all folders of pictures, as a source of its own; none if there are fewer than two."""
    mine = [source for source in counted if "error" not in source and ("pictures" in source) == (kind == "pictures")]
    if len(mine) < 2:
        return []
    shapes = zip(*(source["counts"] for source in mine), strict=True)  # each source has the same lines and zones, in this order
    counts = [{key: _sum(key, [each[key] for each in shape]) for key in shape[0]} for shape in shapes]
    together = {"pictures": sum(source["pictures"] for source in mine)} if kind == "pictures" else {}
    what = "videos" if kind == "videos" else "folders"
    return [{"path": f"all {len(mine):,} {what}", "counts": counts, **together}]


def _sum(key: str, values: list[Any]) -> Any:
    return values[0] if key in ("line", "zone") else max(values) if key == "most" else sum(values)


def _mean(counted: dict[str, Any]) -> str:
    return f"{counted['seconds'] / counted['visits']:.1f}" if counted["visits"] else ""
