"""Counts tracks at lines and in zones.

An object counts as beyond a line or edge when its reference point is beyond it by the margin, so an object that waits on a line and
trembles counts once. The moment of the crossing is the last time at which the point passed the line before that. See ADR 21.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.zones.geometry import Array, along, distances, passing, reference_points
from framefleet.engine.zones.shapes import Line, Shape, ZoneSet

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

CHANGES = np.dtype(
    [
        *(("shape", np.int64), ("track", np.int64), ("time", np.float64), ("positive", np.bool_)),
        *(("first", np.bool_), ("within", np.bool_)),
    ]
)
"""A track's change of side at a shape. shape: its number in the set. time: seconds. positive: it is now on the side of positive
distances. first: no change, but the track's first detection lies inside the zone. within: it passed between the ends of the line. Others
count at most as a return."""

UNSEEN = 2.0
"""Seconds. An object that is not seen for longer has crossed no line meanwhile: it is unknown where it went, or whether it is the same."""

_STATE = np.dtype([("side", np.int8), ("time", np.float64), ("within", np.bool_), ("seen", np.bool_)])
"""A track at a shape: the side on which it was for certain last, 0 = unknown; the last time at which its point passed the line or edge;
whether it passed between the line's ends then; whether it was seen shortly before and after."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The detections of tracks in the order of their times. tracks: int32 (n,). times: seconds, float64 (n,). boxes: x1 y1 x2 y2 (n, 4)."""

    tracks: NDArray[np.int32]
    times: Array
    boxes: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Rows:
    """Detections of tracks, sorted by track and then by time. A track that was seen before begins with its last detection.

    tracks, times, points, margins: (n,) or (n, 2). first: begins a track's rows. known: repeats an earlier detection.
    """

    tracks: Integers
    times: Array
    points: Array
    margins: Array
    first: Flags
    known: Flags


class ZoneCounter:
    """Counts the tracks of one source.

    Parameters
    ----------
    zones
        For pictures of the source's size.

    Attributes
    ----------
    ends
        When each track was last seen, by its number, seconds, float64 (n,); NaN for numbers that no track has.
    """

    def __init__(self, zones: ZoneSet) -> None:
        self.zones = zones
        self.ends: Array = np.zeros(0)
        self._points: Array = np.zeros((0, 2))
        self._states = np.zeros((len(zones.shapes), 0), _STATE)
        self._changes: list[NDArray[np.void]] = []
        self._seen: list[tuple[NDArray[np.int32], Array, NDArray[np.float32]]] = []

    def add(self, tracks: Integers, times: Array, boxes: Array) -> None:
        """Count later detections of tracks, those of a frame at once.

        Parameters
        ----------
        tracks : ndarray
            Numbers from 0 up, int64 (n,).
        times : ndarray
            Seconds, float64 (n,), in order for each track.
        boxes : ndarray
            x1 y1 x2 y2, pixels, float64 (n, 4).
        """
        if not len(tracks):
            return
        self._seen.append((tracks.astype(np.int32), times, boxes.astype(np.float32)))
        self._make_room(int(tracks.max()) + 1)
        rows = self._rows(tracks, times, boxes)
        for number, shape in enumerate(self.zones.shapes):
            self._changes.append(self._at_shape(number, shape, rows))
        last = np.flatnonzero(np.append(rows.first[1:], True))
        self.ends[rows.tracks[last]] = rows.times[last]
        self._points[rows.tracks[last]] = rows.points[last]

    @property
    def seen(self) -> Seen:
        """The added detections."""
        if not self._seen:
            return Seen(np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 4), np.float32))
        tracks, times, boxes = (np.concatenate(column) for column in zip(*self._seen, strict=True))
        self._seen = [(tracks, times, boxes)]
        order = np.argsort(times, kind="stable") if (np.diff(times) < 0).any() else slice(None)
        return Seen(tracks[order], times[order], boxes[order])

    @property
    def changes(self) -> NDArray[np.void]:
        """The changes of sides in the added detections, of type ``CHANGES``, sorted by shape, track and time."""
        found = np.concatenate(self._changes) if self._changes else np.zeros(0, CHANGES)
        return found[np.lexsort((found["time"], found["track"], found["shape"]))]

    def quiet_moments(self, begin: float, end: float) -> Array:
        """For each shape the middle of the longest time without a change between two times, seconds, float64 (shapes,)."""
        changes = self.changes
        found = np.empty(len(self.zones.shapes))
        for number in range(len(found)):
            times = np.sort(changes["time"][changes["shape"] == number])
            edges = np.concatenate(([begin], times[(begin < times) & (times < end)], [end]))
            longest = int(np.argmax(np.diff(edges)))
            found[number] = edges[longest : longest + 2].mean()
        return found

    def forget(self, changes: NDArray[np.void], seen: float, tracks: float) -> Flags:
        """Forget what was counted for good. The remaining tracks get new numbers from 0 up, in the same order.

        Parameters
        ----------
        changes : ndarray
            Those that remain, of type ``CHANGES``.
        seen
            Detections before this time go, seconds.
        tracks
            Tracks that were last seen before this time go, seconds, if they have no change that remains.

        Returns
        -------
        ndarray
            Which of the tracks remain, bool, of the length of ``ends``.
        """
        kept = self.ends >= tracks
        kept[changes["track"]] = True
        places = np.cumsum(kept) - 1
        self._changes = [changes.copy()]
        self._changes[0]["track"] = places[changes["track"]]
        detections = self.seen
        mine = kept[detections.tracks] & (detections.times >= seen)
        self._seen = [(places[detections.tracks[mine]].astype(np.int32), detections.times[mine], detections.boxes[mine])]
        self.ends, self._points, self._states = self.ends[kept], self._points[kept], self._states[:, kept]
        return kept

    def _make_room(self, count: int) -> None:
        missing = count - len(self.ends)
        if missing > 0:
            missing = max(missing, len(self.ends))
            self.ends = np.append(self.ends, np.full(missing, np.nan))
            self._points = np.concatenate((self._points, np.zeros((missing, 2))))
            self._states = np.concatenate((self._states, np.zeros((len(self._states), missing), _STATE)), 1)

    def _rows(self, tracks: Integers, times: Array, boxes: Array) -> Rows:
        known = np.unique(tracks)
        known = known[np.isfinite(self.ends[known])]
        margins = self.zones.margin * np.maximum(np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]), 0)
        both = np.concatenate((known, tracks))
        order = np.argsort(both, kind="stable")
        points = np.concatenate((self._points[known], reference_points(boxes, self.zones.reference)))
        sorted_tracks = both[order]
        return Rows(
            sorted_tracks,
            np.concatenate((self.ends[known], times))[order],
            points[order],
            np.concatenate((np.zeros(len(known)), margins))[order],
            np.diff(sorted_tracks, prepend=-1) != 0,
            order < len(known),
        )

    def _at_shape(self, number: int, shape: Shape, rows: Rows) -> NDArray[np.void]:
        """Find the changes of side at one shape, and keep its state."""
        is_line, states = isinstance(shape, Line), self._states[number]
        distance = distances(rows.points, shape)
        positive = distance >= 0
        before = states[rows.tracks[rows.first]]

        passed = np.flatnonzero((positive != np.roll(positive, 1)) & ~rows.first)
        share = passing(rows.points[passed - 1], rows.points[passed], distance[passed - 1], distance[passed], shape)
        time, within, seen = np.empty(len(distance)), np.ones(len(distance), bool), np.ones(len(distance), bool)
        time[rows.first], within[rows.first], seen[rows.first] = before["time"], before["within"], before["seen"]
        time[passed] = _between(rows.times, passed, share)
        if isinstance(shape, Line):
            place = _between(along(rows.points, shape), passed, share)
            within[passed] = (place >= 0) & (place <= 1)
            seen[passed] = rows.times[passed] - rows.times[passed - 1] <= UNSEEN
        last_passed = _last(rows.first, passed)

        sure = np.where(np.abs(distance) >= rows.margins, np.where(positive, 1, -1), 0).astype(np.int8)
        sure[(distance == 0) & is_line] = 0
        began = rows.first & ~rows.known
        if not is_line:  # an object that appears at the edge of a zone is inside or outside
            sure[began & (sure == 0)] = np.where(positive, 1, -1)[began & (sure == 0)]
        sure[rows.known] = states["side"][rows.tracks[rows.known]]
        side = sure[_last(rows.first, np.flatnonzero(sure))]
        earlier = np.roll(side, 1)
        changed = ~rows.first & (sure != 0) & (earlier != 0) & (sure != earlier)

        last = np.flatnonzero(np.append(rows.first[1:], True))
        kept = states[rows.tracks[last]]
        kept["side"] = side[last]
        for name, values in (("time", time), ("within", within), ("seen", seen)):
            kept[name] = values[last_passed[last]]
        states[rows.tracks[last]] = kept

        at = np.flatnonzero(changed)
        at = at[seen[last_passed[at]]]
        inside = np.flatnonzero(began & positive) if not is_line else at[:0]
        found = np.zeros(len(at) + len(inside), CHANGES)
        found["shape"] = number
        found["track"] = rows.tracks[np.concatenate((at, inside))]
        found["time"] = np.concatenate((time[last_passed[at]], rows.times[inside]))
        found["positive"] = np.concatenate((side[at] > 0, np.ones(len(inside), bool)))
        found["first"][len(at) :] = True
        found["within"] = np.concatenate((within[last_passed[at]], np.ones(len(inside), bool)))
        return found


def _between(values: Array, rows: NDArray[np.intp], share: Array) -> Array:
    """Values between each of these rows and the row before it. share: 0 = the row before."""
    found: Array = values[rows - 1] + share * (values[rows] - values[rows - 1])
    return found


def _last(first: Flags, marked: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each row the last marked row of the same track up to it, or the track's first row."""
    rows = np.zeros(len(first), np.intp)
    starts = np.flatnonzero(first)
    rows[starts] = starts
    rows[marked] = marked
    return np.maximum.accumulate(rows)
