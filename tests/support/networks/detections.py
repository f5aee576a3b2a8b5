"""Compares detections with a reference, box by box."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.types import Detections

MIN_IOU = 0.9
MAX_DIFFERENCE = 0.03


@dataclass(frozen=True)
class Comparison:
    """Numbers of boxes in two sets that were paired one to one: same class, IoU ≥ 0.9, confidence within 0.03.

    reference, ours: boxes of each set. paired: pairs. missed_at_threshold, surplus_at_threshold: unpaired boxes of the reference and
    of ours whose confidence is within 0.03 of the threshold. The other set may lack these because of rounding.
    """

    reference: int = 0
    ours: int = 0
    paired: int = 0
    missed_at_threshold: int = 0
    surplus_at_threshold: int = 0

    def __add__(self, other: Comparison) -> Comparison:
        return Comparison(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def recovered(self) -> float:
        """Share of the reference's boxes that are paired."""
        return self.paired / self.reference if self.reference else 1.0

    @property
    def confirmed(self) -> float:
        """Share of our boxes that are paired."""
        return self.paired / self.ours if self.ours else 1.0

    @property
    def unexplained(self) -> int:
        """Unpaired boxes of both sets whose confidence is not near the threshold."""
        return self.reference + self.ours - 2 * self.paired - self.missed_at_threshold - self.surplus_at_threshold


def compare(reference: Detections, ours: Detections, threshold: float) -> Comparison:
    """Pair the boxes of one picture, those with the highest IoU first. threshold: the confidence threshold of both sets."""
    overlap = overlaps(reference.boxes, ours.boxes)
    fits = (overlap >= MIN_IOU) & (reference.class_ids[:, None] == ours.class_ids)
    fits &= np.abs(reference.scores[:, None] - ours.scores) <= MAX_DIFFERENCE
    left, right = set(range(len(reference))), set(range(len(ours)))
    for row, column in sorted(zip(*np.nonzero(fits), strict=True), key=lambda pair: -overlap[pair]):
        if row in left and column in right:
            left.discard(row)
            right.discard(column)
    missed, surplus = (
        sum(float(found.scores[i]) <= threshold + MAX_DIFFERENCE for i in rest) for found, rest in ((reference, left), (ours, right))
    )
    return Comparison(len(reference), len(ours), len(reference) - len(left), missed, surplus)


def overlaps(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float64]:
    """IoU of every box of ``a`` with every box of ``b``, float64 (len(a), len(b))."""
    a, b = a[:, None].astype(np.float64), b[None].astype(np.float64)
    shared = np.maximum(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]), 0).prod(axis=-1)
    union = (a[..., 2:] - a[..., :2]).prod(axis=-1) + (b[..., 2:] - b[..., :2]).prod(axis=-1) - shared
    overlap: NDArray[np.float64] = shared / np.maximum(union, 1e-9)
    return overlap


def from_rows(rows: Sequence[tuple[int, float, Sequence[float]]], width: int, height: int) -> Detections:
    """Detections from rows of (class id, confidence, [x, y, width, height]) in pixels, clipped to the picture."""
    boxes = np.array([box for _, _, box in rows], np.float32).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    boxes = np.clip(boxes, 0, np.array([width, height] * 2, np.float32))
    return Detections(boxes, np.array([row[1] for row in rows], np.float32), np.array([row[0] for row in rows], np.int32))


def read_darknet(file: Path, sizes: dict[str, tuple[int, int]]) -> dict[str, Detections]:
    """Read the output of ``darknet detector test -out``, by file name. sizes: width and height of each picture, pixels."""
    found = {}
    for frame in json.loads(file.read_text()):
        width, height = sizes[frame["filename"]]
        rows = []
        for detected in frame["objects"]:
            place = detected["relative_coordinates"]
            w, h = place["width"] * width, place["height"] * height
            corner = [place["center_x"] * width - w / 2, place["center_y"] * height - h / 2]
            rows.append((detected["class_id"], detected["confidence"], [*corner, w, h]))
        found[frame["filename"]] = from_rows(rows, width, height)
    return found


def read_jsonl(file: Path, width: int, height: int) -> list[Detections]:
    """Read the detections of each frame from JSON Lines with boxes x, y, width, height in pixels."""
    frames = [json.loads(line)["detections"] for line in file.read_text().splitlines()]
    return [from_rows([(each["class_id"], each["confidence"], each["box"]) for each in frame], width, height) for frame in frames]
