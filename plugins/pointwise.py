"""Two pointwise (1 × 1) convolutions in one kernel, for layers that only memory traffic limits. All values are FP16, channels last."""

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

_THREADS, _BLOCKS_AT_ONCE = 256, 2
_MAX_NUMBERS = 2**31


@dataclass(frozen=True)
class Form:
    """Channels of a chain. The second convolution reads the first ``kept`` ones of the first one's output, then ``side`` other ones.

    stores: whether the first one's output is stored.
    """

    input: int
    middle: int
    stores: bool
    kept: int
    side: int
    output: int

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        chunks = (size // CHUNK for size in (self.input, self.middle, self.stores * CHUNK, self.kept, self.side, self.output))
        return "pointwise_" + "_".join(map(str, chunks))


FORMS = {
    Form(64, 128, True, 64, 0, 32): 32,
    Form(128, 128, True, 64, 0, 64): 16,
    Form(64, 64, False, 64, 64, 64): 32,
    Form(64, 64, False, 64, 64, 128): 16,
}
"""The chains for which there are kernels, and how many pixels a warp computes at once."""


def packed(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Pack weights (filters, channels), both multiples of 32, in the order in which the threads of a warp read them.

    For each chunk of filters, each of its four tiles and each chunk of channels: 32 threads × 8 values. Thread 4 c + x has channels 8 x to
    8 x + 7 of the filter that is column c of the tile.
    """
    filters, channels = weights.shape
    chunk, tile, part, thread = np.ogrid[: filters // CHUNK, :4, : channels // CHUNK, :32]
    column, place = thread // 4, thread % 4
    row = CHUNK * chunk + 8 * (column // 2) + 2 * tile + column % 2
    first = CHUNK * part + 8 * place
    ordered: NDArray[np.float32] = weights[row[..., None], first[..., None] + np.arange(8)]
    return ordered


class Pointwise(Launch):
    """Computes a chain. weights, bias: addresses of both convolutions' ``packed`` weights and of their float32 biases, one after the other.

    activations: of the input, to which ``residual`` is added then, and of both convolutions. side, middle: None where the form has none.
    multiprocessors: of the device.

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
        warps = -(-pixels // FORMS[form])
        blocks = min(-(-warps // (_THREADS // 32)), _BLOCKS_AT_ONCE * multiprocessors)
        slopes = [np.float32(SLOPES[activation]) for activation in activations]
        super().__init__(
            kernels,
            form.kernel,
            blocks,
            _THREADS,
            *_place(source),
            slopes[0],
            *_place(residual),
            *_place(side),
            *_place(middle),
            *_place(target),
            np.uint64(weights),
            np.uint64(bias),
            np.int32(pixels),
            *slopes[1:],
        )


def _place(values: Slice | None) -> tuple[np.uint64, np.int32]:
    return (np.uint64(0), np.int32(0)) if values is None else (np.uint64(values.address), np.int32(values.pitch // UNIT))
