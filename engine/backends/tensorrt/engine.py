"""A network built for one GPU and one batch size: plans, the values between them, and the layers around them, on one stream.

The network may be cut anywhere. Mish can be left to the custom layer: then every convolution with that activation ends a plan, and
the layer works in place on what the plan left. The first convolution can be left to a custom layer, too: it writes channels last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cuda.core import Stream
from numpy.typing import NDArray

from engine.backends.base import Progress
from engine.backends.tensorrt.build import build_plan
from engine.backends.tensorrt.library import Library
from engine.backends.tensorrt.lowering import value_name
from engine.backends.tensorrt.plan import Plan
from engine.cuda.graph import Step, copy
from engine.cuda.memory import Memory
from engine.model.network import Activation, Convolution, Network, Shape, Yolo
from engine.model.split import PICTURES, Part, split
from engine.settings import Precision
from plugins.cache import FileCache
from plugins.first_convolution import FirstConvolution, packed, suits
from plugins.kernels import Kernels
from plugins.mish import Mish

HALF = 2
"""Bytes of an FP16 number."""


def value_bytes(precision: Precision) -> int:
    """Bytes of a number between two parts; pictures and heads are FP16 in any case."""
    return 4 if precision is Precision.FP32 else HALF


@dataclass(frozen=True)
class Pieces:
    """How a network is cut. parts: those that become plans, in order. linear: convolutions whose Mish is left to the custom layer.

    first: the first convolution, if it is left to the custom layer; it is in none of the parts.
    """

    parts: tuple[Part, ...]
    linear: frozenset[int]
    first: Convolution | None = None

    @property
    def channels_last(self) -> frozenset[int]:
        """Layers whose values lie so between the parts."""
        return frozenset() if self.first is None else frozenset({0})


def first_convolution(network: Network) -> Convolution | None:
    """The network's first layer, if there is a custom layer for it."""
    layer, size = network.layers[0], (network.height, network.width)
    if isinstance(layer, Convolution) and suits(layer.weights.shape, layer.stride, layer.padding, layer.groups, layer.activation, *size):
        return layer
    return None


def cut(network: Network, mish_layer: bool = False, first_layer: bool = False) -> Pieces:
    """One part; with ``mish_layer``, one for every stretch between two Mish activations.

    With ``first_layer``, the first convolution is for the custom layer, if there is one.
    """
    first = first_convolution(network) if first_layer else None
    found = {i for i, layer in enumerate(network.layers) if isinstance(layer, Convolution) and layer.activation is Activation.MISH}
    linear = frozenset(found if mish_layer else ()) - ({0} if first is not None else set())
    cuts = {index + 1 for index in linear} | ({1} if first is not None else set())
    return Pieces(tuple(split(network, *sorted(cuts)))[first is not None :], linear, first)


def prepare_plan(
    library: Library,
    network: Network,
    part: Part,
    batch: int,
    precision: Precision,
    cache: FileCache,
    situation: str,
    progress: Progress,
    linear: frozenset[int] = frozenset(),
    channels_last: frozenset[int] = frozenset(),
) -> Plan:
    """The plan of a part on the current device: from the cache, or built. Parameters and errors: see ``Engine`` and ``build_plan``."""
    key = f"{situation}\n{precision}\n{batch}\n{part}\n{sorted(linear)}\n{sorted(channels_last)}"
    exact, inside = precision is Precision.FP32, linear & frozenset(part.layers)
    serialized = cache.get(key, lambda: build_plan(library, network, part, batch, exact, inside, progress, channels_last))
    progress("preparing its kernels", 0.0)
    return Plan(library, serialized, cache, key)


class Engine:
    """The built network of one batch size. Belongs to one thread and stream.

    pictures: address of its input, FP16 (batch, 3, height, width), RGB, 0..1. heads: see ``new_heads``.
    """

    def __init__(
        self,
        library: Library,
        network: Network,
        batch: int,
        precision: Precision,
        memory: Memory,
        cache: FileCache,
        situation: str,
        kernels: Kernels,
        mish_layer: bool = False,
        first_layer: Kernels | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Build or load the plans and take the memory. situation: what a plan depends on beside the network, as a key.

        mish_layer: see ``cut``. first_layer: the kernels for the first convolution, if it is not to be in a plan; for FP16 only.

        Raises:
            OutOfMemoryError: the device's memory does not suffice.
            DeviceError: the library cannot build or load a plan.
            ModelError: a weight is too large for FP16.
        """
        self.network, self.batch = network, batch
        self._memory, self._kernels, self._first_layer = memory, kernels, first_layer
        self._pieces = cut(network, mish_layer, first_layer is not None)
        self._plans: list[Plan] = []
        self._own_heads: list[int] = []
        for number, part in enumerate(self._pieces.parts):

            def step(doing: str, fraction: float, done: int = number) -> None:
                if progress is not None:
                    progress(doing, (done + fraction) / len(self._pieces.parts))

            self._plans.append(
                prepare_plan(
                    library, network, part, batch, precision, cache, situation, step, self._pieces.linear, self._pieces.channels_last
                )
            )
        scratch = max(plan.scratch for plan in self._plans)
        address = memory.device(scratch)
        for plan in self._plans:
            plan.use_scratch(address, scratch)
        self.pictures = memory.device(self.nbytes((network.channels, network.height, network.width)))
        size = value_bytes(precision)
        first = self._pieces.first
        self._weights = 0 if first is None else memory.constant(packed(first.weights, first.bias))
        between = {index for part in self._pieces.parts for index in (*part.inputs, *part.outputs)}
        between = {index for index in between if index != PICTURES and not isinstance(network.layers[index], Yolo)}
        self._between = {index: memory.device(batch * math.prod(network.layers[index].shape) * size) for index in sorted(between)}

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a batch of FP16 values of this shape."""
        return self.batch * math.prod(shape) * HALF

    def new_heads(self) -> list[int]:
        """Addresses for raw outputs of the YOLO heads, each FP16 (batch, anchors · (5 + classes), rows, columns)."""
        return [self._memory.device(self.nbytes(head.shape)) for head in self.network.heads]

    def steps(self, heads: Sequence[int]) -> list[Step]:
        """From ``pictures`` to these heads."""
        indices = [index for index, layer in enumerate(self.network.layers) if isinstance(layer, Yolo)]
        addresses = {PICTURES: self.pictures, **self._between, **dict(zip(indices, heads, strict=True))}
        steps: list[Step] = []
        first = self._pieces.first
        if first is not None and self._first_layer is not None:
            where, size = (self.pictures, self._weights, addresses[0]), (self.batch, self.network.height, self.network.width)
            steps.append(FirstConvolution(self._first_layer, *where, *size, len(first.bias), first.stride, first.activation))
        for part, plan in zip(self._pieces.parts, self._plans, strict=True):
            steps.append(plan.step({value_name(index): addresses[index] for index in (*part.inputs, *part.outputs)}))
            for index in sorted(self._pieces.linear.intersection(part.layers)):
                count = self.batch * math.prod(self.network.layers[index].shape)
                steps.append(Mish(self._kernels, addresses[index], count))
        return steps

    def heads(self, inputs: NDArray[np.float32], stream: Stream) -> list[NDArray[np.float32]]:
        """Raw outputs for float32 (n, channels, height, width), 0..1, any n: for checks; waits. Nothing else may be under way."""
        addresses = self._own_heads = self._own_heads or self.new_heads()
        shapes = [head.shape for head in self.network.heads]
        found: list[list[NDArray[np.float32]]] = []
        for start in range(0, len(inputs), self.batch):
            part = inputs[start : start + self.batch]
            values = np.zeros((self.batch, *inputs.shape[1:]), np.float16)
            values[: len(part)] = part
            copy(self.pictures, values.ctypes.data, values.nbytes, stream)
            for step in self.steps(addresses):
                step.launch(stream)
            outputs = [download(address, (self.batch, *shape), stream) for address, shape in zip(addresses, shapes, strict=True)]
            found.append([output[: len(part)].astype(np.float32) for output in outputs])
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def download(address: int, shape: tuple[int, ...], stream: Stream) -> NDArray[np.float16]:
    """FP16 values from the device; waits for them."""
    values = np.empty(shape, np.float16)
    copy(values.ctypes.data, address, values.nbytes, stream)
    stream.sync()
    return values
