"""ByteTrack: weak detections continue tracks, but begin none. Y. Zhang et al., "ByteTrack", ECCV 2022, arXiv:2110.06864.

Two additions follow objects that move far from frame to frame. A Kalman filter whose prediction is clearly wrong takes the measured speed
over at once. And the second detection of a track need not overlap the first one: it may lie up to ``reach`` sides of the box away. Those
that move as other objects do come first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.tracking.association import Array, Rows, assign, others, overlaps

NONE = -1
"""The number of a detection that belongs to no track."""

_OTHER_CLASS = 0.5
"""A detection of another class continues a track only if it overlaps clearly: some models change their mind about an object."""

_ROUNDING = 0.004
"""Seconds by which a container and a clock may round times."""

_DEVIATION = 0.04
"""Standard deviation of a measured coordinate, in sides of the box."""

_YOUNG, _YOUNG_SURPRISE, _SURPRISE = 2, 2.5, 10.0
"""A prediction may be wrong by this number of standard deviations before the filter takes the new speed over: for tracks with at most
``_YOUNG`` detections, whose speed is hardly known, and for others, which a box of another object must not lead astray."""

_SIMILAR = 0.7
"""Most difference of the logarithms of widths, or heights, of a track's first two boxes. At the picture's edge, boxes are cut."""

_ALIKE = 0.25
"""Two objects move alike if their ways differ by less than this, in sides of their boxes."""

_PAIRED, _MAX_VOTES = 10.0, 5
"""Least value of a pair of a track and a far detection, so that as many as possible get a partner, and the most others that count as moving
alike."""

_SETTLED, _KNOWN = 5, 8
"""Detections after which the speed of a track is known, and the number of such tracks that say how far objects move here."""


@dataclass(frozen=True)
class Noise:
    """Variances of one coordinate of a box. Only their ratios matter. The unit of time is a step.

    measured: of a measurement. position, velocity: what one step adds. first_position, first_velocity: of a new box.
    """

    measured: float
    position: float
    velocity: float
    first_position: float
    first_velocity: float


REFERENCE = Noise(0.1, 0.01, 0.01, 1.0, 1.0)
"""As in the reference implementation."""

STEADY = Noise(1.0, 0.001, 0.0001, 1.0, 0.1)
"""Trusts the movement of several frames more than the box of one frame."""


class Motion:
    """Predicts where n boxes are: Kalman filters with constant velocity, for all boxes at once.

    The four coordinates of a box are filtered independently of each other. The covariance of a coordinate and its velocity is therefore a
    symmetric 2×2 matrix, and all filters together are one array. R. E. Kalman, "A New Approach to Linear Filtering and Prediction
    Problems", 1960. positions, velocities: float64 (n, 4), x1 y1 x2 y2, pixels, and pixels per step.
    """

    def __init__(self, noise: Noise) -> None:
        self._noise = noise
        self._moves: dict[float, tuple[Array, Array]] = {}  # of the last number of steps
        # positions, velocities, variance of the position, covariance of position and velocity, variance of the velocity: in one array,
        # because each operation on an array takes a microsecond, however small the array is
        self.state: Array = np.zeros((5, 0, 4))

    @property
    def positions(self) -> Array:
        """See the class."""
        positions: Array = self.state[0]
        return positions

    @property
    def velocities(self) -> Array:
        """See the class."""
        velocities: Array = self.state[1]
        return velocities

    def add(self, measured: Array) -> None:
        """Add boxes behind the others. measured: float64 (k, 4)."""
        new = np.zeros((5, *measured.shape))
        new[0], new[2], new[4] = measured, self._noise.first_position, self._noise.first_velocity
        self.state = np.concatenate((self.state, new), 1)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Keep the boxes that a mask selects."""
        self.state = self.state.compress(rows, 1)  # an index takes three times as long

    def predict(self, steps: float) -> None:
        """Move all boxes forward in time. steps: above 0, not necessarily whole; n single steps give the same as one call with n."""
        if steps not in self._moves:
            self._moves = {steps: self._move(steps)}
        transition, noise = self._moves[steps]
        self.state = (transition @ self.state.reshape(5, -1)).reshape(self.state.shape)
        self.state[2:] += noise

    def _move(self, steps: float) -> tuple[Array, Array]:
        """What ``steps`` do to the five values of a coordinate, float64 (5, 5), and what noise adds to the last three, (3, 1, 1)."""
        transition = np.eye(5)
        transition[0, 1] = transition[3, 4] = steps
        transition[2, 3:] = 2 * steps, steps**2
        earlier = self._noise.velocity * steps * (steps - 1)  # the velocity's noise of earlier steps has moved the position meanwhile
        noise = (steps * self._noise.position + earlier * (2 * steps - 1) / 6, earlier / 2, steps * self._noise.velocity)
        return transition, np.array(noise)[:, None, None]

    def update(self, rows: Rows, measured: Array) -> None:
        """Correct boxes by measurements. rows: int (k,). measured: float64 (k, 4)."""
        state = self.state.take(rows, 1)
        positions, velocities, pp, pv, vv = state
        gains = state[2:4] / (pp + self._noise.measured)
        difference = measured - positions
        positions += gains[0] * difference
        velocities += gains[1] * difference
        vv -= gains[1] * pv
        state[2:4] *= 1 - gains[0]
        self.state[:, rows] = state

    def take_speed_over(self, rows: Rows, measured: Array, steps: Array, allowed: Array) -> None:
        """Make filters whose predictions are clearly wrong less certain of the speed, so that ``update`` takes over the measured one.

        measured: x1 y1 x2 y2 of each row, pixels. steps: since each box was measured last. allowed: how far a prediction may be wrong, in
        standard deviations of a measurement.
        """
        sides = np.maximum(measured[:, 2:] - measured[:, :2], 1)
        # of both edges, the one that fits better: else, a box that grows would count as one that moves
        wrong = np.abs(measured - self.positions[rows]).reshape(-1, 2, 2).min(1) / (_DEVIATION * sides)
        if not (wrong > allowed[:, None]).any():
            return
        needed = np.tile((wrong / allowed[:, None]) ** 2, 2) * self._noise.measured
        missing = np.maximum(needed - self.state[2, rows] - self._noise.measured, 0)
        by = steps[:, None]  # as if the speed had been unknown by this much since the last measurement
        self.state[2:, rows] += np.stack((missing, missing / by, missing / by**2))


@dataclass(frozen=True, eq=False)
class Update:
    """What a tracker says about one frame.

    numbers: int64 (n,), the track of each detection, NONE if it has none. No number is used twice. confirmed: int64, the tracks that
    became certain with this frame. A track that is never confirmed was a false alarm.
    """

    numbers: NDArray[np.int64]
    confirmed: NDArray[np.int64]


_TRACK = np.dtype(
    [
        *(("number", np.int64), ("class_id", np.int64), ("seen", np.float64), ("steps", np.float64)),
        *(("consecutive", np.int64), ("needed", np.int64), ("detections", np.int64), ("certain", bool)),
    ]
)
"""A track. seen: the time of its last detection, seconds. steps: intervals since then. consecutive: its detections in consecutive frames up
to now. needed: the number of these after which it is certain. detections: the number of all."""


CERTAIN_FRAMES = 2
"""A track is certain after detections in this number of consecutive frames."""


class ByteTrack:
    """Follows the objects of one source. Call ``update`` for each analysed frame, in order.

    It pairs strong detections with all tracks first, then weak ones with the remaining tracks.

    Parameters
    ----------
    interval : float
        Usual time between two analysed frames, seconds.
    patience : float
        How long a track lives without detections, seconds.
    strong, first : float
        Confidence that separates strong from weak detections, and least confidence of a track's first detection.
    overlap, weak_overlap : float
        Least intersection over union of a detection and a predicted box, and the same for weak detections, which then continue only tracks
        that were seen in the frame before; None = ``overlap``, for all tracks.
    noise : Noise
        Of the motion model.
    reach : float
        How far from its first detection the second one of a track may lie, in sides of the box; 0 = it must overlap. Above 0, the motion
        model also takes another speed over where its prediction is clearly wrong.
    """

    def __init__(
        self,
        interval: float,
        patience: float = 1.0,
        strong: float = 0.6,
        first: float = 0.7,
        overlap: float = 0.1,
        weak_overlap: float | None = None,
        noise: Noise = REFERENCE,
        reach: float = 0.0,
    ) -> None:
        self._interval, self.patience = interval, patience
        self._strong, self._first, self._overlap, self._weak_overlap = strong, max(first, strong), overlap, weak_overlap
        self._reach = reach
        self._motion = Motion(noise)
        self._tracks = np.zeros(0, _TRACK)
        self._time: float | None = None  # of the last frame, seconds
        self._class_ids: NDArray[np.integer[Any]] = np.zeros(0, np.int64)  # of the frame's detections
        self._speeds: list[float] = []  # of tracks that are long enough, in sides of the box per step
        self._next = 0

    def update(self, boxes: Array, scores: Array, seconds: float, class_ids: NDArray[np.integer[Any]] | None = None) -> Update:
        """Assign a frame's detections to tracks.

        Parameters
        ----------
        boxes : ndarray
            float64 (n, 4), x1 y1 x2 y2, pixels.
        scores : ndarray
            Confidences, float64 (n,).
        seconds : float
            The frame's time. A time that does not lie after the previous frame's time counts as one interval.
        class_ids : ndarray, optional
            int (n,); None: all are of one class.
        """
        self._class_ids = np.zeros(len(boxes), np.int64) if class_ids is None else class_ids
        if self._time is not None:
            self._keep(self._alive() & (seconds - self._tracks["seen"] <= self.patience + _ROUNDING))
            steps = self._steps(seconds - self._time)
            self._tracks["steps"] += steps
            self._motion.predict(steps)
        self._time = seconds
        numbers = np.full(len(boxes), NONE, np.int64)
        matched, places = self._associate(boxes, scores)
        tracks = self._tracks
        numbers[places] = tracks["number"][matched]
        tracks["class_id"][matched] = self._class_ids[places]
        missed = np.ones(len(tracks), bool)
        missed[matched] = False
        tracks["seen"][matched], tracks["steps"][matched] = seconds, 0
        tracks["consecutive"][matched] += 1
        tracks["detections"][matched] += 1
        tracks["consecutive"][missed] = 0
        ripe = (tracks["consecutive"] >= tracks["needed"]) & ~missed & ~tracks["certain"]
        tracks["certain"] |= ripe
        confirmed = tracks["number"][ripe]
        if self._reach and len(self._speeds) < _KNOWN:
            self._note_speeds(np.flatnonzero(~missed & (tracks["detections"] == _SETTLED)))
        new = ((numbers == NONE) & (scores >= self._first)).nonzero()[0]
        if len(new):
            numbers[new] = self._begin(new, boxes[new])
        return Update(numbers, confirmed)

    def restart(self) -> None:
        """End all tracks: what follows continues no frame before. Numbers go on."""
        self._keep(np.zeros(len(self._tracks), bool))
        self._time = None

    def _steps(self, passed: float) -> float:
        if not passed > 0:
            return 1.0
        whole = max(1.0, round(passed / self._interval))
        return whole if abs(passed - whole * self._interval) <= _ROUNDING else passed / self._interval

    def _associate(self, boxes: Array, scores: Array) -> tuple[Rows, Rows]:
        """Pair tracks with detections, and correct their motion. Returns the rows of the tracks and the places of their detections."""
        strong = scores >= self._strong
        high, low = np.flatnonzero(strong), np.flatnonzero(~strong)
        table = overlaps(self._motion.positions, boxes) * self._weights(np.arange(len(boxes)))
        rows, columns = assign(table[:, high], self._overlap)
        remaining, least = others(len(self._tracks), rows), self._overlap
        if self._weak_overlap is not None:
            remaining, least = remaining[self._tracks["consecutive"][remaining] > 0], self._weak_overlap
        late, low_columns = assign(table[np.ix_(remaining, low)], least)
        matched, which = np.concatenate((rows, remaining[late])), np.concatenate((high[columns], low[low_columns]))
        if self._reach:
            far, places = self._far(others(len(self._tracks), matched), high[others(len(high), columns)], boxes)
            self._tracks["needed"][far] = CERTAIN_FRAMES + 1
            matched, which = np.concatenate((matched, far)), np.concatenate((which, places))
        if self._reach:
            allowed = np.where(self._tracks["detections"][matched] <= _YOUNG, _YOUNG_SURPRISE, _SURPRISE)
            self._motion.take_speed_over(matched, boxes[which], self._tracks["steps"][matched], allowed)
        self._motion.update(matched, boxes[which])
        return matched, which

    def _far(self, free: Rows, places: Rows, boxes: Array) -> tuple[Rows, Rows]:
        """Pair tracks that have one detection, in the frame before, with detections that do not overlap it.

        free: rows of tracks without a detection. places: of strong detections without a track.
        """
        tracks = self._tracks
        free = free[(tracks["detections"][free] == 1) & (tracks["consecutive"][free] == 1)]
        if not len(free) or not len(places):
            return free[:0], places[:0]
        before, after = self._motion.positions[free][:, None], boxes[places]
        ways = _centres(after) - _centres(before)
        ways /= _sides(before)  # float64 (n, m, 2), in sides of the box
        distances = np.hypot(ways[..., 0], ways[..., 1])
        possible = distances <= self._limit() * tracks["steps"][free][:, None]
        possible &= np.abs(np.log(_sides(after) / _sides(before))).max(2) <= _SIMILAR
        possible &= tracks["class_id"][free][:, None] == self._class_ids[places]
        rows, columns = possible.nonzero()
        if not len(rows):
            return free[:0], places[:0]
        value = np.zeros(possible.shape)
        near = 1 - distances[rows, columns] / (2 * distances.max())
        value[rows, columns] = _PAIRED + np.minimum(self._alike(ways[rows, columns], rows), _MAX_VOTES) + near
        chosen, columns = assign(value, _PAIRED)
        return free[chosen], places[columns]

    def _alike(self, ways: Array, objects: Rows) -> NDArray[np.int64]:
        """How many others move like each possible pair: objects of other pairs, and tracks whose speed is known, int64 (k,).

        ways: of the pairs, in sides of the box, (k, 2). objects: the row of the track of each pair, (k,).
        """
        alike = (np.abs(ways[:, None] - ways) < _ALIKE).all(2) & (objects[:, None] != objects)
        pairs, others_ = alike.nonzero()
        votes = np.bincount(np.unique(np.stack((pairs, objects[others_])), axis=1)[0], minlength=len(ways))
        known = np.flatnonzero(self._tracks["detections"] >= _YOUNG + 1)
        votes += (np.abs(ways[:, None] - self._speeds_of(known)) < _ALIKE).all(2).sum(1)
        return votes

    def _limit(self) -> float:
        """How far an object may move in one step, in sides of its box."""
        if len(self._speeds) < _KNOWN:
            return self._reach
        return min(self._reach, 2 * max(self._speeds) + _ALIKE)

    def _note_speeds(self, rows: Rows) -> None:
        self._speeds += np.hypot(*self._speeds_of(rows).T).tolist()

    def _speeds_of(self, rows: Rows) -> Array:
        """The speeds of tracks, in sides of their boxes per step, float64 (k, 2)."""
        speeds: Array = _centres(self._motion.velocities[rows]) / _sides(self._motion.positions[rows])
        return speeds

    def _alive(self) -> NDArray[np.bool_]:
        """Whether each track lives on behind the last frame."""
        tracks = self._tracks
        return np.asarray(tracks["certain"] | (tracks["consecutive"] > 0))

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
        tracks = np.zeros(count + len(new), _TRACK)
        tracks[:count] = self._tracks  # np.concatenate compares the types field by field
        added = tracks[count:]
        added["number"] = numbers = np.arange(self._next, self._next + len(new))
        added["class_id"], added["seen"] = self._class_ids[new], self._time
        added["consecutive"] = added["detections"] = 1
        added["needed"] = CERTAIN_FRAMES
        self._next += len(new)
        self._motion.add(boxes)
        self._tracks = tracks
        return numbers


def _centres(boxes: Array) -> Array:
    """The centres of boxes x1 y1 x2 y2, (…, 4): float64 (…, 2)."""
    centres: Array = (boxes[..., :2] + boxes[..., 2:]) / 2
    return centres


def _sides(boxes: Array) -> Array:
    """Widths and heights of boxes, at least one pixel: float64 (…, 2)."""
    return np.maximum(boxes[..., 2:] - boxes[..., :2], 1)
