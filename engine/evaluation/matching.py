"""Matches detections with true objects by overlap, as COCO's evaluation does (https://cocodataset.org/#detection-eval).

The result equals that of pycocotools, whose loops over pictures, classes, thresholds and boxes take too long for videos. Here, the
detections of all pictures that have the same rank are matched at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OVERLAPS = np.linspace(0.5, 0.95, 10)
"""COCO's thresholds for the overlap (IoU) of a detection and an object."""

MOST = 100
"""Maximum number of detections of a class that count in a picture: those with the highest confidence."""

_PAIRS = 1 << 21
"""Pairs whose overlaps are computed at once: limits the memory."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Detections or true objects of many pictures.

    pictures: int64 (n,), the index of each box's picture. classes: int64 (n,). boxes: float64 (n, 4): x, y, width, height, pixels.
    scores: float64 (n,), the confidences; of true objects all 1. ignored: bool (n,): true objects that are not scored, nor detections of
    them, such as crowds.
    """

    pictures: NDArray[np.int64]
    classes: NDArray[np.int64]
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    ignored: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.pictures)

    def select(self, keep: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Boxes:
        """The boxes that a boolean mask, an index array or a slice keeps, in that order."""
        return Boxes(self.pictures[keep], self.classes[keep], self.boxes[keep], self.scores[keep], self.ignored[keep])


@dataclass(frozen=True, eq=False)
class Matches:
    """The matched detections, in order of picture, class and confidence.

    found: the detections that count. objects: int64 (thresholds, n): index of the true object of each, -1 if there is none. right: bool
    (thresholds, n). ignored: bool (thresholds, n): matched with an object that is not scored, so neither right nor wrong.
    """

    found: Boxes
    objects: NDArray[np.int64]
    right: NDArray[np.bool_]
    ignored: NDArray[np.bool_]


def match(found: Boxes, truth: Boxes, *, by_class: bool = True, overlaps: NDArray[np.float64] = OVERLAPS, most: int = MOST) -> Matches:
    """Match detections with true objects, those with the highest confidence first.

    by_class: only objects of the same class match. overlaps: the thresholds. most: detections that count in a picture and, ``by_class``,
    of a class.
    """
    found_groups, truth_groups = _groups(found, truth, by_class)
    order = np.lexsort((-found.scores, found_groups))
    groups = found_groups[order]
    ranks = np.arange(len(order)) - np.searchsorted(groups, groups)
    order, groups, ranks = order[ranks < most], groups[ranks < most], ranks[ranks < most]
    found = found.select(order)
    regular_first = np.lexsort((truth.ignored, truth_groups))
    objects = np.full((len(overlaps), len(found)), -1, np.int64)
    taken = np.zeros((len(overlaps), len(truth)), np.bool_)
    limits = np.minimum(overlaps, 1 - 1e-10)[:, None]
    by_rank = np.argsort(ranks, kind="stable")
    for rank, which in enumerate(np.split(by_rank, np.cumsum(np.bincount(ranks))[:-1]) if len(ranks) else ()):
        assert rank < most
        for detections, candidates, overlap in _pairs(found, which, groups, truth, regular_first, truth_groups, float(limits.min())):
            starts = np.flatnonzero(np.diff(detections, prepend=-1))
            free = (overlap >= limits) & ~taken[:, candidates]
            best = np.maximum.reduceat(np.where(free, np.arange(len(overlap)), -1), starts, axis=1)
            matched = np.where(best >= 0, candidates[best], -1)
            objects[:, detections[starts]] = matched
            thresholds, places = np.nonzero(matched >= 0)
            chosen = matched[thresholds, places]
            regular = ~truth.ignored[chosen]  # any number of detections may match an ignored object
            taken[thresholds[regular], chosen[regular]] = True
    is_ignored = np.append(truth.ignored, False)[objects]
    return Matches(found, objects, (objects >= 0) & ~is_ignored, is_ignored)


def _groups(found: Boxes, truth: Boxes, by_class: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each picture, or for each class in a picture."""
    if not by_class:
        return found.pictures, truth.pictures
    classes = 1 + max(int(each.classes.max(initial=0)) for each in (found, truth))
    return found.pictures * classes + found.classes, truth.pictures * classes + truth.classes


def _pairs(
    found: Boxes,
    which: NDArray[np.intp],
    groups: NDArray[np.int64],
    truth: Boxes,
    order: NDArray[np.intp],
    truth_groups: NDArray[np.int64],
    least: float,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """Yield pairs of detections ``which`` and objects of their group that overlap by ``least`` or more, in ascending preference."""
    in_order = truth_groups[order]
    starts = np.searchsorted(in_order, groups[which])
    counts = np.searchsorted(in_order, groups[which], side="right") - starts
    which, starts, counts = which[counts > 0], starts[counts > 0], counts[counts > 0]
    for part in np.split(np.arange(len(which)), np.flatnonzero(np.diff(np.cumsum(counts) // _PAIRS)) + 1):
        detections = np.repeat(which[part], counts[part])
        offsets = np.arange(len(detections)) - np.repeat(np.cumsum(counts[part]) - counts[part], counts[part])
        places = np.repeat(starts[part], counts[part]) + offsets
        candidates = order[places]
        overlap = _overlaps(found.boxes[detections], truth.boxes[candidates], truth.ignored[candidates])
        keep = overlap >= least
        detections, candidates, overlap, places = detections[keep], candidates[keep], overlap[keep], places[keep]
        # objects that are scored come before ignored ones; of equal overlaps the later object counts, as in pycocotools
        preference = np.lexsort((places, overlap, ~truth.ignored[candidates], detections))
        if len(preference):
            yield detections[preference], candidates[preference], overlap[preference]


def _overlaps(one: NDArray[np.float64], other: NDArray[np.float64], ignored: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The intersection over the union of boxes, float64 (n,). For ignored objects it is the intersection over the detection's area."""
    low = np.maximum(one[:, :2], other[:, :2])
    high = np.minimum(one[:, :2] + one[:, 2:], other[:, :2] + other[:, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=1)
    area = np.prod(one[:, 2:], axis=1)
    whole = np.where(ignored, area, area + np.prod(other[:, 2:], axis=1) - shared)
    overlaps: NDArray[np.float64] = np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0)
    return overlaps
