"""A network built for one GPU and one batch size from cuDNN's convolutions and our own kernels, on one stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from cuda.core import Stream
from numpy.typing import NDArray

from engine.backends.cudnn.convolution import BIAS, CONSTANTS, INPUT, OUTPUT, RESIDUAL, WEIGHTS, Graph, Shape
from engine.backends.cudnn.library import Library
from engine.backends.cudnn.program import Convolve, Enlarge, FirstConvolve, Operation, Pool, Program, View, plan_memory
from engine.cuda.graph import Step, copy
from engine.cuda.memory import Memory
from engine.errors import ModelError
from engine.model.network import Convolution, Network
from plugins import channels_last
from plugins.first_convolution import FirstConvolution, packed
from plugins.kernels import Kernels


class ConvolveStep:
    """A convolution with one of its plans, and the addresses of its tensors."""

    def __init__(self, graph: Graph, plan: int, addresses: dict[int, int], workspace: int) -> None:
        self._graph, self._plan, self._addresses, self._workspace = graph, plan, addresses, workspace

    def launch(self, stream: Stream) -> None:
        """See ``Step.launch``."""
        self._graph.launch(self._plan, self._addresses, self._workspace, stream)


class CudnnEngine:
    """The built network of one batch size, for one thread and stream.

    plans: the plan of each convolution's shape. pictures: address of the input, FP16 (batch, 3, height, width), RGB, 0..1.
    """

    number = np.float16

    def __init__(self, library: Library, network: Network, program: Program, batch: int, memory: Memory, kernels: Kernels) -> None:
        self.network, self.program, self.batch = network, program, batch
        self._library, self._memory, self._kernels = library, memory, kernels
        self._handle = library.cudnn.create_handle()
        self.pictures = memory.device(2 * batch * network.channels * network.height * network.width)
        self._places, total = plan_memory(program, batch)
        self._values = memory.device(total)
        self._constants = {number: memory.constant(np.array([value], np.float32)) for number, value in CONSTANTS.items()}
        self.graphs: dict[Shape, Graph] = {}
        self.plans: dict[Shape, int] = {}
        self._weights = [self._load(operation) for operation in program.operations]
        self.workspace, self.workspace_size = memory.device(1 << 26), 1 << 26

    def _load(self, operation: Operation) -> tuple[int, int]:
        """Copy the weights and the bias of an operation to the device."""
        if isinstance(operation, FirstConvolve):
            layer = self.network.layers[operation.layer]
            assert isinstance(layer, Convolution)
            return self._memory.constant(packed(layer.weights, layer.bias)), 0
        if not isinstance(operation, Convolve):
            return 0, 0
        shape = Shape.of(operation, self.batch)
        if shape not in self.graphs:
            self.graphs[shape] = Graph(self._library, self._handle, shape)
        with np.errstate(over="ignore"):
            weights = np.ascontiguousarray(operation.weights.transpose(0, 2, 3, 1), np.float16)
        if not np.isfinite(weights).all():
            raise ModelError(f"the weights of layer {operation.layers[0]} are too large for FP16 (above 65504): use --precision fp32")
        return self._memory.constant(weights), self._memory.constant(operation.bias.astype(np.float32))

    def first_plans(self) -> None:
        for shape, graph in self.graphs.items():
            self.plans[shape] = next(plan for plan in range(graph.plans) if graph.build(plan) is not None)

    def new_heads(self) -> list[int]:
        """Addresses for raw outputs of the YOLO heads, each (batch, rows, columns, channels) with a multiple of 8 channels."""
        return [self._memory.device(2 * self.batch * buffer.size) for buffer in self._head_buffers()]

    def _head_buffers(self) -> list[Any]:
        return sorted((buffer for buffer in self.program.buffers if buffer.head is not None), key=lambda each: each.head or 0)

    def steps(self, heads: Sequence[int]) -> list[Step]:
        """The steps that compute the raw outputs at these addresses from ``pictures``."""
        return [self.step(number, heads) for number in range(len(self.program.operations))]

    def step(self, number: int, heads: Sequence[int], plan: int | None = None) -> Step:
        operation, (weights, bias) = self.program.operations[number], self._weights[number]
        target = self._slice(operation.output, heads)
        match operation:
            case FirstConvolve():
                layer = self.network.layers[operation.layer]
                assert isinstance(layer, Convolution)
                size = self.batch, self.network.height, self.network.width, len(layer.bias)
                where = self.pictures, weights, target.address
                return FirstConvolution(self._kernels, *where, *size, layer.stride, layer.activation)
            case Pool():
                source = self._slice(operation.input, heads)
                how = operation.size, operation.stride, operation.before
                return channels_last.MaxPool(self._kernels, source, target, self.batch, *how)
            case Enlarge():
                return channels_last.Enlarge(self._kernels, self._slice(operation.input, heads), target, self.batch, operation.factor)
            case Convolve():
                shape = Shape.of(operation, self.batch)
                addresses = {INPUT: self._slice(operation.input, heads).address, WEIGHTS: weights, BIAS: bias, OUTPUT: target.address}
                if operation.residual is not None:
                    addresses[RESIDUAL] = self._slice(operation.residual, heads).address
                if shape.activation == "mish":
                    addresses |= self._constants
                return ConvolveStep(self.graphs[shape], self.plans[shape] if plan is None else plan, addresses, self.workspace)

    def _slice(self, view: View, heads: Sequence[int]) -> channels_last.Slice:
        head = self.program.buffers[view.buffer].head
        base = self._values + self._places[view.buffer] if head is None else heads[head]
        return channels_last.Slice(base + 2 * view.offset, view.channels, view.height, view.width, view.pitch)

    def raw_outputs(self, inputs: NDArray[np.float32], stream: Stream) -> list[NDArray[np.float32]]:
        heads = self.new_heads()
        values = np.ascontiguousarray(inputs, np.float16)
        copy(self.pictures, values.ctypes.data, values.nbytes, stream)
        for step in self.steps(heads):
            step.launch(stream)
        return self.download(heads, stream)

    def download(self, heads: Sequence[int], stream: Stream) -> list[NDArray[np.float32]]:
        found = []
        for address, buffer, head in zip(heads, self._head_buffers(), self.network.heads, strict=True):
            values = np.empty((self.batch, buffer.height, buffer.width, buffer.channels), np.float16)
            copy(values.ctypes.data, address, values.nbytes, stream)
            stream.sync()
            found.append(values[..., : head.shape[0]].transpose(0, 3, 1, 2).astype(np.float32))
        return found
