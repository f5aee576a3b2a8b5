"""Tiles cover every picture, and each object in them results in one detection with its whole box."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from framefleet.engine.detection.tiling import MAX_TILES, Tiling, merge, plan_tiles
from framefleet.engine.settings import Tiles
from framefleet.engine.types import Detections

WIDTH, HEIGHT = 1000, 800


def tilings(least: int = 1, overlap: float = 0.0) -> st.SearchStrategy[Tiling]:
    """Grids of up to 5 × 4 tiles. least: columns and rows. overlap: the least one."""
    grids = st.integers(least, 5), st.integers(least, 4), st.floats(overlap, 0.5), st.booleans()
    return st.builds(lambda *grid: plan_tiles(WIDTH, HEIGHT, 416, 416, Tiles(*grid)), *grids)


def seen(tiling: Tiling, boxes: NDArray[np.float32], class_ids: NDArray[np.int32], least: float = 0.0) -> list[Detections]:
    """The detections of a perfect network in each tile: the part of every object inside the tile.

    least: the minimum side of an object to be found in the whole picture, pixels.
    """
    found = []
    for number, tile in enumerate(tiling.boxes.astype(np.float32)):
        parts = np.concatenate([np.maximum(boxes[:, :2], tile[:2]), np.minimum(boxes[:, 2:], tile[2:])], axis=1)
        there = (parts[:, 2:] > parts[:, :2]).all(axis=1)
        if tiling.whole and len(tiling) > 1 and number == len(tiling) - 1:
            there &= (boxes[:, 2:] - boxes[:, :2]).max(axis=1) >= least
        scores = np.linspace(0.9, 0.5, len(boxes), dtype=np.float32)
        found.append(Detections(parts[there] - tile[[0, 1, 0, 1]], scores[there], class_ids[there]))
    return found


def check(tiling: Tiling, boxes: list[tuple[float, ...]], class_ids: list[int], least: float = 0.0) -> None:
    objects, classes = np.array(boxes, np.float32).reshape(-1, 4), np.array(class_ids, np.int32)
    merged = merge(tiling, seen(tiling, objects, classes, least), 0.45)
    assert len(merged) == len(objects), (merged.boxes, objects)
    mine, theirs = np.lexsort((*merged.boxes.T, merged.class_ids)), np.lexsort((*objects.T, classes))
    np.testing.assert_array_equal(merged.class_ids[mine], classes[theirs])
    np.testing.assert_allclose(merged.boxes[mine], objects[theirs], atol=0.01)


@given(
    st.integers(1, 3000),
    st.integers(1, 3000),
    st.one_of(st.none(), st.integers(1, 64)),
    st.one_of(st.none(), st.integers(1, 64)),
    st.floats(0, 0.5),
    st.booleans(),
)
def test_tiles_cover_the_picture_and_overlap_by_the_setting(
    width: int, height: int, columns: int | None, rows: int | None, overlap: float, full: bool
) -> None:
    tiling = plan_tiles(width, height, 416, 416, Tiles(columns, rows, overlap, full))
    boxes = tiling.boxes
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2:] <= (width, height)).all()
    assert (boxes[:, :2] < boxes[:, 2:]).all()
    grid = boxes[: tiling.columns * tiling.rows].reshape(tiling.rows, tiling.columns, 4)
    for spans, size in ((grid[0, :, [0, 2]].T, width), (grid[:, 0, [1, 3]], height)):
        assert spans[0, 0] == 0
        assert spans[-1, 1] == size
        sides = spans[:, 1] - spans[:, 0]
        assert (sides == sides[0]).all()
        # starts are rounded to pixels
        assert (spans[:-1, 1] - spans[1:, 0] >= overlap * sides[0] - 1 - overlap).all()
    assert len(tiling) == tiling.columns * tiling.rows + (full and tiling.columns * tiling.rows > 1)
    assert tiling.whole == (full or len(tiling) == 1)


def test_an_automatic_grid_has_tiles_of_about_the_networks_size() -> None:
    for width, height in ((7680, 4320), (3840, 2160), (1920, 1080)):
        tiling = plan_tiles(width, height, 608, 608, Tiles())
        side_x, side_y = tiling.boxes[0, 2:]
        assert 0.7 < side_x / 608 < 1.4
        assert 0.7 < side_y / 608 < 1.4
    assert len(plan_tiles(7680, 4320, 608, 608, Tiles())) == 16 * 9 + 1
    assert len(plan_tiles(400, 300, 608, 608, Tiles())) == 1
    assert len(plan_tiles(60000, 60000, 32, 32, Tiles(full_frame=False))) <= MAX_TILES


@settings(max_examples=70, deadline=None)
@given(
    tilings(),
    st.lists(st.tuples(st.floats(0, 0.98), st.floats(0, 0.98), st.floats(0.01, 1), st.floats(0.01, 1)), min_size=1, max_size=6),
)
def test_objects_of_different_classes_are_found_exactly(tiling: Tiling, places: list[tuple[float, ...]]) -> None:
    boxes = [
        (round(x * WIDTH), round(y * HEIGHT), min(WIDTH, round((x + w) * WIDTH) + 1), min(HEIGHT, round((y + h) * HEIGHT) + 1))
        for x, y, w, h in places
    ]
    check(tiling, boxes, list(range(len(boxes))))


@settings(max_examples=70, deadline=None)
@given(
    tilings(),
    st.integers(1, 250),
    st.integers(1, 250),
    st.integers(0, 100),
    st.integers(0, 100),
    st.integers(20, 60),
)
def test_objects_of_one_class_side_by_side_are_found_exactly(
    tiling: Tiling, width: int, height: int, left: int, top: int, gap: int
) -> None:
    boxes = [
        (x, y, x + width, y + height) for x in range(left, WIDTH - width, width + gap) for y in range(top, HEIGHT - height, height + gap)
    ]
    check(tiling, boxes[:400], [0] * len(boxes[:400]), least=60)


@settings(max_examples=70, deadline=None)
@given(tilings(2, 0.02), st.integers(0, 700), st.integers(0, 500), st.floats(0.1, 0.4))
def test_overlapping_objects_of_one_class_stay_two(tiling: Tiling, left: int, top: int, shared: float) -> None:
    """The number equals that of non-maximum suppression in the whole picture."""
    width, height = 120, 90
    step = round(width * (1 - shared))
    check(tiling, [(left, top, left + width, top + height), (left + step, top, left + step + width, top + height)], [3, 3])


def test_an_object_larger_than_every_tile_is_one() -> None:
    for full in (False, True):
        for overlap in (0.0, 0.1, 0.5):
            tiling = plan_tiles(WIDTH, HEIGHT, 416, 416, Tiles(5, 4, overlap, full))
            check(tiling, [(3, 2, 997, 798)], [0])
            check(tiling, [(150, 110, 890, 700), (20, 20, 60, 70)], [0, 0])


def test_boxes_that_a_network_places_roughly_are_still_one_object() -> None:
    random = np.random.default_rng(5)
    doubled = lost = total = 0
    for _ in range(200):
        tiling = plan_tiles(WIDTH, HEIGHT, 416, 416, Tiles(3, 2, 0.2, full_frame=bool(random.integers(2))))
        width, height = random.integers(40, 300, 2)
        left, top = random.integers(0, WIDTH - width), random.integers(0, HEIGHT - height)
        box = np.array([[left, top, left + width, top + height]], np.float32)
        found = []
        for number, each in enumerate(seen(tiling, box, np.zeros(1, np.int32))):
            area = tiling.boxes[number]
            size = np.tile(area[2:] - area[:2], 2).astype(np.float32)
            jittered = np.clip(each.boxes + random.normal(0, 0.005, each.boxes.shape).astype(np.float32) * size, 0, size)
            # slivers are not recognised
            keep = (jittered[:, 2:] - jittered[:, :2] > 0.02 * size[:2]).all(axis=1)
            found.append(Detections(jittered.astype(np.float32), each.scores, each.class_ids).select(keep))
        merged = merge(tiling, found, 0.45)
        total += 1
        doubled += len(merged) > 1
        lost += len(merged) == 0 or np.abs(merged.boxes[0] - box[0]).max() > 25
    assert doubled <= 0.02 * total
    assert lost <= 0.02 * total


def two_tiles(full: bool = False) -> Tiling:
    """Two tiles of 600×400 that share x = 400 to 600; with ``full`` the whole picture as a third."""
    tiling = plan_tiles(1000, 400, 416, 416, Tiles(2, 1, 1 / 3, full))
    assert tiling.boxes.tolist() == [[0, 0, 600, 400], [400, 0, 1000, 400]] + [[0, 0, 1000, 400]] * full
    return tiling


def found(*rows: tuple[float, tuple[float, ...]]) -> Detections:
    """Detections of class 0: confidence, x1 y1 x2 y2."""
    boxes = np.array([box for _, box in rows], np.float32).reshape(-1, 4)
    return Detections(boxes, np.array([score for score, _ in rows], np.float32), np.zeros(len(rows), np.int32))


@pytest.mark.parametrize(("shift", "objects"), [(20, 1), (30, 1), (40, 2)])
def test_two_tiles_boxes_of_one_object_agree_from_an_iou_of_one_half_on(shift: int, objects: int) -> None:
    """Boxes of 100×100 pixels, moved by 20, 30 and 40: IoU 0.67, 0.54 and 0.43. No later suppression interferes: it starts above 0.9."""
    left, right = found((0.9, (450, 100, 550, 200))), found((0.8, (50 + shift, 100, 150 + shift, 200)))
    assert len(merge(two_tiles(), [left, right], 0.9)) == objects


def test_a_part_inside_an_object_of_another_tile_is_dropped() -> None:
    """The left tile sees the upper half of an object, cut by its border: too little to agree with the whole, but wholly inside it."""
    left, right = found((0.9, (560, 100, 600, 160))), found((0.6, (100, 100, 300, 300)))
    assert merge(two_tiles(), [left, right], 0.9).boxes.tolist() == [[500, 100, 700, 300]]
    elsewhere = found((0.9, (500, 100, 590, 130)))  # not cut: a small object in front of a large one
    assert len(merge(two_tiles(), [elsewhere, right], 0.9)) == 2


def test_the_box_of_a_tile_is_preferred_to_that_of_the_whole_picture() -> None:
    tile, whole = found((0.6, (100, 100, 200, 200))), found((0.9, (104, 96, 204, 196)))
    merged = merge(two_tiles(full=True), [tile, Detections(), whole], 0.45)
    assert merged.boxes.tolist() == [[100, 100, 200, 200]]
    assert merged.scores.tolist() == [pytest.approx(0.6)]


def test_the_box_of_the_whole_picture_is_preferred_to_parts() -> None:
    tiles = found((0.6, (300, 100, 600, 200))), found((0.7, (0, 100, 300, 200)))
    merged = merge(two_tiles(full=True), [*tiles, found((0.5, (302, 101, 702, 203)))], 0.45)
    assert merged.boxes.tolist() == [[302, 101, 702, 203]]


def test_no_detections_merge_to_none() -> None:
    tiling = plan_tiles(WIDTH, HEIGHT, 416, 416, Tiles(3, 2))
    assert len(merge(tiling, [Detections()] * len(tiling), 0.45)) == 0


def test_the_strongest_comes_first() -> None:
    tiling = plan_tiles(WIDTH, HEIGHT, 416, 416, Tiles(3, 2))
    boxes = np.array([(x, 100, x + 50, 150) for x in range(0, 900, 100)], np.float32)
    merged = merge(tiling, seen(tiling, boxes, np.zeros(len(boxes), np.int32)), 0.45)
    assert (np.diff(merged.scores) <= 0).all()


def test_thousands_of_objects_are_merged() -> None:
    random = np.random.default_rng(1)
    tiling = plan_tiles(7680, 4320, 608, 608, Tiles())
    corners = random.uniform((0, 0), (7500, 4200), (3000, 2))
    boxes = np.concatenate([corners, corners + random.uniform(20, 120, (3000, 2))], axis=1).astype(np.float32)
    merged = merge(tiling, seen(tiling, boxes, random.integers(0, 10, 3000).astype(np.int32), least=100), 0.45)
    assert 0.9 * 3000 < len(merged) <= 3000
