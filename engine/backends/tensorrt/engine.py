"""A network built for one GPU and one batch size: plans, custom layers, and the memory for the values between them, on one stream.

By default one plan holds the whole network. With custom layers (see ``CustomLayers``) the network is cut around them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from framefleet.engine.backends.nvidia.engine import CustomLayers, Engine, number_type
from framefleet.engine.backends.tensorrt.lowering import value_name
from framefleet.engine.backends.tensorrt.plan import Plan
from framefleet.engine.cuda.graph import Step
from framefleet.engine.cuda.memory import Memory
from framefleet.engine.model.network import Activation, Convolution, Network, Shape, Yolo
from framefleet.engine.model.split import PICTURES, Part, split
from framefleet.engine.settings import Precision
from framefleet.plugins.first_convolution import FirstConvolution, packed, suits
from framefleet.plugins.kernels import Kernels
from framefleet.plugins.mish import Mish


@dataclass(frozen=True)
class Pieces:
    """A network cut around custom layers. parts: become plans, in order. linear: convolutions whose Mish a custom layer computes.

    first: the first convolution, if a custom layer computes it; then no part contains it.
    """

    parts: tuple[Part, ...]
    linear: frozenset[int]
    first: Convolution | None = None

    @property
    def channels_last(self) -> frozenset[int]:
        """The layers whose values between the parts are stored channels last."""
        return frozenset() if self.first is None else frozenset({0})


def first_convolution(network: Network) -> Convolution | None:
    """The network's first layer, if a custom layer can compute it."""
    layer, size = network.layers[0], (network.height, network.width)
    if isinstance(layer, Convolution) and suits(layer.weights.shape, layer.stride, layer.padding, layer.groups, layer.activation, *size):
        return layer
    return None


def mish_convolutions(network: Network) -> frozenset[int]:
    """The convolutions with Mish as activation."""
    return frozenset(i for i, layer in enumerate(network.layers) if isinstance(layer, Convolution) and layer.activation is Activation.MISH)


def cut(network: Network, layers: CustomLayers) -> Pieces:
    """Cut a network around its custom layers."""
    first = first_convolution(network) if layers.first_convolution else None
    linear = (mish_convolutions(network) if layers.mish else frozenset()) - ({0} if first is not None else set())
    cuts = {index + 1 for index in linear} | ({1} if first is not None else set())
    return Pieces(tuple(split(network, *sorted(cuts)))[first is not None :], linear, first)


class TensorRtEngine(Engine):
    """A plan for the whole network. Raw outputs are planes, (batch, anchors · (5 + classes), rows, columns)."""

    network: Network

    def __init__(
        self,
        network: Network,
        batch: int,
        precision: Precision,
        memory: Memory,
        pieces: Pieces,
        plans: Sequence[Plan],
        kernels: Kernels,
        first_layer: Kernels | None,
    ) -> None:
        """Allocate the memory. plans: of the parts, in order. first_layer: kernels of ``FirstConvolution``, if the pieces need them.

        Raises OutOfMemoryError if the device's memory does not suffice.
        """
        self.network, self.batch, self.number = network, batch, number_type(precision)
        self._memory, self._pieces, self._plans, self._kernels, self._first_layer = memory, pieces, plans, kernels, first_layer
        self.pitches = [0] * len(network.heads)
        scratch = max(plan.scratch for plan in self._plans)
        address = memory.device(scratch)
        for plan in self._plans:
            plan.use_scratch(address, scratch)
        self.pictures = memory.device(self.nbytes((network.channels, network.height, network.width)))
        first = self._pieces.first
        self._weights = 0 if first is None else memory.constant(packed(first.weights, first.bias))
        between = {index for part in self._pieces.parts for index in (*part.inputs, *part.outputs)}
        between = {index for index in between if index != PICTURES and not isinstance(network.layers[index], Yolo)}
        self._between = {index: memory.device(self.nbytes(network.layers[index].shape)) for index in sorted(between)}

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a batch of values of this shape."""
        return self.batch * math.prod(shape) * np.dtype(self.number).itemsize

    def new_heads(self) -> list[int]:
        """Addresses for raw outputs."""
        return [self._memory.device(self.nbytes(head.shape)) for head in self.network.heads]

    def steps(self, heads: Sequence[int]) -> list[Step]:
        """The steps that compute the raw outputs at these addresses from ``pictures``."""
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
