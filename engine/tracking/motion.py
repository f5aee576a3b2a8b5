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

    def __init__(self, noise: Noise) -> None:
        parts = (noise.measured, noise.position, noise.velocity, noise.first_position, noise.first_velocity)
        self._noise = np.array([np.broadcast_to(part, 4) for part in parts])
        self._noises = self._noise[:3].T.tolist()
        self._moves: dict[float, tuple[Array, Array]] = {}  # of the last number of steps
        # positions, velocities, variance of the position, covariance of position and velocity, variance of the velocity: in one array,
        # because each operation on an array takes a microsecond, however small the array is
        self._state: Array = np.zeros((5, 0, 4))

    @property
    def positions(self) -> Array:
        """See the class."""
        positions: Array = self._state[0]
        return positions

    @property
    def velocities(self) -> Array:
        """See the class."""
        velocities: Array = self._state[1]
        return velocities

    def add(self, measured: Array) -> None:
        """Add boxes behind the others. measured: float64 (k, 4)."""
        new = np.zeros((5, *measured.shape))
        new[0], new[2], new[4] = measured, self._noise[3], self._noise[4]
        self._state = np.concatenate((self._state, new), 1)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Keep the boxes that a mask selects."""
        self._state = self._state.compress(rows, 1)  # an index takes three times as long

    def predict(self, steps: float) -> None:
        """Move all boxes forward in time. steps: above 0, not necessarily whole; n single steps give the same as one call with n."""
        if steps not in self._moves:
            self._moves = {steps: self._move(steps)}
        transition, noise = self._moves[steps]
        self._state = (transition @ self._state.reshape(5, -1)).reshape(self._state.shape)
        self._state[2:] += noise

    def _move(self, steps: float) -> tuple[Array, Array]:
        """What ``steps`` do to the five values of a coordinate, float64 (5, 5), and what noise adds to the last three, (3, 1, 4)."""
        transition = np.eye(5)
        transition[0, 1] = transition[3, 4] = steps
        transition[2, 3:] = 2 * steps, steps**2
        _, of_position, of_velocity, *_ = self._noise
        earlier = of_velocity * steps * (steps - 1)  # the velocity's noise of earlier steps has moved the position meanwhile
        noise = (steps * of_position + earlier * (2 * steps - 1) / 6, earlier / 2, steps * of_velocity)
        return transition, np.array(noise)[:, None]

    def update(self, rows: NDArray[np.intp], measured: Array) -> None:
        """Correct boxes by measurements. rows: int (k,). measured: float64 (k, 4)."""
        state = self._state.take(rows, 1)
        positions, velocities, pp, pv, vv = state
        gains = state[2:4] / (pp + self._noise[0])
        difference = measured - positions
        positions += gains[0] * difference
        velocities += gains[1] * difference
        vv -= gains[1] * pv
        state[2:4] *= 1 - gains[0]
        self._state[:, rows] = state

    def states(self, rows: NDArray[np.intp]) -> Array:
        """The filters of boxes, for ``replay``: float64 (k, 5, 4)."""
        found: Array = self._state.take(rows, 1).swapaxes(0, 1)
        return found

    def replay(self, rows: NDArray[np.intp], states: Array, lines: Iterable[Iterable[tuple[float, ...]]], positive: int) -> None:
        """Set boxes' filters to earlier ``states``, and correct them by measurements of consecutive steps, the first one at the state.

        The noise must be given for each coordinate. rows: int (k,). lines: for each box, the coordinates by step. positive: a coordinate
        that stops before it falls to 0 or below.

        Computes with Python's numbers: for few boxes, arrays take 20 times as long.
        """
        results = []
        for state, line in zip(states.swapaxes(1, 2).tolist(), lines, strict=True):
            for coordinate, (before, noise, values) in enumerate(zip(state, self._noises, zip(*line, strict=True), strict=True)):
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
        self._state[:, rows] = np.array(results).T.reshape(5, -1, 4)
