"""Exports the sources of a session to files in the selected formats."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ExportError, UsageError
from engine.media.sources import is_folder
from engine.processes.file_lock import FileLock
from engine.store.destinations import Destinations, Protected, names_for
from engine.store.exporters import EXPORTERS
from engine.store.exporters.base import Export, Exporter, Output, Progress
from engine.store.exporters.options import DEFAULTS, ExportOptions
from engine.store.outputs import Purpose
from engine.store.schema import explained
from engine.store.session import SessionReader, StoredSource

LONGEST_STEM = 200
"""Maximum length of a stem, bytes. Most file systems allow 255 in all: a number, ``.partial``, the suffix and ``part_of`` add to it."""

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
) -> list[Exported]:
    """Write the files of each format: ``folder/STEM.SUFFIX`` for each source that the format supports, and files of the whole session.

    Sources that could not be opened, and incomplete sources without frames, have no file of their own. Sources with the same stem become
    ``STEM``, ``STEM-2``, ``STEM-3``, … in their order. A file replaces only one that an earlier export wrote for the same source, and only
    with more frames; otherwise, it gets the next free name: see ``engine.store.destinations``. The same applies to files of the session.

    The files are written in a hidden folder in ``folder``. While another process exports to ``folder``, this one waits.

    progress: called with a file, the number of its frames written so far, and the number of all its frames. An ExportError that it raises
    ends this file.
    failed: called with the error of each file that cannot be written; None: the first error ends the export.
    options: of the formats. only: numbers of the sources to export, None: all; files of the whole session always contain all sources.
    overwrite: also replace files that Framefleet did not write. waiting: called once with the process for which this one waits, in words.

    Raises:
        UsageError: a format does not exist.
        ExportError: a file cannot be written.
    """
    for name in formats:
        if name not in EXPORTERS:
            raise UsageError(f"there is no format '{name}': choose from {', '.join(EXPORTERS)}")
    sources = reader.sources()
    stems = dict(zip((source.number for source in sources), file_stems([source.path for source in sources]), strict=True))
    frames = {source.number: reader.count(source.number) for source in sources}
    suffixes = {output.suffix for exporter in EXPORTERS.values() for output in exporter.outputs if not output.per_session}
    taken = frozenset(f"{stem}{suffix}".casefold() for stem in stems.values() for suffix in suffixes)
    written = []
    with _stage(folder, waiting) as stage, Destinations(reader.path, Protected.of(reader), overwrite) as destinations:
        for output, group in _plan([EXPORTERS[name] for name in formats], sources, frames, only):
            total, complete = sum(frames[source.number] for source in group), all(source.complete for source in group)
            whole = Path(output.suffix)
            stem, suffix = (whole.stem, whole.suffix) if output.per_session else (stems[group[0].number], output.suffix)
            made = stage / f"{stem}{suffix}"
            purpose = Purpose(
                "" if output.per_session else os.path.normpath(group[0].file), output.suffix, complete, _content(reader, output, group)
            )
            existing = destinations.existing(folder, purpose) if purpose.content else None
            if existing is not None:
                written.append(Exported(existing, total, complete))
                continue
            report = _report(progress, folder / made.name, output.passes, total)
            export = Export(reader, group, [stems[source.number] for source in group], made, options, report)
            try:
                output.write(export)
                with explained(folder / made.name, "write"):
                    path = destinations.place(made, folder, names_for(stem, suffix, complete, taken), purpose)
            except ExportError as error:
                shown = ExportError(str(error).replace(str(made), str(folder / made.name)))
                if failed is None:
                    raise shown from error
                failed(shown)
            else:
                written.append(Exported(path, total, complete, tuple(export.notes)))
    return written


@contextmanager
def _stage(folder: Path, waiting: Callable[[str], None]) -> Iterator[Path]:
    """Provide a hidden folder in ``folder`` for one process at a time. It is empty, whatever a killed process has left there."""
    stage = folder / STAGE
    with explained(folder, "write"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{STAGE}.lock", waiting)
    with lock:
        with explained(folder, "write"):
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir()
        try:
            yield stage
        finally:
            with suppress(OSError):  # it holds the rest of a video whose process crashed
                stage.rmdir()


def _content(reader: SessionReader, output: Output, group: Sequence[StoredSource]) -> str:
    """A text that is equal only if the file would be equal. "" if writing the file again is faster than to find out."""
    source = group[0]
    if not output.slow or source.stamp is None:
        return ""
    classes = "all" if reader.classes is None else sorted(reader.classes)
    return f"{reader.facts.get('created')} {source.stamp.digest} {reader.count(source.number)} {reader.confidence} {classes}"


def _plan(
    exporters: Sequence[Exporter], sources: Sequence[StoredSource], frames: Mapping[int, int], only: Collection[int] | None
) -> Iterator[tuple[Output, list[StoredSource]]]:
    """Yield the files to write with their sources: first those of each source, then those of the session. frames: by source."""
    for source in sources:
        unwanted = only is not None and source.number not in only
        if unwanted or source.kind is None or not (frames[source.number] or source.complete):
            continue
        for exporter in exporters:
            if source.kind not in exporter.kinds or (exporter.slow and source.complete and not source.ledger.inferred):
                continue  # if no frame of a video could be decoded, there are no pictures to draw on
            yield from ((output, [source]) for output in exporter.outputs if not output.per_session)
    for exporter in exporters:
        fitting = [source for source in sources if source.kind is None or source.kind in exporter.kinds]
        if any(source.kind is not None for source in fitting):
            yield from ((output, fitting) for output in exporter.outputs if output.per_session)


def file_stems(paths: Sequence[str]) -> list[str]:
    """Return a different file stem for each path: x, x-2, x-3, … for paths with the same stem. A path named x-2 keeps its stem.

    Stems that differ only in case count as the same. Long stems are shortened to leave room for a suffix.
    """
    natural = [_stem(Path(path)) for path in paths]
    taken = {stem.casefold() for stem in natural}
    stems: list[str] = []
    seen: set[str] = set()
    for stem in natural:
        name, number = stem, 1
        if stem.casefold() in seen:
            while name.casefold() in taken:
                number += 1
                name = f"{stem}-{number}"
            taken.add(name.casefold())
        seen.add(stem.casefold())
        stems.append(name)
    return stems


def _stem(path: Path) -> str:
    path = path if path.name not in ("", "..") else path.resolve()
    stem = (path.name if is_folder(path) else path.stem) or "source"
    return stem.encode("utf-8", "replace")[:LONGEST_STEM].decode("utf-8", "ignore")


def _report(progress: Callable[[Path, int, int], None] | None, path: Path, passes: int, total: int) -> Progress:
    return lambda frames: progress(path, frames // passes, total) if progress is not None else None
