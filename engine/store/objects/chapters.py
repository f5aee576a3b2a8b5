"""Makes chapters of a video from what happens in it."""

from itertools import pairwise

import numpy as np

from framefleet.engine.media.annotation.writer import Chapter
from framefleet.engine.store.exporters.common.rounding import label_of
from framefleet.engine.store.objects.appearances import By, read_appearances
from framefleet.engine.store.objects.events import EventKind, events_of, words
from framefleet.engine.store.session import SessionReader
from framefleet.engine.zones.counts import Counts

GAP = 10.0
"""A class that was not seen for longer, seconds, appears again. With less, chapters are too many to choose from."""
MOST = 255
"""An MP4 holds no more chapters."""

_LEAST_SECONDS = 1.0
_MOST_NAMES = 3


def chapters_of(reader: SessionReader, source: int, end: float, counts: Counts | None = None) -> list[Chapter]:
    """Return a chapter for each moment at which a class appears or a line is crossed. What happens together shares one.

    end: of the video, seconds. counts: of the source, None = without crossings. Times are those of the source.

    Raises ExportError if the session cannot be read.
    """
    least = max(_LEAST_SECONDS, end / MOST)
    begins: list[tuple[float, list[str]]] = []
    events = events_of(read_appearances(reader, source, By.CLASS, GAP), counts)
    for event in events[np.isin(events["kind"], (EventKind.APPEARANCE, EventKind.CROSSING))]:
        name = label_of(reader.labels, int(event["class_id"]))
        if event["kind"] == EventKind.CROSSING and counts is not None:
            name += f" {words(event, counts.zones)}"
        if not begins or event["start"] >= begins[-1][0] + least:
            begins.append((float(event["start"]), []))
        if name not in begins[-1][1]:
            begins[-1][1].append(name)
    if begins and begins[0][0] > 0:
        begins.insert(0, (0.0, ["Beginning"]))  # the chapters of an MP4 begin at 0
    ends = [(begin, following) for (begin, _), (following, _) in pairwise([*begins, (end, [])])]
    return [Chapter(_title(names), begin, until) for (begin, until), (_, names) in zip(ends, begins, strict=True) if until > begin]


def _title(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
