"""The accuracy equals that of pycocotools, to the last digits."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest
from numpy.typing import NDArray
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from framefleet.engine.evaluation.bootstrap import drawn_changes, interval
from framefleet.engine.evaluation.matching import Boxes, match
from framefleet.engine.evaluation.precision import CONFIDENCES, average_precisions, curve

CLASSES = 3


def by_pycocotools(found: Boxes, truth: Boxes, pictures: int) -> NDArray[np.float64]:
    """The average precisions by pycocotools, float64 (thresholds, classes), NaN for classes without objects."""
    notes = [
        {"id": n + 1, "image_id": int(p), "category_id": int(c) + 1, "bbox": b.tolist(), "area": float(b[2] * b[3]), "iscrowd": int(i)}
        for n, (p, c, b, i) in enumerate(zip(truth.pictures, truth.classes, truth.boxes, truth.ignored, strict=True))
    ]
    rows = [
        {"image_id": int(p), "category_id": int(c) + 1, "bbox": b.tolist(), "score": float(s)}
        for p, c, b, s in zip(found.pictures, found.classes, found.boxes, found.scores, strict=True)
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        reference = COCO()
        reference.dataset = {
            "images": [{"id": number} for number in range(pictures)],
            "categories": [{"id": number + 1, "name": str(number)} for number in range(CLASSES)],
            "annotations": notes,
        }
        reference.createIndex()
        evaluation = COCOeval(reference, reference.loadRes(rows), "bbox")
        evaluation.params.areaRng, evaluation.params.areaRngLbl, evaluation.params.maxDets = [[0, 1e10]], ["all"], [100]
        evaluation.evaluate()
        evaluation.accumulate()
    precision = evaluation.eval["precision"][:, :, :, 0, 0].mean(axis=1)
    precision[precision < 0] = np.nan
    return np.asarray(precision)


def random_boxes(random: np.random.Generator, count: int, pictures: int, crowds: float = 0.0) -> Boxes:
    """Boxes on a coarse grid, so that many overlap by equal shares, with few different confidences."""
    corners = random.integers(0, 12, (count, 2)) * 5.0
    sizes = random.integers(2, 8, (count, 2)) * 5.0
    scores = np.round(random.random(count), 1).astype(np.float32).astype(np.float64)
    crowd = random.random(count) < crowds
    classes = random.integers(0, CLASSES, count)
    return Boxes(random.integers(0, pictures, count), classes, np.hstack([corners, sizes]), scores, crowd)


def near(random: np.random.Generator, truth: Boxes, share: float) -> Boxes:
    """Detections near some of the true objects, and others."""
    chosen = truth.select(random.random(len(truth)) < share)
    moved = np.maximum(chosen.boxes + random.normal(0, 1.5, chosen.boxes.shape), 1)
    other = random_boxes(random, len(chosen) // 2, int(truth.pictures.max()) + 1)
    scores = np.round(random.random(len(chosen)), 2)
    parts = [(chosen.pictures, other.pictures), (chosen.classes, other.classes), (moved, other.boxes), (scores, other.scores)]
    joined = [np.concatenate(part) for part in parts]
    return Boxes(*joined, np.zeros(len(joined[0]), bool))


@pytest.mark.parametrize("seed", range(12))
def test_average_precisions_equal_those_of_pycocotools(seed: int) -> None:
    random = np.random.default_rng(seed)
    pictures = 1 + 10 * (seed % 4)
    truth = random_boxes(random, 60 * (1 + seed % 3), pictures, crowds=0.15)
    found = near(random, truth, 0.8) if seed % 2 else random_boxes(random, 700, pictures)  # some pictures hold more than 100 of a class
    ours = average_precisions(match(found, truth), truth, CLASSES)
    assert np.nanmax(ours) > 0.004
    np.testing.assert_allclose(ours, by_pycocotools(found, truth, pictures), rtol=1e-12, atol=1e-12)


def test_nothing_found_and_nothing_to_find() -> None:
    random = np.random.default_rng(0)
    nothing, some = random_boxes(random, 0, 1), random_boxes(random, 20, 3)
    assert average_precisions(match(nothing, some), some, CLASSES).tolist() == [[0.0] * CLASSES] * 10
    assert np.isnan(average_precisions(match(some, nothing), nothing, CLASSES)).all()
    assert curve(match(nothing, some), some).recall.max() == 0
    assert curve(match(nothing, some), some).precision.tolist() == [1.0] * len(CONFIDENCES)


def test_a_curve_by_hand() -> None:
    at = np.array([[0, 0, 10, 10], [100, 0, 10, 10], [200, 0, 10, 10.0]])
    truth = Boxes(np.zeros(2, int), np.zeros(2, int), at[:2], np.ones(2), np.zeros(2, bool))
    scores = np.array([0.9, 0.6, 0.3], np.float32).astype(np.float64)
    found = Boxes(np.zeros(3, int), np.zeros(3, int), at[[0, 2, 1]], scores, np.zeros(3, bool))
    result = curve(match(found, truth), truth, 0)
    by_confidence = {c: (p, r) for c, p, r in zip(CONFIDENCES.tolist(), result.precision.tolist(), result.recall.tolist(), strict=True)}
    assert by_confidence[0.91] == (1, 0)
    assert by_confidence[0.9] == by_confidence[0.61] == (1, 0.5)
    assert by_confidence[0.6] == by_confidence[0.31] == (0.5, 0.5)
    assert by_confidence[0.3] == by_confidence[0.0] == (2 / 3, 1)
    assert CONFIDENCES[result.best] == 0.3
    assert result.f1[0] == pytest.approx(0.8)


def test_an_interval_holds_the_value_and_shrinks_with_more_pictures() -> None:
    random, widths = np.random.default_rng(1), []
    for pictures in (40, 640):
        truth = random_boxes(random, 5 * pictures, pictures)
        found = near(random, truth, 0.7)
        matches = match(found, truth)
        value = float(np.nanmean(average_precisions(matches, truth, CLASSES)))
        worse = match(found.select(random.random(len(found)) < 0.9), truth)
        changes = drawn_changes([matches, worse], truth, pictures, CLASSES)
        assert changes is not None
        own, difference = interval(value, changes[0].mean(axis=1)), interval(0, (changes[1] - changes[0]).mean(axis=1), -1.0)
        assert own.low < value < own.high
        assert difference.low < difference.high
        assert difference.high - difference.low < own.high - own.low
        widths.append(own.high - own.low)
    assert widths[1] < widths[0] / 3


def test_a_class_with_one_object_and_many_weak_wrong_detections_changes_in_no_draw() -> None:
    random, pictures = np.random.default_rng(2), 200
    place = np.array([10.0, 10, 50, 50])
    classes = np.r_[np.zeros(100, int), 1]
    truth = Boxes(np.r_[0:100, 100], classes, np.tile(place, (len(classes), 1)), np.ones(len(classes)), np.zeros(len(classes), bool))
    wrong = random_boxes(random, 20 * pictures, pictures)
    weak = Boxes(wrong.pictures, wrong.classes % 2, wrong.boxes + 200, wrong.scores / 2, np.zeros(len(wrong), bool))
    found = Boxes(
        *(np.concatenate([getattr(truth, each), getattr(weak, each)]) for each in ("pictures", "classes", "boxes", "scores", "ignored"))
    )
    changes = drawn_changes([match(found, truth)], truth, pictures, 2)
    assert changes is not None
    np.testing.assert_allclose(changes, 0, atol=1e-12)


def test_an_interval_holds_95_percent_of_the_draws() -> None:
    found = interval(0.5, np.linspace(-0.1, 0.1, 1001))
    assert (found.low, found.high) == (pytest.approx(0.405), pytest.approx(0.595))


def test_no_interval_goes_beyond_what_is_possible() -> None:
    assert interval(0.98, np.linspace(-0.1, 0.1, 1001)).high == 1.0
    assert interval(0.02, np.linspace(-0.1, 0.1, 1001)).low == 0.0
    assert interval(0.02, np.linspace(-0.1, 0.1, 1001), -1.0).low < 0.0


def test_too_few_pictures_give_no_interval() -> None:
    truth = random_boxes(np.random.default_rng(0), 30, 9)
    assert drawn_changes([match(truth, truth)], truth, 9, CLASSES) is None
