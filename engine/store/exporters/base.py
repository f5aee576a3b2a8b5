"""The interface of export formats (``Exporter``), and files that appear only when they are complete."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TextIO, TypeAlias

import numpy as np

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, FramefleetError, Notice
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.processes.outcome import Failed
from framefleet.engine.processes.watchdog import Clock, start_clock
from framefleet.engine.store.exporters.options import ExportOptions
from framefleet.engine.store.facts import looked_for
from framefleet.engine.store.schema import explained
from framefleet.engine.store.session import Block, SessionReader, StoredSource
from framefleet.engine.types import Detections, FrameResult

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of written frames. An exception that it raises ends the export, without a file."""

STAGE = ".framefleet-export"
"""Name of the hidden folder in which exports write files before they get their names."""

REPORT_FRAMES = 500
"""Number of frames from one call of ``Progress`` to the next."""


@dataclass
class Known:
    """What the tasks of one run share, since finding it reads all frames.

    class_ids: those that occur in some sources; None: in all. track_classes: the class id of each shown track, by source.
    """

    class_ids: dict[frozenset[int] | None, list[int]] = field(default_factory=dict)
    track_classes: dict[int, dict[int, int]] = field(default_factory=dict)


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
    known: Known = field(default_factory=Known)

    @property
    def source(self) -> StoredSource:
        """The source of a file that is written for each source."""
        return self.sources[0]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of all classes. A class without a label has its number."""
        labels = self.reader.labels
        return (*labels, *map(str, range(len(labels), max(self._class_ids(None), default=-1) + 1)))

    @property
    def class_ids(self) -> list[int]:
        """The ids of the classes that occur in the exported sources, in ascending order."""
        numbers = frozenset(source.number for source in self.sources)
        return self._class_ids(numbers if len(numbers) < len(self.reader.sources()) else None)

    def _class_ids(self, sources: frozenset[int] | None) -> list[int]:
        if sources not in self.known.class_ids:
            self.known.class_ids[sources] = self.reader.class_ids(sources)
        return self.known.class_ids[sources]

    @cached_property
    def counted_class_ids(self) -> list[int]:
        """The ids of the classes in tables of counts, in ascending order: those that occur, and those of tracks.

        The class of a track occurs, also if none of its shown detections has that class.
        """
        found = {*self.class_ids, *(class_id for source in self.sources for class_id in self.track_classes(source).values())}
        return sorted(found if self.reader.classes is None else found & self.reader.classes)

    @cached_property
    def looked_for(self) -> frozenset[int] | None:
        """The ids of the classes that the run looked for and that the export contains; None: all."""
        chosen = [each for each in (looked_for(self.reader.facts), self.reader.classes) if each is not None]
        return frozenset.intersection(*chosen) if chosen else None

    @cached_property
    def listed(self) -> frozenset[int] | None:
        """The ids of the classes for a list of all that may occur: ``looked_for``, and those that a person added; None: all."""
        return None if self.looked_for is None else self.looked_for.union(self.class_ids)

    def track_classes(self, source: StoredSource) -> dict[int, int]:
        """Return the class id of each track of a source that has detections in the export."""
        if source.number not in self.known.track_classes:
            classes = {track: class_id for track, class_id, *_ in self.reader.tracks(source.number)}
            blocks = self.reader.blocks(source.number) if classes else ()
            shown = {track for block in blocks for track in np.unique(block.tracks).tolist()}
            self.known.track_classes[source.number] = {track: class_id for track, class_id in classes.items() if track in shown}
        return self.known.track_classes[source.number]

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

    In the hidden folder of an export, files need no temporary name, and are not synced one by one: the export syncs many of them at once,
    before it moves them.
    The temporary file is deleted after an error, unless ``keep_part`` is set. It remains if the process is killed; the next export
    overwrites it.
    """
    staged = path.parent.name == STAGE
    part = path if staged and not keep_part else part_of(path)
    try:
        yield part
        if not staged:
            sync(part)
        if part != path:
            part.replace(path)
        if os.name == "posix" and not staged:
            sync(path.parent)  # stores the new name
    except BaseException:
        if not keep_part:
            part.unlink(missing_ok=True)
        raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Create a folder, as a context manager. It is deleted after an error. Exports create it in their hidden folder."""
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


REPORT_SECONDS = 0.2

STALL_SECONDS = 60.0
"""The time limit for one frame. A frame takes longer only if the decoder or the disk hangs."""


def run_child(name: str, words: Notice, module: str, job: object, progress: Progress, notes: list[Notice] | None = None) -> Notice | None:
    """Call ``main(connection, job)`` of a module in a child process. If ``progress`` raises, the process is killed.

    name: of the process. words: for messages. progress: called with each number that the process sends. notes: gets
    each ``Notice`` that it sends, once. Returns how the process crashed, None if it has done its job.

    Raises ExportError if the process ended with a message about what failed.
    """
    process = ChildProcess(name, _run, module, job, words=words, quiet=True)
    try:
        for message in process.messages():
            if not isinstance(message, Notice):
                progress(message)
            elif notes is not None and message not in notes:
                notes.append(message)
        outcome = process.end()
        if not outcome.crashed and not outcome.retry:
            raise ExportError(outcome.reason)
    except BaseException:
        process.kill()
        process.end()
        raise
    if outcome.crashed:
        return outcome.reason if outcome.exit_code else None
    return Notice("store.process_ended", process=words, reason=outcome.reason)


def _run(connection: AnyConnection, module: str, job: object) -> None:
    import_module(module).main(connection, job)  # only the child loads media libraries


def serve(connection: AnyConnection, opening: Notice, writing: Notice, work: Callable[[Callable[[int], None], Clock], int]) -> None:
    """Do the work of the child process. Sends the number of frames, regularly and at the end, or ``Failed``.

    work: takes a function that it calls with the number of finished frames, and the watchdog's clock; returns the number of frames.
    opening, writing: descriptions of what may hang.
    """
    clock = start_clock(connection, STALL_SECONDS)
    due = 0.0

    def report(frames: int) -> None:
        nonlocal due
        clock.stop()
        if time.monotonic() >= due:
            due = time.monotonic() + REPORT_SECONDS
            connection.send(frames)
        clock.start(writing, STALL_SECONDS)

    clock.start(opening, STALL_SECONDS)
    try:
        connection.send(work(report, clock))
    except FramefleetError as error:
        clock.stop()
        connection.send(Failed(error.notice, retry=False))


to_json = json.JSONEncoder(ensure_ascii=False).encode
"""A shared encoder: ``json.dumps`` would create an encoder for each line."""


def rounded(detections: Detections) -> Iterator[tuple[int, float, list[float]]]:
    """Yield class id, confidence and box (x, y, width, height in source pixels) of each detection, rounded."""
    boxes = detections.boxes.astype(np.float64)
    boxes[:, 2:] -= boxes[:, :2]
    scores = np.round(detections.scores.astype(np.float64), 4)
    boxes = np.round(boxes, 2) + 0.0  # + 0.0: no "-0.0"
    return zip(detections.class_ids.tolist(), scores.tolist(), boxes.tolist(), strict=True)


def marks(detections: Detections, tracked: bool) -> list[dict[str, object]]:
    """Return what else is known of each detection, for JSON: ``track``, None if it has none, and ``verified`` if anything was corrected;
    ``drawn``, if a person drew or moved any box.

    tracked: whether the session has tracks; else ``track`` is left out.
    """
    found: list[dict[str, object]] = [{} for _ in range(len(detections))]
    if tracked:
        tracks = [-1] * len(found) if detections.tracks is None else detections.tracks.tolist()
        found = [{"track": None if track < 0 else track} for track in tracks]
    if detections.verified is not None:
        found = [{**mark, "verified": verified} for mark, verified in zip(found, detections.verified.tolist(), strict=True)]
    if detections.drawn is not None:
        found = [{**mark, "drawn": drawn} for mark, drawn in zip(found, detections.drawn.tolist(), strict=True)]
    return found


def relative(frame: FrameResult) -> Iterator[tuple[int, int, float, list[float]]]:
    """Yield place in the frame, class id, confidence and box of each detection, rounded.

    Boxes are x, y, width, height as shares of the picture. They are cut to the picture, because readers of these formats reject others. A
    box without any area in the picture is left out.
    """
    if frame.detections is None:
        return
    size = np.array([frame.width, frame.height] * 2, np.float64)
    boxes = np.clip(frame.detections.boxes / size, 0, 1)
    boxes[:, 2:] -= boxes[:, :2]
    scores = np.round(frame.detections.scores.astype(np.float64), 4)
    boxes = np.round(boxes, 6) + 0.0
    found = zip(frame.detections.class_ids.tolist(), scores.tolist(), boxes.tolist(), strict=True)
    for place, (class_id, score, box) in enumerate(found):
        if box[2] > 0 and box[3] > 0:
            yield place, class_id, score, box
