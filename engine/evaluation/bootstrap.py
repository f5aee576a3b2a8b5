"""Estimates how much a mean average precision would vary with other pictures (bootstrap: pictures are drawn with repetition)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.evaluation.matching import Boxes, Matches
from framefleet.engine.evaluation.precision import interpolated

BLOCKS = 200
"""The most blocks. Consecutive pictures of a video are similar, so blocks of them are drawn together."""

LEAST_BLOCKS = 10
"""With fewer blocks there is no interval."""

DRAWS = 500
SHARE = 0.95
"""Share of the draws inside an interval."""

_BINS = 256
"""Detections of a class are divided into at most this number of groups of similar confidence, which makes a draw a multiplication.

The surest ones, which decide about classes with few objects, are half of the groups, each alone. The others share the other half.
"""


@dataclass(frozen=True)
class Interval:
    """The limits between which ``SHARE`` of the draws lie."""

    low: float
    high: float


def drawn_changes(compared: Sequence[Matches], truth: Boxes, pictures: int, classes: int) -> NDArray[np.float64] | None:
    """Return by how much the mAP of each session changes in each draw, at each overlap: float64 (sessions, draws, thresholds).

    All sessions are measured on the same drawn pictures, so their differences vary less than each of them. pictures: number of pictures.
    Returns None if there are too few pictures.
    """
    blocks = min(BLOCKS, pictures)
    if blocks < LEAST_BLOCKS:
        return None
    draws = np.random.default_rng(0).multinomial(blocks, np.full(blocks, 1 / blocks), DRAWS)
    weights = np.vstack([np.ones(blocks), draws])  # the first row is what the others are compared with: all blocks once
    objects = _objects(truth, blocks, pictures, classes)
    means = np.stack([_means(matches, objects, weights, pictures) for matches in compared])
    return means[:, 1:] - means[:, :1]


def interval(value: float, changes: NDArray[np.float64], least: float = 0.0) -> Interval:
    """Return the limits between which ``SHARE`` of the draws lie. value: without drawing. changes: in each draw.

    The changes are estimates, which may lead beyond the least possible value (``least``) or the most (1).
    """
    low, high = np.quantile(np.clip(value + changes, least, 1.0), [(1 - SHARE) / 2, (1 + SHARE) / 2])
    return Interval(float(low), float(high))


def _objects(truth: Boxes, blocks: int, pictures: int, classes: int) -> NDArray[np.float64]:
    """The number of objects in each block of each class, float64 (blocks, classes)."""
    counted = truth.select(~truth.ignored)
    cells = counted.pictures * blocks // pictures * classes + counted.classes
    return np.bincount(cells, minlength=blocks * classes).reshape(blocks, classes).astype(np.float64)


def _means(matches: Matches, objects: NDArray[np.float64], drawn: NDArray[np.float64], pictures: int) -> NDArray[np.float64]:
    """The mAP of each draw at each overlap, float64 (draws, thresholds).

    A class of which a draw has no object counts as in the first row. Otherwise, draws without a rare class would have another mean.
    """
    found, blocks = matches.found, len(objects)
    totals = np.zeros((len(drawn), len(matches.right)))
    block_of, there = found.pictures * blocks // pictures, np.flatnonzero(objects.sum(axis=0))
    for number in there:
        which = np.flatnonzero(found.classes == number)
        which = which[np.argsort(-found.scores[which], kind="stable")]
        alone = np.arange(min(len(which), _BINS // 2))
        rest = np.arange(len(which) - len(alone))
        bins = max(len(alone) + min(len(rest), _BINS // 2), 1)
        cells = block_of[which] * bins + np.concatenate([alone, len(alone) + rest * (bins - len(alone)) // max(len(rest), 1)])
        expected = drawn @ objects[:, number]
        seen = expected > 0
        for place, (right, ignored) in enumerate(zip(matches.right[:, which], matches.ignored[:, which], strict=True)):
            tables = [np.bincount(cells, each, blocks * bins).reshape(blocks, bins) for each in (right, ~right & ~ignored)]
            so_far = [(drawn[seen] @ table).cumsum(axis=1) for table in tables]
            precisions = interpolated(so_far[0], so_far[1], expected[seen])
            totals[seen, place] += precisions
            totals[~seen, place] += precisions[0]
    return totals / max(len(there), 1)
