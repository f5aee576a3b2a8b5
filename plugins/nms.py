"""Non-maximum suppression of a whole batch, one block a picture, and boxes in the pixels of each picture as shown."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugins.kernels import Kernels
from plugins.yolo_layer import CAPACITY, Candidates

LIMIT = 1024
"""Records of a picture there is room for; how many there were is counted on."""

RECORD = np.dtype([("box", np.float32, 4), ("score", np.float32), ("class_id", np.int32)])
"""One detection: x1 y1 x2 y2 in the picture's pixels, confidence, class id."""

THREADS = 1024
SHARED_BYTES = CAPACITY * (8 + 2)  # keys, and which are kept


def result_bytes(batch: int) -> int:
    """Bytes of a batch's results: int32 (batch, 2), candidates and records of each picture; then RECORD (batch, LIMIT)."""
    return batch * (8 + LIMIT * RECORD.itemsize)


def read_results(results: NDArray[np.uint8], batch: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Counts, int32 (batch, 2), and records, RECORD (batch, LIMIT): views of ``result_bytes`` bytes."""
    return results[: 8 * batch].view(np.int32).reshape(batch, 2), results[8 * batch :].view(RECORD).reshape(batch, LIMIT)


def class_mask(classes: int, wanted: Container[int] | None) -> NDArray[np.uint32]:
    """One bit a class, those wanted set; None = all. uint32 (classes / 32 rounded up,). Others than there are change nothing."""
    mask = np.zeros(-(-classes // 32), np.uint32)
    for class_id in range(classes):
        if wanted is None or class_id in wanted:
            mask[class_id // 32] |= np.uint32(1 << class_id % 32)
    return mask


class Nms:
    """Suppression as in ``engine/detection/nms.py``, then boxes as ``engine/detection/preprocess.py`` gives them back.

    frames: address of FRAME × batch; an entry of zeros gets no records. wanted: of ``class_mask``. results: of ``result_bytes``, aligned
    to 8. beta: ``Yolo.diou_beta``, None = plain IoU. A picture of more than CAPACITY candidates gets no records; of more than LIMIT
    records the strongest LIMIT are there.
    """

    def __init__(
        self, kernels: Kernels, candidates: Candidates, frames: int, wanted: int, batch: int, iou: float, beta: float | None, results: int
    ) -> None:
        from cuda.core import LaunchConfig

        self._kernel = kernels["nms"]
        self._config = LaunchConfig(grid=batch, block=THREADS, shmem_size=SHARED_BYTES)
        self._arguments = (
            *candidates.addresses(batch),
            np.uint64(candidates.counts),
            np.int32(CAPACITY),
            np.uint64(frames),
            np.uint64(wanted),
            np.float32(iou),
            np.float32(-1 if beta is None else beta),
            np.uint64(results),
            np.uint64(results + 8 * batch),
            np.int32(LIMIT),
        )

    def launch(self, stream: Any) -> None:
        """Put it on the stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self._arguments)
