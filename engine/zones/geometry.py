"""Where many objects are: their distances from lines and zones, their paths and a heat map."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.zones.shapes import Line, Point, Reference, Shape

Array = NDArray[np.float64]

_HEIGHT = {Reference.TOP: 0.0, Reference.CENTRE: 0.5, Reference.BOTTOM: 1.0}
TRAIL_SECONDS = 2.0
_TRAIL_PART = 0.25
"""Boxes tremble by some pixels: a trail goes through the mean of each of these parts of a second."""

COLUMNS = 96
_BLUR = np.array([1, 4, 6, 4, 1]) / 16

_BLOCK = 1 << 16  # points at once, so that arrays stay in the processor's cache


def reference_points(boxes: Array, reference: Reference) -> Array:
    """Compute the points that stand for boxes. They lie on the vertical middle line of each box.

    Parameters
    ----------
    boxes : ndarray
        x1 y1 x2 y2, pixels, float64 (n, 4).

    Returns
    -------
    ndarray
        x and y, pixels, float64 (n, 2).
    """
    share = _HEIGHT[reference]
    return np.stack(((boxes[:, 0] + boxes[:, 2]) / 2, boxes[:, 1] * (1 - share) + boxes[:, 3] * share), 1)


def distances(points: Array, shape: Shape) -> Array:
    """The distance of each point from a shape.

    Parameters
    ----------
    points : ndarray
        x and y, pixels, float64 (n, 2).
    shape : Line or Zone

    Returns
    -------
    ndarray
        Pixels, float64 (n,). It is above 0 inside a zone, and on the side of a line that objects reach by crossing it forward. It refers
        to the endless line.
    """
    if isinstance(shape, Line):
        (x, y), (across, down) = shape.start, _direction(shape)
        return across * (points[:, 1] - y) - down * (points[:, 0] - x)
    blocks = [_from_polygon(points[first : first + _BLOCK], shape.points) for first in range(0, len(points), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def along(points: Array, line: Line) -> Array:
    """Where the points' projections lie on a line, 0 at its start and 1 at its end, float64 (n,)."""
    (across, down), (x, y) = _direction(line), line.start
    length = float(np.hypot(line.end[0] - x, line.end[1] - y))
    return ((points[:, 0] - x) * across + (points[:, 1] - y) * down) / length


def passing(before: Array, after: Array, distance: Array, later: Array, shape: Shape) -> Array:
    """Where paths pass a shape's line or edge: 0 at ``before`` and 1 at ``after``, float64 (n,).

    before, after: points on different sides, (n, 2), and their distances, (n,). If a path passes several edges, the last one counts.
    """
    straight: Array = distance / (distance - later)
    if isinstance(shape, Line):
        return straight
    found = np.full(len(before), -np.inf)
    path = after - before
    for (x1, y1), (x2, y2) in zip(shape.points, (*shape.points[1:], shape.points[0]), strict=True):
        across, down = x2 - x1, y2 - y1
        turn = path[:, 0] * down - path[:, 1] * across
        x, y = x1 - before[:, 0], y1 - before[:, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            share, place = (x * down - y * across) / turn, (x * path[:, 1] - y * path[:, 0]) / turn
        found = np.where((share >= 0) & (share <= 1) & (place >= 0) & (place <= 1), np.maximum(found, share), found)
    return np.where(np.isfinite(found), found, straight)


def _direction(line: Line) -> tuple[float, float]:
    """The vector of length 1 from a line's start to its end."""
    across, down = line.end[0] - line.start[0], line.end[1] - line.start[1]
    length = float(np.hypot(across, down))
    return across / length, down / length


def _from_polygon(points: Array, corners: Sequence[Point]) -> Array:
    x, y = points.T
    nearest = np.full(len(points), np.inf)
    inside = np.zeros(len(points), bool)
    for (x1, y1), (x2, y2) in zip(corners, (*corners[1:], corners[0]), strict=True):
        across, down = x2 - x1, y2 - y1
        share = np.clip(((x - x1) * across + (y - y1) * down) / (across * across + down * down), 0, 1)
        nearest = np.minimum(nearest, (x - x1 - share * across) ** 2 + (y - y1 - share * down) ** 2)
        if down:  # a ray to the right crosses the edge
            inside ^= ((y1 > y) != (y2 > y)) & (x < x1 + (y - y1) * across / down)
    distance: Array = np.where(inside, 1, -1) * np.sqrt(nearest)
    return distance


def trails_begin(time: float) -> float:
    """The first time, seconds, of which positions belong to the trails at ``time``."""
    return float(np.floor(time / _TRAIL_PART) * _TRAIL_PART - TRAIL_SECONDS)


def trails(tracks: NDArray[np.int64], times: Array, boxes: Array, shown: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Return the paths of the lower edges' middles, smoothed, up to the last box of each track.

    Parameters
    ----------
    tracks, times, boxes : ndarray
        Of detections in the order of time, (n,), (n,) and (n, 4), see ``trails_begin``.
    shown : ndarray
        The tracks that have a trail, (m,).

    Returns
    -------
    tuple of ndarray
        The trails' straight lines x1 y1 x2 y2, float64 (k, 4), and the track of each, (k,).
    """
    row_of = np.full(max(tracks.max(initial=-1), shown.max(initial=-1)) + 2, -1)
    row_of[shown] = np.arange(len(shown))
    mine = np.flatnonzero(row_of[tracks] >= 0)
    if not len(mine):
        return np.zeros((0, 4)), np.zeros(0, np.int64)
    rows, parts = row_of[tracks[mine]], np.floor(times[mine] / _TRAIL_PART).astype(np.int64)
    points = reference_points(boxes[mine], Reference.BOTTOM)
    parts -= parts.min()  # where videos were joined, times may go back
    width = int(parts.max()) + 2  # the last column holds the last positions
    cells = rows * width + parts
    counts = np.bincount(cells, minlength=len(shown) * width)
    means = np.stack([np.bincount(cells, values, len(counts)) for values in points.T], 1) / np.maximum(counts, 1)[:, None]
    last = rows * width + width - 1
    counts[last], means[last] = 1, points  # of several positions of a track, NumPy keeps the last one
    used = np.flatnonzero(counts)
    owners, means = used // width, means[used]
    joined = owners[1:] == owners[:-1]
    return np.hstack((means[:-1], means[1:]))[joined], shown[owners[1:][joined]]


class HeatMap:
    """Counts the middles of boxes' lower edges in the cells of a grid.

    Parameters
    ----------
    size
        Width and height of the pictures, pixels.

    Attributes
    ----------
    cells
        int64 (rows, ``COLUMNS``), the number of detections in each cell.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        rows = max(1, round(COLUMNS * size[1] / size[0]))
        self.size = size
        self.cells: NDArray[np.int64] = np.zeros((rows, COLUMNS), np.int64)

    def add(self, boxes: Array) -> None:
        """Count boxes.

        Parameters
        ----------
        boxes : ndarray
            x1 y1 x2 y2, pixels, float64 (n, 4).
        """
        rows, columns = self.cells.shape
        x, y = reference_points(boxes, Reference.BOTTOM).T
        column = np.clip(x / self.size[0] * columns, 0, columns - 1).astype(np.int64)
        row = np.clip(y / self.size[1] * rows, 0, rows - 1).astype(np.int64)
        self.cells += np.bincount(row * columns + column, minlength=rows * columns).reshape(rows, columns)

    def shares(self) -> NDArray[np.float32]:
        """How strong each cell is, 0..1, smoothed, float32 (rows, columns). The square root keeps rare places visible."""
        smooth = self.cells.astype(np.float64)
        for axis in (0, 1):
            padded = np.pad(smooth, [(2, 2) if each == axis else (0, 0) for each in (0, 1)])
            length = smooth.shape[axis]
            smooth = sum(weight * padded.take(range(shift, shift + length), axis) for shift, weight in enumerate(_BLUR.tolist()))
        most = smooth.max()
        return np.sqrt(smooth / most).astype(np.float32) if most else smooth.astype(np.float32)
