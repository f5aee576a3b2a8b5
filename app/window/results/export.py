"""Writing what the window shows of one file to a file for other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.window.queue.item import Results
from app.window.viewer.filter import ViewFilter
from engine.errors import ExportError
from engine.store.exporters import EXPORTERS
from engine.store.session import SessionReader


def default_name(path: Path, name: str) -> str:
    """What the exported file is called unless the user says otherwise."""
    return f"{path.stem or 'detections'}{EXPORTERS[name].suffix}"


def export_item(results: Results, target: Path, name: str, view_filter: ViewFilter, progress: Callable[[int], None]) -> int:
    """Write one source in one format; the file is complete or not there at all. Gives the number of frames in it.

    progress: gets the number of frames so far where writing takes its time; what it raises ends it.

    Raises:
        ExportError: the session cannot be read, or the file cannot be written.
    """
    with SessionReader(results.database, view_filter.confidence, view_filter.classes) as reader:
        source = next((source for source in reader.sources() if source.number == results.source), None)
        if source is None:
            raise ExportError(f"there are no detections of this file in {results.database} yet: wait until it has begun")
        EXPORTERS[name].write(reader, source, target, progress)
        return reader.count(results.source)
