"""The operations into which a network is lowered for cuDNN, and the memory they read and write.

All values are FP16, channels last: (batch, height, width, channels). A value may be a slice of the channels of a wider buffer, so that
operations write concatenations in place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model.network import Activation
from framefleet.plugins.pointwise import Form

ALIGNMENT = 256


@dataclass(frozen=True)
class Buffer:
    """Memory of one value, or of a concatenation. head: the index of the YOLO head whose raw output it is, None = between layers."""

    channels: int
    height: int
    width: int
    head: int | None = None

    @property
    def size(self) -> int:
        """Number of values of one picture."""
        return self.channels * self.height * self.width


@dataclass(frozen=True)
class View:
    """Some channels of a buffer. buffer: index in ``Program.buffers``. offset: the first channel. pitch: all channels of the buffer."""

    buffer: int
    offset: int
    channels: int
    height: int
    width: int
    pitch: int


@dataclass(frozen=True, eq=False)
class FirstConvolve:
    """The network's first convolution, by our own kernel. layer: its index."""

    layer: int
    output: View


@dataclass(frozen=True, eq=False)
class Convolve:
    """A convolution, its activation, and then the sum with ``residual``.

    layers: indices of the convolutions that are computed at once: their filters follow each other in the output. weights: float32
    (filters, channels, size, size); bias: float32 (filters,).
    """

    layers: tuple[int, ...]
    input: View
    output: View
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    stride: int
    padding: int
    activation: Activation
    residual: View | None = None


@dataclass(frozen=True, eq=False)
class Pool:
    """Max pooling. before: padding at the top and left, pixels."""

    input: View
    output: View
    size: int
    stride: int
    before: int


@dataclass(frozen=True, eq=False)
class Enlarge:
    """Upsampling by a whole factor, 1 = a copy."""

    input: View
    output: View
    factor: int


@dataclass(frozen=True, eq=False)
class Chain:
    """Two pointwise convolutions by one of our kernels. See ``plugins.pointwise``.

    weights: float32 (filters, channels) of each; the second one's last channels are those of ``side``. bias: of both.
    """

    layers: tuple[int, ...]
    form: Form
    input: View
    output: View
    weights: tuple[NDArray[np.float32], NDArray[np.float32]]
    bias: NDArray[np.float32]
    activations: tuple[Activation, Activation]
    middle: View | None
    side: View | None
    input_activation: Activation = Activation.LINEAR
    residual: View | None = None


Operation: TypeAlias = FirstConvolve | Convolve | Chain | Pool | Enlarge


@dataclass(frozen=True, eq=False)
class Program:
    """A lowered network. operations: in order. buffers: what their views refer to."""

    operations: tuple[Operation, ...]
    buffers: tuple[Buffer, ...]


def reads(operation: Operation) -> list[View]:
    """The views that an operation reads."""
    match operation:
        case FirstConvolve():
            views: list[View | None] = []
        case Convolve():
            views = [operation.input, operation.residual]
        case Chain():
            views = [operation.input, operation.residual, operation.side]
        case _:
            views = [operation.input]
    return [view for view in views if view is not None]


def writes(operation: Operation) -> list[View]:
    """The views that an operation writes."""
    middle = operation.middle if isinstance(operation, Chain) else None
    return [operation.output] if middle is None else [middle, operation.output]


def plan_memory(program: Program, batch: int) -> tuple[list[int], int]:
    """Where each buffer begins in one piece of memory, and the bytes of that piece. Buffers that are never in use together may overlap.

    The places of raw outputs, which are outside of this memory, are -1.
    """
    spans: dict[int, list[int]] = {}
    for place, operation in enumerate(program.operations):
        for view in (*reads(operation), *writes(operation)):
            spans.setdefault(view.buffer, [place, place])[1] = place
    places, total = [-1] * len(program.buffers), 0
    placed: list[tuple[int, int, int]] = []  # buffer, begin, end
    sizes = {index: -(-2 * batch * program.buffers[index].size // ALIGNMENT) * ALIGNMENT for index in spans}
    for index in sorted(spans, key=lambda each: -sizes[each]):
        if program.buffers[index].head is not None:
            continue
        begin = 0
        for other, start, end in sorted(placed, key=lambda each: each[1]):
            if _overlap(spans[index], spans[other]) and begin < end and start < begin + sizes[index]:
                begin = end
        places[index] = begin
        placed.append((index, begin, begin + sizes[index]))
        total = max(total, begin + sizes[index])
    return places, total


def _overlap(one: Sequence[int], other: Sequence[int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
