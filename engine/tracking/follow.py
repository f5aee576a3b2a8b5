"""Tracks the objects of a source: numbers for its detections, and a class for each track."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice, Option
from framefleet.engine.tracking.appearances import vote
from framefleet.engine.tracking.association import Array, Integers, overlaps
from framefleet.engine.tracking.bytetrack import NONE, STEADY, ByteTrack
from framefleet.engine.tracking.refine import Sightings, interval_of, ranges, refined
from framefleet.engine.types import FrameResult

TRACKER = "bytetrack 7"
"""The tracker and its version, which changes whenever the same detections get other tracks."""

MIN_CONFIDENCE = 0.1
"""Weaker detections help no tracker."""

_STRONG, _OVERLAP, _WEAK_OVERLAP, _REACH = 0.6, 0.3, 0.7, 1.25
"""Confidence of the detections that can begin a track, least overlap of them and of weaker ones with the predicted box, and how many sides
of its box an object may move from its first detection to the next frame: see ``benchmarks/results/tracks.md``."""

_PATIENCE, _PATIENCE_STEPS = 2.0, 2.5
"""A track lives without detections for the longer of these: seconds, and intervals of the analysed frames."""

_MIN_STRONG, _SURER, _SURER_SHARE = 0.25, 0.75, 2 / 3
"""For a model that is unsure of most objects, less can begin a track: this share of the confidence that the surer quarter of its detections
from 0.25 up reaches, but no less than 0.25."""

MAX_STEP, _FAR_SHARE, _FAR_STEPS = 1.1, 0.25, 3
"""Objects that move farther than this from frame to frame, in sides of their boxes, cannot be followed. The least share of such steps of
which the user is told, and their least number."""

_SAME = 0.65
"""Boxes of different classes that overlap more than this show the same object."""


@dataclass(frozen=True, eq=False)
class Tracks:
    """The tracks of one source, numbered from 1 in the order of their first detections.

    Attributes
    ----------
    frames, ordinals, tracks : ndarray
        int64 (n,), each detection that belongs to a track: its frame, its place in that frame, its track.
    class_ids : ndarray
        int64 (m,), of track 1, 2, …: the class with the highest sum of confidences.
    """

    frames: NDArray[np.int64]
    ordinals: NDArray[np.int64]
    tracks: NDArray[np.int64]
    class_ids: NDArray[np.int64]


def strong_confidence(scores: NDArray[np.floating[Any]]) -> float:
    """Return the least confidence of detections that can begin a track.

    Parameters
    ----------
    scores : ndarray
        Confidences of the detections in the source's first frames, (n,).
    """
    scores = scores[scores >= _MIN_STRONG]
    return float(np.clip(_SURER_SHARE * np.quantile(scores, _SURER), _MIN_STRONG, _STRONG)) if len(scores) else _STRONG


def make_tracker(interval: float, strong: float = _STRONG) -> ByteTrack:
    """Create a tracker.

    Parameters
    ----------
    interval : float
        Usual time between two analysed frames, seconds.
    strong : float
        See ``strong_confidence``.
    """
    patience = max(_PATIENCE, _PATIENCE_STEPS * interval)
    return ByteTrack(
        interval, patience, strong=strong, first=strong, overlap=_OVERLAP, weak_overlap=_WEAK_OVERLAP, noise=STEADY, reach=_REACH
    )


class Follower:
    """Tracks the objects of one source, frame by frame.

    Attributes
    ----------
    confirmed
        The tracker's numbers of the tracks that are certain, in the order in which they became so.
    """

    def __init__(self, tracker: ByteTrack) -> None:
        self._tracker = tracker
        self._votes: dict[int, dict[int, float]] = {}
        self.confirmed: list[int] = []

    def add(self, frame: FrameResult) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Track the objects of the next frame. A failed frame counts as a gap. All frames have the same size.

        Of boxes that show the same object, only the one with the highest confidence gets a track.

        Returns
        -------
        tuple of ndarray
            The places of the detections that may have a track, int (k,), and the tracker's number of each track, int64 (k,). It may never
            be confirmed; ``NONE``: no track.
        """
        found = frame.detections
        if found is None:
            return np.zeros(0, np.intp), np.zeros(0, np.int64)
        usable = np.flatnonzero(found.scores >= MIN_CONFIDENCE)
        boxes = found.boxes[usable].astype(np.float64)
        single = _single(boxes)
        usable, boxes = usable[single], boxes[single]
        scores, class_ids = found.scores[usable].astype(np.float64), found.class_ids[usable]
        update = self._tracker.update(boxes, scores, frame.ref.pts, class_ids)
        self.confirmed += update.confirmed.tolist()
        for number, class_id, score in zip(update.numbers.tolist(), class_ids.tolist(), scores.tolist(), strict=True):
            if number != NONE:
                votes = self._votes.setdefault(number, {})
                votes[class_id] = votes.get(class_id, 0.0) + score
        return usable, update.numbers

    def restart(self) -> None:
        """End all tracks: the next frame continues none before."""
        self._tracker.restart()

    def keep(self, numbers: Collection[int]) -> None:
        """Forget all tracks but these. The others have ended."""
        self._votes = {number: votes for number, votes in self._votes.items() if number in numbers}
        self.confirmed = [number for number in self.confirmed if number in numbers]

    def class_of(self, number: int) -> int:
        """The class of a track: the one with the highest sum of confidences in the added frames."""
        votes = self._votes[number]
        return max(votes, key=lambda class_id: votes[class_id])

    @property
    def count(self) -> int:
        """One more than the highest number of a track."""
        return max(self._votes, default=-1) + 1


def follow(frames: Iterable[FrameResult], tracker: ByteTrack) -> Tracks:
    """Track the objects of one source.

    Parameters
    ----------
    frames : iterable of FrameResult
        In order, all of the same size. Frames without detections because they failed are gaps.
    tracker : ByteTrack
        A new one, see ``make_tracker``.

    Returns
    -------
    Tracks
        After the improvements of ``refined``.
    """
    follower = Follower(tracker)
    rows: list[tuple[NDArray[Any], ...]] = []
    times: list[float] = []
    indices: list[int] = []
    for frame in frames:
        found = frame.detections
        if found is None:
            continue
        which, numbers = follower.add(frame)
        rows.append((np.full(len(which), len(times)), which, numbers, found.boxes[which], found.class_ids[which], found.scores[which]))
        times.append(frame.ref.pts)
        indices.append(frame.ref.index)
    if not rows:
        return Tracks(*np.zeros((4, 0), np.int64))
    positions, ordinals, numbers, boxes, class_ids, scores = (np.concatenate(column) for column in zip(*rows, strict=True))
    classes = np.full(follower.count + 1, NONE)  # the last one is that of detections without a track
    classes[follower.confirmed] = [follower.class_of(number) for number in follower.confirmed]
    numbers = np.where(classes[numbers] < 0, NONE, numbers)
    tracks = refined(Sightings(positions, boxes.astype(np.float64), numbers, np.array(times), classes))
    mine = np.flatnonzero(tracks >= 0)
    _, first, tracks = np.unique(tracks[mine], return_index=True, return_inverse=True)
    ids = np.empty(len(first), np.int64)
    ids[np.argsort(first)] = np.arange(len(first))
    tracks = ids[tracks]
    winners = np.zeros(len(first), np.int64)
    winners[tracks] = vote(tracks, class_ids[mine].astype(np.int64), scores[mine].astype(np.float64))
    return Tracks(np.array(indices)[positions[mine]], ordinals[mine], tracks + 1, winners)


def too_fast(seen: Sightings, class_ids: Integers, scores: Array) -> Notice | None:
    """Say that objects move too far from frame to frame to be followed, if many do.

    The way of an object leads to the next detection of its track, or without a track to the nearest object of its class in the next frame.

    Parameters
    ----------
    seen : Sightings
        With the final tracks.
    class_ids, scores : ndarray
        Classes and confidences of the detections, (n,).
    """
    tracks, strong = seen.tracks, scores >= strong_confidence(scores)
    order = np.lexsort((seen.positions, tracks))
    one, other = order[:-1], order[1:]
    follows = (tracks[one] == tracks[other]) & (tracks[one] >= 0) & (seen.positions[other] - seen.positions[one] == 1)
    ways = [_distances(seen.boxes[one[follows]], seen.boxes[other[follows]])]
    free, targets = np.flatnonzero(strong & (tracks < 0)), np.flatnonzero(strong)
    starts, ends = (np.searchsorted(seen.positions[targets], seen.positions[free] + 1, side=side) for side in ("left", "right"))
    which, place = ranges(starts, ends)
    here, there = free[which], targets[place]
    same = class_ids[here] == class_ids[there]
    nearest = np.full(len(free), np.inf)
    np.minimum.at(nearest, which[same], _distances(seen.boxes[here[same]], seen.boxes[there[same]]))
    ways.append(nearest[np.isfinite(nearest)])
    distances = np.concatenate(ways)
    far = int((distances > MAX_STEP).sum())
    if far < _FAR_STEPS or far < _FAR_SHARE * len(distances):
        return None
    interval = interval_of(seen.times)
    return Notice("tracking.too_fast", share=far / len(distances), rate=1 / interval if interval > 0 else 0.0, option=Option("every"))


def _distances(before: Array, after: Array) -> Array:
    """The ways of the centres of boxes, in sides of the box, float64 (n,). Boxes x1 y1 x2 y2, (n, 4)."""
    ways = (after[:, :2] + after[:, 2:] - before[:, :2] - before[:, 2:]) / 2
    sides = np.maximum(np.maximum(before[:, 2:] - before[:, :2], after[:, 2:] - after[:, :2]), 1)
    return np.asarray(np.hypot(*(ways / sides).T))


def _single(boxes: Array) -> NDArray[np.bool_]:
    """Which boxes do not show the object of a stronger one. boxes: float64 (n, 4), strongest first."""
    kept = np.ones(len(boxes), bool)
    first, second = np.nonzero(np.triu(overlaps(boxes, boxes) > _SAME, 1))
    for stronger, weaker in zip(first.tolist(), second.tolist(), strict=True):
        if kept[stronger]:
            kept[weaker] = False
    return kept
