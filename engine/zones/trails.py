"""The recent paths of tracked objects, for drawing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.zones.geometry import Array, reference_points
from framefleet.engine.zones.shapes import Reference

SECONDS = 2.0
_PART = 0.25
"""Boxes tremble by some pixels: a trail goes through the mean of each of these parts of a second."""


def first_time(time: float) -> float:
    """The first time, seconds, of which positions belong to the trails at ``time``."""
    return float(np.floor(time / _PART) * _PART - SECONDS)


def trails(tracks: NDArray[np.int64], times: Array, boxes: Array, shown: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Return the paths of the lower edges' middles, smoothed, up to the last box of each track.

    tracks, times, boxes: of detections in the order of time, (n,), (n,) and (n, 4), see ``first_time``. shown: the tracks that have a
    trail, (m,). Returns the trails' straight lines x1 y1 x2 y2, float64 (k, 4), and the track of each, (k,).
    """
    row_of = np.full(max(tracks.max(initial=-1), shown.max(initial=-1)) + 2, -1)
    row_of[shown] = np.arange(len(shown))
    mine = np.flatnonzero(row_of[tracks] >= 0)
    if not len(mine):
        return np.zeros((0, 4)), np.zeros(0, np.int64)
    rows, parts = row_of[tracks[mine]], np.floor(times[mine] / _PART).astype(np.int64)
    points = reference_points(boxes[mine], Reference.BOTTOM)
    width = int(parts[-1] - parts[0]) + 2  # the last column holds the last positions
    cells = rows * width + parts - parts[0]
    counts = np.bincount(cells, minlength=len(shown) * width)
    means = np.stack([np.bincount(cells, values, len(counts)) for values in points.T], 1) / np.maximum(counts, 1)[:, None]
    last = rows * width + width - 1
    counts[last], means[last] = 1, points  # of several positions of a track, NumPy keeps the last one
    used = np.flatnonzero(counts)
    owners, means = used // width, means[used]
    joined = owners[1:] == owners[:-1]
    return np.hstack((means[:-1], means[1:]))[joined], shown[owners[1:][joined]]
