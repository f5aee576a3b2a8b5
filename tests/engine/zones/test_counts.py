"""One object with two tracks is counted once, two objects that move together are counted twice."""

from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.zones.counter import ZoneCounter
from framefleet.engine.zones.counts import counts_of
from framefleet.engine.zones.shapes import Line, ZoneSet

SET = ZoneSet((640, 360), (Line("gate", (300, 0), (300, 360)),))
FRAMES = 75
PERSON = (0.0, 0.0, 30.0, 80.0)


def crossed(second, *, every=1, classes=(0, 0), chunk=None) -> int:
    """Count a person that walks over the line in frame 37, and a second box, seen in each ``every``-th frame. Boxes: x1 y1 x2 y2."""
    rows = []
    for frame in range(FRAMES):
        for track, box in ((0, PERSON), (1, second)):
            if track == 0 or frame % every == 0:
                way = 137 + 4 * frame
                rows.append((frame / 25, track, box[0] + way, 100 + box[1], box[2] + way, 100 + box[3]))
    table = np.array(rows)
    counter = ZoneCounter(SET)
    for first in range(0, FRAMES, chunk or FRAMES):
        part = table[(table[:, 0] * 25 > first - 0.5) & (table[:, 0] * 25 < first + (chunk or FRAMES) - 0.5)]
        counter.add(part[:, 1].astype(int), part[:, 0], part[:, 2:])
    counts = counts_of(counter, np.array(classes), {"gate": None})
    return sum(counts.crossed(0, forward=forward) for forward in (True, False))


@pytest.mark.parametrize("chunk", [None, 1, 7])
def test_a_second_box_that_comes_and_goes_is_the_same_object(chunk) -> None:
    assert crossed((4, 6, 34, 74), every=4, chunk=chunk) == 1


def test_people_side_by_side_count_twice() -> None:
    assert crossed((12, 0, 42, 82)) == 2


def test_two_people_behind_each_other_who_are_both_seen_all_the_time_count_twice() -> None:
    assert crossed((4, 6, 34, 74)) == 2


def test_a_person_who_is_mostly_hidden_behind_another_one_but_beside_it_counts() -> None:
    assert crossed((20, 0, 50, 80), every=4) == 2


def test_a_car_in_front_of_a_bus_counts_although_it_is_seldom_seen() -> None:
    assert crossed((2, 50, 22, 80), every=4) == 2


def test_objects_of_two_classes_count_twice() -> None:
    assert crossed((4, 6, 34, 74), every=4, classes=(0, 1)) == 2


def test_an_object_that_follows_later_counts() -> None:
    assert crossed((-124, 0, -94, 80), every=3) == 2


def test_two_tracks_that_take_turns_on_one_object_count_once() -> None:
    rows = [(frame / 25, int(frame % 4 == 0), 137 + 4 * frame) for frame in range(FRAMES)]
    table = np.array(rows)
    counter = ZoneCounter(SET)
    boxes = table[:, [2, 2, 2, 2]] + (0, 0, 30, 0)
    boxes[:, [1, 3]] = 100, 180
    counter.add(table[:, 1].astype(int), table[:, 0], boxes)
    assert len(counts_of(counter, np.zeros(2, np.int64), {"gate": None}).crossings) == 1
