"""Exports the sources of a session to files in the selected formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ExportError, UsageError
from engine.media.sources import is_folder
from engine.store.exporters import EXPORTERS
from engine.store.exporters.base import Progress
from engine.store.schema import explained
from engine.store.session import SessionReader, StoredSource

LONGEST_STEM = 200
"""Maximum length of a stem, bytes. Most file systems allow 255 in all: a number, ``.partial``, the suffix and ``part_of`` add to it."""


@dataclass(frozen=True)
class Exported:
    """A file that was written. frames: number of frames in the file. complete: whether these are all frames of the source."""

    source: StoredSource
    path: Path
    frames: int
    complete: bool


def export_session(
    reader: SessionReader,
    folder: Path,
    formats: Sequence[str],
    progress: Callable[[Path, int, int], None] | None = None,
    failed: Callable[[ExportError], None] | None = None,
) -> list[Exported]:
    """Write ``folder/STEM.SUFFIX`` for each source and each format that supports its kind of source.

    Sources that could not be opened, and incomplete sources without frames, have no file. Sources with the same stem become ``STEM``,
    ``STEM-2``, ``STEM-3``, … in their order. The file of a complete source replaces an existing file. An incomplete source never
    replaces one: its file becomes ``STEM.partial.SUFFIX`` if ``STEM.SUFFIX`` exists.

    progress: called with a file, the number of its frames written so far, and the number of all its frames.
    failed: called with the error of each file that cannot be written; None: the first error ends the export.

    Raises:
        UsageError: a format does not exist.
        ExportError: a file cannot be written.
    """
    for name in formats:
        if name not in EXPORTERS:
            raise UsageError(f"there is no format '{name}': choose from {', '.join(EXPORTERS)}")
    with explained(folder, "make"):
        folder.mkdir(parents=True, exist_ok=True)
    sources = reader.sources()
    written = []
    for source, stem in zip(sources, file_stems([source.path for source in sources]), strict=True):
        frames = reader.count(source.number)
        if source.kind is None or not (frames or source.complete):
            continue
        for exporter in (EXPORTERS[name] for name in formats):
            if source.kind not in exporter.kinds or (exporter.slow and source.complete and not source.ledger.inferred):
                continue  # if no frame of a video could be decoded, there are no pictures to draw on
            path = folder / f"{stem}{exporter.suffix}"
            if not source.complete and path.exists():
                path = folder / f"{stem}.partial{exporter.suffix}"
            try:
                exporter.write(reader, source, path, _report(progress, path, frames))
            except ExportError as error:
                if failed is None:
                    raise
                failed(error)
            else:
                written.append(Exported(source, path, frames, source.complete))
    return written


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
    stem = re.sub(r"\\x[0-9A-F]{2}", "_", stem)  # bytes that are not text: not every file system accepts a backslash
    return stem.encode("utf-8", "replace")[:LONGEST_STEM].decode("utf-8", "ignore")


def _report(progress: Callable[[Path, int, int], None] | None, path: Path, total: int) -> Progress:
    return lambda frames: progress(path, frames, total) if progress is not None else None
