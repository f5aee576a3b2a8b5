from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from framefleet.engine.detection.postprocess import nms
from framefleet.engine.detection.preprocess import plan_fit
from tests.support.darknet import kept_by_darknet

# Whole coordinates, thresholds in sixteenths: every product below is exact in float32, so ties at the threshold are real ties.
COORDINATE = st.integers(0, 24)
BOX = st.tuples(COORDINATE, COORDINATE, st.integers(0, 12), st.integers(0, 12), st.integers(0, 6), st.integers(0, 2))


def greedy(boxes: NDArray[np.float32], scores: NDArray[np.float32], classes: NDArray[np.int32], iou: float) -> list[int]:
    """The definition, one pair at a time."""
    kept: list[int] = []
    corners, of_class = boxes.tolist(), classes.tolist()
    for index in sorted(range(len(scores)), key=lambda i: -float(scores[i])):
        x1, y1, x2, y2 = corners[index]
        for other in kept:
            if of_class[index] != of_class[other]:
                continue
            a1, b1, a2, b2 = corners[other]
            overlap = max(0.0, min(x2, a2) - max(x1, a1)) * max(0.0, min(y2, b2) - max(y1, b1))
            union = (x2 - x1) * (y2 - y1) + (a2 - a1) * (b2 - b1) - overlap
            if union > 0 and overlap / union > iou:
                break
        else:
            kept.append(index)
    return kept


def crowd(seed: int, count: int, width: int, classes: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int32]]:
    """Random boxes (count, 4) in an area of this width, their scores, and class ids below ``classes``."""
    random = np.random.default_rng(seed)
    corner, extent = random.uniform(0, width, (count, 2)), random.uniform(5, 60, (count, 2))
    boxes = np.concatenate([corner, corner + extent], axis=1).astype(np.float32)
    return boxes, random.random(count).astype(np.float32), random.integers(0, classes, count).astype(np.int32)


def overlap_of(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """The IoU of two boxes."""
    shared = float(np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0).prod())
    return shared / (float((a[2:] - a[:2]).prod()) + float((b[2:] - b[:2]).prod()) - shared)


@settings(max_examples=120, deadline=None)
@given(st.lists(BOX, max_size=40), st.integers(1, 16))
def test_equals_the_definition(rows: list[tuple[int, ...]], sixteenths: int) -> None:
    values = np.array(rows, np.float32).reshape(-1, 6)
    boxes = np.concatenate([values[:, :2], values[:, :2] + values[:, 2:4]], axis=1)
    scores, classes = values[:, 4] / 8, values[:, 5].astype(np.int32)
    assert nms(boxes, scores, classes, sixteenths / 16).tolist() == greedy(boxes, scores, classes, sixteenths / 16)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 120), st.floats(0.05, 0.95))
def test_kept_boxes_do_not_overlap_and_each_dropped_box_overlaps_a_kept_one(seed: int, count: int, iou: float) -> None:
    boxes, scores, classes = crowd(seed, count, 100, 3)
    kept = nms(boxes, scores, classes, iou)
    assert (np.diff(scores[kept]) <= 0).all()

    rivals = {
        index: [k for k in kept if classes[k] == classes[index] and scores[k] >= scores[index] and k != index] for index in range(count)
    }
    for index in range(count):
        highest = max((overlap_of(boxes[index], boxes[rival]) for rival in rivals[index]), default=0.0)
        assert highest <= iou + 1e-5 if index in kept else highest > iou - 1e-5


@pytest.mark.parametrize(("count", "classes"), [(700, 2), (900, 12)])
def test_crowds_equal_the_definition(count: int, classes: int) -> None:
    random = np.random.default_rng(count)
    corner, extent = random.integers(0, 200, (count, 2)), random.integers(0, 40, (count, 2))
    boxes = np.concatenate([corner, corner + extent], axis=1).astype(np.float32)
    scores, ids = (random.integers(0, 64, count) / 64).astype(np.float32), random.integers(0, classes, count).astype(np.int32)
    assert nms(boxes, scores, ids, 5 / 16).tolist() == greedy(boxes, scores, ids, 5 / 16)


def test_equal_scores_keep_their_order() -> None:
    boxes = np.array([[0, 0, 1, 1], [5, 5, 6, 6], [9, 9, 10, 10]], np.float32)
    assert nms(boxes, np.full(3, 0.5, np.float32), np.array([2, 0, 1], np.int32), 0.5).tolist() == [0, 1, 2]


def test_nothing_in_nothing_out() -> None:
    assert nms(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int32), 0.5).tolist() == []


def test_memory_does_not_grow_with_the_square_of_the_candidates() -> None:
    """Boxes of one class that do not overlap are the slowest case: every pair is compared."""
    random = np.random.default_rng(0)
    corner = random.uniform(0, 20_000, (4_000, 2))
    boxes = np.concatenate([corner, corner + 10], axis=1).astype(np.float32)
    scores = random.random(4_000).astype(np.float32)
    tracemalloc.start()
    kept = nms(boxes, scores, np.zeros(4_000, np.int32), 0.45)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(kept) > 3_960
    assert peak < 8 << 20, "4,000² pairs take 16 MB and more"


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.floats(0.05, 0.95))
def test_diou_keeps_neighbours_with_distant_centres(seed: int, count: int, threshold: float) -> None:
    boxes, scores, classes = crowd(seed, count, 60, 2)

    def diou(a: int, b: int) -> float:
        centres = (boxes[[a, b], :2] + boxes[[a, b], 2:]) / 2
        around = np.maximum(boxes[a, 2:], boxes[b, 2:]) - np.minimum(boxes[a, :2], boxes[b, :2])
        return overlap_of(boxes[a], boxes[b]) - float((((centres[0] - centres[1]) ** 2).sum() / (around**2).sum()) ** 0.6)

    kept: list[int] = []
    for index in np.argsort(-scores, kind="stable").tolist():
        rivals = [diou(index, other) for other in kept if classes[other] == classes[index]]
        if any(abs(rival - threshold) < 1e-4 for rival in rivals):
            return  # too close to call in float32
        if all(rival <= threshold for rival in rivals):
            kept.append(index)
    assert nms(boxes, scores, classes, threshold, diou_beta=0.6).tolist() == kept


@pytest.mark.parametrize("letterbox", [False, True])
@pytest.mark.parametrize(("width", "height"), [(1920, 360), (360, 1920), (640, 384)])
def test_diou_is_that_of_darknet_on_fractions_of_the_picture(width: int, height: int, letterbox: bool) -> None:
    placed = plan_fit(width, height, 128, 96, letterbox)
    boxes, scores, classes = crowd(width + 2 * letterbox, 80, 100, 2)
    expected = kept_by_darknet(boxes, scores, classes, placed, 0.3, 0.6)
    assert nms(boxes, scores, classes, 0.3, 0.6, placed.aspect).tolist() == expected


def test_the_shape_of_the_picture_decides_about_neighbours() -> None:
    """IoU 0.25, and the distance of the centres is a smaller share of the diagonal where the picture is wide."""
    boxes, scores, classes = (
        np.array([[0, 0, 20, 20], [12, 0, 32, 20]], np.float32),
        np.array([0.9, 0.8], np.float32),
        np.zeros(2, np.int32),
    )
    assert nms(boxes, scores, classes, 0.05, 0.6).tolist() == [0, 1]
    assert nms(boxes, scores, classes, 0.05, 0.6, np.float32(4)).tolist() == [0]
