"""Writing results: every source of a session in every wanted format, each file complete or not there at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, TypeAlias

from engine.errors import ExportError, UsageError
from engine.media.sources import is_folder
from engine.media.types import SourceKind
from engine.store.exporters import coco, jsonl, video
from engine.store.schema import explained
from engine.store.session import SessionReader, StoredSource

Progress: TypeAlias = Callable[[int], None]
"""Gets how many frames of a file are written so far, if writing takes its time. What it raises gives the file up."""


@dataclass(frozen=True)
class Exporter:
    """One format. write: writes one source of a session to a file, complete or not at all. kinds: of sources it is for.

    slow: writing goes through the source once more.
    """

    suffix: str
    write: Callable[[SessionReader, StoredSource, Path, Progress], None]
    kinds: frozenset[str] = frozenset(SourceKind)
    slow: bool = False


def _text(write: Callable[[SessionReader, StoredSource, TextIO], None]) -> Callable[[SessionReader, StoredSource, Path, Progress], None]:
    def write_file(reader: SessionReader, source: StoredSource, path: Path, _progress: Progress) -> None:
        with explained(path, "write"), atomic_text(path) as file:
            write(reader, source, file)

    return write_file


def _video(reader: SessionReader, source: StoredSource, path: Path, progress: Progress) -> None:
    part = part_of(path)
    with explained(path, "write"):
        video.write(reader, source, part, path, progress)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        _put_in_place(part, path)


EXPORTERS = {
    "jsonl": Exporter(".jsonl", _text(jsonl.write)),
    "coco": Exporter(".coco.json", _text(coco.write)),
    # never the name of the source itself, whose folder may be the one for results
    "video": Exporter(".annotated.mp4", _video, frozenset((SourceKind.VIDEO,)), slow=True),
}


LONGEST_STEM = 200
"""Bytes: file systems take names of 255, and a number, ``.partial``, the suffix and what ``part_of`` adds come to it."""


@dataclass(frozen=True)
class Exported:
    """One file that was written. frames: how many are in it. complete: whether those are all of the source."""

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
    """Write ``folder/STEM.SUFFIX`` for every source that could be opened (and, if it was not finished, has frames) and every format
    that is for such sources.

    Sources of the same stem get ``STEM-2``, ``STEM-3``, … in their order. A file of that name is replaced, at once and
    only when the new one is complete on disk; but one source that was not finished never replaces an older result: it is
    then written as ``STEM.partial.SUFFIX``. progress: gets a file, how many of its frames are written, and how many there are.
    failed: gets the error of a file that cannot be written, and the others are written all the same; without it the first one ends all.

    Raises:
        UsageError: no such format.
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
                continue  # of a video without one sound frame there is nothing to show, and the other files must not suffer
            path = folder / f"{stem}{exporter.suffix}"
            if not source.complete and path.exists():
                path = folder / f"{stem}.partial{exporter.suffix}"
            try:
                exporter.write(reader, source, path, _watch(progress, path, frames))
            except ExportError as error:
                if failed is None:
                    raise
                failed(error)
            else:
                written.append(Exported(source, path, frames, source.complete))
    return written


def file_stems(paths: Sequence[str]) -> list[str]:
    """A different stem for each path, also where case does not count: x, x-2, x-3, …; a path named x-2 itself keeps its own.

    A name that leaves no room for a suffix is cut off.
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


def _watch(progress: Callable[[Path, int, int], None] | None, path: Path, total: int) -> Progress:
    def report(frames: int) -> None:
        if progress is not None:
            progress(path, frames, total)

    return report


def part_of(path: Path) -> Path:
    """Where a file is written before it gets its name: ``.NAME.part`` beside it."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 file that appears under its name when it is complete and on disk, or not at all.

    What a killed process left in ``part_of(path)``, the next one overwrites.
    """
    part = part_of(path)
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put_in_place(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _put_in_place(part: Path, path: Path) -> None:
    part.replace(path)
    if os.name == "posix":  # the new name itself must reach the disk too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
