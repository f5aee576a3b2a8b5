"""Mish as a custom layer, for convolutions whose plan does not contain the activation."""

import numpy as np

from framefleet.plugins.kernels import Kernels, Launch

_THREADS, _PER_THREAD = 256, 8
_MAX_NUMBERS = 2**31 - _PER_THREAD


class Mish(Launch):
    """Computes Mish of FP16 numbers in place. values: address of ``count`` numbers in any layout, aligned to 16.

    Raises ValueError if the count is 0, or more than the kernel can count.
    """

    def __init__(self, kernels: Kernels, values: int, count: int) -> None:
        if not 0 < count <= _MAX_NUMBERS:
            raise ValueError(f"Mish of {count} numbers at once: at least one, at most {_MAX_NUMBERS}")
        grid = min(-(-count // (_THREADS * _PER_THREAD)), 1 << 16)
        super().__init__(kernels, "mish", grid, _THREADS, np.uint64(values), np.int32(count))
