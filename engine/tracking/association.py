"""Pairs tracks with detections."""

from __future__ import annotations

import numpy as np
from lap import lapjv
from numpy.typing import NDArray

from engine.tracking.motion import Array

Rows = NDArray[np.intp]


def overlaps(first: Array, second: Array) -> Array:
    """Intersection over union of each pair: float64 (n, m). first: boxes x1 y1 x2 y2, (n, 4). second: (m, 4)."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    size = np.maximum(high - low, 0)
    shared = size[..., 0] * size[..., 1]
    total = areas(first)[:, None] + areas(second) - shared
    ratio: Array = np.divide(shared, total, out=np.zeros_like(shared), where=total > 0)
    return ratio


def areas(boxes: Array) -> Array:
    """The areas of boxes x1 y1 x2 y2, (n, 4); 0 for boxes of negative width or height."""
    size: Array = np.maximum(boxes[:, 2:] - boxes[:, :2], 0)
    return size[:, 0] * size[:, 1]


def assign(overlap: Array, least: float, bonus: Array | None = None) -> tuple[Rows, Rows]:
    """Pair rows with columns so that the sum of the overlaps is as large as possible, then drop pairs below ``least``.

    bonus: added to the overlaps for the choice of pairs, not for the limit. Returns the pairs' rows and columns.
    """
    if not overlap.size:
        none = np.zeros(0, np.intp)
        return none, none
    _, columns, _ = lapjv(-(overlap if bonus is None else overlap + bonus), extend_cost=True)
    rows = np.flatnonzero(columns >= 0)
    columns = columns[rows].astype(np.intp)
    good = overlap[rows, columns] >= least
    return rows[good], columns[good]


def others(count: int, chosen: Rows) -> Rows:
    """The numbers below ``count`` that are not among the chosen ones, ascending."""
    free = np.ones(count, bool)
    free[chosen] = False
    return np.flatnonzero(free)
