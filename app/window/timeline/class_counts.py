"""How often each class was seen in one source, by confidence and time, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from engine.media.types import SourceInfo, SourceKind
from engine.types import Detections, FrameResult

BINS = 240
"""The number of slices of a source's length in which activity is counted."""
_THRESHOLDS = (np.arange(101) / 100).astype(np.float32)
_COARSE = 5  # hundredths per activity level


def length_of(info: SourceInfo | None) -> float:
    """The length of a source: the largest pts of a folder of pictures, seconds of a video; 0 if unknown."""
    if info is None:
        return 0.0
    return float(max(info.frames - 1, 1)) if info.kind is SourceKind.IMAGES else info.duration or 0.0


class Tally:
    """Counts detections per class and hundredth of confidence, and per class, level of confidence and slice of time.

    The session's thread writes it and the window's thread reads it. ``add`` only increments numbers, so a reader sees
    counts that are at most one frame old.
    """

    def __init__(self) -> None:
        self._counts: dict[int, NDArray[np.int64]] = {}
        self._activity: dict[int, NDArray[np.int32]] = {}

    def add(self, detections: Detections, position: float) -> None:
        """Count one frame's detections; ``position`` 0..1 is its place in the source."""
        if not len(detections):
            return
        # The same comparison as Detections.filter, so that the numbers equal the boxes on the picture.
        levels = np.searchsorted(_THRESHOLDS, detections.scores, side="right") - 1
        place = min(max(int(position * BINS), 0), BINS - 1)
        for class_id, level in zip(detections.class_ids.tolist(), levels.tolist(), strict=True):
            if class_id not in self._counts:
                self._activity[class_id] = np.zeros((BINS, 100 // _COARSE + 1), np.int32)
                self._counts[class_id] = np.zeros(101, np.int64)
            self._counts[class_id][level] += 1
            self._activity[class_id][place, level // _COARSE] += 1

    def add_frames(self, frames: Iterable[FrameResult], length: float) -> int:
        """Count the detections of frames of a source of this length; return the number of failed frames."""
        failed = 0
        for frame in frames:
            if frame.detections is None:
                failed += 1
            else:
                self.add(frame.detections, frame.ref.pts / length if length else 0.0)
        return failed

    def counts(self, confidence: float) -> Mapping[int, int]:
        """Class id → detections at or above a confidence, rounded to hundredths, for each class detected so far."""
        level = round(confidence * 100)
        return {class_id: int(counts[level:].sum()) for class_id, counts in list(self._counts.items())}

    def activity(self, confidence: float, classes: Iterable[int] | None = None) -> NDArray[np.int64]:
        """Detections of the given classes (None = all) per slice of the source, int64 (BINS,); confidence to the next 0.05."""
        level = round(confidence * 100) // _COARSE
        chosen = list(self._activity) if classes is None else [class_id for class_id in classes if class_id in self._activity]
        total = np.zeros(BINS, np.int64)
        for class_id in chosen:
            total += self._activity[class_id][:, level:].sum(axis=1)
        return total
