"""Improves the tracks of a whole source: ends them at cuts, joins pieces of the same object, and adds weak detections in gaps.

A tracker decides frame by frame. Afterwards, both ends of each gap are known, so these decisions need less evidence. Only detections that
the model found get tracks. Constants are chosen on streets of other seeds than those in ``benchmarks/results/tracks.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.tracking.association import Array, Integers, assign_some, pair_overlaps

CUT_WINDOW, CUT_TRACKS, CUT_SHARE = 0.2, 5, 0.3
"""At a cut, at least ``CUT_TRACKS`` tracks end and begin, and at most this share of them continues within these seconds. Tracks
continue behind a damaged picture, so it does not count as a cut."""

JOIN_SECONDS, JOIN_DISTANCE, JOIN_GROWTH, JOIN_WIDENING = 4.0, 0.6, 0.35, 2.0
"""Pieces are joined over a gap of this length at most, if their predictions for its middle are at most this distance apart, in sides of
their boxes, and the logarithms of their heights differ by this at most. After each ``JOIN_WIDENING`` seconds, both limits grow by their
value."""

JOIN_OVERLAP = 0.8
"""Both pieces may be seen for this time, because an object has two boxes for a while."""

SPLIT_SECONDS, SPLIT_STEPS = 0.4, 4.5
"""Tracks are divided in gaps that are longer than both: seconds, and intervals of the analysed frames. The pieces are joined again if no
others fit better."""

JOIN_DECAY, JOIN_OWN = 6.0, 1.1
"""How fast the value of joining two pieces falls with its cost, and the most cost of joining pieces that the tracker has joined."""

DOUBLE_OVERLAP, DOUBLE_SHARE = 0.5, 0.5
"""A track follows the object of a longer one if their boxes overlap by this in this share of its detections."""

DOUBLES_BLOCK = 20_000
"""Detections that are compared at once."""

FIT = 12
"""Detections at a piece's end that define its speed."""

FILL_SECONDS, FILL_OVERLAP = 2.0, 0.6
"""In a gap of this length at most, detections belong to the track if they overlap the straight line by this intersection over union."""


@dataclass(frozen=True, eq=False)
class Sightings:
    """The detections of a source that may belong to tracks, in the order of frames.

    Attributes
    ----------
    positions : ndarray
        int64 (n,), each detection's frame: its number among the frames without failure.
    boxes : ndarray
        float64 (n, 4), x1 y1 x2 y2, pixels.
    tracks : ndarray
        int64 (n,), -1: none.
    times : ndarray
        float64 (frames,), seconds, of all frames without failure.
    class_ids : ndarray
        int64, by track.
    """

    positions: Integers
    boxes: Array
    tracks: Integers
    times: Array
    class_ids: Integers


def refined(seen: Sightings) -> Integers:
    """Return the improved track of each detection, int64 (n,), -1: none. The numbers are new."""
    order = np.lexsort((seen.positions, seen.tracks))
    order = order[np.searchsorted(seen.tracks[order], 0) :]
    if not len(order):
        return np.full(len(seen.tracks), -1)
    segments = np.searchsorted(cuts(seen.positions[order], seen.tracks[order], seen.times), seen.positions[order], side="right")
    begins = (np.diff(seen.tracks[order], prepend=-1) != 0) | (np.diff(segments, prepend=-1) != 0)
    times = seen.times[seen.positions[order]]
    begins |= np.diff(times, prepend=times[0]) > max(SPLIT_SECONDS, SPLIT_STEPS * interval_of(seen.times))
    starts = np.flatnonzero(begins)
    pieces = _Pieces.of(seen, order, starts, segments[starts])
    names = _joined(pieces)[np.cumsum(begins) - 1]
    tracks = np.full(len(seen.tracks), -1)
    doubled = np.zeros(len(order), bool)
    by_frame = np.lexsort((-np.repeat(starts, np.diff(starts, append=len(order))), seen.positions[order], names))
    same = (np.diff(names[by_frame]) == 0) & (np.diff(seen.positions[order][by_frame]) == 0)
    doubled[by_frame[1:][same]] = True
    names[doubled] = -1
    tracks[order] = names
    _drop_doubles(seen, tracks)
    _fill(seen, tracks)
    return tracks


def interval_of(times: Array) -> float:
    """The usual time between two frames, seconds; 0 for one frame. times: of all frames, seconds, float64 (n,)."""
    return float(np.median(np.diff(times))) if len(times) > 1 else 0.0


def cuts(positions: Integers, tracks: Integers, times: Array) -> Integers:
    """Return the positions of frames with which another scene begins. positions, tracks: of detections, by track and then by frame."""
    interval = interval_of(times)
    window = round(CUT_WINDOW / interval) if interval > 0 else 0
    if window < 2:  # too few frames a second
        return np.zeros(0, np.int64)
    same = np.diff(tracks) == 0
    before, after = positions[:-1], positions[1:]
    following = np.append(np.where(same, after, len(times)), len(times))
    previous = np.append(-1, np.where(same, before, -1))
    # for the boundary before each frame: the tracks seen shortly before it, shortly behind it, and both
    leaving = _covered(positions + 1, np.minimum(following, positions + window), len(times))
    coming = _covered(np.maximum(previous + 1, positions - window + 1), positions, len(times))
    near = same & (after - before < 2 * window)
    going_on = _covered(np.maximum(before + 1, after - window + 1)[near], np.minimum(after, before + window)[near], len(times))
    fewer = np.minimum(leaving, coming)
    found = np.flatnonzero((fewer >= CUT_TRACKS) & (going_on <= CUT_SHARE * fewer))
    groups = np.split(found, np.flatnonzero(np.diff(found) >= window) + 1)
    return np.array([group[going_on[group].argmin()] for group in groups if len(group)], np.int64)


def _covered(first: Integers, last: Integers, count: int) -> Integers:
    """How many of the ranges from ``first`` to ``last`` contain each number below ``count``."""
    good = first <= last
    steps = np.bincount(first[good], minlength=count + 2) - np.bincount(last[good] + 1, minlength=count + 2)
    return np.cumsum(steps)[:count]


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Tracks without cuts: their segments between cuts, classes, tracks, and at the first and the last detection: time, box and speed.

    times: float64 (2, k), seconds. boxes: float64 (2, k, 4): centre, width and height. speeds: float64 (2, k, 2), pixels/s.
    """

    segments: Integers
    class_ids: Integers
    tracks: Integers
    times: Array
    boxes: Array
    speeds: Array

    @classmethod
    def of(cls, seen: Sightings, order: NDArray[np.intp], starts: NDArray[np.intp], segments: Integers) -> _Pieces:
        ends = np.append(starts[1:], len(order)) - 1
        steps = np.arange(FIT)
        sides = []
        for rows in (starts[:, None] + steps, ends[:, None] - steps):
            used = (rows >= starts[:, None]) & (rows <= ends[:, None])
            at = order[np.clip(rows, 0, len(order) - 1)]
            sides.append(_line(seen.times[seen.positions[at]], _sides(seen.boxes[at]), used))
        times, boxes, speeds = (np.stack(column) for column in zip(*sides, strict=True))
        numbers = seen.tracks[order[starts]]
        return cls(segments, seen.class_ids[numbers], numbers, times, boxes, speeds)


def _sides(boxes: Array) -> Array:
    """Centre, width and height of boxes x1 y1 x2 y2, (…, 4)."""
    corner, opposite = boxes[..., :2], boxes[..., 2:]
    return np.concatenate(((corner + opposite) / 2, opposite - corner), -1)


def _line(times: Array, boxes: Array, used: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Fit straight lines to detections, (k, m): the time, the box and the speed of the centre at the first one.

    Two detections say too little about a speed: then it is 0.
    """
    count = used.sum(1)
    mean = np.where(used, times, 0).sum(1) / count
    middle = np.where(used[..., None], boxes, 0).sum(1) / count[:, None]
    past = np.where(used, times - mean[:, None], 0)
    slope = (past[..., None] * (boxes - middle[:, None])).sum(1) / np.maximum((past**2).sum(1), 1e-12)[:, None]
    known = (count >= 3)[:, None]
    box = np.where(known, middle + slope * (times[:, 0] - mean)[:, None], boxes[:, 0])
    return times[:, 0], box, np.where(known, slope[:, :2], 0)


def _joined(pieces: _Pieces) -> Integers:
    """Return the track of each piece: the number of its first piece."""
    (first, last), ends = pieces.times, np.argsort(pieces.times[0], kind="stable")
    low, high = (np.searchsorted(first[ends], last + length, side="right") for length in (-JOIN_OVERLAP, JOIN_SECONDS))
    one, other = ranges(low, high)
    other = ends[other]
    fitting = (first[one] < first[other]) & (last[one] < last[other])
    fitting &= (pieces.class_ids[one] == pieces.class_ids[other]) & (pieces.segments[one] == pieces.segments[other])
    one, other = one[fitting], other[fitting]

    gap = first[other] - last[one]
    here, there = pieces.boxes[1, one], pieces.boxes[0, other]
    way = there[:, :2] - here[:, :2] - (pieces.speeds[1, one] + pieces.speeds[0, other]) * gap[:, None] / 2
    sizes = np.sqrt(np.maximum(np.minimum(here[:, 2] * here[:, 3], there[:, 2] * there[:, 3]), 1))
    distance = np.hypot(*way.T) / sizes
    growth = np.abs(np.log(np.maximum(here[:, 3], 1) / np.maximum(there[:, 3], 1)))
    wider = 1 + np.abs(gap) / JOIN_WIDENING
    cost = distance / (JOIN_DISTANCE * wider) + growth / 2 + np.abs(gap) / JOIN_SECONDS / 2
    good = (distance < JOIN_DISTANCE * wider) & (growth < JOIN_GROWTH * wider)
    own = pieces.tracks[one] == pieces.tracks[other]
    value = np.exp(-JOIN_DECAY * np.where(own, np.minimum(cost, JOIN_OWN), cost))
    good |= own

    names = np.arange(len(last))
    before, after = assign_some(one[good], other[good], value[good], len(last))
    names[after] = before
    for piece in ends:  # the earlier piece has its name already
        names[piece] = names[names[piece]]
    return names


def _drop_doubles(seen: Sightings, tracks: Integers) -> None:
    """Take away the tracks that follow an object which a longer track follows."""
    mine = np.flatnonzero(tracks >= 0)
    lengths = np.bincount(tracks[mine])
    pairs: list[Integers] = []
    for part in np.array_split(mine, len(mine) // DOUBLES_BLOCK + 1):
        ends = np.searchsorted(seen.positions[part], seen.positions[part], side="right")
        one, other = ranges(np.arange(1, len(part) + 1), ends)
        one, other = part[one], part[other]
        near = pair_overlaps(seen.boxes[one], seen.boxes[other]) >= DOUBLE_OVERLAP
        both = np.sort(tracks[np.stack((one[near], other[near]))], 0)
        pairs.append(both[0] * len(lengths) + both[1])
    keys, hits = np.unique(np.concatenate(pairs), return_counts=True)
    first, second = np.divmod(keys, len(lengths))
    doubled = np.where(lengths[second] > lengths[first], first, second)
    doubled = doubled[hits >= DOUBLE_SHARE * lengths[doubled]]
    tracks[np.isin(tracks, doubled)] = -1


def ranges(first: Integers, end: Integers) -> tuple[Integers, Integers]:
    """All numbers from ``first`` up to ``end`` of ranges, one range behind the other: the number of the range, and the number in it."""
    counts = end - first
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) + (first - np.cumsum(counts) + counts)[which]


def _fill(seen: Sightings, tracks: Integers) -> None:
    """Give detections without a track that lie in the gap of one to it."""
    order = np.lexsort((seen.positions, tracks))
    order = order[np.searchsorted(tracks[order], 0) :]
    positions, times = seen.positions[order], seen.times[seen.positions[order]]
    gaps = np.flatnonzero((np.diff(tracks[order]) == 0) & (np.diff(positions) > 1) & (np.diff(times) <= FILL_SECONDS))
    gap, place = ranges(positions[gaps] + 1, positions[gaps + 1])
    gap = gaps[gap]
    share = ((seen.times[place] - times[gap]) / np.maximum(times[gap + 1] - times[gap], 1e-9))[:, None]
    line = seen.boxes[order[gap]] * (1 - share) + seen.boxes[order[gap + 1]] * share

    free = np.flatnonzero(tracks < 0)  # in the order of frames
    low, high = (np.searchsorted(seen.positions[free], place, side=side) for side in ("left", "right"))
    wish, found = ranges(low, high)
    found = free[found]
    overlap = pair_overlaps(line[wish], seen.boxes[found])
    good = np.flatnonzero(overlap >= FILL_OVERLAP)
    filled = np.zeros(len(place), bool)
    for pair in good[np.argsort(-overlap[good], kind="stable")]:
        if not filled[wish[pair]] and tracks[found[pair]] < 0:
            filled[wish[pair]] = True
            tracks[found[pair]] = tracks[order[gap[wish[pair]]]]
