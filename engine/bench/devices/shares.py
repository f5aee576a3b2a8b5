"""How arrays are shared among devices, and which numbers of devices are tried."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

ROWS = 32768
"""Of the matrix; its columns are as many as there is room for."""

COLUMNS = 64
"""Columns are shared, and vectors cut, by multiples of this: parts begin where 256 bytes do."""

VECTORS = (1 << 20, 1 << 24, 1 << 26, 1 << 28, 1 << 30, 1 << 32, 1 << 35)
"""Bytes of the vectors that are added up, as far as there is room: where few bytes are added, starting it is what takes the time."""


def counts(devices: int) -> list[int]:
    """1, 2, 4, … and all of them."""
    return [count for count in (1, 2, 4, 8, 16, 32, 64) if count < devices] + [devices]


def vectors(room: int) -> list[int]:
    """Those of VECTORS that fit, and if only the smallest do, one as large as the room."""
    fitting = [nbytes for nbytes in VECTORS if nbytes <= room]
    return fitting or [room // (4 * COLUMNS) * 4 * COLUMNS]


def shares(total: int, speeds: Sequence[float]) -> list[tuple[int, int]]:
    """The first place and the length of each device's part, multiples of COLUMNS as far as ``total`` is one.

    speeds: of the devices, in any unit. Those within 5 % of the fastest count as equal: measuring is not more exact.
    """
    weights = [round(10 * speed / max(speeds)) or 1 for speed in speeds]
    steps = total // COLUMNS
    bounds = [steps * done // sum(weights) * COLUMNS for done in accumulate(weights, initial=0)]
    bounds[-1] = total
    return [(first, after - first) for first, after in pairwise(bounds)]
