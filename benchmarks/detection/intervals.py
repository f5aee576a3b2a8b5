"""Measures how often the intervals of ``framefleet evaluate`` hold the true mean average precision.

A large population of pictures with objects and detections is made by chance: three classes, of which the rarest has 5 % of the objects. Its
mean average precision is the true value. Parts of it are evaluated like a user's pictures, and the share of intervals that hold the true
value is counted. In videos, runs of ten pictures are similar. For the differences, a second detector misses a tenth of the first one's
detections.

``python -m benchmarks.detection.intervals --tries 200``
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.report import table
from framefleet.engine.evaluation.accuracy import Boxes, Matches, average_precisions, match, mean
from framefleet.engine.evaluation.evaluate import draw, interval

SHARES = (0.7, 0.25, 0.05)
POPULATION = 40_000
SIZES = (20, 50, 100, 300, 1000)


@dataclass(frozen=True)
class Try:
    """One part of the population. held, held_difference: whether the interval holds the true value. width: of the interval."""

    held: bool
    held_difference: bool
    width: float


def population(random: np.random.Generator, pictures: int, similar: int) -> tuple[Boxes, Boxes]:
    """True objects and detections. similar: number of consecutive pictures that are similar."""
    level = np.repeat(random.normal(0, 1, pictures // similar + 1), similar)[:pictures]
    counts = random.poisson(3 * np.exp(0.3 * level - 0.05))
    of_picture = np.repeat(np.arange(pictures), counts)
    classes = random.choice(len(SHARES), len(of_picture), p=SHARES)
    # each object has a place of its own: a detection matches its object or none
    places = np.concatenate([np.arange(count) for count in counts])
    boxes = np.stack([places * 100.0, classes * 100.0, np.full(len(places), 50.0), np.full(len(places), 50.0)], axis=1)
    truth = Boxes(of_picture, classes, boxes, np.ones(len(places)), np.zeros(len(places), bool))
    hardness = 0.6 * level[of_picture] + random.normal(0, 1, len(places))
    seen = hardness < 1.5
    scores = 1 / (1 + np.exp(hardness - 1.5 + random.normal(0, 0.7, len(places))))
    wrong = np.repeat(np.arange(pictures), random.poisson(np.exp(0.4 * level)))
    wrong_classes = random.choice(len(SHARES), len(wrong), p=SHARES)
    far = np.stack([5000.0 + 100 * (np.arange(len(wrong)) % 50), wrong_classes * 100.0, *np.full((2, len(wrong)), 50.0)], axis=1)
    columns = (
        (of_picture[seen], wrong),
        (classes[seen], wrong_classes),
        (boxes[seen], far),
        (scores[seen], 1 / (1 + np.exp(0.5 + random.normal(0, 1, len(wrong))))),
    )
    joined = [np.concatenate(parts) for parts in columns]
    found = Boxes(joined[0], joined[1], joined[2], joined[3], np.zeros(len(joined[0]), bool))
    return truth, found.select(np.argsort(found.pictures, kind="stable"))


def part(boxes: Boxes, first: int, pictures: int) -> Boxes:
    """The boxes of consecutive pictures, which count from 0. boxes: in the order of pictures."""
    low, high = np.searchsorted(boxes.pictures, [first, first + pictures])
    some = boxes.select(slice(int(low), int(high)))
    return Boxes(some.pictures - first, some.classes, some.boxes, some.scores, some.ignored)


def at_half(found: Boxes, truth: Boxes) -> tuple[Matches, float]:
    """The matches and the mean average precision at an overlap of 0.5."""
    matches = match(found, truth, overlaps=np.array([0.5]))
    return matches, mean(average_precisions(matches, truth, len(SHARES))[0])


@cache
def _whole(similar: int, seed: int) -> tuple[tuple[Boxes, Boxes, Boxes], tuple[float, float], np.random.Generator]:
    """True objects, detections and worse detections of the whole population; the accuracies of both; the generator behind them."""
    random = np.random.default_rng(seed)
    truth, found = population(random, POPULATION, similar)
    worse = found.select(random.random(len(found)) < 0.9)
    return (truth, found, worse), (at_half(found, truth)[1], at_half(worse, truth)[1]), random


def tries(pictures: int, count: int, similar: int, seed: int = 0) -> Iterator[Try]:
    """Evaluate ``count`` parts of this number of pictures."""
    (truth, found, worse), (true, true_worse), random = _whole(similar, seed)
    random = deepcopy(random)
    for first in random.integers(0, POPULATION - pictures, count).tolist():
        there = part(truth, first, pictures)
        (one, value), (other, value_worse) = (at_half(part(boxes, first, pictures), there) for boxes in (found, worse))
        draws = draw([one, other], there, pictures, len(SHARES))
        assert draws is not None
        changes, without, rare = (values[..., 0] for values in draws)
        own = interval(value, changes[0], without[0], float(rare[0]))
        apart = changes[1] - changes[0], without[1] - without[0], float(rare[1])
        difference = interval(value_worse - value, *apart, difference=True)
        yield Try(own.low <= true <= own.high, difference.low <= true_worse - true <= difference.high, own.high - own.low)


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=200)
    arguments = parser.parse_args()
    rows = []
    for kind, similar in (("photos", 1), ("video", 10)):
        for pictures in SIZES:
            found = [*tries(pictures, arguments.tries, similar)]
            held, difference, width = (np.mean([getattr(each, name) for each in found]) for name in ("held", "held_difference", "width"))
            rows.append((f"{pictures} ({kind})", f"{held:.0%}", f"{difference:.0%}", f"{width:.3f}"))
            print(rows[-1], flush=True)
    print(table(("pictures", "interval holds the true mAP", "interval of a difference", "mean width"), rows))


if __name__ == "__main__":
    main()
