"""Replaces pairs of pointwise convolutions of a program by one operation, where there is a kernel for them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from framefleet.engine.backends.cudnn.program import Chain, Convolve, Operation, Program, View, reads, writes
from framefleet.engine.model.network import Activation
from framefleet.plugins.pointwise import FORMS, SLOPES, Form


def chained(program: Program) -> Program:
    """The program with chains. A chain also computes the activation and the sum of the convolution before it, if nothing else reads it.

    That convolution is then faster: cuDNN's kernels for few channels take long for activations, while a chain waits for memory.
    """
    operations, place = list(program.operations), 0
    while place + 1 < len(operations):
        chain = _chain(operations, place)
        if chain is not None:
            operations[place : place + 2] = [chain]
            before = operations[place - 1] if place else None
            if isinstance(before, Convolve) and before.output == chain.input and _readers(operations, place - 1) == [place]:
                operations[place] = replace(chain, input_activation=before.activation, residual=before.residual)
                operations[place - 1] = replace(before, activation=Activation.LINEAR, residual=None)
        place += 1
    return program if len(operations) == len(program.operations) else replace(program, operations=tuple(operations))


def _chain(operations: Sequence[Operation], place: int) -> Chain | None:
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
    if form not in FORMS:
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
