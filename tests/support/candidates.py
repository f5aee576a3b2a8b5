"""Reads the memory of candidates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plugins.yolo_layer import CAPACITY


def read_candidates(values: NDArray[np.uint8], batch: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int32]]:
    """Boxes, scores and class ids as in ``Candidates.addresses``: views of its bytes."""
    room = batch * CAPACITY
    boxes, scores, class_ids = values[: 16 * room], values[16 * room : 20 * room], values[20 * room : 24 * room]
    return (
        boxes.view(np.float32).reshape(batch, CAPACITY, 4),
        scores.view(np.float32).reshape(batch, CAPACITY),
        class_ids.view(np.int32).reshape(batch, CAPACITY),
    )
