"""The YOLO layer as a custom layer: decodes a batch of raw outputs to candidates, in the order of ``engine/detection/postprocess.py``."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.plugins.kernels import Kernels, Launch, Number, kernel_name

CAPACITY = 4096
"""Most candidates to keep per picture, a power of two. All are counted."""

CANDIDATE_BYTES = 28
"""Four float32 of the box, the float32 score, the int32 class id, and an int32 in which the kernels count."""

THREADS = 256
MAX_ANCHORS, MAX_HEADS = 16, 8

HEAD = np.dtype(
    [
        ("values", np.uint64),
        ("rows", np.int32),
        ("columns", np.int32),
        ("anchors", np.int32),
        ("first", np.int32),
        ("new_coords", np.int32),
        ("pitch", np.int32),
        ("scale_x_y", np.float32),
        ("shift", np.float32),
        ("sizes", np.float32, 2 * MAX_ANCHORS),
    ],
    align=True,
)
"""One head: ``Head`` in ``kernels/yolo_layer.cu``."""


@dataclass(frozen=True)
class Head:
    """One raw output. values: its address. anchors: float32 (n, 2), network pixels.

    pitch: 0 for planes, (batch, anchors · (5 + classes), rows, columns); otherwise the values are stored channels last, (batch, rows,
    columns, pitch).
    """

    values: int
    rows: int
    columns: int
    anchors: NDArray[np.float32]
    scale_x_y: float
    new_coords: bool
    pitch: int = 0

    @property
    def cells(self) -> int:
        """Number of boxes: rows · columns · anchors."""
        return self.rows * self.columns * len(self.anchors)


@dataclass(frozen=True)
class Candidates:
    """Memory for candidates: all boxes, then all scores, then all class ids, each with CAPACITY entries per picture.

    values: address, aligned to 16, of batch · CAPACITY · CANDIDATE_BYTES bytes. counts: address of int32 (batch,), number of candidates
    found, which may exceed CAPACITY. It does so, too, if outputs of the picture are not finite (see ``Candidates`` in
    ``engine/detection/postprocess.py``).
    """

    values: int
    counts: int

    def addresses(self, batch: int) -> tuple[np.uint64, np.uint64, np.uint64]:
        """Addresses of boxes, float32 (batch, CAPACITY, 4), x1 y1 x2 y2 in network pixels; of scores, float32; of class ids, int32."""
        room = batch * CAPACITY
        return np.uint64(self.values), np.uint64(self.values + 16 * room), np.uint64(self.values + 20 * room)

    def scratch(self, batch: int) -> np.uint64:
        """Address of int32 (batch, CAPACITY), scratch memory of the kernels."""
        return np.uint64(self.values + 24 * batch * CAPACITY)


def head_table(heads: Sequence[Head]) -> NDArray[Any]:
    """The heads as the kernel reads them, HEAD (n,). Raises ValueError if there are too many heads, or a head has too many anchors."""
    if len(heads) > MAX_HEADS:
        raise ValueError(f"a network of {len(heads)} heads: at most {MAX_HEADS} can be used on a GPU")
    table = np.zeros(len(heads), HEAD)
    first = 0
    for entry, head in zip(table, heads, strict=True):
        if len(head.anchors) > MAX_ANCHORS:
            raise ValueError(f"a head of {len(head.anchors)} anchors: at most {MAX_ANCHORS} can be used on a GPU")
        entry["values"], entry["rows"], entry["columns"] = head.values, head.rows, head.columns
        entry["anchors"], entry["first"] = len(head.anchors), first
        entry["new_coords"], entry["scale_x_y"], entry["shift"] = head.new_coords, head.scale_x_y, 0.5 * (head.scale_x_y - 1)
        entry["pitch"] = head.pitch
        entry["sizes"][: 2 * len(head.anchors)] = head.anchors.ravel()
        first += head.cells
    return table


def objectness_floor(confidence: float) -> float:
    """The lowest raw objectness that can reach a confidence, without ``new_coords``.

    The value is slightly too low, so that rounding drops no candidate; the kernel then compares the scores. For a confidence of 1, it is
    an objectness that rounds to 1.
    """
    return math.log(confidence / (1 - confidence)) - 1e-3 if confidence < 1 else 10.0


class YoloLayer:
    """Computes the candidates of a batch from all heads: one launch counts them, another one writes them.

    table: device address of ``head_table(heads)``. size: the network's input, width and height in pixels. confidence: of the weakest
    objectness · class probability of a candidate. number: type of the raw outputs, float16 or float32.

    Raises ValueError if the network is too large.
    """

    def __init__(
        self,
        kernels: Kernels,
        heads: Sequence[Head],
        table: int,
        batch: int,
        classes: int,
        size: tuple[int, int],
        confidence: float,
        candidates: Candidates,
        number: Number = np.float16,
    ) -> None:
        cells = sum(head.cells for head in heads)
        blocks = -(-cells // THREADS)
        if blocks > CAPACITY:
            raise ValueError(
                f"a network of {size[0]} × {size[1]} pixels has {cells} cells: at most {CAPACITY * THREADS} can be decoded on a GPU"
            )
        what = np.uint64(table), np.int32(len(heads)), np.int32(classes), np.int32(cells)
        numbers = np.float32(size[0]), np.float32(size[1]), np.float32(confidence), np.float32(objectness_floor(confidence))
        arguments = (*what, *numbers, candidates.scratch(batch))
        made = (*candidates.addresses(batch), np.uint64(candidates.counts), np.int32(CAPACITY))
        grid = blocks, batch, 1
        self._count = Launch(kernels, kernel_name("yolo_count", number), grid, THREADS, *arguments)
        self._write = Launch(kernels, kernel_name("yolo_layer", number), grid, THREADS, *arguments, *made)

    def launch(self, stream: Any) -> None:
        """Put both kernels on a stream."""
        self._count.launch(stream)
        self._write.launch(stream)
