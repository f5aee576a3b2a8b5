"""Writing results: every source of a session in every wanted format, each file complete or not there at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from engine.errors import UsageError
from engine.store.exporters import coco, jsonl
from engine.store.schema import explained
from engine.store.session import SessionReader, StoredSource

EXPORTERS: dict[str, Callable[[SessionReader, StoredSource, TextIO], None]] = {"jsonl": jsonl.write, "coco": coco.write}
SUFFIXES = {"jsonl": ".jsonl", "coco": ".coco.json"}


@dataclass(frozen=True)
class Exported:
    """One file that was written. frames: how many are in it. complete: whether those are all of the source."""

    source: StoredSource
    path: Path
    frames: int
    complete: bool


def export_session(reader: SessionReader, folder: Path, formats: Sequence[str]) -> list[Exported]:
    """Write ``folder/STEM.SUFFIX`` for every source that could be opened (and, if it was not finished, has frames) and every format.

    Sources of the same stem get ``STEM-2``, ``STEM-3``, … in their order. A file of that name is replaced, at once and
    only when the new one is complete on disk; but one source that was not finished never replaces an older result: it is
    then written as ``STEM.partial.SUFFIX``.

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
        for name in formats:
            path = folder / f"{stem}{SUFFIXES[name]}"
            if not source.complete and path.exists():
                path = folder / f"{stem}.partial{SUFFIXES[name]}"
            with explained(path, "write"), atomic_text(path) as file:
                EXPORTERS[name](reader, source, file)
            written.append(Exported(source, path, frames, source.complete))
    return written


def file_stems(paths: Sequence[str]) -> list[str]:
    """A different stem for each path, also where case does not count: x, x-2, x-3, …; a path named x-2 itself keeps its own."""
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
    return (path.name if path.is_dir() else path.stem) or "source"


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 file that appears under its name when it is complete and on disk, or not at all.

    Until then it is ``.NAME.part`` beside it; what a killed process left there, the next one overwrites.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # the new name itself must reach the disk too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
