"""Exports the sources of a session to files in the selected formats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ExportError, UsageError
from engine.media.sources import is_folder
from engine.store.exporters import EXPORTERS
from engine.store.exporters.base import Export, Exporter, Output, Progress
from engine.store.exporters.options import DEFAULTS, ExportOptions
from engine.store.schema import explained
from engine.store.session import SessionReader, StoredSource

LONGEST_STEM = 200
"""Maximum length of a stem, bytes. Most file systems allow 255 in all: a number, ``.partial``, the suffix and ``part_of`` add to it."""


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
) -> list[Exported]:
    """Write the files of each format: ``folder/STEM.SUFFIX`` for each source that the format supports, and files of the whole session.

    Sources that could not be opened, and incomplete sources without frames, have no file of their own. Sources with the same stem become
    ``STEM``, ``STEM-2``, ``STEM-3``, … in their order. The file of a complete source replaces an existing file. An incomplete source never
    replaces one: its file becomes ``STEM.partial.SUFFIX`` if ``STEM.SUFFIX`` exists. The same applies to files of the whole session.

    progress: called with a file, the number of its frames written so far, and the number of all its frames. An ExportError that it raises
    ends this file.
    failed: called with the error of each file that cannot be written; None: the first error ends the export.
    options: of the formats. only: numbers of the sources to export; None: all.

    Raises:
        UsageError: a format does not exist.
        ExportError: a file cannot be written.
    """
    for name in formats:
        if name not in EXPORTERS:
            raise UsageError(f"there is no format '{name}': choose from {', '.join(EXPORTERS)}")
    with explained(folder, "make"):
        folder.mkdir(parents=True, exist_ok=True)
    everything = reader.sources()
    stems = file_stems([source.path for source in everything])
    sources = [source for source in everything if only is None or source.number in only]
    stem_of = {source.number: stem for source, stem in zip(everything, stems, strict=True)}
    frames = {source.number: reader.count(source.number) for source in sources}
    written = []
    for output, group in _plan([EXPORTERS[name] for name in formats], sources, frames):
        total, complete = sum(frames[source.number] for source in group), all(source.complete for source in group)
        path = _target(folder, output, "" if output.per_session else stem_of[group[0].number], complete)
        report = _report(progress, path, output.passes, total)
        export = Export(reader, group, [stem_of[source.number] for source in group], path, options, report)
        try:
            output.write(export)
        except ExportError as error:
            if failed is None:
                raise
            failed(error)
        else:
            written.append(Exported(path, total, complete, tuple(export.notes)))
    return written


def _plan(
    exporters: Sequence[Exporter], sources: Sequence[StoredSource], frames: Mapping[int, int]
) -> Iterator[tuple[Output, list[StoredSource]]]:
    """Yield the files to write with their sources: first those of each source, then those of the session. frames: by source."""
    for source in sources:
        if source.kind is None or not (frames[source.number] or source.complete):
            continue
        for exporter in exporters:
            if source.kind not in exporter.kinds or (exporter.slow and source.complete and not source.ledger.inferred):
                continue  # if no frame of a video could be decoded, there are no pictures to draw on
            yield from ((output, [source]) for output in exporter.outputs if not output.per_session)
    for exporter in exporters:
        fitting = [source for source in sources if source.kind is None or source.kind in exporter.kinds]
        if any(source.kind is not None for source in fitting):
            yield from ((output, fitting) for output in exporter.outputs if output.per_session)


def _target(folder: Path, output: Output, stem: str, complete: bool) -> Path:
    """Return the path of a file. An incomplete result gets another name if the file exists."""
    path = folder / f"{stem}{output.suffix}"
    if complete or not path.exists():
        return path
    if stem:
        return folder / f"{stem}.partial{output.suffix}"
    return path.with_name(f"{path.stem}.partial{path.suffix}")


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
