"""Outputs with a row for each box as a custom layer: decodes a batch to candidates, in the order of ``engine/detection/readings.py``."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.plugins.kernels import Kernels, Launch
from framefleet.plugins.yolo_layer import CAPACITY, THREADS, Candidates, objectness_floor

_VALUES = np.dtype([("address", np.uint64), ("picture", np.int32), ("row", np.int32), ("step", np.int32)], align=True)

ROWS = np.dtype(
    [
        ("boxes", _VALUES),
        ("scores", _VALUES),
        ("objectness", _VALUES),
        ("ids", _VALUES),
        ("number", _VALUES),
        ("cells", np.uint64),
        ("items", np.int32),
        ("classes", np.int32),
        ("pairs", np.int32),
        ("centre", np.int32),
        ("width", np.float32),
        ("height", np.float32),
        ("confidence", np.float32),
        ("floor", np.float32),
    ],
    align=True,
)
"""The outputs of a network: ``Rows`` in ``kernels/rows.cu``."""

NUMBER_BYTES = 4
"""All outputs are float32."""


@dataclass(frozen=True)
class Values:
    """Where some numbers of an output are: the address of the first one, and the count of numbers from picture to picture, and so on."""

    address: int = 0
    picture: int = 0
    row: int = 0
    step: int = 1


@dataclass(frozen=True)
class Rows:
    """The outputs of a network, whose rows are boxes.

    count: number of rows. scores: of each class, or one for each row, if there are ids. ids: class ids. number: how many rows count.
    cells: address of float32 (count, 3), column, row and stride, if boxes are relative to cells. pairs: scores are logits, and each pair
    of a row and a class is a candidate. centre: boxes are centre and size, not corners. factors: of x and y, to network pixels.
    """

    count: int
    boxes: Values
    scores: Values
    objectness: Values | None = None
    ids: Values | None = None
    number: Values | None = None
    cells: int = 0
    pairs: bool = False
    centre: bool = False
    factors: tuple[float, float] = (1.0, 1.0)

    def items(self, classes: int) -> int:
        """Number of possible candidates."""
        return self.count * classes if self.pairs else self.count


def rows_table(rows: Rows, classes: int, confidence: float) -> NDArray[Any]:
    """The description as the kernels read it, ROWS (1,)."""
    table = np.zeros(1, ROWS)
    for name in ("boxes", "scores", "objectness", "ids", "number"):
        values = getattr(rows, name)
        if values is not None:
            table[name][0] = values.address, values.picture, values.row, values.step
    for name in ("cells", "pairs", "centre"):
        table[name] = getattr(rows, name)
    table["items"], table["classes"] = rows.items(classes), classes
    table["width"], table["height"] = rows.factors
    table["confidence"], table["floor"] = confidence, objectness_floor(confidence)
    return table


def scratch_bytes(rows: Rows, classes: int, batch: int) -> int:
    """Bytes of memory that ``RowsLayer`` needs."""
    return 8 * batch * rows.items(classes)


class RowsLayer:
    """Computes the candidates of a batch: one launch counts them, another one writes them.

    table: device address of ``rows_table``. scratch: address of ``scratch_bytes`` bytes, aligned to 8.

    Raises ValueError if there are too many rows.
    """

    def __init__(self, kernels: Kernels, rows: Rows, table: int, classes: int, batch: int, scratch: int, candidates: Candidates) -> None:
        items = rows.items(classes)
        blocks = -(-items // THREADS)
        if blocks > CAPACITY:
            raise ValueError(f"a network of {items} possible boxes: at most {CAPACITY * THREADS} can be decoded on a GPU")
        arguments = np.uint64(table), np.uint64(scratch), candidates.scratch(batch)
        made = (*candidates.addresses(batch), np.uint64(candidates.counts), np.int32(CAPACITY))
        grid = max(blocks, 1), batch, 1
        self._count = Launch(kernels, "rows_count", grid, THREADS, *arguments)
        self._write = Launch(kernels, "rows_write", grid, THREADS, *arguments, *made)

    def launch(self, stream: Any) -> None:
        """Put both kernels on a stream."""
        self._count.launch(stream)
        self._write.launch(stream)
