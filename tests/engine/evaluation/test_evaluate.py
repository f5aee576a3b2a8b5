"""The accuracy equals that of pycocotools, to the last digits, whichever format the truth has; and intervals of it."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from benchmarks.detection.intervals import tries
from framefleet.engine.evaluation.accuracy import CONFIDENCES, Boxes, average_precisions, curve, match
from framefleet.engine.evaluation.evaluate import draw, evaluate, interval, read_truth
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.exporters.pictures import picture_name
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from tests.support.faults.counts import short_and_long
from tests.support.store import video_info

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
    assert np.isnan(curve(match(some, nothing), nothing).recall).all()
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
    for pictures in (40, 320):
        truth = random_boxes(random, 5 * pictures, pictures)
        found = near(random, truth, 0.7)
        matches = match(found, truth)
        value = float(np.nanmean(average_precisions(matches, truth, CLASSES)))
        worse = match(found.select(random.random(len(found)) < 0.9), truth)
        draws = draw([matches, worse], truth, pictures, CLASSES)
        assert draws is not None
        changes, without, rare = (values.mean(axis=-1) for values in draws)
        own = interval(value, changes[0], without[0], rare[0])
        difference = interval(0, changes[1] - changes[0], without[1] - without[0], difference=True)
        assert own.low < value < own.high
        assert difference.low < difference.high
        assert difference.high - difference.low < own.high - own.low
        widths.append(own.high - own.low)
    assert widths[1] < 0.4 * widths[0]


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
    draws = draw([match(found, truth)], truth, pictures, 2)
    assert draws is not None
    np.testing.assert_allclose(draws.changes, 0, atol=1e-12)
    assert 0.02 < np.sqrt(draws.rare[0, 0]) < 0.25  # one object says little about its class


EVEN = np.linspace(-0.1, 0.1, 1001)
WITHOUT = np.linspace(-0.001, 0.001, 21)
"""The jackknife gives a smaller error than EVEN."""


def test_an_interval_holds_95_percent_of_symmetric_draws() -> None:
    """Student's t of 20 degrees of freedom is 2.086. The standard deviation of EVEN is 0.0578, with 21/20 of its variance 0.0592."""
    found = interval(0.5, EVEN, WITHOUT)
    assert (found.low, found.high) == (pytest.approx(0.5 - 0.1235, abs=1e-3), pytest.approx(0.5 + 0.1235, abs=1e-3))


def test_an_interval_corrects_the_bias_of_the_draws() -> None:
    even, high, low = (interval(0.5, EVEN + bias, WITHOUT) for bias in (0, 0.03, -0.03))
    assert [*high] == pytest.approx([each - 0.03 for each in even])
    assert [*low] == pytest.approx([each + 0.03 for each in even])


def test_the_larger_error_of_draws_and_jackknife_counts_but_for_differences() -> None:
    without = 30 * WITHOUT  # a standard error of 20/21 × the sum of squares, 0.081
    assert interval(0.5, EVEN, without).high == pytest.approx(0.5 + 2.086 * 0.081, abs=1e-3)
    assert interval(0.0, EVEN, without, difference=True) == interval(0.0, EVEN, WITHOUT, difference=True)
    assert interval(0.1, 0 * EVEN, 0 * WITHOUT, 0.01, difference=True) == (0.1, 0.1), "equal sessions"


def test_no_interval_goes_beyond_what_is_possible() -> None:
    assert interval(0.98, EVEN, WITHOUT).high == 1.0
    assert interval(0.02, EVEN, WITHOUT).low == 0.0
    assert interval(0.02, EVEN, WITHOUT, difference=True).low < 0.0


def test_a_class_with_few_objects_widens_an_interval() -> None:
    nothing = np.zeros(500)
    assert interval(1.0, nothing, np.zeros(20)) == (1.0, 1.0)
    assert interval(1.0, nothing, np.zeros(20), 0.01) == (pytest.approx(1 - 0.2093, abs=1e-3), 1.0)


def test_too_few_pictures_give_no_interval() -> None:
    truth = random_boxes(np.random.default_rng(0), 30, 9)
    assert draw([match(truth, truth)], truth, 9, CLASSES) is None


@pytest.mark.parametrize("pictures", [30, pytest.param(60, marks=pytest.mark.slow)])
def test_intervals_hold_the_true_value(pictures: int) -> None:
    """A few of the tries of ``benchmarks/detection/intervals.py``, whose results the guide names."""
    held = [tried.held for tried in tries(pictures, 24, similar=1)]
    assert sum(held) >= 20


COCO_LABELS = ("person", "bicycle", "car")


def write_found(path: Path, found: Boxes, pictures: int) -> Path:
    """A session of one video with these detections."""
    with SessionWriter(path, COCO_LABELS, {}) as writer:
        writer.add_source(0, "clip.mp4", video_info("clip.mp4", pictures))
        writer.add_frames(frame_of(found.select(found.pictures == index), index) for index in range(pictures))
        writer.finish_source(0, "clip.mp4", Ledger(pictures, pictures), 1.0)
    return path


def frame_of(boxes: Boxes, index: int) -> FrameResult:
    order = np.argsort(-boxes.scores, kind="stable")
    corners = np.hstack([boxes.boxes[:, :2], boxes.boxes[:, :2] + boxes.boxes[:, 2:]])[order].astype(np.float32)
    found = Detections(corners, boxes.scores[order].astype(np.float32), boxes.classes[order].astype(np.int32))
    return FrameResult(FrameRef(0, index, index / 25), DeviceId("cpu", "0"), 640, 480, found)


def stored(session: Path) -> Boxes:
    """The detections of a session, as pycocotools gets them."""
    with SessionReader(session) as reader:
        blocks = [*reader.blocks(0)]
    corners = np.concatenate([block.stored for block in blocks]).astype(np.float64)
    pictures, classes = (
        np.concatenate(columns) for columns in zip(*((block.numbers[block.frame], block.class_ids) for block in blocks), strict=True)
    )
    scores = np.concatenate([block.confidences for block in blocks]).astype(np.float64)
    boxes = np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]])
    return Boxes(pictures.astype(np.int64), classes.astype(np.int64), boxes, scores, np.zeros(len(boxes), bool))


def random_truth(random: np.random.Generator, pictures: int) -> Boxes:
    """Objects that lie in the picture; some are crowds."""
    count = int(random.integers(1, 12 * pictures))
    corners, sizes = random.random((count, 2)) * (500, 400), 5 + random.random((count, 2)) * (100, 70)
    boxes = np.round(np.hstack([corners, sizes]), 2)
    classes = random.integers(0, CLASSES, count)
    return Boxes(random.integers(0, pictures, count), classes, boxes, np.ones(count), random.random(count) < 0.1)


def as_coco(truth: Boxes, pictures: int, random: np.random.Generator, path: Path) -> tuple[Path, Boxes]:
    """A COCO file with what the format allows: ids as texts, boxes without a height, an ``ignore`` that does not count."""
    flat = random.random(len(truth)) < 0.05
    boxes = truth.boxes.copy()
    boxes[flat, 3] = 0
    name = str if random.random() < 0.5 else int
    notes = [
        {"id": n, "image_id": name(p), "category_id": name(c + 1), "bbox": b, "iscrowd": int(i), "ignore": int(random.random() < 0.2)}
        for n, (p, c, b, i) in enumerate(zip(truth.pictures.tolist(), truth.classes.tolist(), boxes.tolist(), truth.ignored, strict=True))
    ]
    data = {
        "annotations": notes,
        "images": [{"id": name(number), "frame": number, "width": 640, "height": 480} for number in range(pictures)],
        "categories": [{"id": name(number + 1), "name": label} for number, label in enumerate(COCO_LABELS)],
    }
    path.write_text(json.dumps(data))
    return path, replace(truth, boxes=boxes)


def as_yolo(truth: Boxes, pictures: int, random: np.random.Generator, path: Path) -> tuple[Path, Boxes]:
    """A data set in one of three layouts, with the names in one of four forms. It has no crowds."""
    layout = ("labels", "labels/train", "valid/labels")[int(random.integers(3))]
    names = (
        "names: [person, 'bicycle', \"car\"]",
        "names: {0: person, 1: bicycle, 2: car}",
        "names:\n- person\n- bicycle\n- car",
        "names:\n  2: car\n  0: person\n  1: bicycle",
    )
    (path / layout).mkdir(parents=True)
    (path / "data.yaml").write_text(f"train: ../train/images\n{names[int(random.integers(4))]}\nnc: 3\n")
    (path / "README.dataset.txt").write_text("no labels\n")
    for number in range(pictures):
        mine = truth.select(truth.pictures == number)
        rows = [
            f"{c}{random.choice(['', '.0'])} {(x + w / 2) / 640!r} {(y + h / 2) / 480!r} {w / 640!r} {h / 480!r}\n"
            for c, (x, y, w, h) in zip(mine.classes.tolist(), mine.boxes.tolist(), strict=True)
        ]
        (path / layout / f"{picture_name(number / 25)}.txt").write_text("".join(rows))
    return path, replace(truth, ignored=np.zeros(len(truth), bool))


def as_cvat(truth: Boxes, pictures: int, random: np.random.Generator, path: Path) -> tuple[Path, Boxes]:
    """A task whose objects are boxes, turned boxes, polygons, ellipses and masks, for videos or for images. It has no crowds."""
    boxes, shapes = truth.boxes.copy(), []
    images = random.random() < 0.5
    for n, (picture, c, (x, y, w, h)) in enumerate(zip(truth.pictures.tolist(), truth.classes.tolist(), boxes.tolist(), strict=True)):
        kind = int(random.integers(5))
        if kind == 0:
            shape = f'<box {{}} xtl="{x!r}" ytl="{y!r}" xbr="{x + w!r}" ybr="{y + h!r}"/>'
        elif kind == 1:
            left, top = x + (w - h) / 2, y + (h - w) / 2
            shape = f'<box {{}} xtl="{left!r}" ytl="{top!r}" xbr="{left + h!r}" ybr="{top + w!r}" rotation="270.00"/>'
        elif kind == 2:
            shape = f'<polygon {{}} points="{x!r},{y + h / 2!r};{x + w / 2!r},{y!r};{x + w!r},{y + h / 3!r};{x + w / 4!r},{y + h!r}"/>'
        elif kind == 3:
            shape = f'<ellipse {{}} cx="{x + w / 2!r}" cy="{y + h / 2!r}" rx="{h / 2!r}" ry="{w / 2!r}" rotation="90"/>'
        else:
            boxes[n] = np.round(boxes[n])
            left, top, width, height = (int(value) for value in boxes[n])
            shape = f'<mask {{}} rle="0, {width * height}" left="{left}" top="{top}" width="{width}" height="{height}"/>'
        shapes.append((picture, c, shape))
    if images:
        body = "".join(
            f'<image id="{number}" name="frame_{number:06}" width="640" height="480">'
            + "".join(shape.format(f'label="{COCO_LABELS[c]}"') for picture, c, shape in shapes if picture == number)
            + "</image>"
            for number in range(pictures)
        )
    else:
        body = "".join(
            f'<track id="{n}" label="{COCO_LABELS[c]}">{shape.format(f"""frame="{picture}" outside="0" """)}</track>'
            for n, (picture, c, shape) in enumerate(shapes)
        )
    labels = "".join(f"<label><name>{label}</name></label>" for label in COCO_LABELS)
    path.write_text(
        f"<annotations><meta><task><start_frame>0</start_frame><stop_frame>{pictures - 1}</stop_frame><labels>{labels}</labels>"
        f"</task></meta>{body}</annotations>"
    )
    return path, replace(truth, boxes=boxes, ignored=np.zeros(len(truth), bool))


FORMATS = {"truth.json": as_coco, "set": as_yolo, "task.xml": as_cvat}


@short_and_long(12, 200)
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_results_of_pycocotools(tmp_path: Path, form: str, rounds: int) -> None:
    for seed in range(rounds):
        random = np.random.default_rng(seed)
        pictures = int(random.integers(1, 10))
        truth = random_truth(random, pictures)
        folder = tmp_path / str(seed)
        folder.mkdir()
        path, expected = FORMATS[form](truth, pictures, random, folder / form)
        found = near(random, truth, 0.8)
        if not len(found):
            continue  # pycocotools needs a detection
        session = write_found(folder / "session.sqlite", found, pictures)
        (result,) = evaluate({"one": session}, read_truth(path)).results
        precisions = by_pycocotools(stored(session), expected, pictures)
        if np.isnan(precisions).all():
            assert np.isnan(result.map50)
            continue
        assert result.map50 == pytest.approx(np.nanmean(precisions[0]), abs=1e-12), seed
        assert result.map50_95 == pytest.approx(np.nanmean(precisions), abs=1e-12), seed
