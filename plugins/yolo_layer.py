"""The raw heads of a whole batch into candidates, in one launch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugins.kernels import Kernels

CAPACITY = 2048
"""Candidates of a picture there is room for; how many there were is counted on."""

CANDIDATE_BYTES = 32

HEAD = np.dtype(
    [
        ("values", np.uint64),
        ("rows", np.int32),
        ("columns", np.int32),
        ("anchors", np.int32),
        ("first", np.int32),
        ("scale_x_y", np.float32),
        ("new_coords", np.int32),
        ("sizes", np.float32, 32),
    ],
    align=True,
)
"""One head: ``Head`` in ``kernels/yolo_layer.cu``."""

_THREADS = 128
_MOST_ANCHORS = 16


@dataclass(frozen=True)
class Head:
    """One raw output. values: address of FP16 (batch, anchors · (5 + classes), rows, columns). anchors: float32 (n, 2), network pixels."""

    values: int
    rows: int
    columns: int
    anchors: NDArray[np.float32]
    scale_x_y: float
    new_coords: bool

    @property
    def cells(self) -> int:
        """Places where it can see an object."""
        return self.rows * self.columns * len(self.anchors)


@dataclass(frozen=True)
class Candidates:
    """Where candidates go. values: address of batch · CAPACITY · CANDIDATE_BYTES. counts: of int32 (batch,), zero before the launch."""

    values: int
    counts: int


def head_table(heads: Sequence[Head]) -> NDArray[Any]:
    """The heads as the kernel reads them, HEAD (n,).

    Raises:
        ValueError: a head has more anchors than there is room for.
    """
    table = np.zeros(len(heads), HEAD)
    first = 0
    for entry, head in zip(table, heads, strict=True):
        if len(head.anchors) > _MOST_ANCHORS:
            raise ValueError(f"a head of {len(head.anchors)} anchors: at most {_MOST_ANCHORS} can be used on a GPU")
        entry["values"], entry["rows"], entry["columns"] = head.values, head.rows, head.columns
        entry["anchors"], entry["first"] = len(head.anchors), first
        entry["scale_x_y"], entry["new_coords"] = head.scale_x_y, head.new_coords
        entry["sizes"][: 2 * len(head.anchors)] = head.anchors.ravel()
        first += head.cells
    return table


class YoloLayer:
    """All heads of a batch. table: device address of ``head_table(heads)``. width, height: the network's input, pixels."""

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
    ) -> None:
        from cuda.core import LaunchConfig

        cells = sum(head.cells for head in heads)
        # a little low, so that rounding drops nothing before scores are compared themselves; where 1 is asked for, what rounds to it
        floor = math.log(confidence / (1 - confidence)) - 1e-3 if confidence < 1 else 10.0
        self._kernel = kernels["yolo_layer"]
        self._config = LaunchConfig(grid=(-(-cells // _THREADS), batch, 1), block=_THREADS)
        self._arguments = (
            np.uint64(table),
            np.int32(len(heads)),
            np.int32(classes),
            np.int32(cells),
            np.float32(size[0]),
            np.float32(size[1]),
            np.float32(confidence),
            np.float32(floor),
            np.uint64(candidates.values),
            np.uint64(candidates.counts),
            np.int32(CAPACITY),
        )

    def launch(self, stream: Any) -> None:
        """Put it on the stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self._arguments)
