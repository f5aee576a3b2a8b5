"""A z-buffer for convex quadrilaterals, vectorised over all faces, rows and pixels.

A buffer is uint64, flat: the upper half holds the bits of the float32 *nearness* (larger is nearer, always positive, so
that the bits order like the numbers). The lower half holds the face. ``numpy.maximum.at`` keeps the nearest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EMPTY = np.uint64(0)


def pack(nearness: NDArray[np.float32], face: int) -> NDArray[np.uint64]:
    """Combine the nearness and the number of a face to buffer entries, empty where the nearness is not positive."""
    bits = np.maximum(nearness, 0).astype(np.float32).view(np.uint32).astype(np.uint64)
    return np.where(bits > 0, bits << np.uint64(32) | np.uint64(face), EMPTY)


def nearness(buffer: NDArray[np.uint64]) -> NDArray[np.float32]:
    """The nearness kept in each entry, 0 where empty."""
    return (buffer >> np.uint64(32)).astype(np.uint32).view(np.float32)


def faces(buffer: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The face kept in each entry."""
    return buffer.astype(np.uint32).astype(np.int32)


def fragments(
    corners: NDArray[np.floating], planes: NDArray[np.floating], width: int, height: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float32]]:
    """Return all pixels inside the faces: face index, flat pixel index, nearness.

    corners: (m, 4, 2) pixels, convex, anticlockwise as seen (a triangle repeats its last corner). planes: (m, 3),
    nearness = a x + b y + c at pixel centres. A pixel belongs to a face when its centre lies inside.
    """
    # one contiguous row per corner: reductions over four columns are slow, four whole rows are not
    x, y = (np.ascontiguousarray(corners[..., axis].T) for axis in (0, 1))
    first = np.clip(np.ceil(_least(y) - 0.5), 0, height).astype(np.int64)
    last = np.clip(np.ceil(_most(y) - 0.5), 0, height).astype(np.int64)
    keep = np.flatnonzero((last > first) & (_most(x) > 0.5) & (_least(x) < width - 0.5))
    rows = (last - first)[keep]
    face = np.repeat(keep, rows)
    row = first[face] + _counting(rows)

    # on screen y points down, so an anticlockwise outline runs down on its left and up on its right
    left, right = np.zeros(len(face)), np.full(len(face), float(width))
    for i in range(4):
        j = (i + 1) % 4
        dy = y[j] - y[i]
        flat = np.abs(dy) < 1e-9
        slope = (x[j] - x[i]) / np.where(flat, 1.0, dy)
        start = x[i] - y[i] * slope
        # an edge bounds one side only; its bound for the other side has no effect
        down = np.where((dy > 0) & ~flat, start, -1e18)
        up = np.where((dy < 0) & ~flat, start, 1e18)
        crossing = (row + 0.5) * slope[face]
        np.maximum(left, crossing + down[face], out=left)
        np.minimum(right, crossing + up[face], out=right)
    start = np.ceil(np.minimum(left, width) - 0.5).astype(np.int64)
    stop = np.ceil(np.maximum(right, 0) - 0.5).astype(np.int64)
    keep = np.flatnonzero(stop > start)
    face, row, start, count = face[keep], row[keep], start[keep], (stop - start)[keep]

    a, b, c = planes[face].T
    base = (a * (start + 0.5) + b * (row + 0.5) + c).astype(np.float32)
    step = _counting(count)
    span = np.repeat(np.arange(len(face)), count)
    near = base[span] + a.astype(np.float32)[span] * step.astype(np.float32)
    return face.astype(np.int32)[span], (row * width + start)[span] + step, near


def draw(buffer: NDArray[np.uint64], face: NDArray[np.int32], pixel: NDArray[np.int64], near: NDArray[np.float32]) -> None:
    """Draw fragments into a flat buffer, which keeps the nearest fragment of each pixel."""
    bits = np.maximum(near, np.float32(1e-9)).view(np.uint32).astype(np.uint64)
    np.maximum.at(buffer, pixel, bits << np.uint64(32) | face.astype(np.uint64))


def _least(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    least: NDArray[np.float64] = np.minimum(np.minimum(rows[0], rows[1]), np.minimum(rows[2], rows[3]))
    return least


def _most(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    most: NDArray[np.float64] = np.maximum(np.maximum(rows[0], rows[1]), np.maximum(rows[2], rows[3]))
    return most


def _counting(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 … n-1 for each n, one after the other."""
    total = int(counts.sum())
    ends = np.cumsum(counts)
    return np.arange(total) - np.repeat(ends - counts, counts)
