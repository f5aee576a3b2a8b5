"""Exports the sources of a session to files in the selected formats."""

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

from framefleet.engine.media.sources import is_folder
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, UsageError
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store.destinations import JOURNAL, Destinations, Outputs, Protected, Purpose, names_for, recover
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.base import STAGE, Export, Exporter, Known, Output, Progress, part_of, sync
from framefleet.engine.store.exporters.options import DEFAULTS, ExportOptions
from framefleet.engine.store.schema import explained
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.sources import name_key, readable_name

LONGEST_STEM = 200
"""Maximum length of a stem, bytes. Most file systems allow 255 in all: a number, ``.partial``, the suffix and ``part_of`` add to it."""


@dataclass(frozen=True)
class Planned:
    """A file or folder that an export writes.

    stem: its name without suffix. suffix: ends its name. stems: a different name for each source. frames: number of stored frames of all
    sources. steps: number of frames that writing it goes through.
    """

    stem: str
    suffix: str
    output: Output
    sources: Sequence[StoredSource]
    stems: Sequence[str]
    frames: int
    steps: int

    @property
    def name(self) -> str:
        """The name that it gets if no other file has it."""
        return self.numbered(1)

    def numbered(self, number: int) -> str:
        """The name with a number behind the stem; 1 = without one."""
        return f"{self.stem}{f'-{number}' * (number > 1)}{self.suffix}"

    @property
    def complete(self) -> bool:
        """Whether it contains all frames of its sources."""
        return all(source.complete for source in self.sources)


def plan_export(
    reader: SessionReader,
    formats: Sequence[str],
    options: ExportOptions,
    only: Collection[int] | None,
    whole: bool,
) -> list[Planned]:
    """Return the files that ``export_session`` writes, in this order: those of each source, then those of the session.

    only: numbers of the sources to export; None: all. whole: whether files of the whole session contain all sources even then.

    Raises
    ------
    UsageError
        A format does not exist.
    ExportError
        The session cannot be read.
    """
    for name in formats:
        if name not in EXPORTERS:
            raise UsageError(Notice("store.no_such_format", name=name, formats=tuple(EXPORTERS)))
    sources = [_with_clock(source, options.clock) for source in reader.sources()]
    stems = dict(zip((source.number for source in sources), source_stems(sources), strict=True))
    frames = {source.number: reader.count(source.number) for source in sources}
    chosen = [source for source in sources if only is None or source.number in only]
    planned = []
    for output, group in _outputs([_wanted(EXPORTERS[name], options) for name in formats], chosen, sources if whole else chosen, frames):
        numbers = [source.number for source in group]
        whole_name = Path(output.suffix)
        stem, suffix = (whole_name.stem, whole_name.suffix) if output.per_session else (stems[numbers[0]], output.suffix)
        total = sum(frames[number] for number in numbers)
        steps = sum(_frames_of_video(reader, source) for source in group) if output.slow else total
        planned.append(Planned(stem, suffix, output, group, [stems[number] for number in numbers], total, steps))
    return planned


def _wanted(exporter: Exporter, options: ExportOptions) -> Exporter:
    """Return the format with the outputs that these options ask for."""
    outputs = [output for output in exporter.outputs if not output.needs or options.zones is None or getattr(options.zones, output.needs)]
    if options.one_table:
        outputs = [replace(each, suffix=each.suffix.lstrip("."), per_session=True) if each.joins else each for each in outputs]
    return replace(exporter, outputs=tuple(outputs))


def _frames_of_video(reader: SessionReader, source: StoredSource) -> int:
    """The number of frames of an annotated video: it also shows those that a sampled run left out, but no failed ones."""
    whole = reader.span is None and source.complete
    count = reader.length if whole else reader.extent if reader.is_sampled else reader.count
    return count(source.number) - reader.failed(source.number)


def _with_clock(source: StoredSource, clock: ClockSettings | None) -> StoredSource:
    """Return a source with the clock time that these settings give it."""
    if clock is None:
        return source
    if source.kind is SourceKind.IMAGES:
        return replace(source, picture_clock=clock.for_pictures)
    return replace(source, started=clock.started(source.file, source.created))


def _outputs(
    exporters: Sequence[Exporter], chosen: Sequence[StoredSource], together: Sequence[StoredSource], frames: Mapping[int, int]
) -> Iterator[tuple[Output, list[StoredSource]]]:
    """Yield the files to write with their sources: first those of each chosen source, then those of all sources together.

    frames: by source.
    """
    for source in chosen:
        if source.kind is None or not (frames[source.number] or source.complete):
            continue
        for exporter in exporters:
            if source.kind not in exporter.kinds or (exporter.slow and source.complete and not source.ledger.inferred):
                continue  # if no frame of a video could be decoded, there are no pictures to draw on
            yield from ((output, [source]) for output in exporter.outputs if not output.per_session)
    for exporter in exporters:
        fitting = [source for source in together if source.kind is None or source.kind in exporter.kinds]
        if any(source.kind is not None for source in fitting):
            yield from ((output, fitting) for output in exporter.outputs if output.per_session)


def source_stems(sources: Sequence[StoredSource]) -> list[str]:
    """Return a different file stem for each source: see ``file_stems``. A path such as ``.`` refers to the folder of the run."""
    return file_stems([readable_name(str(source.file)) for source in sources])


def file_stems(paths: Sequence[str]) -> list[str]:
    """Return a different file stem for each path: x, x-2, x-3, … for paths with the same stem. A path named x-2 keeps its stem.

    Stems that some file systems take for the same count as the same: see ``name_key``. Long stems are shortened to leave room for a suffix.
    """
    natural = [_stem(Path(path)) for path in paths]
    taken = {name_key(stem) for stem in natural}
    stems: list[str] = []
    last: dict[str, int] = {}  # by the key of the stem, the number of the last name that was tried
    for stem in natural:
        name, key = stem, name_key(stem)
        if key in last:
            while name_key(name) in taken:
                last[key] += 1
                name = f"{stem}-{last[key]}"
            taken.add(name_key(name))
        last.setdefault(key, 1)
        stems.append(name)
    return stems


def _stem(path: Path) -> str:
    path = path if path.name not in ("", "..") else path.resolve()
    stem = (path.name if is_folder(path) else path.stem) or "source"
    stem = re.sub(r"\\x[0-9A-F]{2}", "_", stem)  # bytes that are not text: not every file system accepts a backslash
    return stem.encode("utf-8", "replace")[:LONGEST_STEM].decode("utf-8", "ignore")


MOVED_TOGETHER = 64
"""Number of small files that get their names at once."""

_SYNCED_AT_ONCE = 16


@dataclass(frozen=True)
class Exported:
    """A file or folder that was written. frames: number of frames in it. complete: whether these are all frames. notes: for the user."""

    path: Path
    frames: int
    complete: bool
    notes: tuple[Notice, ...] = ()


def export_session(
    reader: SessionReader,
    folder: Path,
    formats: Sequence[str],
    progress: Callable[[Path, int, int], None] | None = None,
    failed: Callable[[ExportError], None] | None = None,
    options: ExportOptions = DEFAULTS,
    only: Collection[int] | None = None,
    overwrite: bool = False,
    waiting: Callable[[Notice], None] = lambda _: None,
    whole: bool = True,
    together: bool = False,
) -> list[Exported]:
    """Write the files of each format: ``folder/STEM.SUFFIX`` for each source that the format supports, and files of the whole session.

    Sources that could not be opened, and incomplete sources without frames, have no file of their own. Sources with the same stem become
    ``STEM``, ``STEM-2``, ``STEM-3``, … in their order. A file replaces only one that an earlier export wrote for the same source, and only
    with more frames; otherwise, it gets the next free name: see ``engine.store.destinations``. The same applies to files of the
    session.

    The files are written in a hidden folder in ``folder``. While another process exports to ``folder``, this one waits.

    progress: called with a file, the number of its written frames, and the number of all its frames. An ExportError that it raises
    ends this file.
    failed: called with the error of each file that cannot be written; None: the first error ends the export.
    options: of the formats. only, whole: see ``plan_export``.
    overwrite: also replace files that Framefleet did not write. waiting: called once with the process for which this one waits, in words.
    together: if one file must get a number, all files of this export get the same one.

    Raises
    ------
    UsageError
        A format does not exist.
    ExportError
        A file cannot be written.
    """
    planned = plan_export(reader, formats, options, only, whole)
    stems = source_stems(reader.sources())
    suffixes = {output.suffix for exporter in EXPORTERS.values() for output in exporter.outputs if not output.per_session}
    taken = frozenset(name_key(f"{stem}{suffix}") for stem in stems for suffix in suffixes)
    made: list[_Made] = []
    written: list[Exported] = []
    known = Known()
    with (
        reader.steady(),
        stage(folder, waiting) as place,
        Destinations(reader.path, Protected.of(reader), overwrite, place) as destinations,
        ThreadPoolExecutor(_SYNCED_AT_ONCE) as executor,
    ):

        def move() -> None:
            """Move the files that are made to their places."""
            _sync_all(executor, [each.export.path for each in made])
            for each in made:
                with _failures(each.plan, each.export.path, folder, failed), explained(folder / each.plan.name, "write"):
                    names = names_for(each.plan.stem, each.plan.suffix, each.plan.complete, taken, first)
                    path = destinations.place(each.export.path, folder, names, each.purpose)
                    notes = (_relocated(note, {each.export.path: path}) for note in each.export.notes)
                    written.append(Exported(path, each.plan.frames, each.plan.complete, tuple(notes)))
            made.clear()

        first = first_number(reader, planned, folder, len(stems)) if together else 1
        for plan in planned:
            purpose = replace(_purpose(plan, len(stems)), content=_content(reader, plan, options))
            existing = destinations.existing(folder, purpose) if purpose.content else None
            if existing is not None:
                move()
                written.append(Exported(existing, plan.frames, plan.complete))
                continue
            if plan.output.slow:
                move()  # an interruption of a slow file must not take the others with it
            report = _report(progress, folder / plan.name, plan.output.passes, plan.steps)
            export = Export(reader, plan.sources, plan.stems, place / plan.name, folder, options, report, known=known)
            with _failures(plan, export.path, folder, failed):
                plan.output.write(export)
                made.append(_Made(plan, purpose, export))
            if len(made) == MOVED_TOGETHER or plan.output.slow or plan.output.per_session or plan is planned[-1]:
                move()
        move()
    return written


@dataclass(frozen=True)
class _Made:
    """A file in the hidden folder that gets its name next."""

    plan: Planned
    purpose: Purpose
    export: Export


@contextmanager
def _failures(plan: Planned, made: Path, folder: Path, failed: Callable[[ExportError], None] | None) -> Iterator[None]:
    """Pass on an error with the name of the file instead of that of the hidden one. failed: None raises it.

    What a killed process had written of a video stays beside the other files.
    """
    try:
        yield
    except ExportError as error:
        part = part_of(made)
        kept = _keep_part(part, plan, folder) if plan.output.slow else None
        path = folder / plan.name
        shown = ExportError(_relocated(error.notice, {part: kept or path, made: path}))
        if failed is None:
            raise shown from error
        failed(shown)


def _relocated(notice: Notice, places: Mapping[Path, Path]) -> Notice:
    """A notice with the paths at which files are in place of those at which they were made."""

    def moved(value: object) -> object:
        if isinstance(value, Notice):
            return _relocated(value, places)
        return places.get(value, value) if isinstance(value, Path) else value

    return Notice(notice.code, **{name: moved(value) for name, value in notice.fields.items()})


def _keep_part(part: Path, plan: Planned, folder: Path) -> Path | None:
    """Move an unfinished file to the first free name ``STEM.partial``, with a number if needed. Returns its path, None if there is none."""
    if not part.is_file() or part.stat().st_size == 0:
        return None
    _, *names = islice(names_for(plan.stem, plan.suffix, complete=False), 1000)  # the first one is that of the whole file
    for path in (folder / name for name in names):
        if not os.path.lexists(path):
            with suppress(OSError):
                part.rename(path)
                return path
    return None


def _sync_all(executor: ThreadPoolExecutor, paths: Sequence[Path]) -> None:
    """Wait until files are stored on disk. Many at once take a tenth of the time that one after the other takes."""
    files = [path for path in paths if path.is_file()]
    share = -(-len(files) // _SYNCED_AT_ONCE)
    groups = [files[first : first + share] for first in range(0, len(files), share or 1)]
    list((executor.map if len(files) > 1 else map)(_sync_each, groups))


def _sync_each(paths: Sequence[Path]) -> None:
    for path in paths:
        sync(path)


def first_number(reader: SessionReader, planned: Sequence[Planned], folder: Path, sources: int) -> int:
    """The first number with which all planned files are new in ``folder`` or replace files that earlier exports wrote for the same purpose.

    1 = no number. sources: number of sources in the session.

    Raises
    ------
    ExportError
        The session cannot be read.
    """
    outputs = Outputs(reader.path)

    def fits(plan: Planned, number: int) -> bool:
        path = folder / plan.numbered(number)
        recorded = outputs.purpose_of(path)
        return not os.path.lexists(path) or (recorded is not None and _purpose(plan, sources).same_file(recorded))

    return next(number for number in count(1) if all(fits(plan, number) for plan in planned))


def _purpose(plan: Planned, sources: int) -> Purpose:
    """The purpose of a planned file. sources: number of sources in the session."""
    whole_session = plan.output.per_session and len(plan.sources) == sources
    about = "" if whole_session else "\n".join(os.path.normpath(source.file) for source in plan.sources)
    return Purpose(about, plan.output.suffix, plan.complete)


@contextmanager
def stage(folder: Path, waiting: Callable[[Notice], None]) -> Iterator[Path]:
    """Provide a hidden folder in ``folder`` for one process at a time. It is empty, also after a process was killed in it."""
    place = folder / STAGE
    with explained(folder, "write"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{STAGE}.lock", waiting)
    with lock:
        with explained(folder, "write"):
            recover(place)
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        try:
            yield place
        finally:
            (place / JOURNAL).unlink(missing_ok=True)
            shutil.rmtree(place, ignore_errors=True)  # it may hold part of a video whose process was stopped


def _content(reader: SessionReader, plan: Planned, options: ExportOptions) -> str:
    """A text that is equal only if the file would be equal. "" if writing the file again is faster than to find out."""
    source = plan.sources[0]
    if not plan.output.slow or source.stamp is None:
        return ""
    drawn = f"{sorted(options.draw)} {options.zones} {reader.tracker(source.number)} {source.started}"
    classes, tracks = ("all" if chosen is None else sorted(chosen) for chosen in (reader.classes, reader.tracks_shown))
    chosen = f"{reader.confidence} {classes} {tracks} {reader.span} {reader.last_edit} {drawn}"
    return f"{reader.facts.get('created')} {source.stamp.digest} {reader.count(source.number)} {chosen}"


def _report(progress: Callable[[Path, int, int], None] | None, path: Path, passes: int, total: int) -> Progress:
    return lambda frames: progress(path, min(frames // passes, total), total) if progress is not None else None
