"""Predicts where tracked boxes are in the next frame: Kalman filters with constant velocity, for all boxes at once.

The four coordinates of a box are filtered independently of each other. The covariance of a coordinate and its velocity is therefore a
symmetric 2×2 matrix, and all filters together are a few arrays. R. E. Kalman, "A New Approach to Linear Filtering and Prediction
Problems", 1960; the constants are those of ByteTrack and OC-SORT.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Noise:
    """Variances of one coordinate each: float64 (4,), or (1,) if all coordinates share them. The unit of time is a step.

    measured: of a measurement. position, velocity: what one step adds. first_position, first_velocity: of a new box.
    """

    measured: Array
    position: Array
    velocity: Array
    first_position: Array
    first_velocity: Array


class Motion:
    """The filters of n boxes. positions, velocities: float64 (n, 4), in the coordinates and per step of the caller's choice."""

    _STATE = ("positions", "velocities", "_pp", "_pv", "_vv")

    def __init__(self, noise: Noise) -> None:
        width = len(noise.measured)
        self._noise = noise
        self._noises = np.stack((noise.measured, noise.position, noise.velocity), 1).tolist()
        self.positions: Array = np.zeros((0, 4))
        self.velocities: Array = np.zeros((0, 4))
        self._pp: Array = np.zeros((0, width))  # variance of the position
        self._pv: Array = np.zeros((0, width))  # covariance of position and velocity
        self._vv: Array = np.zeros((0, width))  # variance of the velocity

    def add(self, measured: Array) -> None:
        """Add boxes behind the others. measured: float64 (k, 4)."""
        count, noise = len(measured), self._noise
        zero = np.zeros((count, len(noise.measured)))
        new = (measured, np.zeros((count, 4)), zero + noise.first_position, zero, zero + noise.first_velocity)
        for name, rows in zip(self._STATE, new, strict=True):
            setattr(self, name, np.concatenate((getattr(self, name), rows)))

    def keep(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> None:
        """Keep the boxes that a mask or an index array selects."""
        for name in self._STATE:
            setattr(self, name, getattr(self, name)[rows])

    def predict(self, steps: float) -> None:
        """Move all boxes forward in time. steps: above 0, not necessarily whole; n single steps give the same as one call with n."""
        noise = self._noise
        self.positions = self.positions + steps * self.velocities
        self._pp = self._pp + steps * (2 * self._pv + steps * self._vv) + steps * noise.position
        self._pv = self._pv + steps * self._vv
        if steps != 1:  # the velocity's noise of earlier steps has moved the position meanwhile
            self._pp += noise.velocity * steps * (steps - 1) * (2 * steps - 1) / 6
            self._pv += noise.velocity * steps * (steps - 1) / 2
        self._vv = self._vv + steps * noise.velocity

    def update(self, rows: NDArray[np.intp], measured: Array) -> None:
        """Correct boxes by measurements. rows: int (k,). measured: float64 (k, 4)."""
        pp, pv = self._pp[rows], self._pv[rows]
        total = pp + self._noise.measured
        gain, velocity_gain = pp / total, pv / total
        difference = measured - self.positions[rows]
        self.positions[rows] += gain * difference
        self.velocities[rows] += velocity_gain * difference
        self._pp[rows] = (1 - gain) * pp
        self._pv[rows] = (1 - gain) * pv
        self._vv[rows] -= velocity_gain * pv

    def state(self, row: int) -> list[list[float]]:
        """One box's filter, for ``replay``."""
        return [getattr(self, name)[row].tolist() for name in self._STATE]

    def replay(self, row: int, state: list[list[float]], measured: Iterable[tuple[float, ...]], positive: int) -> None:
        """Set one box's filter to an earlier ``state``, and correct it by measurements of consecutive steps, the first one at ``state``.

        The noise must be given for each coordinate. measured: the coordinates, by step. positive: a coordinate that stops before it falls
        to 0 or below.

        Computes with Python's numbers: for one box, arrays take 20 times as long.
        """
        results = []
        for coordinate, (before, noise, values) in enumerate(
            zip(zip(*state, strict=True), self._noises, zip(*measured, strict=True), strict=True)
        ):
            position, velocity, pp, pv, vv = before
            of_measurement, of_position, of_velocity = noise
            for number, value in enumerate(values):
                if number:
                    if coordinate == positive and position + velocity <= 0:
                        velocity = 0.0
                    position += velocity
                    pp, pv, vv = pp + (2 * pv + vv) + of_position, pv + vv, vv + of_velocity
                total = pp + of_measurement
                gain, velocity_gain = pp / total, pv / total
                difference = value - position
                position += gain * difference
                velocity += velocity_gain * difference
                pp, pv, vv = (1 - gain) * pp, (1 - gain) * pv, vv - velocity_gain * pv
            results.append((position, velocity, pp, pv, vv))
        for name, column in zip(self._STATE, zip(*results, strict=True), strict=True):
            getattr(self, name)[row] = column
