from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framefleet.engine.evaluation.accuracy import read_truth, score
from framefleet.engine.notices import SourceError
from framefleet.engine.types import Detections
from framefleet.resources import DEMO

Box = tuple[float, float, float, float]


def truth_of(images: Sequence[Sequence[tuple[int, Box, bool]]], names: Sequence[str] = ("person", "car")) -> dict[str, Any]:
    """Objects of each image: class id, x y width height, whether it is ignored."""
    notes = [
        {"id": 0, "image_id": number, "category_id": kind + 1, "bbox": list(box), "area": box[2] * box[3], "iscrowd": int(ignored)}
        for number, objects in enumerate(images)
        for kind, box, ignored in objects
    ]
    for number, note in enumerate(notes):
        note["id"] = number + 1
    return {
        "images": [{"id": number, "width": 640, "height": 480} for number in range(len(images))],
        "categories": [{"id": number + 1, "name": name} for number, name in enumerate(names)],
        "annotations": notes,
    }


def found(*rows: tuple[int, float, Box]) -> Detections:
    """Class id, confidence, x y width height."""
    boxes = np.array([(x, y, x + w, y + h) for _, _, (x, y, w, h) in rows], np.float32).reshape(-1, 4)
    return Detections(boxes, np.array([row[1] for row in rows], np.float32), np.array([row[0] for row in rows], np.int32))


def test_detections_equal_to_the_truth_score_1() -> None:
    truth = truth_of([[(0, (10, 10, 30, 60), False), (1, (100, 50, 80, 40), False)], [(1, (5, 5, 50, 50), False)]])
    result = score(truth, [found((0, 0.9, (10, 10, 30, 60)), (1, 0.8, (100, 50, 80, 40))), found((1, 0.3, (5, 5, 50, 50)))])
    assert (result.map50, result.map50_95) == (pytest.approx(1), pytest.approx(1))
    assert [(row.label, row.objects) for row in result.classes] == [("person", 1), ("car", 2)]
    assert result.as_json() == {"map50": 1.0, "map50_95": 1.0}


def test_the_score_equals_a_calculation_by_hand() -> None:
    objects = [(0, (10.0, 10.0, 40.0, 40.0), False), (0, (200.0, 10.0, 40.0, 40.0), False)]
    detections = found((0, 0.9, (10, 10, 40, 40)), (0, 0.8, (400, 300, 40, 40)), (0, 0.7, (208, 10, 40, 40)))
    result = score(truth_of([objects]), [detections])
    # right, wrong, right: precision 1 up to recall 0.5, 2/3 above it; of 101 recalls 51 lie at or below 0.5
    assert result.map50 == pytest.approx((51 + 50 * 2 / 3) / 101)
    # the last one overlaps by 32 / 48: right at 0.5, 0.55, 0.6 and 0.65 only
    assert result.map50_95 == pytest.approx((4 * (51 + 50 * 2 / 3) + 6 * 51) / 1010)
    assert [row.label for row in result.classes] == ["person"], "there are no cars to be found"


def test_ignored_objects_are_not_scored() -> None:
    truth = truth_of([[(0, (10, 10, 40, 40), False), (0, (200, 10, 5, 5), True)]])
    both = [found((0, 0.9, (200, 10, 5, 5)), (0, 0.8, (10, 10, 40, 40)))]
    assert score(truth, both).map50 == pytest.approx(1)
    assert score(truth, [found((0, 0.8, (10, 10, 40, 40)))]).classes[0].objects == 1


def test_without_detections_the_accuracy_is_0() -> None:
    result = score(truth_of([[(0, (10, 10, 40, 40), False)]]), [Detections()])
    assert (result.map50, result.map50_95, len(result.classes)) == (0, 0, 1)


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    score(truth_of([[(0, (10, 10, 40, 40), False)]]), [found((0, 0.8, (10, 10, 40, 40)))])
    assert capsys.readouterr().out == ""


def test_the_demo_s_truth_fits_its_model() -> None:
    truth = read_truth(DEMO.truth)
    assert [image["id"] for image in truth["images"]] == list(range(len(truth["images"])))
    assert [category["name"] for category in sorted(truth["categories"], key=lambda c: c["id"])] == DEMO.labels.read_text().split()


def test_a_truth_that_cannot_be_read(tmp_path: Path) -> None:
    whole = gzip.compress(json.dumps(truth_of([])).encode())
    for name, content in {"cut": whole[:-9], "text": b"no truth", "empty": b"", "other": gzip.compress(b"{")}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SourceError, match=f"the truth .*{name} cannot be read"):
            read_truth(tmp_path / name)
    with pytest.raises(SourceError, match="missing"):
        read_truth(tmp_path / "missing")
