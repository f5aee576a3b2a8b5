"""OC-SORT: trusts observations more than predictions. J. Cao et al., "Observation-Centric SORT", CVPR 2023, arXiv:2203.14360."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.tracking.association import TINY, Rows, assign, others, overlaps
from engine.tracking.motion import Array, Motion, Noise
from engine.tracking.tracker import NONE, Tracker

T = TypeVar("T", float, Array)

Points: TypeAlias = NDArray[np.complex128]
"""Points or vectors: x + iy, so that an operation on both coordinates is one on arrays."""

_LOOK_BACK = 3
"""Frames between the two observations that define a track's direction."""

_STANDING = 1e-6
"""Added to the length of ways, pixels, so that an object that stands has a direction of length 0."""

_AREA = 2
"""The coordinate that holds the area."""

_NOISE = Noise(
    measured=np.array([1.0, 1.0, 10.0, 10.0]),
    position=np.ones(4),
    velocity=np.array([1e-2, 1e-2, 1e-4, 0.0]),
    first_position=np.full(4, 10.0),
    first_velocity=np.array([1e4, 1e4, 1e4, 0.0]),
)
"""For centre x and y, pixels, area, pixels², and width / height, which has no velocity."""


class OcSort(Tracker):
    """Pairs by overlap and direction of movement, then tries the last observations of the tracks that remain.

    When a track is found again, its filter is set back to where it was lost, and follows a straight line to the new box.

    interval, patience: see ``Tracker``. frames: a track is certain after this number of consecutive detections behind its first one; in
    the first frames of a video, one is enough. strong: least confidence of the detections that count. overlap: least intersection over
    union. direction: weight of the direction.
    """

    FIELDS: ClassVar[list[tuple[Any, ...]]] = [
        *Tracker.FIELDS,
        ("missed", np.int64),
        ("last", np.float64, 4),
        ("observed", np.float64, 4),
        ("recent", np.float64, (_LOOK_BACK, 4)),
        ("direction", np.complex128),
    ]

    def __init__(
        self, interval: float, patience: float = 1.0, frames: int = 3, strong: float = 0.6, overlap: float = 0.3, direction: float = 0.2
    ) -> None:
        super().__init__(interval, patience, _NOISE)
        self._frames, self._strong, self._overlap, self._weight = frames, strong, overlap, direction
        self._updates = 0
        self._lost: dict[int, list[list[float]]] = {}  # the filters of lost tracks, from the first frame without a detection

    def _predict(self, steps: float) -> None:
        for row in (self._tracks["missed"] == 1).nonzero()[0]:
            self._lost[int(self._tracks["number"][row])] = self._motion.state(int(row))
        _move(self._motion, steps)

    def _associate(self, boxes: Array, scores: Array) -> tuple[Rows, Rows]:
        tracks = self._tracks
        self._updates += bool(len(tracks) or len(boxes))
        strong = (scores >= self._strong).nonzero()[0]
        candidates = boxes[strong]
        starts, ends = _centres(self._previous()), _centres(candidates)
        weights = self._weights(strong)
        table = overlaps(_boxes(self._motion.positions), candidates) * weights
        rows, columns = assign(table, self._overlap, self._weight * self._agreement(starts, ends) * scores[strong])
        left, free = others(len(tracks), rows), others(len(strong), columns)
        if len(free):
            seen = overlaps(tracks["last"][left], candidates[free]) * weights[np.ix_(left, free)]
            late, late_columns = assign(seen, self._overlap)
            rows, columns = np.concatenate((rows, left[late])), np.concatenate((columns, free[late_columns]))
        way = ends[columns] - starts[rows]
        tracks["direction"][rows] = way * (1 / (np.abs(way) + _STANDING))
        self._observe(rows, candidates[columns])
        return rows, strong[columns]

    def _observe(self, rows: Rows, seen: Array) -> None:
        """Correct tracks by the boxes in which they were seen."""
        tracks, motion = self._tracks, self._motion
        for place in tracks["missed"][rows].nonzero()[0].tolist():
            row = int(rows[place])
            self._follow_line(row, self._lost.pop(int(tracks["number"][row])), seen[place].tolist())
        motion.update(rows, _measured(seen))
        tracks["missed"] += 1
        tracks["missed"][rows] = 0
        tracks["last"][rows] = tracks["observed"][rows] = seen
        recent = tracks["recent"]
        recent[:, :-1] = recent[:, 1:].copy()
        recent[:, -1] = np.nan
        recent[rows, -1] = seen

    def _follow_line(self, row: int, state: list[list[float]], box: list[float]) -> None:
        """Set a filter back to ``state``, where its track was lost, and correct it along a straight line from there to ``box``."""
        frames = int(self._tracks["missed"][row]) + 1
        (x, y, width, height), end = (_sides_of(*corners) for corners in (self._tracks["last"][row].tolist(), box))
        to_x, to_y, wider, higher = ((b - a) / frames for a, b in zip((x, y, width, height), end, strict=True))
        line = []
        for number in range(1, frames + 1):
            wide, high = width + number * wider, height + number * higher
            line.append((x + number * to_x, y + number * to_y, wide * high, wide / max(high, 1e-6)))
        self._motion.replay(row, state, line, _AREA)

    def _begin(self, boxes: Array, scores: Array, numbers: NDArray[np.int64]) -> None:
        which = ((numbers == NONE) & (scores >= self._strong)).nonzero()[0]
        new = self._add(which, _measured(boxes[which]), numbers)
        new["last"] = boxes[which]
        for field in ("observed", "recent", "direction"):
            new[field] = np.nan

    def _ripe(self) -> NDArray[np.bool_]:
        if self._updates <= self._frames + 1:
            return np.ones(len(self._tracks), bool)
        return np.asarray(self._tracks["consecutive"] >= self._frames)

    def _alive(self, missed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.ones(len(missed), bool)

    def _keep(self, rows: NDArray[np.bool_]) -> None:
        if not rows.all():
            for number in self._tracks["number"][~rows].tolist():
                self._lost.pop(number, None)
            super()._keep(rows)

    def _previous(self) -> Array:
        """The oldest observation of each track within the last frames, else its newest one, float64 (n, 4); NaN if it has none."""
        seen = np.concatenate((self._tracks["recent"], self._tracks["observed"][:, None]), 1)
        oldest = (seen[..., 0] == seen[..., 0]).argmax(1)  # NaN does not equal itself
        found: Array = seen[np.arange(len(seen)), oldest]
        return found

    def _agreement(self, starts: Points, ends: Points) -> Array:
        """How well the directions from starts to ends agree with the tracks' directions: -0.5 to 0.5, float64 (n, m), 0 for new tracks."""
        way = ends - starts[:, None]
        cosine = (self._tracks["direction"].conj()[:, None] * way).real / (np.abs(way) + _STANDING)
        agreement: Array = 0.5 - np.arccos(np.minimum(np.maximum(cosine, -1), 1)) / np.pi
        agreement[cosine != cosine] = 0
        return agreement


def _move(motion: Motion, steps: float) -> None:
    """Predict, but let no box shrink to nothing."""
    vanishing = motion.positions[:, _AREA] + steps * motion.velocities[:, _AREA] <= 0
    motion.velocities[vanishing, _AREA] = 0
    motion.predict(steps)


def _centres(boxes: Array) -> Points:
    """The centres of boxes x1 y1 x2 y2, (n, 4)."""
    corners = boxes.view(np.complex128)
    centres: Points = (corners[:, 0] + corners[:, 1]) / 2
    return centres


def _sides_of(left: T, top: T, right: T, bottom: T) -> tuple[T, T, T, T]:
    """Centre x and y, width and height of boxes x1 y1 x2 y2."""
    return (left + right) / 2, (top + bottom) / 2, right - left, bottom - top


def _measured(boxes: Array) -> Array:
    """The motion model's coordinates of boxes x1 y1 x2 y2."""
    x, y, width, height = _sides_of(*boxes.T)
    return np.array((x, y, width * height, width / np.maximum(height, 1e-6))).T


def _boxes(coordinates: Array) -> Array:
    """Boxes x1 y1 x2 y2 from the motion model's coordinates."""
    x, y, area, ratio = coordinates.T
    width = np.sqrt(np.maximum(area * ratio, 0))
    height = area / np.maximum(width, TINY)
    width, height = width / 2, height / 2
    return np.array((x - width, y - height, x + width, y + height)).T
