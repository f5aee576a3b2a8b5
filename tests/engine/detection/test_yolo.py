from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from framefleet.engine.detection.postprocess import decode
from framefleet.engine.model.network import Yolo

ANCHORS = np.array([[10, 14], [23, 27], [37, 58]], np.float32)


def layer(classes: int = 4, rows: int = 3, columns: int = 5, scale: float = 1.0, new_coords: bool = False) -> Yolo:
    shape = (len(ANCHORS) * (5 + classes), rows, columns)
    return Yolo((0,), shape, ANCHORS, classes, scale, new_coords)


def logistic(value: float) -> float:
    return 0.0 if value < -700 else 1 / (1 + math.exp(-value))


def by_the_book(
    head: NDArray[np.float32], yolo: Yolo, width: int, height: int, confidence: float
) -> list[tuple[int, float, float, float, float, float]]:
    """Darknet's loops, one value at a time. Returns class id, score, x1, y1, x2, y2 in network pixels."""
    rows, columns = head.shape[1:]
    values = head.reshape(len(yolo.anchors), 5 + yolo.classes, rows, columns).astype(float)
    found = []
    for anchor, row, column in np.ndindex(len(yolo.anchors), rows, columns):
        x, y, w, h, objectness, *classes = (float(v) for v in values[anchor, :, row, column])
        if yolo.new_coords:
            w, h = (2 * w) ** 2, (2 * h) ** 2
        else:
            x, y, objectness = logistic(x), logistic(y), logistic(objectness)
            w, h, classes = math.exp(w), math.exp(h), [logistic(c) for c in classes]
        x = (x * yolo.scale_x_y - 0.5 * (yolo.scale_x_y - 1) + column) / columns * width
        y = (y * yolo.scale_x_y - 0.5 * (yolo.scale_x_y - 1) + row) / rows * height
        w, h = w * float(yolo.anchors[anchor][0]), h * float(yolo.anchors[anchor][1])
        for class_id, probability in enumerate(classes):
            if objectness * probability >= confidence:
                found.append((class_id, objectness * probability, x - w / 2, y - h / 2, x + w / 2, y + h / 2))
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([1.0, 1.05, 1.2, 2.0]), st.sampled_from([0.001, 0.1, 0.25, 0.7, 0.95]))
def test_equals_darknets_loops(seed: int, new_coords: bool, scale: float, confidence: float) -> None:
    random = np.random.default_rng(seed)
    yolo = layer(scale=scale, new_coords=new_coords)
    head = random.normal(0, 3, yolo.shape).astype(np.float32)
    if new_coords:
        head = (1 / (1 + np.exp(-head))).astype(np.float32)
    expected = sorted(by_the_book(head, yolo, 160, 96, confidence))
    candidates = decode([head[None]], [yolo], 160, 96, confidence)[0]
    rows = [(int(c), float(s), *map(float, b)) for c, s, b in zip(candidates.class_ids, candidates.scores, candidates.boxes, strict=True)]
    assert (candidates.boxes.dtype, candidates.scores.dtype, candidates.class_ids.dtype) == (np.float32, np.float32, np.int32)
    np.testing.assert_allclose(np.array(sorted(rows)).reshape(-1, 6), np.array(expected).reshape(-1, 6), rtol=2e-4, atol=2e-3)


def test_a_batch_is_its_pictures_one_by_one() -> None:
    random = np.random.default_rng(1)
    layers = [layer(), layer(rows=6, columns=10)]
    heads = [random.normal(0, 2, (3, *each.shape)).astype(np.float32) for each in layers]
    together = decode(heads, layers, 160, 96, 0.3)
    assert sum(map(len, together)) > 20
    for index, candidates in enumerate(together):
        alone = decode([head[index : index + 1] for head in heads], layers, 160, 96, 0.3)[0]
        assert (candidates.boxes == alone.boxes).all()
        assert (candidates.scores == alone.scores).all()
        assert (candidates.class_ids == alone.class_ids).all()


@pytest.mark.parametrize("value", [1e30, -1e30, np.inf, -np.inf, np.nan, 100.0, -100.0])
@pytest.mark.parametrize("new_coords", [False, True])
def test_extreme_numbers_result_in_finite_boxes_without_a_warning(value: float, new_coords: bool) -> None:
    yolo = layer(new_coords=new_coords)
    for channel in range(5 + yolo.classes):
        head = np.full((1, *yolo.shape), 0.9, np.float32)
        head.reshape(1, 3, -1, 3, 5)[:, :, channel] = value
        candidates = decode([head], [yolo], 160, 96, 0.25)[0]
        assert np.isfinite(candidates.boxes).all()
        assert np.isfinite(candidates.scores).all()


@pytest.mark.parametrize("confidence", [1e-40, 1e-6, 0.5, 1.0])
def test_a_score_equal_to_the_confidence_is_kept(confidence: float) -> None:
    yolo = layer(classes=1)
    head = np.full((1, *yolo.shape), 40.0, np.float32)
    head.reshape(1, 3, 6, -1)[:, :, :4] = 0
    assert len(decode([head], [yolo], 160, 96, confidence)[0]) == 45
