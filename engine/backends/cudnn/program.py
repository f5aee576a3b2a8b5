"""The operations into which a network is lowered for cuDNN, and the memory they read and write.

All values are FP16, channels last: (batch, height, width, channels). A value may be a slice of the channels of a wider buffer, so that
operations write concatenations in place. Where there is a kernel for pointwise convolutions, one operation replaces one or two of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model.network import Activation
from framefleet.plugins.pointwise import CHAINS, SINGLE, SLOPES, Form

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
    """Two pointwise convolutions, or one, by one of our kernels. See ``plugins.pointwise``.

    weights: float32 (filters, channels) of each; the second one's last channels are those of ``side``. bias: of all. activations: of both,
    linear for one that is missing. middle: where the first one's output is stored besides the second one's.
    """

    layers: tuple[int, ...]
    form: Form
    input: View
    output: View
    weights: tuple[NDArray[np.float32], ...]
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


@dataclass(frozen=True)
class Stage:
    """Consecutive operations that one device computes. arriving, leaving: the buffers that it gets from the device before, and hands on."""

    operations: range
    arriving: frozenset[int] = frozenset()
    leaving: frozenset[int] = frozenset()


def cut_operations(program: Program, cuts: Sequence[int]) -> list[Stage]:
    """Cut a program into stages. cuts: the layers with which the stages after the first one begin; each stage has an operation at least.

    A stage hands on all buffers that later ones read, and all raw outputs: the last device needs these.
    """
    count = len(program.operations)
    starts = [0]
    for number, cut in enumerate(cuts, 1):
        start = next((place for place, operation in enumerate(program.operations) if _first_layer(operation) >= cut), count)
        starts.append(min(max(start, starts[-1] + 1), count - len(cuts) + number - 1))
    crossing = [frozenset[int](), *(_crossing(program, start) for start in starts[1:]), frozenset[int]()]
    ranges = [range(*pair) for pair in pairwise((*starts, count))]
    return [Stage(operations, *pair) for operations, pair in zip(ranges, pairwise(crossing), strict=True)]


def _first_layer(operation: Operation) -> int:
    """The first layer that an operation computes; -1 for those that stay with the operation before them."""
    match operation:
        case FirstConvolve():
            return operation.layer
        case Convolve() | Chain():
            return operation.layers[0]
    return -1


def _crossing(program: Program, start: int) -> frozenset[int]:
    """The buffers that are written before an operation, and read from it on."""
    written = {view.buffer for operation in program.operations[:start] for view in writes(operation)}
    read = {view.buffer for operation in program.operations[start:] for view in reads(operation)}
    heads = {index for index, buffer in enumerate(program.buffers) if buffer.head is not None}
    return frozenset(written & (read | heads))


def plan_memory(program: Program, batch: int, stage: Stage | None = None) -> tuple[list[int], int]:
    """Where each buffer begins in one piece of memory, and the bytes of that piece. Buffers that are never in use together may overlap.

    The places of raw outputs, which are outside of this memory, are -1, and those of buffers that a stage does not use. stage: None = all
    operations.
    """
    stage = stage or Stage(range(len(program.operations)))
    spans = {buffer: [stage.operations.start] * 2 for buffer in stage.arriving}
    for place in stage.operations:
        operation = program.operations[place]
        for view in (*reads(operation), *writes(operation)):
            spans.setdefault(view.buffer, [place, place])[1] = place
    for buffer in stage.leaving:
        spans[buffer][1] = stage.operations.stop
    places, total = [-1] * len(program.buffers), 0
    placed: list[tuple[int, int, int]] = []  # buffer, begin, end
    sizes = {index: -(-2 * batch * program.buffers[index].size // ALIGNMENT) * ALIGNMENT for index in spans}
    for index in sorted(spans, key=lambda each: -sizes[each]):
        if program.buffers[index].head is not None:
            continue
        begin = 0
        for other, start, end in sorted(placed, key=lambda each: each[1]):
            if _meet(spans[index], spans[other]) and begin < end and start < begin + sizes[index]:
                begin = end
        places[index] = begin
        placed.append((index, begin, begin + sizes[index]))
        total = max(total, begin + sizes[index])
    return places, total


def _meet(one: Sequence[int], other: Sequence[int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


_MANY_PIXELS = 32 * 52**2
"""The smallest number of pixels in a batch for which our kernels for single convolutions were measured, and are faster than cuDNN's."""


def chained(program: Program, batch: int) -> Program:
    """The program with chains, for batches of this size; the program itself if no kernel suits.

    A chain also computes the activation and the sum of the convolution before it, if nothing else reads it. That convolution is then
    faster: cuDNN's kernels for few channels take long for activations, while a chain waits for memory.
    """
    operations, place = list(program.operations), 0
    while place < len(operations):
        pair = _pair(operations, place)
        chain = pair or _single(operations[place], batch)
        if chain is not None:
            operations[place : place + (2 if pair else 1)] = [chain]
            before = operations[place - 1] if place else None
            if isinstance(before, Convolve) and _takes_over(chain, before) and _readers(operations, place - 1) == [place]:
                operations[place] = replace(chain, input_activation=before.activation, residual=before.residual)
                operations[place - 1] = replace(before, activation=Activation.LINEAR, residual=None)
        place += 1
    return replace(program, operations=tuple(operations)) if any(isinstance(each, Chain) for each in operations) else program


def _takes_over(chain: Chain, before: Convolve) -> bool:
    """Whether the kernel can compute the activation and the sum of the convolution before it."""
    return before.output == chain.input and before.activation in SLOPES and (before.residual is None or not chain.form.stores)


def _single(operation: Operation, batch: int) -> Chain | None:
    if not (isinstance(operation, Convolve) and _pointwise(operation)):
        return None
    form = Form(operation.input.channels, operation.output.channels, True)
    if form not in SINGLE or batch * operation.output.height * operation.output.width < _MANY_PIXELS:
        return None
    weights, activations = (operation.weights[:, :, 0, 0],), (operation.activation, Activation.LINEAR)
    return Chain(operation.layers, form, operation.input, operation.output, weights, operation.bias, activations, None, None)


def _pair(operations: Sequence[Operation], place: int) -> Chain | None:
    if place + 1 == len(operations):
        return None
    first, second = operations[place : place + 2]
    if not (isinstance(first, Convolve) and isinstance(second, Convolve) and _pointwise(first) and _pointwise(second)):
        return None
    kept, whole = first.output, second.input
    if whole.buffer != kept.buffer:
        return None
    inside = min(kept.channels, whole.channels)
    side, stores = whole.channels - inside, _readers(operations, place) != [place + 1]
    weights = second.weights[:, :, 0, 0]
    if whole.offset == kept.offset:
        other = replace(whole, offset=whole.offset + inside, channels=side)
    elif whole.offset + side == kept.offset and inside == kept.channels:
        other = replace(whole, channels=side)
        weights = np.roll(weights, inside, axis=1)  # the kernel reads the channels of the side last
    else:
        return None
    form = Form(first.input.channels, kept.channels, stores, inside, side, second.output.channels)
    if form not in CHAINS:
        return None
    return Chain(
        first.layers + second.layers,
        form,
        first.input,
        second.output,
        (first.weights[:, :, 0, 0], weights),
        np.concatenate([first.bias, second.bias]),
        (first.activation, second.activation),
        kept if stores else None,
        other if side else None,
    )


def _pointwise(operation: Convolve) -> bool:
    plain = operation.weights.shape[2] == operation.stride == 1 and operation.padding == 0 and operation.residual is None
    return plain and operation.activation in SLOPES


def _readers(operations: Sequence[Operation], place: int) -> list[int]:
    """The later operations that read what this one writes."""
    value = operations[place].output
    found = []
    for later in range(place + 1, len(operations)):
        if any(_overlap(value, view) for view in reads(operations[later])):
            found.append(later)
        if any(_overlap(value, view) for view in writes(operations[later])):
            break
    return found


def _overlap(one: View, other: View) -> bool:
    begins = max(one.offset, other.offset)
    return one.buffer == other.buffer and begins < min(one.offset + one.channels, other.offset + other.channels)
