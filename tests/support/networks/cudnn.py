"""Runs a program for cuDNN with NumPy, in the memory that the engine would use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.backends.cudnn.program import (
    Chain,
    Convolve,
    Enlarge,
    FirstConvolve,
    Operation,
    Pool,
    Program,
    Stage,
    View,
    cut_operations,
    plan_memory,
)
from framefleet.engine.model.network import Activation, Convolution, MaxPool, Network, Upsample
from tests.support.models import ACTIVATIONS, compute_layer

Values = NDArray[np.float64]


def run_program(program: Program, network: Network, inputs: NDArray[np.float32], cuts: Sequence[int] = ()) -> list[Values]:
    """The raw outputs of a program. inputs: (batch, channels, height, width). cuts: of stages, each of which has its own memory."""
    before: _Run | None = None
    for stage in cut_operations(program, cuts):
        run = _Run(program, network, inputs, stage)
        if before is not None:
            run.take(before)
        run.compute()
        before = run
    assert before is not None
    return before.heads()


class _Run:
    def __init__(self, program: Program, network: Network, inputs: NDArray[np.float32], stage: Stage) -> None:
        self._program, self._network, self._inputs, self._batch = program, network, inputs.astype(np.float64), len(inputs)
        self._stage = stage
        places, total = plan_memory(program, self._batch, stage)
        memory = np.full(total // 2, np.nan)  # an FP16 number takes two bytes
        self.buffers: list[Values] = []
        for place, buffer in zip(places, program.buffers, strict=True):
            assert place % 256 == 0 or place == -1
            count = self._batch * buffer.size
            values = np.full(count, np.nan) if place < 0 else memory[place // 2 : place // 2 + count]
            self.buffers.append(values.reshape(self._batch, buffer.height, buffer.width, buffer.channels))

    def take(self, before: _Run) -> None:
        """Copy what arrives from the stage before."""
        for buffer in self._stage.arriving:
            self.buffers[buffer][:] = before.buffers[buffer]

    def compute(self) -> None:
        """Run the operations of the stage."""
        for number in self._stage.operations:
            self._compute(self._program.operations[number])

    def heads(self) -> list[Values]:
        """The raw outputs, after the last stage."""
        heads = sorted((buffer.head, index) for index, buffer in enumerate(self._program.buffers) if buffer.head is not None)
        channels = [head.shape[0] for head in self._network.heads]
        return [self.buffers[index].transpose(0, 3, 1, 2)[:, :count] for (_, index), count in zip(heads, channels, strict=True)]

    def _read(self, view: View) -> Values:
        values = self.buffers[view.buffer][..., view.offset : view.offset + view.channels].transpose(0, 3, 1, 2)
        assert values.shape[1:] == (view.channels, view.height, view.width)
        assert np.isfinite(values).all(), "read before it was written"
        return values.copy()

    def _write(self, view: View, values: Values) -> None:
        self.buffers[view.buffer][..., view.offset : view.offset + view.channels] = values.transpose(0, 2, 3, 1)

    def _compute(self, operation: Operation) -> None:
        match operation:
            case FirstConvolve():
                values = compute_layer(self._network.layers[0], [self._inputs])
            case Convolve():
                how = operation.stride, operation.padding, 1, operation.activation
                layer = Convolution((0,), _shape(operation.output), operation.weights, operation.bias, *how)
                values = compute_layer(layer, [self._read(operation.input)])
                if operation.residual is not None:
                    values += self._read(operation.residual)
            case Chain():
                values = self._chain(operation)
            case Pool():
                padding = operation.size - 1
                pool = MaxPool((0,), _shape(operation.output), operation.size, operation.stride, padding)
                assert padding // 2 == operation.before
                values = compute_layer(pool, [self._read(operation.input)])
            case Enlarge():
                values = compute_layer(Upsample((0,), _shape(operation.output), operation.factor), [self._read(operation.input)])
        self._write(operation.output, values)

    def _chain(self, chain: Chain) -> Values:
        form, first, second = chain.form, chain.weights[0], chain.weights[-1]
        value = ACTIVATIONS[chain.input_activation](self._read(chain.input))
        if chain.residual is not None:
            value = value + self._read(chain.residual)
        assert first.shape == (form.middle, form.input)
        middle = self._pointwise(value, first, chain.bias[: form.middle], chain.activations[0])
        if not form.output:
            assert (len(chain.weights), chain.middle, chain.side) == (1, None, None)
            return middle
        assert second.shape == (form.output, form.kept + form.side)
        assert (chain.middle is not None, chain.side is not None) == (form.stores, form.side > 0)
        seen = middle[:, : form.kept]
        if chain.side is not None:
            seen = np.concatenate([seen, self._read(chain.side)], axis=1)
        if chain.middle is not None:
            self._write(chain.middle, middle)
        return self._pointwise(seen, second, chain.bias[form.middle :], chain.activations[1])

    def _pointwise(self, values: Values, weights: NDArray[np.float32], bias: NDArray[np.float32], activation: Activation) -> Values:
        sums = np.einsum("fc,bchw->bfhw", weights, values) + bias[:, None, None]
        return ACTIVATIONS[activation](sums)


def _shape(view: View) -> tuple[int, int, int]:
    return view.channels, view.height, view.width
