"""The accuracy of detections as COCO defines it (https://cocodataset.org/#detection-eval): matching, average precision and curves.

The results equal those of pycocotools, whose loops over pictures, classes, thresholds and boxes take too long for videos. Here, the
detections of all pictures that have the same rank are matched at once: docs/adr/0028-own-average-precision.md.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.evaluation.coco import from_data
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.types import Detections

OVERLAPS = np.linspace(0.5, 0.95, 10)
"""COCO's thresholds for the overlap (IoU) of a detection and an object."""

MAX_DETECTIONS = 100
"""Maximum number of detections of a class that count in a picture: those with the highest confidence."""

RECALLS = np.linspace(0, 1, 101)
"""The recalls at which COCO averages the precision."""

CONFIDENCES = np.round(np.linspace(0, 1, 101), 2)
"""The confidences at which curves are computed."""

TOLERANCE = 1e-7
"""Confidences are stored as float32, which lies a little off two decimals."""

FLOOR = 0.005
"""The confidence threshold for detections to score: average precision needs weak detections, too."""

_PAIRS = 1 << 21
"""Pairs whose overlaps are computed at once: limits the memory."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Detections or true objects of many pictures.

    Parameters
    ----------
    pictures, classes : ndarray, int64, shape (n,)
        Index of each box's picture, and its class.
    boxes : ndarray, float64, shape (n, 4)
        x, y, width, height, pixels.
    scores : ndarray, float64, shape (n,)
        The confidences; of true objects all 1.
    ignored : ndarray, bool, shape (n,)
        True objects that are not scored, nor detections of them, such as crowds.
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

    Attributes
    ----------
    found
        The detections that count.
    objects : ndarray
        int64 (thresholds, n): index of the true object of each, -1 if there is none.
    right : ndarray
        bool (thresholds, n).
    ignored : ndarray
        bool (thresholds, n): matched with an object that is not scored, so neither right nor wrong.
    """

    found: Boxes
    objects: NDArray[np.int64]
    right: NDArray[np.bool_]
    ignored: NDArray[np.bool_]


def match(
    found: Boxes, truth: Boxes, *, by_class: bool = True, overlaps: NDArray[np.float64] = OVERLAPS, most: int = MAX_DETECTIONS
) -> Matches:
    """Match detections with true objects, those with the highest confidence first.

    Parameters
    ----------
    by_class
        Only objects of the same class match.
    overlaps : ndarray
        Thresholds of intersection over union, float64 (thresholds,).
    most
        Detections that count in a picture and, ``by_class``, of a class.
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


class Point(NamedTuple):
    """Precision, recall and F1 at one confidence. NaN: undefined, because there are no objects."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall over the confidence, at an overlap of 0.5. Precision without detections is 1.

    Parameters
    ----------
    precision, recall : ndarray, float64, shape (101,)
        For each of ``CONFIDENCES``. Without objects, recall is NaN.
    chosen : Point
        At the confidence that the user chose, which may lie between two of ``CONFIDENCES``.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    chosen: Point

    @property
    def f1(self) -> NDArray[np.float64]:
        """The harmonic mean of precision and recall, float64 (101,)."""
        return _harmonic_mean(self.precision, self.recall)

    @property
    def best(self) -> int:
        """Index of the confidence with the highest F1: of the highest one, since nothing changes below the lowest stored confidence."""
        return len(self.f1) - 1 - int(self.f1[::-1].argmax())


def _harmonic_mean(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> NDArray[np.float64]:
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.where(np.isnan(total), np.nan, 0.0), where=total > 0)


def average_precisions(matches: Matches, truth: Boxes, classes: int) -> NDArray[np.float64]:
    """Compute the average precision of each class at each overlap.

    Returns
    -------
    ndarray
        float64 (thresholds, classes), NaN for classes without objects.
    """
    objects = np.bincount(truth.classes[~truth.ignored], minlength=classes)
    result = np.full((len(matches.right), classes), np.nan)
    found = matches.found
    order = np.lexsort((-found.scores, found.classes))  # by class and confidence; equal ones stay in the order of their pictures
    for number, which in enumerate(np.split(order, np.searchsorted(found.classes[order], np.arange(1, classes)))):
        if objects[number]:
            right, wrong = matches.right[:, which], ~matches.right[:, which] & ~matches.ignored[:, which]
            result[:, number] = interpolated(right.cumsum(axis=1), wrong.cumsum(axis=1), np.full(len(right), objects[number]))
    return result


def mean(precisions: NDArray[np.float64]) -> float:
    """Return the mean over the classes with objects, NaN if there are none.

    Parameters
    ----------
    precisions : ndarray
        float64, NaN for classes without objects.
    """
    known = precisions[~np.isnan(precisions)]
    return float(known.mean()) if len(known) else float("nan")


def interpolated(right: NDArray[np.number], wrong: NDArray[np.number], objects: NDArray[np.number]) -> NDArray[np.float64]:
    """Average the precision over ``RECALLS``.

    right, wrong: (m, n): number of right and wrong detections up to each detection, in descending confidence.
    objects: (m,), more than 0. Returns float64 (m,).
    """
    recall = right / objects[:, None]
    precision = right / (right + wrong + np.spacing(1))
    precision = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    padded = np.concatenate([precision, np.zeros((len(precision), 1))], axis=1)
    values = np.empty((len(padded), len(RECALLS)))
    for place, (recalls, row) in enumerate(zip(recall, padded, strict=True)):
        row.take(recalls.searchsorted(RECALLS), out=values[place])
    mean_of_all: NDArray[np.float64] = values.mean(axis=1)
    return mean_of_all


def curve(matches: Matches, truth: Boxes, number: int | None = None, confidence: float = 0.25) -> Curve:
    """Return the curve of one class, or of all classes together for None.

    matches: begin with the overlap 0.5. confidence: of ``Curve.chosen``.
    """
    assert OVERLAPS[0] == 0.5
    which = slice(None) if number is None else matches.found.classes == number
    counts = ~matches.ignored[0, which]
    scores, right = matches.found.scores[which][counts], matches.right[0, which][counts]
    order = np.argsort(scores)
    first = np.searchsorted(scores[order], np.append(CONFIDENCES, confidence) - TOLERANCE)
    so_far = np.append(np.cumsum(right[order][::-1])[::-1], 0)[first]
    found = len(scores) - first
    objects = int((~truth.ignored if number is None else ~truth.ignored & (truth.classes == number)).sum())
    precision = np.divide(so_far, found, out=np.ones(len(first)), where=found > 0)
    recall = so_far / objects if objects else np.full(len(first), np.nan)
    chosen = Point(float(precision[-1]), float(recall[-1]), float(_harmonic_mean(precision, recall)[-1]))
    return Curve(precision[:-1], recall[:-1], chosen)


@dataclass(frozen=True, eq=False)
class ClassAccuracy:
    """Average precision of one class, 0..1: at an overlap of 0.5, and averaged over 0.5, 0.55, …, 0.95.

    objects: number of objects of the class in the ground truth. curve: at an overlap of 0.5.
    """

    label: str
    objects: int
    ap50: float
    ap50_95: float
    curve: Curve


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Mean average precision, 0..1, over the classes with objects in the ground truth; NaN if there are no objects."""

    map50: float
    map50_95: float
    classes: tuple[ClassAccuracy, ...]

    def as_json(self) -> dict[str, float]:
        """Return the two means, rounded to 4 decimals."""
        return {"map50": round(self.map50, 4), "map50_95": round(self.map50_95, 4)}


def measure(matches: Matches, objects: Boxes, labels: Sequence[str], confidence: float = 0.25) -> Accuracy:
    """Compute the accuracy of matched detections. objects: the ground truth. labels: of its classes. confidence: see ``curve``."""
    precisions = average_precisions(matches, objects, len(labels))
    counts = np.bincount(objects.classes[~objects.ignored], minlength=len(labels)).tolist()
    classes = (
        ClassAccuracy(label, counts[number], float(of_class[0]), float(of_class.mean()), curve(matches, objects, number, confidence))
        for number, (label, of_class) in enumerate(zip(labels, precisions.T, strict=True))
        if counts[number]
    )
    return Accuracy(mean(precisions[0]), mean(precisions.mean(axis=0)), tuple(classes))


def read_truth(path: Path) -> dict[str, Any]:
    """Read the ground truth of a clip from a gzipped COCO file.

    Image ids are frame indices, category ids are class ids + 1, and objects with ``iscrowd`` are not scored.

    Raises
    ------
    SourceError
        The file is missing or damaged.
    """
    try:
        truth: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise SourceError(Notice("evaluation.demo_truth", path=path, reason=str(error))) from error
    return truth


def score(truth: Mapping[str, Any], found: Sequence[Detections]) -> Accuracy:
    """Compare the detections in a clip with the ground truth.

    Parameters
    ----------
    truth : mapping
        A COCO data set with image ids from 0.
    found : sequence of Detections
        Of each image, in the order of the ids.
    """
    known = from_data(truth, Path("truth"))
    ignored = np.zeros(sum(map(len, found)), np.bool_)
    corners = np.concatenate([np.zeros((0, 4)), *(detections.boxes.astype(np.float64) for detections in found)])
    corners[:, 2:] -= corners[:, :2]
    detected = Boxes(
        np.repeat(np.arange(len(found)), [len(detections) for detections in found]),
        np.concatenate([np.zeros(0, np.int64), *(detections.class_ids for detections in found)]),
        corners,
        np.concatenate([np.zeros(0), *(detections.scores for detections in found)]),
        ignored,
    )
    objects = Boxes(known.of_picture, known.classes, known.boxes, np.ones(len(known.boxes)), known.ignored)
    return measure(match(detected, objects), objects, known.labels)
