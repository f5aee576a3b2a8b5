"""Computes the accuracy of detections: mean average precision as defined by COCO (https://cocodataset.org/#detection-eval)."""

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
"""The confidence threshold for detections to score: average precision needs weak detections, too."""


@dataclass(frozen=True)
class ClassAccuracy:
    """Average precision of one class, 0..1: at IoU 0.5, and averaged over IoU 0.5, 0.55, …, 0.95.

    objects: number of objects of the class in the ground truth.
    """

    label: str
    ap50: float
    ap50_95: float
    objects: int


@dataclass(frozen=True)
class Accuracy:
    """Mean average precision, 0..1, over the classes with objects in the ground truth."""

    map50: float
    map50_95: float
    classes: tuple[ClassAccuracy, ...]

    def as_json(self) -> dict[str, float]:
        """Return the two means, rounded to 4 decimals."""
        return {"map50": round(self.map50, 4), "map50_95": round(self.map50_95, 4)}


def read_truth(path: Path) -> dict[str, Any]:
    """Read the ground truth of a clip from a gzipped COCO file.

    Image ids are frame indices, category ids are class ids + 1, and objects with ``iscrowd`` are not scored.

    Raises:
        SourceError: the file is missing or damaged.
    """
    try:
        truth: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise SourceError(f"the truth {path} cannot be read ({error}): install Framefleet again") from error
    return truth


def score(truth: Mapping[str, Any], found: Sequence[Detections]) -> Accuracy:
    """Compare detections with the ground truth.

    truth: a COCO data set with image ids from 0. found: the detections of each image, in the order of the ids.
    """
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    categories = sorted(truth["categories"], key=lambda category: category["id"])
    objects = np.bincount([note["category_id"] for note in truth["annotations"] if not note["iscrowd"]], minlength=categories[-1]["id"] + 1)
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
        ClassAccuracy(category["name"], float(precision[0, :, i].mean()), float(precision[:, :, i].mean()), int(objects[category["id"]]))
        for i, category in enumerate(categories)
        if objects[category["id"]]
    ]
    count = max(len(classes), 1)
    return Accuracy(sum(c.ap50 for c in classes) / count, sum(c.ap50_95 for c in classes) / count, tuple(classes))


def _rows(found: Sequence[Detections]) -> Iterator[dict[str, Any]]:
    """Yield detections in COCO's results format."""
    for image, detections in enumerate(found):
        corners = detections.boxes.astype(np.float64)
        corners[:, 2:] -= corners[:, :2]
        for box, confidence, class_id in zip(corners.tolist(), detections.scores.tolist(), detections.class_ids.tolist(), strict=True):
            yield {"image_id": image, "category_id": class_id + 1, "bbox": box, "score": confidence}
