"""A network's first convolution, 3 × 3 over pictures, with its activation, as a custom layer. Only memory traffic limits it.

It writes values channels last, the layout that convolutions on tensor cores read.
"""

import numpy as np
from numpy.typing import NDArray

from framefleet.plugins.kernels import Kernels, Launch

SOURCES = ("half.cuh", "ptx.cuh", "first_convolution.cu")

SLOPES = {"linear": 1.0, "leaky": 0.1, "relu": 0.0}
"""The factor for negative values, for each activation except Mish."""

ACTIVATIONS = ("mish", *SLOPES)

THREADS, TILE = 256, 32


def suits(shape: tuple[int, ...], stride: int, padding: int, groups: int, activation: str, height: int, width: int) -> bool:
    """Whether a kernel supports this convolution. shape: of the weights, (filters, channels / groups, rows, columns)."""
    known = shape[1:] == (3, 3, 3) and shape[0] % 16 == 0 and stride in (1, 2) and padding == groups == 1 and activation in ACTIVATIONS
    return known and height % TILE == width % TILE == 0


def packed(weights: NDArray[np.float32], bias: NDArray[np.float32]) -> NDArray[np.float16]:
    """Pack weights (filters, 3, 3, 3) and bias (filters,) in the order in which the threads of a warp read them.

    For each block's channels, each row of the 3 × 3 and each two tiles of 8 channels: 32 threads × 2 tiles × 4 values. Thread 4 c + x has
    column x of the channel that is column c of the tile; its fourth value is the bias, in two parts so that it stays exact.

    Raises ValueError if a number is too large for FP16.
    """
    filters = len(bias)
    values = np.zeros((filters, 3, 4, 4), np.float32)
    values[:, :, :3, :3] = weights.transpose(0, 2, 3, 1)
    with np.errstate(over="ignore"):
        values[:, 1, 1, 3] = bias.astype(np.float16)
        values[:, 0, 1, 3] = bias - values[:, 1, 1, 3]
        halves = values.astype(np.float16)
    if not np.isfinite(halves).all():
        raise ValueError("weights of the first convolution are too large for FP16 (above 65504)")
    channels = _channels_of_a_block(filters)
    per_thread = channels // 4
    block, pair, thread, tile = np.ogrid[: filters // channels, : channels // 16, :32, :2]
    column, place = thread // 4, thread % 4
    filter_ = channels * block + per_thread * (column // 2) + 2 * (2 * pair + tile) + column % 2
    return np.ascontiguousarray(np.moveaxis(halves[filter_, :, place], 4, 1))


class FirstConvolution(Launch):
    """Computes FP16 values (batch, height / stride, width / stride, filters) from FP16 pictures (batch, 3, height, width).

    pictures, weights, out: addresses, aligned to 16. weights: of ``packed(…)``. ``suits`` must be true.
    """

    def __init__(
        self,
        kernels: Kernels,
        pictures: int,
        weights: int,
        out: int,
        batch: int,
        height: int,
        width: int,
        filters: int,
        stride: int,
        activation: str,
    ) -> None:
        channels = _channels_of_a_block(filters)
        grid = (width // TILE, height // TILE, batch * (filters // channels))
        sizes = np.int32(height), np.int32(width), np.int32(filters)
        how = np.int32(activation == "mish"), np.float32(SLOPES.get(activation, 1.0))
        name, arguments = f"first_convolution_{stride}_{channels}", (np.uint64(pictures), np.uint64(weights), *sizes, *how, np.uint64(out))
        super().__init__(kernels, name, grid, THREADS, *arguments)


def _channels_of_a_block(filters: int) -> int:
    return 32 if filters % 32 == 0 else 16
