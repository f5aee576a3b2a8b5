"""Reads candidates of the kernels from bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from framefleet.plugins.yolo_layer import CAPACITY


def read_candidates(values: NDArray[np.uint8], batch: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int32]]:
    """Boxes, float32 (batch, CAPACITY, 4); scores, float32, and class ids, int32, (batch, CAPACITY). They are views of ``values``."""
    room = batch * CAPACITY
    boxes, scores, class_ids = values[: 16 * room], values[16 * room : 20 * room], values[20 * room : 24 * room]
    return (
        boxes.view(np.float32).reshape(batch, CAPACITY, 4),
        scores.view(np.float32).reshape(batch, CAPACITY),
        class_ids.view(np.int32).reshape(batch, CAPACITY),
    )
