"""The accuracy of detections: mean average precision as defined by COCO (https://cocodataset.org/#detection-eval)."""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from framefleet.engine.errors import SourceError
from framefleet.engine.evaluation.coco import from_data
from framefleet.engine.evaluation.matching import Boxes, Matches, match
from framefleet.engine.evaluation.precision import Curve, average_precisions, curve, mean
from framefleet.engine.types import Detections

FLOOR = 0.005
"""The confidence threshold for detections to score: average precision needs weak detections, too."""


@dataclass(frozen=True, eq=False)
class ClassAccuracy:
    """Average precision of one class, 0..1: at IoU 0.5, and averaged over IoU 0.5, 0.55, …, 0.95.

    objects: number of objects of the class in the ground truth. curve: at IoU 0.5.
    """

    label: str
    objects: int
    ap50: float
    ap50_95: float
    curve: Curve


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Mean average precision, 0..1, over the classes with objects in the ground truth."""

    map50: float
    map50_95: float
    classes: tuple[ClassAccuracy, ...]

    def as_json(self) -> dict[str, float]:
        """Return the two means, rounded to 4 decimals."""
        return {"map50": round(self.map50, 4), "map50_95": round(self.map50_95, 4)}


def measure(matches: Matches, objects: Boxes, labels: Sequence[str]) -> Accuracy:
    """Compute the accuracy of matched detections. objects: the ground truth. labels: of its classes."""
    precisions = average_precisions(matches, objects, len(labels))
    counts = np.bincount(objects.classes[~objects.ignored], minlength=len(labels)).tolist()
    classes = (
        ClassAccuracy(label, counts[number], float(of_class[0]), float(of_class.mean()), curve(matches, objects, number))
        for number, (label, of_class) in enumerate(zip(labels, precisions.T, strict=True))
        if counts[number]
    )
    return Accuracy(mean(precisions[0]), mean(precisions.mean(axis=0)), tuple(classes))


def read_truth(path: Path) -> dict[str, Any]:
    """Read the ground truth of a clip from a gzipped COCO file.

    Image ids are frame indices, category ids are class ids + 1, and objects with ``iscrowd`` are not scored.

    Raises SourceError if the file is missing or damaged.
    """
    try:
        truth: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise SourceError(f"the truth {path} cannot be read ({error}): install Framefleet again") from error
    return truth


def score(truth: Mapping[str, Any], found: Sequence[Detections]) -> Accuracy:
    """Compare the detections in a clip with the ground truth.

    truth: a COCO data set with image ids from 0. found: the detections of each image, in the order of the ids.
    """
    known = from_data(truth, Path("truth"))
    ignored = np.zeros(sum(map(len, found)), np.bool_)
    corners = np.concatenate([np.zeros((0, 4)), *(detections.boxes.astype(np.float64) for detections in found)])
    corners[:, 2:] -= corners[:, :2]
    detected = Boxes(
        np.repeat(np.arange(len(found)), [len(detections) for detections in found]),
        np.concatenate([np.zeros(0, np.int64), *(detections.class_ids for detections in found)]),
        corners,
        np.concatenate([np.zeros(0), *(detections.scores for detections in found)]),
        ignored,
    )
    objects = Boxes(known.of_picture, known.classes, known.boxes, np.ones(len(known.boxes)), known.ignored)
    return measure(match(detected, objects), objects, known.labels)
