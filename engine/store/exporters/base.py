"""The interface of export formats (``Exporter``), and files that appear only when they are complete."""

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
"""Called with the number of frames written so far. An exception that it raises ends the export, without a file."""


@dataclass(frozen=True)
class Exporter:
    """An export format.

    title: text for menus. suffix: suffix of file names. write: writes one source of a session to a file, which appears complete or not
    at all; raises ExportError. kinds: the kinds of sources that the format supports. slow: whether writing decodes the source again.
    """

    title: str
    suffix: str
    write: Callable[[SessionReader, StoredSource, Path, Progress], None]
    kinds: frozenset[str] = frozenset(SourceKind)
    slow: bool = False


def text_exporter(title: str, suffix: str, write: Callable[[SessionReader, StoredSource, TextIO], None]) -> Exporter:
    """Create an exporter of a text format. write: writes one source to an open text file."""

    def write_file(reader: SessionReader, source: StoredSource, path: Path, _progress: Progress) -> None:
        with explained(path, "write"), complete_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
            write(reader, source, file)

    return Exporter(title, suffix, write_file)


def part_of(path: Path) -> Path:
    """Return the path of the temporary file for a file that is being written: ``.NAME.part`` in the same folder."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def complete_file(path: Path, keep_part: bool = False) -> Iterator[Path]:
    """Provide the path of a temporary file, as a context manager. Afterwards, sync the file to disk and rename it to ``path``.

    The temporary file is deleted after an error, unless ``keep_part`` is set. It remains if the process is killed; the next export
    overwrites it.
    """
    part = part_of(path)
    try:
        yield part
        _sync(part)
        part.replace(path)
        if os.name == "posix":
            _sync(path.parent)  # stores the new name
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
