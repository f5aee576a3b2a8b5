"""What every result format has: ``Exporter``, and files that appear only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, TypeAlias

from engine.media.types import SourceKind
from engine.store.schema import explained
from engine.store.session import SessionReader, StoredSource

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of frames written so far. If it raises, the export ends and leaves no file."""


@dataclass(frozen=True)
class Exporter:
    """A result format.

    title: what the file holds, for menus. suffix: of the file name. kinds: of the sources that the format is for. slow: whether writing
    decodes the source again. write: writes one source of a session to a file, which appears complete or not at all; raises ExportError.
    """

    title: str
    suffix: str
    write: Callable[[SessionReader, StoredSource, Path, Progress], None]
    kinds: frozenset[str] = frozenset(SourceKind)
    slow: bool = False


def text_exporter(title: str, suffix: str, write: Callable[[SessionReader, StoredSource, TextIO], None]) -> Exporter:
    """An exporter of a text format. write: writes one source to an open text file."""

    def write_file(reader: SessionReader, source: StoredSource, path: Path, _progress: Progress) -> None:
        with explained(path, "write"), complete_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
            write(reader, source, file)

    return Exporter(title, suffix, write_file)


def part_of(path: Path) -> Path:
    """The temporary file beside a file that is being written: ``.NAME.part``."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def complete_file(path: Path, keep_part: bool = False) -> Iterator[Path]:
    """Give a temporary file to write. At the end it is stored on disk and gets its name; after an error it is deleted.

    A killed process may leave the temporary file, which the next export overwrites. keep_part: do not delete it after an error.
    """
    part = part_of(path)
    try:
        yield part
        _sync(part)
        part.replace(path)
        if os.name == "posix":
            _sync(path.parent)  # the new name must reach the disk, too
    except BaseException:
        if not keep_part:
            part.unlink(missing_ok=True)
        raise


def _sync(path: Path) -> None:
    """Wait until a file or folder is stored on disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
