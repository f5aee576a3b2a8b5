"""Exports the sources of a session to files in the selected formats."""

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from framefleet.engine.errors import ExportError
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.store.export.destinations import Destinations, Protected, names_for
from framefleet.engine.store.export.outputs import JOURNAL, Outputs, Purpose, recover
from framefleet.engine.store.export.planning import Planned, plan_export, source_stems
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.common.base import Export, Progress, part_of
from framefleet.engine.store.exporters.common.options import DEFAULTS, ExportOptions
from framefleet.engine.store.schema import explained
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.sources import name_key

STAGE = ".framefleet-export"
"""Name of the hidden folder in which files are written before they get their names."""


@dataclass(frozen=True)
class Exported:
    """A file or folder that was written. frames: number of frames in it. complete: whether these are all frames. notes: for the user."""

    path: Path
    frames: int
    complete: bool
    notes: tuple[str, ...] = ()


def export_session(
    reader: SessionReader,
    folder: Path,
    formats: Sequence[str],
    progress: Callable[[Path, int, int], None] | None = None,
    failed: Callable[[ExportError], None] | None = None,
    options: ExportOptions = DEFAULTS,
    only: Collection[int] | None = None,
    overwrite: bool = False,
    waiting: Callable[[str], None] = lambda _: None,
    whole: bool = True,
) -> list[Exported]:
    """Write the files of each format: ``folder/STEM.SUFFIX`` for each source that the format supports, and files of the whole session.

    Sources that could not be opened, and incomplete sources without frames, have no file of their own. Sources with the same stem become
    ``STEM``, ``STEM-2``, ``STEM-3``, … in their order. A file replaces only one that an earlier export wrote for the same source, and only
    with more frames; otherwise, it gets the next free name: see ``engine.store.export.destinations``. The same applies to files of the
    session.

    The files are written in a hidden folder in ``folder``. While another process exports to ``folder``, this one waits.

    progress: called with a file, the number of its written frames, and the number of all its frames. An ExportError that it raises
    ends this file.
    failed: called with the error of each file that cannot be written; None: the first error ends the export.
    options: of the formats. only, whole: see ``plan_export``.
    overwrite: also replace files that Framefleet did not write. waiting: called once with the process for which this one waits, in words.

    Raises:
        UsageError: a format does not exist.
        ExportError: a file cannot be written.
    """
    planned = plan_export(reader, formats, options, only, whole)
    stems = source_stems(reader.sources())
    suffixes = {output.suffix for exporter in EXPORTERS.values() for output in exporter.outputs if not output.per_session}
    taken = frozenset(name_key(f"{stem}{suffix}") for stem in stems for suffix in suffixes)
    written = []
    with stage(folder, waiting) as place, Destinations(reader.path, Protected.of(reader), overwrite, place) as destinations:
        for plan in planned:
            made = place / plan.name
            purpose = replace(_purpose(plan, len(stems)), content=_content(reader, plan, options))
            existing = destinations.existing(folder, purpose) if purpose.content else None
            if existing is not None:
                written.append(Exported(existing, plan.frames, plan.complete))
                continue
            report = _report(progress, folder / plan.name, plan.output.passes, plan.steps)
            export = Export(reader, plan.sources, plan.stems, made, folder, options, report)
            try:
                plan.output.write(export)
                with explained(folder / plan.name, "write"):
                    path = destinations.place(made, folder, names_for(plan.stem, plan.suffix, plan.complete, taken), purpose)
            except ExportError as error:
                words = str(error).replace(str(part_of(made)), str(made))
                shown = ExportError(words.replace(str(made), str(folder / plan.name)))
                if failed is None:
                    raise shown from error
                failed(shown)
            else:
                notes = (note.replace(str(made), str(path)) for note in export.notes)
                written.append(Exported(path, plan.frames, plan.complete, tuple(notes)))
    return written


def replaces(reader: SessionReader, plan: Planned, folder: Path) -> bool:
    """Whether a planned file replaces the one of its name in ``folder``, because an earlier export of the same results wrote it.

    Raises:
        ExportError: the session cannot be read.
    """
    recorded = Outputs(reader.path).purpose_of(folder / plan.name)
    return recorded is not None and _purpose(plan, len(reader.sources())).same_file(recorded)


def _purpose(plan: Planned, sources: int) -> Purpose:
    """The purpose of a planned file. sources: number of sources in the session."""
    whole_session = plan.output.per_session and len(plan.sources) == sources
    about = "" if whole_session else "\n".join(os.path.normpath(source.file) for source in plan.sources)
    return Purpose(about, plan.output.suffix, plan.complete)


@contextmanager
def stage(folder: Path, waiting: Callable[[str], None]) -> Iterator[Path]:
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
