"""Finds where objects of some classes appear in stored results."""

import numpy as np

from app.window.queue.item import Results
from app.window.viewer.filter import ViewFilter
from engine.store.session import SessionReader

GAP = 0.5
"""Objects appear where there was none for longer than this, seconds (or positions, of pictures)."""


def next_appearance(results: Results, shown: ViewFilter, pts: float, forward: bool) -> float | None:
    """The first time after ``pts``, or the last time before it, at which shown objects appear, seconds. None if there is none.

    Raises ExportError if the results cannot be read.
    """
    with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
        found, frames = reader.frames_with_detections(results.source), reader.indices(results.source)
        times = reader.times(results.source, len(frames))[np.searchsorted(frames, found)]
    starts = times[np.diff(times, prepend=-np.inf) > GAP]
    there = starts[starts > pts + 1e-6] if forward else starts[starts < pts - 1e-6][::-1]
    return float(there[0]) if len(there) else None
