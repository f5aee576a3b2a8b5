"""The interface of export formats (``Exporter``), and files that appear only when they are complete."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TextIO, TypeAlias

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.store.exporters.common.options import ExportOptions
from framefleet.engine.store.facts import looked_for
from framefleet.engine.store.reader import Block
from framefleet.engine.store.schema import explained
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.types import FrameResult

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of written frames. An exception that it raises ends the export, without a file."""

STAGE = ".framefleet-export"
"""Name of the hidden folder in which exports write files before they get their names."""

REPORT_FRAMES = 500
"""Number of frames from one call of ``Progress`` to the next."""


@dataclass
class Export:
    """The task of writing one file or folder.

    sources: what goes into it: one source, or all sources of the session. stems: a different name for each source, for files in a
    folder. path: the file or folder to write. place: the folder into which it is moved when it is complete. notes: messages for the user.
    written: number of written frames.
    """

    reader: SessionReader
    sources: Sequence[StoredSource]
    stems: Sequence[str]
    path: Path
    place: Path
    options: ExportOptions
    progress: Progress
    notes: list[Notice] = field(default_factory=list)
    written: int = 0
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What the tasks of one run share: finding all class ids reads the whole session."""

    @property
    def source(self) -> StoredSource:
        """The source of a file that is written for each source."""
        return self.sources[0]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of all classes. A class without a label has its number."""
        if "labels" not in self.known:
            labels = self.reader.labels
            self.known["labels"] = (*labels, *map(str, range(len(labels), max(self.reader.class_ids(), default=-1) + 1)))
        return self.known["labels"]

    @cached_property
    def looked_for(self) -> frozenset[int] | None:
        """The ids of the classes that the run looked for and that the export contains; None: all."""
        chosen = [each for each in (looked_for(self.reader.facts), self.reader.classes) if each is not None]
        return frozenset.intersection(*chosen) if chosen else None

    def frames(self, source: StoredSource) -> Iterator[FrameResult]:
        """Yield the frames of a source in order, and report progress."""
        for frame in self.reader.frames(source.number):
            yield frame
            self.written += 1
            if self.written % REPORT_FRAMES == 0:
                self.progress(self.written)

    def blocks(self, source: StoredSource) -> Iterator[Block]:
        """Yield the frames of a source in blocks, and report progress."""
        for block in self.reader.blocks(source.number):
            yield block
            self.written += len(block.frames)
            self.progress(self.written)


@dataclass(frozen=True)
class Output:
    """A file or folder that belongs to a format.

    suffix: ends its name, after the source's; the complete name if it is ``per_session``. write: writes it, so that it appears complete
    or not at all; raises ExportError. passes: how often writing reads all frames. slow: whether writing decodes the source again, so that
    an unchanged file is kept instead. folder: whether it is a folder. joins: whether it can contain all sources, see
    ``ExportOptions.one_table``. needs: "lines" or "zones" if it is written only where there are any.
    """

    suffix: str
    write: Callable[[Export], None]
    per_session: bool = False
    passes: int = 1
    slow: bool = False
    folder: bool = False
    joins: bool = False
    needs: str = ""


@dataclass(frozen=True)
class Exporter:
    """An export format.

    title: text for menus. purpose: what it is for, in one line. outputs: the files and folders that it consists of. kinds: the kinds of
    sources that it supports. options: names of the fields of ``ExportOptions`` that it uses.
    """

    title: str
    purpose: str
    outputs: tuple[Output, ...]
    kinds: frozenset[str] = frozenset(SourceKind)
    options: tuple[str, ...] = ()

    @property
    def slow(self) -> bool:
        """Whether writing decodes the source again."""
        return any(output.slow for output in self.outputs)


def text_output(suffix: str, write: Callable[[Export, TextIO], None], per_session: bool = False, passes: int = 1) -> Output:
    """Create the output of a text format in UTF-8. write: writes to an open text file."""

    def write_file(export: Export) -> None:
        with text_file(export.path) as file:
            write(export, file)

    return Output(suffix, write_file, per_session, passes)


@contextmanager
def text_file(path: Path, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open a text file that appears when the context ends without an error. Raises ExportError."""
    with explained(path, "write"), complete_file(path) as part, part.open("w", encoding=encoding, newline="") as file:
        yield file


def write_list(file: TextIO, items: Iterable[str]) -> None:
    """Write a JSON list, one item a line. items: as JSON."""
    separator = "[\n"
    for item in items:
        file.write(separator + item)
        separator = ",\n"
    file.write("[]" if separator == "[\n" else "\n]")


def part_of(path: Path) -> Path:
    """Return the path of the temporary file for a file that is being written: ``.NAME.part`` in the same folder."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def complete_file(path: Path, keep_part: bool = False) -> Iterator[Path]:
    """Provide the path of a temporary file, as a context manager. Afterwards, sync the file to disk and rename it to ``path``.

    In the hidden folder of ``export.run``, files are not synced one by one: the export syncs many of them at once, before it moves them.
    The temporary file is deleted after an error, unless ``keep_part`` is set. It remains if the process is killed; the next export
    overwrites it.
    """
    part = part_of(path)
    try:
        yield part
        staged = path.parent.name == STAGE
        if not staged:
            sync(part)
        part.replace(path)
        if os.name == "posix" and not staged:
            sync(path.parent)  # stores the new name
    except BaseException:
        if not keep_part:
            part.unlink(missing_ok=True)
        raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Create a folder, as a context manager. It is deleted after an error. Exports create it in the hidden folder of ``export.run``."""
    try:
        path.mkdir()
        yield path
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def sync(path: Path) -> None:
    """Wait until a file or folder is stored on disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
