"""Computes average precision, and precision and recall over the confidence, from matched detections."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.evaluation.matching import OVERLAPS, Boxes, Matches

RECALLS = np.linspace(0, 1, 101)
"""The recalls at which COCO averages the precision."""

CONFIDENCES = np.round(np.linspace(0, 1, 101), 2)
"""The confidences at which curves are computed."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision, recall and F1 for each of ``CONFIDENCES``, float64 (n,), at an overlap of 0.5. Precision without detections is 1."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]

    @property
    def f1(self) -> NDArray[np.float64]:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return np.divide(2 * self.precision * self.recall, total, out=np.zeros_like(total), where=total > 0)

    @property
    def best(self) -> int:
        """Index of the confidence with the highest F1: of the highest one, since nothing changes below the lowest stored confidence."""
        return len(self.f1) - 1 - int(self.f1[::-1].argmax())


def average_precisions(matches: Matches, truth: Boxes, classes: int) -> NDArray[np.float64]:
    """Return the average precision of each class at each overlap: float64 (thresholds, classes), NaN for classes without objects."""
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
    """Return the mean over the classes with objects, 0 if there are none. precisions: NaN for the other classes."""
    known = precisions[~np.isnan(precisions)]
    return float(known.mean()) if len(known) else 0.0


def interpolated(right: NDArray[np.number], wrong: NDArray[np.number], objects: NDArray[np.number]) -> NDArray[np.float64]:
    """Average the precision over ``RECALLS``.

    right, wrong: (m, n): number of right and wrong detections up to each detection, in descending confidence.
    objects: (m,), more than 0. Returns float64 (m,).
    """
    recall = right / objects[:, None]
    precision = right / (right + wrong + np.spacing(1))
    precision = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    padded = np.concatenate([precision, np.zeros((len(precision), 1))], axis=1)
    return np.array([row[np.searchsorted(recalls, RECALLS)].mean() for recalls, row in zip(recall, padded, strict=True)])


def curve(matches: Matches, truth: Boxes, number: int | None = None) -> Curve:
    """Return the curve of one class, or of all classes together for None. ``matches`` begins with the overlap 0.5."""
    assert OVERLAPS[0] == 0.5
    which = slice(None) if number is None else matches.found.classes == number
    counts = ~matches.ignored[0, which]
    scores, right = matches.found.scores[which][counts], matches.right[0, which][counts]
    order = np.argsort(scores)
    # detections with at least a confidence: float32 confidences lie a little off two decimals
    first = np.searchsorted(scores[order], CONFIDENCES - 1e-7)
    so_far = np.append(np.cumsum(right[order][::-1])[::-1], 0)[first]
    found = len(scores) - first
    mine = ~truth.ignored if number is None else ~truth.ignored & (truth.classes == number)
    precision = np.divide(so_far, found, out=np.ones(len(first)), where=found > 0)
    return Curve(precision, so_far / max(int(mine.sum()), 1))
