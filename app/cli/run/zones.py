"""Shared by ``detect`` and ``results``: what was counted at lines and in zones, as text and as JSON, and during a run."""

import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from framefleet.app.cli.reports.table import Table
from framefleet.app.cli.run.summary import MOST_LINES
from framefleet.engine.errors import UsageError
from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.objects.live_counts import LiveCounts
from framefleet.engine.store.objects.zones import count_pictures, is_tracked, read_counts, require_any_tracks, zones_for
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.tracks import why_untracked
from framefleet.engine.zones.shapes import ZoneSet

LIVE_SECONDS, LIVE_SHARE = 1.0, 0.05
"""Time between two counts of a running source, and the share of it that counting may take."""

LIVE_FRAMES = 25
"""Frames of a source that are stored before it is counted."""

MOST_SHOWN = 3
"""Lines and zones in the progress."""


class LiveZones:
    """The current counts at lines and in zones, in a few words, while a run writes ``database``."""

    def __init__(self, database: Path, zones: ZoneSet, clock: Callable[[], float] = time.monotonic) -> None:
        self._database, self._zones, self._clock = database, zones, clock
        self._counts: dict[int, LiveCounts | None] = {}  # None: nothing is counted there
        self._next = 0.0

    def text(self, source: int) -> str:
        """The counts of a source of which frames are stored, "" if it is too early for others than those shown, or if there are none."""
        now = self._clock()
        if now < self._next:
            return ""
        self._next = now + LIVE_SECONDS
        if source not in self._counts and not self._begin(source):
            return ""
        live = self._counts[source]
        if live is None:
            return ""
        counts = live.update(LIVE_SECONDS * LIVE_SHARE)
        shown = [f"{shape.name}: {counts.text(number)}" for number, shape in enumerate(self._zones.shapes[:MOST_SHOWN])]
        return "; ".join(shown) + ("; …" if len(self._zones.shapes) > MOST_SHOWN else "")

    def _begin(self, source: int) -> bool:
        """Begin to count in a source. Whether enough frames of it are stored to know the usual time between them."""
        with SessionReader(self._database) as reader:
            stored = next((each for each in reader.sources() if each.number == source), None)
            if stored is None or reader.count(source) < LIVE_FRAMES:
                return False
            try:
                fitted = zones_for(self._zones, stored)[0] if stored.kind is SourceKind.VIDEO else None
            except UsageError:  # the end of the run says why
                fitted = None
        self._counts[source] = None if fitted is None else LiveCounts(self._database, source, fitted)
        return True


def count_sources(reader: SessionReader, zones: ZoneSet, only: Collection[int] | None = None) -> list[dict[str, Any]]:
    """Count the tracks of each video of a session, and the objects in each picture. only: numbers of sources, None = all.

    Returns for each source its path and either its counts or the error: it has no tracks, or its pictures have another shape.

    Raises:
        UsageError: no video has tracks, or the model does not have a label of the zones.
        ExportError: the session cannot be read.
    """
    found: list[dict[str, Any]] = []
    sources = [source for source in reader.sources() if source.kind is not None and (only is None or source.number in only)]
    require_any_tracks(reader, sources)
    for source in sources:
        try:
            found.append({"path": source.path, **_counted(reader, source, zones)})
        except UsageError as error:
            found.append({"path": source.path, "counts": [], "error": str(error)})
    return found


def scaling_notes(zones: ZoneSet, sources: Iterable[StoredSource]) -> list[str]:
    """A note for each of these videos to whose size lines and zones are scaled."""
    notes = []
    for source in sources:
        with suppress(UsageError):  # another shape: the counts say so
            notes.append(zones_for(zones, source)[1] if source.kind is SourceKind.VIDEO else None)
    return [note for note in notes if note is not None]


def untracked_lines(reader: SessionReader, only: Collection[int]) -> list[str]:
    """A line of text for each of these videos without tracks, which says why it has none."""
    videos = [source for source in reader.sources() if source.number in only and source.kind is SourceKind.VIDEO]
    reasons = {source.path: why_untracked(reader, source.number) for source in videos if is_tracked(reader, source.number)}
    return [f"{path}: no object was followed: {why}" for path, why in reasons.items() if why]


def _counted(reader: SessionReader, source: StoredSource, zones: ZoneSet) -> dict[str, Any]:
    if source.kind is SourceKind.VIDEO:
        return {"counts": read_counts(reader, source, zones_for(zones, source)[0]).as_json()}
    pictures = count_pictures(reader, source, zones)
    rows = zip(zones.zones, pictures.sum(1).tolist(), pictures.max(1, initial=0).tolist(), strict=True)
    return {"pictures": pictures.shape[1], "counts": [{"zone": zone.name, "objects": total, "most": most} for zone, total, most in rows]}


def counts_lines(counted: list[dict[str, Any]], verbose: bool) -> list[str]:
    """The counts as lines of text: for each source a table of its lines and one of its zones; the totals of several sources first.

    verbose: also each of many sources.
    """
    lines: list[str] = []
    totals = [*_totals(counted, "videos"), *_totals(counted, "pictures")]
    many = len(counted) > MOST_LINES and not verbose
    for source in (*totals, *([each for each in counted if "error" in each] if many else counted)):
        lines.append(f"{source['path']}: {source['error']}" if "error" in source else f"{source['path']}:")
        at_lines = Table("  {:24} {:>9} {:>9}", ("line", "forward", "backward"))
        in_zones = Table("  {:24} {:>9} {:>9} {:>13}", ("zone", "visits", "entered", "seconds each"))
        lines += [at_lines.row(each["line"], each["forward"], each["backward"]) for each in source["counts"] if "line" in each]
        in_pictures = Table("  {:24} {:>9} {:>13} {:>9}", ("zone", "objects", "per picture", "most"))
        if "pictures" in source:
            number = max(source["pictures"], 1)
            lines += [
                in_pictures.row(each["zone"], each["objects"], f"{each['objects'] / number:.2f}", each["most"]) for each in source["counts"]
            ]
            continue
        lines += [in_zones.row(each["zone"], each["visits"], each["entered"], _mean(each)) for each in source["counts"] if "zone" in each]
    return lines


def _totals(counted: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The sums over all videos, or over all folders of pictures, as a source of its own; none if there are fewer than two."""
    mine = [source for source in counted if "error" not in source and ("pictures" in source) == (kind == "pictures")]
    if len(mine) < 2:
        return []
    shapes = zip(*(source["counts"] for source in mine), strict=True)  # each source has the same lines and zones, in this order
    counts = [{key: _sum(key, [each[key] for each in shape]) for key in shape[0]} for shape in shapes]
    together = {"pictures": sum(source["pictures"] for source in mine)} if kind == "pictures" else {}
    what = "videos" if kind == "videos" else "folders"
    return [{"path": f"all {len(mine):,} {what}", "counts": counts, **together}]


def _sum(key: str, values: list[Any]) -> Any:
    return values[0] if key in ("line", "zone") else max(values) if key == "most" else sum(values)


def _mean(counted: dict[str, Any]) -> str:
    return f"{counted['seconds'] / counted['visits']:.1f}" if counted["visits"] else ""
