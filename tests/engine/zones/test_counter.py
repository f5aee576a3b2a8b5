"""Crossings and visits of tracks that move as the test says."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.tracks.zones import ZONES, counted_truth
from framefleet.engine.zones.counter import ZoneCounter
from framefleet.engine.zones.counts import Counts, Intervals, counts_of, interval_numbers, settle
from framefleet.engine.zones.file import read_zones
from framefleet.engine.zones.shapes import Line, Reference, Zone, ZoneSet
from tests.support.zone_truth import as_arrays, read_street, true_crossings, true_seconds

GATE = Line("gate", (50, 0), (50, 60))
YARD = Zone("yard", ((20, 20), (80, 20), (80, 80), (20, 80)))
SET = ZoneSet((100, 100), (GATE, YARD))
SIZE = 10  # of the boxes: the margin is 1 pixel


def count(*paths, zones=SET, step=1.0, chunk=None, class_ids=None, allowed=None) -> Counts:
    """Count tracks 0, 1, … whose reference points move along these paths, a point each second."""
    rows = sorted((time, track, *point) for track, path in enumerate(paths) for time, point in enumerate(path))
    table = np.array(rows, float).reshape(-1, 4)
    half = SIZE / 2
    boxes = np.stack((table[:, 2] - half, table[:, 3] - SIZE, table[:, 2] + half, table[:, 3]), 1)
    counter = ZoneCounter(zones)
    for first in range(0, len(table), chunk or len(table)):
        part = slice(first, first + (chunk or len(table)))
        counter.add(table[part, 1].astype(int), table[part, 0] * step, boxes[part])
    return counts_of(counter, np.array(class_ids or [0] * len(paths)), allowed or {"gate": None, "yard": None})


def along(*xs, y=30.0):
    return [(x, y) for x in xs]


def crossings(counts: Counts):
    return [(int(each["track"]), bool(each["forward"]), float(each["time"])) for each in counts.crossings]


def visits(counts: Counts):
    names = ("track", "begin", "end", "entered", "left")
    return [tuple(each[name].item() for name in names) for each in counts.visits]


def test_an_object_crosses_forward_from_the_left_of_the_line() -> None:
    """The line points down in the picture, so its left side is on the right of the picture."""
    assert crossings(count(along(60, 40))) == [(0, True, 0.5)]
    assert crossings(count(along(40, 60))) == [(0, False, 0.5)]
    assert count(along(60, 40)).text(0) == "1 forward, 0 backward"


@pytest.mark.parametrize(("gap", "count_"), [(1.9, 1), (2.1, 0)])
def test_an_object_that_was_out_of_sight_for_long_has_not_crossed(gap, count_) -> None:
    """It may be another one. Behind the gap, the next crossing counts; time in zones goes on."""
    assert len(crossings(count(along(60, 40), step=gap))) == count_
    there = count(along(60, 40, 40, 60), step=gap)
    assert len(crossings(there)) == 2 * count_
    assert visits(there) == [(0, 0.0, pytest.approx(3 * gap), False, False)]


def test_an_object_that_waits_on_the_line_counts_once_when_it_leaves() -> None:
    waiting = [50.3, 49.8, 50.4, 49.6, 50.2] * 20
    assert crossings(count(along(40, *waiting, 60))) == [(0, False, pytest.approx(99 + 2 / 3))]
    assert crossings(count(along(40, *waiting, 40))) == []
    assert crossings(count(along(*waiting))) == []


def test_there_and_back_counts_in_both_directions() -> None:
    assert [forward for _, forward, _ in crossings(count(along(40, 60, 40, 60)))] == [False, True, False]


def test_a_path_around_the_end_of_the_line_does_not_count() -> None:
    around = [(40, 30), (40, 70), (60, 70), (60, 30)]
    assert crossings(count(around)) == []
    assert crossings(count([*around, (40, 30)])) == [(0, True, 3.5)]


def test_a_gap_in_the_track_does_not_hide_a_crossing() -> None:
    counter = ZoneCounter(SET)
    boxes = np.array([[35, 20, 45, 30], [55, 20, 65, 30]], float)
    counter.add(np.zeros(2, int), np.array([0.0, 2.0]), boxes)
    assert counter.changes["time"].tolist()[0] == 1.0


def test_visits_begin_and_end_at_the_edge() -> None:
    assert visits(count(along(10, 30, 90))) == [(0, 0.5, pytest.approx(1 + 5 / 6), True, True)]
    assert visits(count(along(30, 40))) == [(0, 0.0, 1.0, False, False)]
    assert visits(count(along(10, 20.5, 19.5, 20.5, 10))) == []
    assert [each[3:] for each in visits(count(along(50, 10, 10, 50)))] == [(False, True), (True, False)]


def test_who_is_back_at_once_has_not_crossed_and_not_left() -> None:
    assert crossings(count(along(40, 60, 40), step=0.4)) == []
    assert [forward for _, forward, _ in crossings(count(along(40, 60, 40, 60), step=0.4))] == [False]
    assert [forward for _, forward, _ in crossings(count(along(40, 60, 40, 60, 40), step=0.4))] == []
    both = count(along(40, 60), along(60, 40), step=0.4)
    assert len(both.crossings) == 2, "two objects in opposite directions"
    assert [each[3:] for each in visits(count(along(50, 10, 50), step=0.4))] == [(False, False)]
    assert [each[3:] for each in visits(count(along(10, 50, 10), step=0.4))] == [(True, True)], "a short visit counts"


def test_who_returns_at_once_around_the_end_of_a_line_has_not_crossed_it() -> None:
    out_around, back_around = [(40, 40), (40, 62), (60, 62), (60, 40)], [(60, 40), (60, 62), (40, 62), (40, 40)]
    assert crossings(count([*out_around, (40, 40)], step=0.2)) == [], "beyond the end, and back over the line"
    assert crossings(count([(40, 40), *back_around], step=0.2)) == [], "over the line, and back beyond its end"
    assert len(crossings(count([*out_around, (40, 40)], step=0.6))) == 1, "back after more than a second"
    assert crossings(count([*out_around, (40, 40), (60, 40)], step=0.2)) == [(0, False, pytest.approx(0.9))], "and over it again"
    assert crossings(count([*out_around, (40, 40)], step=0.2, chunk=1)) == [], "whatever the number of frames at once"


def test_the_reference_point_is_an_option() -> None:
    line = Line("gate", (0, 50), (100, 50))
    path = [(50, 48), (50, 62)]  # the lower edge of a box of 10 pixels
    assert [len(count(path, zones=ZoneSet((100, 100), (line,), each)).crossings) for each in Reference] == [1, 1, 1]
    path = [(50, 48), (50, 54)]
    assert [len(count(path, zones=ZoneSet((100, 100), (line,), each)).crossings) for each in Reference] == [1, 0, 0]


def test_classes_are_filtered_at_each_shape() -> None:
    one, other = along(60, 40), along(70, 30)
    assert [track for track, *_ in crossings(count(one, other, class_ids=[0, 1], allowed={"gate": frozenset({1}), "yard": None}))] == [1]
    assert crossings(count(one, other, class_ids=[-1, -1])) == []


@pytest.mark.parametrize("chunk", [1, 3, 7, 50])
def test_counts_do_not_depend_on_the_portions(chunk) -> None:
    random = np.random.default_rng(chunk)
    paths = [(50 + np.cumsum(random.normal(0, 6, (60, 2)), 0)).tolist() for _ in range(8)]
    once, live = count(*paths), count(*paths, chunk=chunk)
    assert len(once.crossings) > 5
    assert len(once.visits) > 5
    assert np.array_equal(once.crossings, live.crossings)
    assert np.array_equal(once.visits, live.visits)


@pytest.mark.parametrize("seed", range(3))
def test_counts_do_not_depend_on_what_is_forgotten(seed) -> None:
    """Random tracks that come and go for 20 minutes; what is 20 s old is counted for good."""
    random = np.random.default_rng(seed)
    parts = []
    for track, begin in enumerate(np.sort(random.uniform(0, 1200, 120))):
        points = 50 + np.cumsum(random.normal(0, 6, (int(random.integers(2, 1500 if track % 20 == 0 else 150)), 2)), 0)
        parts += [(int(5 * begin) / 5 + step / 5, track, *point) for step, point in enumerate(points % 100)]
    table = np.array(sorted(parts))
    boxes = table[:, [2, 3, 2, 3]] + (-SIZE / 2, -SIZE, SIZE / 2, 0)
    allowed = {"gate": None, "yard": None}
    whole, counter = ZoneCounter(SET), ZoneCounter(SET)
    whole.add(table[:, 1].astype(int), table[:, 0], boxes)
    expected = counts_of(whole, np.arange(120) % 3, allowed)
    numbers, tables, kept = np.zeros(0, int), [], []
    for low in range(0, int(table[-1, 0]) + 1, 7):
        mine = (low <= table[:, 0]) & (table[:, 0] < low + 7)
        numbers = np.union1d(numbers, table[mine, 1].astype(int))
        counter.add(np.searchsorted(numbers, table[mine, 1]), table[mine, 0], boxes[mine])
        found, remain = settle(counter, numbers % 3, allowed, low + 7.0, 20.0)
        tables.append((numbers, found))
        numbers = numbers[remain[: len(numbers)]]
        kept.append(len(counter.seen.times) + len(counter.changes))
    tables.append((numbers, counts_of(counter, numbers % 3, allowed)))
    for name, order in (("crossings", "time"), ("visits", "begin")):
        for known, counts in tables:
            getattr(counts, name)["track"] = known[getattr(counts, name)["track"]]
        joined = np.concatenate([getattr(counts, name) for _, counts in tables])
        assert len(joined) > 200
        assert np.array_equal(np.sort(joined, order=[order, "track"]), np.sort(getattr(expected, name), order=[order, "track"]))
    assert max(kept) < len(table) / 10


def test_each_crossing_changes_the_side() -> None:
    """Random paths: the directions of a track's crossings of an endless line alternate."""
    random = np.random.default_rng(3)
    endless = ZoneSet((100, 100), (Line("gate", (50, 0), (50, 100)),))
    counts = count(*[(50 + np.cumsum(random.normal(0, 3, (200, 2)), 0)).tolist() for _ in range(20)], zones=endless)
    for track in range(20):
        ways = [forward for one, forward, _ in crossings(counts) if one == track]
        assert all(one != other for one, other in pairwise(ways))


def test_routes_lead_from_the_first_place_to_the_last() -> None:
    """Track 1 only crosses the line, below the zone."""
    counts = count(along(60, 40, 10), along(60, 40, y=10), along(90, 90))
    assert counts.routes().tolist() == [(0, 0, 1, 0), (1, 0, 0, -1)]


def test_occupancy_of_intervals() -> None:
    counts = count(along(10, 30, 30, 30, 90), along(30, 30, 30))
    intervals = Intervals.of(0.0, 4.0, 2.0)
    occupied = list(intervals.occupancy(*(counts.visits[name] for name in ("track", "begin", "end"))))
    assert [each[:2] for each in occupied] == [(2, 2), (2, 2), (0, 0)]
    assert [each[2] for each in occupied[:2]] == [pytest.approx((1.5 + 2) / 2), pytest.approx((1 + 5 / 6) / 2)]
    assert intervals.counted(np.array([0.0, 1.99, 2.0, 4.0])).tolist() == [2, 1, 1]


def test_a_track_that_comes_back_is_one_track_of_the_interval() -> None:
    tracks, begins, ends = np.array([7, 7, 8]), np.array([0.0, 3.0, 5.0]), np.array([1.0, 4.0, 6.0])
    assert [each[0] for each in Intervals.of(0.0, 19.0, 10.0).occupancy(tracks, begins, ends)] == [2, 0]


def test_a_time_at_a_border_belongs_to_the_interval_that_begins_there() -> None:
    times = np.array([0.1, 0.2, 0.3, 0.6, 0.7])  # 0.3 / 0.1 and 3 * 0.1 are not exact
    assert interval_numbers(times, 0.1, 0.0).tolist() == [1, 2, 3, 6, 7]
    intervals = Intervals.of(0.0, 0.7, 0.1)
    assert intervals.at(times).tolist() == [1, 2, 3, 6, 7]
    assert intervals.starts.tolist() == [number / 10 for number in range(8)]


def test_intervals_begin_at_multiples_since_midnight() -> None:
    assert Intervals.of(10.0, 130.0, 60.0, offset=30.0).starts.tolist() == [-30.0 + 60 * number for number in range(3)]


@pytest.fixture(scope="module")
def truth():
    return read_street()


@pytest.fixture(scope="module")
def true_ones(truth):
    return true_crossings(truth, read_zones(ZONES))


def test_the_demo_is_counted_exactly_on_true_tracks(truth, true_ones) -> None:
    zones = read_zones(ZONES)
    found = counted_truth(truth, zones).crossings
    true = sorted((each.shape, each.object, each.forward) for each in true_ones)
    assert len(true) > 100
    assert sorted(zip(*(found[name].tolist() for name in ("shape", "track", "forward")), strict=True)) == true


def test_the_demo_in_noisy_boxes_is_counted_within_three_percent(truth, true_ones) -> None:
    """True tracks with boxes as inexact as those of a detector, every third missing: none counts twice."""
    zones, random = read_zones(ZONES), np.random.default_rng(1)
    tracks, times, boxes = as_arrays(truth, visible=True)
    noise = random.normal(0, 0.015, boxes.shape) * np.tile(boxes[:, 2:] - boxes[:, :2], 2)
    kept = random.random(len(tracks)) > 1 / 3
    counter = ZoneCounter(zones)
    counter.add(tracks[kept], times[kept], (boxes + noise)[kept])
    counts = counts_of(counter, np.zeros(max(truth.boxes) + 1, int), dict.fromkeys((shape.name for shape in zones.shapes), None))
    true = Counter((each.shape, each.object, each.forward) for each in true_ones if not each.ignored)
    found = Counter(zip(*(counts.crossings[name].tolist() for name in ("shape", "track", "forward")), strict=True))
    assert abs(true.total() - found.total()) <= 0.03 * true.total()
    assert (true - found).total() + (found - true).total() <= 0.06 * true.total()
    assert max((found - true).values(), default=0) <= 1
    for number, seconds in true_seconds(truth, zones).items():
        mine = counts.visits[counts.visits["shape"] == number]
        assert (mine["end"] - mine["begin"]).sum() == pytest.approx(seconds, rel=0.1)
