"""Writing what the window shows of one file to a file for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from app.window.queue_item import Results
from app.window.view_filter import ViewFilter
from engine.errors import ExportError
from engine.store.export import EXPORTERS, SUFFIXES, atomic_text
from engine.store.schema import explained
from engine.store.session import SessionReader
from engine.types import FrameResult

TITLES = {"jsonl": "JSON Lines", "coco": "COCO"}


class FilteredReader(SessionReader):
    """A session as the window shows it: every frame, but only the detections that pass the filter."""

    def __init__(self, path: Path, view_filter: ViewFilter) -> None:
        super().__init__(path)
        self._filter = view_filter

    def frames(self, source: int) -> Iterator[FrameResult]:
        """The frames of a source in order."""
        for frame in super().frames(source):
            yield frame if frame.detections is None else replace(frame, detections=self._filter.apply(frame.detections))


def default_name(path: Path, name: str) -> str:
    """What the exported file is called unless the user says otherwise."""
    return f"{path.stem or 'detections'}{SUFFIXES[name]}"


def export_item(results: Results, target: Path, name: str, view_filter: ViewFilter) -> int:
    """Write one source in one format; the file is complete or not there at all. Gives the number of frames in it.

    Raises:
        ExportError: the session cannot be read, or the file cannot be written.
    """
    with FilteredReader(results.database, view_filter) as reader:
        source = next((source for source in reader.sources() if source.number == results.source), None)
        if source is None:
            raise ExportError(f"there are no detections of this file in {results.database} yet: wait until it has begun")
        with explained(target, "write"), atomic_text(target) as file:
            EXPORTERS[name](reader, source, file)
        return reader.count(results.source)
