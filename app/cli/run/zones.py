"""Shared by ``detect`` and ``results``: what was counted at lines and in zones, as text and as JSON."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from app.cli.reports.table import Table
from engine.errors import UsageError
from engine.media.types import SourceKind
from engine.store.objects.zones import read_counts, zones_for
from engine.store.session import SessionReader
from engine.zones.shapes import ZoneSet


def count_sources(reader: SessionReader, zones: ZoneSet, only: Collection[int] | None = None) -> list[dict[str, Any]]:
    """Count the tracks of each video of a session. only: numbers of sources, None = all.

    Returns for each video its path and either its counts or, if its pictures have another shape, the error.

    Raises:
        UsageError: the session has no tracks, or the model does not have a label of the zones.
        ExportError: the session cannot be read.
    """
    found: list[dict[str, Any]] = []
    for source in reader.sources():
        if source.kind is not SourceKind.VIDEO or (only is not None and source.number not in only):
            continue
        try:
            fitted, _ = zones_for(zones, source)
        except UsageError as error:
            found.append({"path": source.path, "counts": [], "error": str(error)})
        else:
            found.append({"path": source.path, "counts": read_counts(reader, source, fitted).as_json()})
    return found


def counts_lines(counted: list[dict[str, Any]]) -> list[str]:
    """The counts as lines of text: for each video a table of its lines and one of its zones."""
    lines: list[str] = []
    for source in counted:
        lines.append(f"{source['path']}: {source['error']}" if "error" in source else f"{source['path']}:")
        at_lines = Table("  {:24} {:>9} {:>9}", ("line", "forward", "backward"))
        in_zones = Table("  {:24} {:>9} {:>9} {:>13}", ("zone", "visits", "entered", "seconds each"))
        lines += [at_lines.row(each["line"], each["forward"], each["backward"]) for each in source["counts"] if "line" in each]
        lines += [in_zones.row(each["zone"], each["visits"], each["entered"], _mean(each)) for each in source["counts"] if "zone" in each]
    return lines


def _mean(counted: dict[str, Any]) -> str:
    return f"{counted['seconds'] / counted['visits']:.1f}" if counted["visits"] else ""
