"""OC-SORT: trusts observations more than predictions. J. Cao et al., "Observation-Centric SORT", CVPR 2023, arXiv:2203.14360."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.tracking.association import TINY, Rows, assign, others, overlaps
from framefleet.engine.tracking.motion import Array, Motion, Noise
from framefleet.engine.tracking.tracker import Tracker

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
        ("lost", np.float64, (5, 4)),  # its filter in the first frame without a detection
        ("observed", np.complex128, _LOOK_BACK + 1),  # centres in the last frames, oldest first, NaN = not seen, and the newest one
        ("direction", np.complex128),
    ]

    def __init__(
        self, interval: float, patience: float = 1.0, frames: int = 3, strong: float = 0.6, overlap: float = 0.3, direction: float = 0.2
    ) -> None:
        super().__init__(interval, patience, _NOISE, strong)
        self._frames, self._strong, self._overlap, self._weight = frames, strong, overlap, direction
        self._updates = 0

    def _predict(self, steps: float) -> None:
        lost = (self._tracks["missed"] == 1).nonzero()[0]
        self._tracks["lost"][lost] = self._motion.states(lost)
        _move(self._motion, steps)

    def _associate(self, boxes: Array, scores: Array) -> tuple[Rows, Rows]:
        tracks = self._tracks
        self._updates += bool(len(tracks) or len(boxes))
        strong = (scores >= self._strong).nonzero()[0]
        candidates, weights = boxes.take(strong, 0), self._weights(strong)
        ends = _centres(candidates)
        table = overlaps(_boxes(self._motion.positions), candidates) * weights
        rows, columns = assign(table, self._overlap, lambda: self._weight * self._agreement(ends) * scores[strong])
        free = others(len(strong), columns)
        if len(free):
            left = others(len(tracks), rows)
            seen = overlaps(tracks["last"].take(left, 0), candidates.take(free, 0)) * weights[left[:, None], free]
            late, late_columns = assign(seen, self._overlap)
            rows, columns = np.concatenate((rows, left[late])), np.concatenate((columns, free[late_columns]))
        self._observe(rows, candidates.take(columns, 0), ends[columns])
        return rows, strong[columns]

    def _observe(self, rows: Rows, seen: Array, centres: Points) -> None:
        """Correct tracks by the boxes in which they were seen."""
        tracks = self._tracks
        again = tracks["missed"][rows].nonzero()[0]
        if len(again):
            self._follow_lines(rows[again], seen.take(again, 0))
        self._motion.update(rows, self._measured(seen))
        tracks["missed"] += 1
        tracks["missed"][rows] = 0
        tracks["last"][rows] = seen
        observed = tracks["observed"]
        way = centres - _oldest(observed[rows])
        tracks["direction"][rows] = way * (1 / (np.abs(way) + _STANDING))
        observed[:, : _LOOK_BACK - 1] = observed[:, 1:_LOOK_BACK]
        observed[:, _LOOK_BACK - 1] = np.nan
        observed[rows, _LOOK_BACK - 1 :] = centres[:, None]

    def _follow_lines(self, rows: Rows, boxes: Array) -> None:
        """Set filters back to where their tracks were lost, and correct them along straight lines from there to ``boxes``."""
        lost, lines = self._tracks.take(rows), []
        for missed, last, box in zip(lost["missed"].tolist(), lost["last"].tolist(), boxes.tolist(), strict=True):
            frames = missed + 1
            x, y, width, height = _sides_of(*last)
            end_x, end_y, end_width, end_height = _sides_of(*box)
            to_x, to_y, wider, higher = (
                (end_x - x) / frames,
                (end_y - y) / frames,
                (end_width - width) / frames,
                (end_height - height) / frames,
            )
            line = []
            for number in range(1, frames + 1):
                wide, high = width + number * wider, height + number * higher
                line.append((x + number * to_x, y + number * to_y, wide * high, wide / max(high, 1e-6)))
            lines.append(line)
        self._motion.replay(rows, lost["lost"], lines, _AREA)

    def _begin(self, new: Rows, boxes: Array) -> NDArray[np.int64]:
        numbers = super()._begin(new, boxes)
        added = self._tracks[-len(new) :]
        added["last"], added["consecutive"] = boxes, 0
        added["observed"] = added["direction"] = np.nan
        return numbers

    def _ripe(self) -> NDArray[np.bool_]:
        if self._updates <= self._frames + 1:
            return np.ones(len(self._tracks), bool)
        return np.asarray(self._tracks["consecutive"] >= self._frames)

    def _measured(self, boxes: Array) -> Array:
        x, y, width, height = _sides_of(*boxes.T)
        return np.array((x, y, width * height, width / np.maximum(height, 1e-6))).T

    def _agreement(self, ends: Points) -> Array:
        """How well the ways of tracks to these ends agree with their directions: -0.5 to 0.5, float64 (n, m), 0 for new tracks."""
        way = ends - _oldest(self._tracks["observed"])[:, None]
        cosine = (self._tracks["direction"].conj()[:, None] * way).real / (np.abs(way) + _STANDING)
        agreement: Array = 0.5 - np.arccos(np.minimum(np.maximum(cosine, -1), 1)) / np.pi
        agreement[cosine != cosine] = 0
        return agreement


def _oldest(observed: Points) -> Points:
    """The oldest observation of each track within the last frames, else its newest one, (n,); NaN if it has none."""
    oldest = (observed == observed).argmax(1)  # NaN does not equal itself
    found: Points = observed[np.arange(len(observed)), oldest]
    return found


def _move(motion: Motion, steps: float) -> None:
    """Predict, but let no box shrink to nothing."""
    growth = motion.velocities[:, _AREA]
    growth[motion.positions[:, _AREA] + steps * growth <= 0] = 0
    motion.predict(steps)


def _centres(boxes: Array) -> Points:
    """The centres of boxes x1 y1 x2 y2, (n, 4)."""
    corners = boxes.view(np.complex128)
    centres: Points = (corners[:, 0] + corners[:, 1]) / 2
    return centres


def _sides_of(left: T, top: T, right: T, bottom: T) -> tuple[T, T, T, T]:
    """Centre x and y, width and height of boxes x1 y1 x2 y2."""
    return (left + right) / 2, (top + bottom) / 2, right - left, bottom - top


def _boxes(coordinates: Array) -> Array:
    """Boxes x1 y1 x2 y2 from the motion model's coordinates."""
    x, y, area, ratio = coordinates.T
    width = np.sqrt(np.maximum(area * ratio, 0))
    height = area / np.maximum(width, TINY)
    width, height = width / 2, height / 2
    return np.array((x - width, y - height, x + width, y + height)).T
