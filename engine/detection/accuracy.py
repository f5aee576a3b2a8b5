"""Scores detections: mean average precision as COCO defines it (https://cocodataset.org/#detection-eval)."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import SourceError
from engine.types import Detections

FLOOR = 0.005
"""The confidence to detect with before scoring: average precision needs weak detections, too."""


@dataclass(frozen=True)
class ClassAccuracy:
    """Average precision of one class, 0..1: at IoU 0.5, and averaged over IoU 0.5, 0.55, …, 0.95. objects: of the class in the truth."""

    label: str
    ap50: float
    ap50_95: float
    objects: int


@dataclass(frozen=True)
class Accuracy:
    """Mean average precision, 0..1, over the classes of which the truth has objects."""

    map50: float
    map50_95: float
    classes: tuple[ClassAccuracy, ...]

    def as_json(self) -> dict[str, float]:
        """The two means, rounded."""
        return {"map50": round(self.map50, 4), "map50_95": round(self.map50_95, 4)}


def read_truth(path: Path) -> dict[str, Any]:
    """Read a gzipped COCO file. Image ids are frame indices, category ids are class ids + 1, and ``iscrowd`` objects do not count.

    Raises:
        SourceError: the file is missing or damaged.
    """
    try:
        truth: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise SourceError(f"the truth {path} cannot be read ({error}): install Framefleet again") from error
    return truth


def score(truth: Mapping[str, Any], found: Sequence[Detections]) -> Accuracy:
    """Compare detections with the truth. truth: a COCO data set with image ids from 0. found: detections of each image, by id."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    categories = sorted(truth["categories"], key=lambda category: category["id"])
    asked = np.bincount([note["category_id"] for note in truth["annotations"] if not note["iscrowd"]], minlength=categories[-1]["id"] + 1)
    precision = np.zeros((10, 1, len(categories)))
    if rows := list(_rows(found)):
        with contextlib.redirect_stdout(io.StringIO()):
            reference = COCO()
            reference.dataset = truth
            reference.createIndex()
            evaluation = COCOeval(reference, reference.loadRes(rows), "bbox")
            # separate results for small, medium and large objects would take four times as long
            evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]
            evaluation.params.maxDets = [100]
            evaluation.evaluate()
            evaluation.accumulate()
        precision = evaluation.eval["precision"][:, :, :, 0, 0]  # overlaps, recalls, classes
    classes = [
        ClassAccuracy(category["name"], float(precision[0, :, i].mean()), float(precision[:, :, i].mean()), int(asked[category["id"]]))
        for i, category in enumerate(categories)
        if asked[category["id"]]
    ]
    count = max(len(classes), 1)
    return Accuracy(sum(c.ap50 for c in classes) / count, sum(c.ap50_95 for c in classes) / count, tuple(classes))


def _rows(found: Sequence[Detections]) -> Iterator[dict[str, Any]]:
    """Detections as COCO's results format has them."""
    for image, detections in enumerate(found):
        corners = detections.boxes.astype(np.float64)
        corners[:, 2:] -= corners[:, :2]
        for box, confidence, kind in zip(corners.tolist(), detections.scores.tolist(), detections.class_ids.tolist(), strict=True):
            yield {"image_id": image, "category_id": kind + 1, "bbox": box, "score": confidence}
