"""Finds when objects appear: from which moment to which one a track, or objects of a class, were seen."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.tracking.association import Array, Integers

APPEARANCE = np.dtype(
    [
        ("class_id", np.int64),
        ("track", np.int64),
        ("start", np.float64),
        ("end", np.float64),
        ("first", np.int64),
        ("last", np.int64),
        ("best", np.float64),
        ("best_frame", np.int64),
        ("confidence", np.float64),
        ("detections", np.int64),
    ]
)
"""One appearance. class_id: of a track, the class with the highest sum of confidences. track: -1 if it is of a class. start, end: times of
the first and the last frame, seconds; ``read_appearances`` adds the length of the last one. first, last: indices of these frames. best,
best_frame: time and index of the frame with the detection of the highest confidence. confidence: of this detection. detections: their
number."""

GAP = 1.0
"""Objects of a class appear again if there was none for longer than this, seconds."""


def class_appearances(frames: Integers, times: Array, ends: Array, class_ids: Integers, scores: Array, gap: float = GAP) -> NDArray[Any]:
    """Return the appearances of each class.

    Parameters
    ----------
    frames, times, ends, class_ids, scores : ndarray
        Of each detection, ordered by frame: index, seconds, when the next frame begins, class id, confidence; all (m,).
    gap : float
        See ``GAP``, seconds.

    Returns
    -------
    ndarray
        Of type ``APPEARANCE``, ordered by start.
    """
    order = np.argsort(_short(class_ids), kind="stable")
    begins = np.diff(class_ids[order], prepend=-1) != 0
    begins[1:] |= times[order][1:] - ends[order][:-1] > gap
    return _summary(order, begins, frames, times, class_ids, np.full(len(frames), -1), scores)


def track_appearances(frames: Integers, times: Array, class_ids: Integers, tracks: Integers, scores: Array) -> NDArray[Any]:
    """Return the appearance of each track. Detections without a track (-1) do not count.

    Parameters
    ----------
    frames, times, class_ids, tracks, scores : ndarray
        Of each detection, ordered by frame: index, seconds, class id, track, confidence; all (m,).

    Returns
    -------
    ndarray
        Of type ``APPEARANCE``, ordered by start.
    """
    order = np.argsort(_short(tracks), kind="stable")  # detections without a track are first and begin no group
    begins = np.diff(tracks[order], prepend=-1) != 0
    return _summary(order, begins, frames, times, vote(tracks, class_ids, scores), tracks, scores)


def vote(tracks: Integers, class_ids: Integers, scores: Array) -> Integers:
    """Return for each detection the class of its track: the one with the highest sum of confidences, of equals the lowest id.

    Parameters
    ----------
    tracks, class_ids, scores : ndarray
        Of each detection: track, -1 = none, class id, confidence; all (n,).

    Returns
    -------
    ndarray
        Class ids, int64 (n,). Detections without a track keep their own class.
    """
    classes = class_ids.max(initial=0) + 1
    # one number of each pair, because other threads wait for Python's lock while NumPy sorts rows
    pairs, position = np.unique(tracks * classes + class_ids, return_inverse=True)
    sums = np.bincount(position, scores, len(pairs))
    pair_tracks, pair_classes = np.divmod(pairs, classes)
    ranked = np.lexsort((pair_classes, -sums, pair_tracks))
    numbers, first = np.unique(pair_tracks[ranked], return_index=True)
    winners = pair_classes[ranked[first]]
    return np.where(tracks < 0, class_ids, winners[np.searchsorted(numbers, tracks)])


def _short(numbers: Integers) -> NDArray[np.signedinteger[Any]]:
    """The same numbers in 16 bits if they fit, because NumPy sorts these ten times as fast."""
    return numbers.astype(np.int16) if len(numbers) and -(1 << 15) <= numbers.min() <= numbers.max() < 1 << 15 else numbers


def _summary(
    order: NDArray[np.intp], begins: NDArray[np.bool_], frames: Integers, times: Array, class_ids: Integers, tracks: Integers, scores: Array
) -> NDArray[Any]:
    """One row for each group of detections. order: the detections by group. begins: whether each of them begins a group."""
    starts = np.flatnonzero(begins)
    found = np.zeros(len(starts), APPEARANCE)
    if not len(starts):
        return found
    ends = np.append(starts[1:], len(order)) - 1
    group = np.cumsum(begins) - 1
    # the most confident detection of each group, of equals the earliest
    ordered = scores[order]
    highest = np.flatnonzero(ordered == np.maximum.reduceat(ordered, starts)[group])
    best = order[highest[np.searchsorted(highest, starts)]]
    first, last = order[starts], order[ends]
    for name, values in (("class_id", class_ids[first]), ("track", tracks[first]), ("first", frames[first]), ("last", frames[last])):
        found[name] = values
    found["start"], found["end"] = times[first], times[last]
    found["best"], found["best_frame"], found["confidence"] = times[best], frames[best], scores[best]
    found["detections"] = ends - starts + 1
    return found[np.lexsort((found["track"], found["class_id"], found["start"]))]
