"""Divides arrays among devices, and lists the sizes and numbers of devices to measure."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

ROWS = 32768
"""Rows of the matrix; the memory limits its columns."""

COLUMNS = 64
"""Parts of matrices and vectors begin at multiples of this, which are multiples of 256 bytes."""

VECTORS = (1 << 20, 1 << 24, 1 << 26, 1 << 28, 1 << 30, 1 << 32, 1 << 35)
"""Sizes of the summed vectors, bytes. Small ones show how long a start takes."""


def counts(devices: int) -> list[int]:
    """The numbers of devices to measure: 1, 2, 4, … and all."""
    return [count for count in (1, 2, 4, 8, 16, 32, 64) if count < devices] + [devices]


def vectors(room: int) -> list[int]:
    """The sizes in VECTORS that fit into ``room`` bytes; if none does, one as large as the room."""
    fitting = [nbytes for nbytes in VECTORS if nbytes <= room]
    return fitting or [room // (4 * COLUMNS) * 4 * COLUMNS]


def shares(total: int, speeds: Sequence[float]) -> list[tuple[int, int]]:
    """Start and length of each device's part: multiples of COLUMNS if ``total`` is one.

    speeds: of the devices, in any unit. Speeds within 5 % of the fastest count as equal, which is the accuracy of the measurement.
    """
    weights = [round(10 * speed / max(speeds)) or 1 for speed in speeds]
    steps = total // COLUMNS
    bounds = [steps * done // sum(weights) * COLUMNS for done in accumulate(weights, initial=0)]
    bounds[-1] = total
    return [(first, after - first) for first, after in pairwise(bounds)]
