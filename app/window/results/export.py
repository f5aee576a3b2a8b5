"""Exports of the detections that the window shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.window.queue.item import Results
from app.window.viewer.filter import ViewFilter
from engine.errors import ExportError
from engine.store.destinations import Protected
from engine.store.exporters import EXPORTERS
from engine.store.exporters.base import Export
from engine.store.exporters.options import DEFAULTS
from engine.store.session import SessionReader


def default_name(path: Path, name: str) -> str:
    """The default name of the exported file."""
    return f"{path.stem or 'detections'}{EXPORTERS[name].outputs[0].suffix}"


def export_item(results: Results, target: Path, name: str, view_filter: ViewFilter, progress: Callable[[int], None]) -> int:
    """Write the shown detections of one source; return the number of frames. An error leaves no file. name: of the exporter.

    progress: a slow exporter calls it with the number of frames so far; an error that it raises ends the export.

    Raises:
        ExportError: the session cannot be read, or the file cannot be written.
    """
    with SessionReader(results.database, view_filter.confidence, view_filter.classes) as reader:
        source = next((source for source in reader.sources() if source.number == results.source), None)
        if source is None:
            raise ExportError(f"there are no detections of this file in {results.database} yet: wait until it has begun")
        Protected.of(reader).check(target)
        EXPORTERS[name].outputs[0].write(Export(reader, [source], [target.stem], target, DEFAULTS, progress))
        return reader.count(results.source)
