"""True crossings and times in zones of rendered objects, computed with rational numbers from the renderer's boxes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.evaluation.accuracy import read_truth
from framefleet.engine.zones.shapes import Line, Zone, ZoneSet
from framefleet.resources import DEMO

RATE = 25
RETURN = 1
"""Seconds. An object that is back within this time has not crossed: the feet of people swing over lines."""
UNSEEN = 2
"""Seconds. Without a true box for longer, because the object is completely hidden, no crossing is known."""

Exact = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Box:
    """A true box. frame: from 0. x, y, width, height: pixels. ignored: too small or hidden to be detected."""

    frame: int
    x: float
    y: float
    width: float
    height: float
    ignored: bool

    @cached_property
    def foot(self) -> Exact:
        """The middle of its lower edge, exactly."""
        x, y, width, height = (Fraction(str(value)) for value in (self.x, self.y, self.width, self.height))
        return x + width / 2, y + height


@dataclass(frozen=True)
class Truth:
    """The objects of the clip. boxes: of each object, in the order of frames. class_ids: by object."""

    boxes: dict[int, list[Box]]
    class_ids: dict[int, int]


@dataclass(frozen=True)
class TrueCrossing:
    """An object that crossed a line. time: seconds. ignored: it was too small or hidden at that time."""

    shape: int
    object: int
    forward: bool
    time: float
    ignored: bool


def read_street(path: Path = DEMO.truth) -> Truth:
    """The objects of a rendered street, without a path of the demo's clip. path: gzipped COCO with numbers of tracks."""
    boxes: dict[int, list[Box]] = defaultdict(list)
    class_ids: dict[int, int] = {}
    for each in sorted(read_truth(path)["annotations"], key=lambda each: int(each["image_id"])):
        x, y, width, height = map(float, each["bbox"])
        boxes[each["track_id"]].append(Box(each["image_id"], x, y, width, height, bool(each["iscrowd"])))
        class_ids[each["track_id"]] = each["category_id"] - 1
    return Truth(dict(boxes), class_ids)


def true_crossings(truth: Truth, zones: ZoneSet) -> list[TrueCrossing]:
    """Every crossing of a line."""
    found = []
    for number, line in enumerate(zones.shapes):
        if isinstance(line, Line):
            for name, boxes in truth.boxes.items():
                found += _settled([TrueCrossing(number, name, *each) for each in _passes(boxes, line)])
    return found


def _passes(boxes: list[Box], line: Line) -> Iterable[tuple[bool, float, bool]]:
    start, end = ((Fraction(x), Fraction(y)) for x, y in line.points)
    across, down = end[0] - start[0], end[1] - start[1]
    for before, after in pairwise(boxes):
        if after.frame - before.frame > UNSEEN * RATE:
            continue
        rough = [
            float(across) * (box.y + box.height - float(start[1])) - float(down) * (box.x + box.width / 2 - float(start[0]))
            for box in (before, after)
        ]
        if min(map(abs, rough)) > 1 and (rough[0] < 0) == (rough[1] < 0):
            continue  # saves most of the exact arithmetic
        here, there = before.foot, after.foot
        sides = [across * (y - start[1]) - down * (x - start[0]) for x, y in (here, there)]
        if (sides[0] < 0) == (sides[1] < 0):
            continue
        share = sides[0] / (sides[0] - sides[1])
        x, y = here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])
        if 0 <= across * (x - start[0]) + down * (y - start[1]) <= across**2 + down**2:
            yield sides[1] >= 0, float((before.frame + share * (after.frame - before.frame)) / RATE), before.ignored or after.ignored


def _settled(crossings: list[TrueCrossing]) -> list[TrueCrossing]:
    """Leave out crossings after which the object returned at once."""
    kept: list[TrueCrossing] = []
    for crossing in crossings:
        if kept and kept[-1].forward != crossing.forward and crossing.time - kept[-1].time < RETURN:
            kept.pop()
        else:
            kept.append(crossing)
    return kept


def true_seconds(truth: Truth, zones: ZoneSet) -> dict[int, float]:
    """How long all visible objects together were in each zone, seconds, by the zone's number."""
    found = {}
    for number, zone in enumerate(zones.shapes):
        if isinstance(zone, Zone):
            corners = [(Fraction(x), Fraction(y)) for x, y in zone.points]
            high, low = min(y for _, y in zone.points), max(y for _, y in zone.points)
            near = [box for boxes in truth.boxes.values() for box in boxes if not box.ignored and high - 1 < box.y + box.height < low + 1]
            inside = sum(_contains(corners, box.foot) for box in near)
            found[number] = inside / RATE
    return found


def _contains(corners: list[Exact], point: Exact) -> bool:
    x, y = point
    inside = False
    for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1], strict=True):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            inside = not inside
    return inside


def as_arrays(truth: Truth, visible: bool = False) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The true boxes in the order of frames: objects (n,), times in seconds (n,), boxes x1 y1 x2 y2 (n, 4). visible: no ignored ones."""
    rows = sorted((box.frame, name, box) for name, boxes in truth.boxes.items() for box in boxes if not (visible and box.ignored))
    boxes = np.array([(box.x, box.y, box.x + box.width, box.y + box.height) for _, _, box in rows])
    return np.array([name for _, name, _ in rows]), np.array([frame for frame, _, _ in rows]) / RATE, boxes
