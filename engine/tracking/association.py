"""Pairs tracks with detections."""

from typing import TypeAlias

import numpy as np
from lap import lapjv, lapmod
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = NDArray[np.intp]

TINY = 1e-300
"""Prevents a division by 0: boxes without an area overlap nothing."""


def overlaps(first: Array, second: Array) -> Array:
    """Compute the intersection over union of each pair of boxes.

    Parameters
    ----------
    first, second : ndarray
        Boxes x1 y1 x2 y2, float64 (n, 4) and (m, 4).

    Returns
    -------
    ndarray
        float64 (n, m).
    """
    one, other = first.T[..., None], second.T[:, None]
    width, height = np.maximum(np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2]), 0)
    shared = width * height
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
    width, height = np.maximum(boxes.T[2:] - boxes.T[:2], 0)
    area: Array = width * height
    return area


def assign(overlap: Array, least: float) -> tuple[Rows, Rows]:
    """Pair rows with columns so that the sum of the overlaps is as large as possible, then drop pairs below ``least``.

    Parameters
    ----------
    overlap : ndarray
        float64 (n, m), 0 and above.
    least : float
        Above 0.

    Returns
    -------
    tuple of ndarray
        The rows and the columns of the pairs, int (k,).
    """
    rows, columns = (overlap >= least).nonzero()
    if not len(rows):
        return rows, columns
    # rows and columns without any overlap change nothing
    used, possible = np.flatnonzero(overlap.any(1)), np.flatnonzero(overlap.any(0))
    rows, columns = _best_pairs(overlap[used[:, None], possible])
    rows, columns = used[rows], possible[columns]
    good = overlap[rows, columns] >= least
    return rows[good], columns[good]


def assign_some(rows: Integers, columns: Integers, value: Array, count: int) -> tuple[Integers, Integers]:
    """Choose from few possible pairs of numbers below ``count`` those with the largest sum of values.

    rows, columns: the possible pairs, int64 (k,). A number is in one chosen pair as a row at most, and in one as a column.
    value: float64 (k,), from 0 to 1. Returns the rows and the columns of the chosen pairs.
    """
    if not len(rows):
        return rows, columns
    # LAPJV pairs all rows with all columns, so row and column number count + n stand for no partner of column and row n
    none = np.arange(count)
    one, other = np.concatenate((rows, none, count + none, count + columns)), np.concatenate((columns, count + none, none, count + rows))
    costs = np.concatenate((1 - value, np.full(2 * count, 0.5), np.zeros(len(rows))))
    order = np.lexsort((other, one))
    starts = np.searchsorted(one[order], np.arange(2 * count + 1))
    _, partner, _ = lapmod(2 * count, costs[order], starts.astype(np.int32), other[order].astype(np.int32))
    chosen = np.flatnonzero((partner[:count] >= 0) & (partner[:count] < count))
    return chosen, partner[chosen].astype(np.int64)


def _best_pairs(value: Array) -> tuple[Rows, Rows]:
    """Pair as many rows with columns as possible, so that the sum of their values is as large as possible. Rows are ascending."""
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
