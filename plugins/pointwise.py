"""One or two pointwise (1 × 1) convolutions in one kernel, for layers that memory traffic limits. All values are FP16, channels last."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framefleet.plugins.channels_last import UNIT, Slice
from framefleet.plugins.first_convolution import SOURCES as FIRST_CONVOLUTION
from framefleet.plugins.kernels import Kernels, Launch

SOURCES = (*FIRST_CONVOLUTION, "pointwise.cu")

SLOPES = {"linear": 1.0, "leaky": 0.1, "relu": 0.0, "mish": -1.0}
"""How the kernels name activations: the factor for negative values, below 0 = Mish."""

CHUNK = 32
"""The kernels work on this number of channels at once."""

THREADS, PIXELS = 256, 16
"""Threads of a block, and pixels that a warp computes at once."""

_BLOCKS_AT_ONCE = 2
_MAX_NUMBERS = 2**31


@dataclass(frozen=True)
class Form:
    """Channels of a chain. The second convolution reads the first ``kept`` ones of the first one's output, then ``side`` other ones.

    stores: whether the first one's output is stored. output: 0 if there is only one convolution.
    """

    input: int
    middle: int
    stores: bool
    kept: int = 0
    side: int = 0
    output: int = 0

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        return "pointwise_" + "_".join(map(str, self._chunks))

    @property
    def shared(self) -> int:
        """Shared memory of a block, bytes: weights, biases, and the values that the warps read."""
        first, middle, stores, kept, side, output = self._chunks
        read = first + side + (0 if stores else first)
        return 16 * (128 * (first * middle + (kept + side) * output) + 16 * (middle + output) + THREADS // 32 * 64 * read)

    @property
    def _chunks(self) -> tuple[int, ...]:
        sizes = self.input, self.middle, self.stores * CHUNK, self.kept, self.side, self.output
        return tuple(size // CHUNK for size in sizes)


CHAINS = (
    Form(64, 128, True, 64, 0, 32),
    Form(128, 128, True, 64, 0, 64),
    Form(64, 64, False, 64, 64, 64),
    Form(64, 64, False, 64, 64, 128),
)
"""The chains of two convolutions for which there are kernels."""

SINGLE = (Form(64, 64, True), Form(128, 128, True))
"""The single convolutions for which there are kernels."""


def packed(weights: NDArray[np.float32], kept: int = 0) -> NDArray[np.float32]:
    """Pack weights (filters, channels), both multiples of 32, in the order in which the threads of a warp read them.

    For each chunk of filters, each of its four tiles and each chunk of channels: 32 threads × 8 values. Thread 4 c + x has, of the filter
    that is column c of the tile, the channels 2 x and 2 x + 1 of each eight of the chunk. Of the first ``kept`` channels, which the
    convolution before leaves in registers, it has 8 x to 8 x + 7 of the chunk.
    """
    filters, channels = weights.shape
    chunk, tile, part, thread, value = np.ogrid[: filters // CHUNK, :4, : channels // CHUNK, :32, :8]
    column, place = thread // 4, thread % 4
    row = CHUNK * chunk + 8 * (column // 2) + 2 * tile + column % 2
    channel = CHUNK * part + np.where(CHUNK * part < kept, 8 * place + value, 8 * (value // 2) + 2 * place + value % 2)
    ordered: NDArray[np.float32] = weights[row, channel]
    return ordered


class Pointwise(Launch):
    """Computes a chain. weights, bias: addresses of both convolutions' ``packed`` weights and of their float32 biases, one after the other.

    activations: of the input, to which ``residual`` is added then, and of both convolutions. target: of the last one. side, middle: None
    where the form has none; one that stores its first output takes no residual. multiprocessors: of the device.

    Raises ValueError if there are more values than the kernel can count.
    """

    def __init__(
        self,
        kernels: Kernels,
        form: Form,
        source: Slice,
        target: Slice,
        batch: int,
        weights: int,
        bias: int,
        activations: tuple[str, str, str],
        multiprocessors: int,
        residual: Slice | None = None,
        side: Slice | None = None,
        middle: Slice | None = None,
    ) -> None:
        pixels = batch * source.height * source.width
        slices = [each for each in (source, residual, side, middle, target) if each is not None]
        if pixels * max(each.pitch // UNIT for each in slices) >= _MAX_NUMBERS:
            raise ValueError(f"{pixels} pixels of {max(each.pitch for each in slices)} channels at once are more than the kernel can count")
        blocks = min(-(-pixels // (PIXELS * THREADS // 32)), _BLOCKS_AT_ONCE * multiprocessors)
        written = (middle, target) if form.output else (target, None)
        slopes = [np.float32(SLOPES[activation]) for activation in activations]
        super().__init__(
            kernels,
            form.kernel,
            blocks,
            THREADS,
            *_place(source),
            slopes[0],
            *_place(residual),
            *_place(side),
            *_place(written[0]),
            *_place(written[1]),
            np.uint64(weights),
            np.uint64(bias),
            np.int32(pixels),
            *slopes[1:],
            shared=form.shared,
        )


def _place(values: Slice | None) -> tuple[np.uint64, np.int32]:
    return (np.uint64(0), np.int32(0)) if values is None else (np.uint64(values.address), np.int32(values.pitch // UNIT))
