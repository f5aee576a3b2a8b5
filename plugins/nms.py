"""Non-maximum suppression of a batch as a custom layer, one block per picture. Boxes are in pixels of the upright picture."""

from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.plugins.kernels import Kernels, Launch
from framefleet.plugins.yolo_layer import CAPACITY, Candidates

LIMIT = 1024
"""Most records to keep per picture. All are counted."""

RECORD = np.dtype([("box", np.float32, 4), ("score", np.float32), ("class_id", np.int32)])
"""One detection: x1 y1 x2 y2 in the picture's pixels, confidence, class id."""

THREADS = 1024
SHARED_BYTES = CAPACITY * (8 + 2)  # a sort key per candidate, and the indices of the kept ones


def result_bytes(batch: int) -> int:
    """Bytes of a batch's results: the numbers of candidates and records, int32 (batch, 2), then RECORD (batch, LIMIT)."""
    return batch * (8 + LIMIT * RECORD.itemsize)


def read_results(results: NDArray[np.uint8], batch: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Counts, int32 (batch, 2), and records, RECORD (batch, LIMIT): views of ``result_bytes`` bytes."""
    return results[: 8 * batch].view(np.int32).reshape(batch, 2), results[8 * batch :].view(RECORD).reshape(batch, LIMIT)


def class_mask(classes: int, wanted: Container[int] | None) -> NDArray[np.uint32]:
    """One bit per class, set for wanted ones, uint32 (ceil(classes / 32),). wanted: None = all. Ignores unknown class ids."""
    mask = np.zeros(-(-classes // 32), np.uint32)
    for class_id in range(classes):
        if wanted is None or class_id in wanted:
            mask[class_id // 32] |= np.uint32(1 << class_id % 32)
    return mask


class Nms(Launch):
    """Suppresses like ``engine.detection.postprocess``, with distances in fractions of each frame, then maps boxes like ``Fit.to_source``.

    frames: address of FRAME × batch; an entry of zeros gets no records. wanted: address of ``class_mask``. beta: ``Yolo.diou_beta``,
    None = plain IoU. results: address, aligned to 8, of ``result_bytes`` bytes on the device or in pinned memory. A picture with more than
    CAPACITY candidates gets no records. At most LIMIT records are kept, the strongest ones. suppress: whether boxes of one object overlap.
    most: candidates that may become records, the strongest ones; None = all.
    """

    def __init__(
        self,
        kernels: Kernels,
        candidates: Candidates,
        frames: int,
        wanted: int,
        batch: int,
        iou: float,
        beta: float | None,
        results: int,
        suppress: bool = True,
        most: int | None = None,
    ) -> None:
        super().__init__(
            kernels,
            "nms",
            batch,
            THREADS,
            *candidates.addresses(batch),
            np.uint64(candidates.counts),
            np.int32(CAPACITY),
            np.uint64(frames),
            np.uint64(wanted),
            np.float32(iou),
            np.float32(-1 if beta is None else beta),
            np.int32(suppress),
            np.int32(CAPACITY if most is None else most),
            np.uint64(results),
            np.uint64(results + 8 * batch),
            np.int32(LIMIT),
            shared=SHARED_BYTES,
        )
