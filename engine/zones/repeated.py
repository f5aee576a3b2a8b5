"""Finds crossings that are counted already: for a while, a detector shows one object in two boxes, and both get a track.

Two objects that move together overlap as much, but each of them is seen nearly all the time. See ADR 21.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.tracking.association import areas, pair_overlaps
from framefleet.engine.zones.geometry import Array

SECONDS = 1.0
"""Most time between two crossings of one object, and the time around them in which the tracks are compared."""

SEEN = 0.5
"""The weaker track is seen in at most this share of the frames in which the other one is seen."""

OVERLAP, INSIDE, TOGETHER = 0.3, 0.7, 0.4
"""In this share of the frames in which the weaker track is seen: least intersection over union with the other one's box, and least share of
the smaller box in the larger one. Between detections, the other one's box is interpolated."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The detections of tracks in the order of their times. tracks: int32 (n,). times: seconds, float64 (n,). boxes: x1 y1 x2 y2 (n, 4)."""

    tracks: NDArray[np.int32]
    times: Array
    boxes: NDArray[np.float32]


def repeated(crossings: NDArray[np.void], seen: Seen) -> NDArray[np.bool_]:
    """Which crossings show an object that another track carried over the same line in the same direction. crossings: ordered by time."""
    found = np.zeros(len(crossings), bool)
    ends = np.searchsorted(crossings["time"], crossings["time"] + SECONDS, side="right")
    kinds = np.unique(crossings[["shape", "class_id", "forward"]], return_inverse=True)[1]
    for one, end in enumerate(ends.tolist()):
        for other in (one + 1 + np.flatnonzero(kinds[one + 1 : end] == kinds[one])).tolist():
            weaker = _weaker(crossings[[one, other]], seen)
            if weaker is not None:
                found[(one, other)[weaker]] = True
    return found


def _weaker(pair: NDArray[np.void], seen: Seen) -> int | None:
    """Which of two crossings, 0 or 1, is one of a second track on the same object; None: neither."""
    first, last = np.searchsorted(seen.times, (pair["time"].min() - SECONDS, pair["time"].max() + SECONDS))
    rows = [first + np.flatnonzero(seen.tracks[first:last] == track) for track in pair["track"]]
    weaker = int(len(rows[1]) <= len(rows[0]))
    if len(rows[weaker]) > SEEN * len(rows[1 - weaker]):
        return None
    (times, boxes), (other_times, other_boxes) = (
        (seen.times[each], seen.boxes[each].astype(np.float64)) for each in (rows[weaker], rows[1 - weaker])
    )
    others = np.stack([np.interp(times, other_times, side, np.nan, np.nan) for side in other_boxes.T], 1)
    boxes, others = (each[np.isfinite(others[:, 0])] for each in (boxes, others))
    overlap = pair_overlaps(boxes, others)
    both = areas(boxes) + areas(others)
    shared = overlap * both / (1 + overlap)
    hits = (overlap >= OVERLAP) & (shared >= INSIDE * np.minimum(areas(boxes), areas(others)))
    return weaker if len(hits) and hits.mean() >= TOGETHER else None
