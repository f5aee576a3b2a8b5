"""The base of trackers: the life of tracks, and the numbers that detections get."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.tracking.association import Rows
from framefleet.engine.tracking.motion import Array, Motion, Noise

NONE = -1
"""The number of a detection that belongs to no track."""

_OTHER_CLASS = 0.5
"""A detection of another class continues a track only if it overlaps clearly: some models change their mind about an object."""

_ROUNDING = 0.004
"""Seconds by which a container and a clock may round times."""


@dataclass(frozen=True, eq=False)
class Update:
    """What a tracker says about one frame.

    numbers: int64 (n,), the track of each detection, NONE if it has none. No number is used twice. confirmed: int64, the tracks that
    became certain with this frame. A track that is never confirmed was a false alarm.
    """

    numbers: NDArray[np.int64]
    confirmed: NDArray[np.int64]


class Tracker(ABC):
    """Follows the objects of one source. Call ``update`` for each analysed frame, in order.

    FIELDS: what is known of a track, as fields of a structured array. interval: usual time between two frames, seconds. patience: how long
    a track lives without detections, seconds. noise: of the motion model. first: least confidence of a track's first detection.
    """

    FIELDS: ClassVar[list[tuple[Any, ...]]] = [
        *(("number", np.int64), ("class_id", np.int64), ("seen", np.float64), ("consecutive", np.int64), ("certain", bool)),
    ]

    def __init__(self, interval: float, patience: float, noise: Noise, first: float) -> None:
        self._interval, self._patience, self._first = interval, patience, first
        self._motion = Motion(noise)
        self._tracks = np.zeros(0, self.FIELDS)
        self._time: float | None = None  # of the last frame, seconds
        self._class_ids: NDArray[np.integer[Any]] = np.zeros(0, np.int64)  # of the frame's detections
        self._next = 0

    def update(self, boxes: Array, scores: Array, seconds: float, class_ids: NDArray[np.integer[Any]] | None = None) -> Update:
        """Assign a frame's detections to tracks.

        boxes: float64 (n, 4), x1 y1 x2 y2, pixels. scores: float64 (n,). seconds: the frame's time. A time that does not lie after the
        previous frame's time counts as one interval. class_ids: int (n,), None = all are of one class.
        """
        self._class_ids = np.zeros(len(boxes), np.int64) if class_ids is None else class_ids
        if self._time is not None:
            self._keep(self._alive() & (seconds - self._tracks["seen"] <= self._patience + _ROUNDING))
            self._predict(self._steps(seconds - self._time))
        self._time = seconds
        numbers = np.full(len(boxes), NONE, np.int64)
        matched, places = self._associate(boxes, scores)
        tracks = self._tracks
        numbers[places] = tracks["number"][matched]
        tracks["class_id"][matched] = self._class_ids[places]
        missed = np.ones(len(tracks), bool)
        missed[matched] = False
        tracks["seen"][matched] = seconds
        tracks["consecutive"][matched] += 1
        tracks["consecutive"][missed] = 0
        ripe = self._ripe() & ~missed & ~tracks["certain"]
        tracks["certain"] |= ripe
        confirmed = tracks["number"][ripe]
        new = ((numbers == NONE) & (scores >= self._first)).nonzero()[0]
        if len(new):
            numbers[new] = self._begin(new, boxes[new])
        return Update(numbers, confirmed)

    def _steps(self, passed: float) -> float:
        if not passed > 0:
            return 1.0
        whole = max(1.0, round(passed / self._interval))
        return whole if abs(passed - whole * self._interval) <= _ROUNDING else passed / self._interval

    def _predict(self, steps: float) -> None:
        self._motion.predict(steps)

    @abstractmethod
    def _associate(self, boxes: Array, scores: Array) -> tuple[Rows, Rows]:
        """Pair tracks with detections, and correct their motion. Returns the rows of the tracks and the places of their detections."""

    @abstractmethod
    def _ripe(self) -> NDArray[np.bool_]:
        """Whether each track that was just seen may be confirmed."""

    def _alive(self) -> NDArray[np.bool_] | bool:
        """Whether each track lives on behind the last frame."""
        return True

    def _measured(self, boxes: Array) -> Array:
        """Boxes x1 y1 x2 y2, (k, 4), in the motion model's coordinates."""
        return boxes

    def _weights(self, places: Rows) -> Array:
        """What the overlaps of tracks and detections count: less if the track's last class is another one, float64 (n, m)."""
        return np.where(self._tracks["class_id"][:, None] == self._class_ids[places], 1.0, _OTHER_CLASS)

    def _keep(self, rows: NDArray[np.bool_]) -> None:
        if not rows.all():
            self._motion.keep(rows)
            self._tracks = self._tracks.compress(rows)

    def _begin(self, new: Rows, boxes: Array) -> NDArray[np.int64]:
        """Begin a track for each of these detections. Returns the numbers of the tracks."""
        count = len(self._tracks)
        tracks = np.zeros(count + len(new), self._tracks.dtype)
        tracks[:count] = self._tracks  # np.concatenate compares the types field by field
        added = tracks[count:]
        added["number"] = numbers = np.arange(self._next, self._next + len(new))
        added["class_id"], added["seen"], added["consecutive"] = self._class_ids[new], self._time, 1
        self._next += len(new)
        self._motion.add(self._measured(boxes))
        self._tracks = tracks
        return numbers
