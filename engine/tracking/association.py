"""Pairs tracks with detections."""

from __future__ import annotations

import numpy as np
from lap import lapjv
from numpy.typing import NDArray

from engine.tracking.motion import Array

Rows = NDArray[np.intp]

TINY = 1e-300
"""Prevents a division by 0: boxes without an area overlap nothing."""


def overlaps(first: Array, second: Array) -> Array:
    """Intersection over union of each pair: float64 (n, m). first: boxes x1 y1 x2 y2, (n, 4). second: (m, 4)."""
    left, top, right, bottom = first.T[..., None]
    other_left, other_top, other_right, other_bottom = second.T
    width = np.minimum(right, other_right) - np.maximum(left, other_left)
    height = np.minimum(bottom, other_bottom) - np.maximum(top, other_top)
    shared = np.maximum(width, 0) * np.maximum(height, 0)
    total = areas(first)[:, None] + areas(second) - shared
    ratio: Array = shared / np.maximum(total, TINY)
    return ratio


def pair_overlaps(first: Array, second: Array) -> Array:
    """Intersection over union of each box with the box in the same row: float64 (n,). Boxes x1 y1 x2 y2, (n, 4)."""
    sides = np.minimum(first[:, 2:], second[:, 2:]) - np.maximum(first[:, :2], second[:, :2])
    shared = np.maximum(sides, 0).prod(1)
    ratio: Array = shared / np.maximum(areas(first) + areas(second) - shared, TINY)
    return ratio


def areas(boxes: Array) -> Array:
    """The areas of boxes x1 y1 x2 y2, (n, 4); 0 for boxes of negative width or height."""
    left, top, right, bottom = boxes.T
    area: Array = np.maximum(right - left, 0) * np.maximum(bottom - top, 0)
    return area


def assign(overlap: Array, least: float, bonus: Array | None = None) -> tuple[Rows, Rows]:
    """Pair rows with columns so that the sum of the overlaps is as large as possible, then drop pairs below ``least``.

    bonus: added to the overlaps for the choice of pairs, not for the limit. Returns the pairs' rows and columns.
    """
    if not overlap.size:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    if bonus is None:  # rows and columns without any overlap change nothing
        used, possible = np.flatnonzero(overlap.any(1)), np.flatnonzero(overlap.any(0))
        rows, columns = _best_pairs(overlap[np.ix_(used, possible)])
        rows, columns = used[rows], possible[columns]
    else:
        rows, columns = _best_pairs(overlap + bonus)
    good = overlap[rows, columns] >= least
    return rows[good], columns[good]


def _best_pairs(value: Array) -> tuple[Rows, Rows]:
    """Pair as many rows with columns as possible, so that the sum of their values is as large as possible. Rows are ascending."""
    if not value.size:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    wide = value.shape[1] > value.shape[0]
    best = value.argmax(int(wide))
    if len(set(best.tolist())) == len(best):  # each has its best partner, so no other choice is better
        if wide:
            return np.arange(len(best)), best
        order = best.argsort()
        return best[order], order
    _, columns, _ = lapjv(-value, extend_cost=True)
    rows = np.flatnonzero(columns >= 0)
    return rows, columns[rows].astype(np.intp)


def others(count: int, chosen: Rows) -> Rows:
    """The numbers below ``count`` that are not among the chosen ones, ascending."""
    free = np.ones(count, bool)
    free[chosen] = False
    return free.nonzero()[0]
