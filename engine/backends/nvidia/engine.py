"""What the engines of all libraries for NVIDIA GPUs share: their interface, custom layers, and the transfer of raw outputs."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from cuda.core import Stream
from numpy.typing import NDArray

from framefleet.engine.cuda.graph import Step, copy
from framefleet.engine.model.network import Shape
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.settings import Precision
from framefleet.plugins.kernels import Number


@dataclass(frozen=True)
class CustomLayers:
    """The layers that something else computes instead of TensorRT's plan; all need FP16.

    first_convolution: our kernel computes the network's first layer, if it suits; it writes channels last. mish: our kernel computes Mish
    after each convolution, in place: every such convolution then ends a plan. cudnn: cuDNN and our kernels compute all layers. pointwise:
    with cuDNN, our kernels also compute pointwise convolutions, most of them in pairs. fastest: with cuDNN, each convolution has the
    fastest of several plans, which a trial finds, instead of cuDNN's first one.
    """

    first_convolution: bool = False
    mish: bool = False
    cudnn: bool = False
    pointwise: bool = False
    fastest: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that are True."""
        return tuple(name for name, value in vars(self).items() if value)

    @classmethod
    def named(cls, names: Sequence[str]) -> Self:
        """The layers with these names; unknown ones are left out."""
        return cls(**{each.name: each.name in names for each in fields(cls)})


PLAN_ONLY = CustomLayers()


def number_type(precision: Precision) -> Number:
    """The type of all numbers of an engine: pictures, values between parts, and raw outputs."""
    return np.float32 if precision is Precision.FP32 else np.float16


class Engine(ABC):
    """The built network of one batch size, for one thread and stream.

    number: type of its numbers, except for the raw outputs of an ``OnnxNetwork``: these are float32. pictures: address of the input,
    (batch, 3, height, width), as the network takes it. pitches: how each raw output is stored, see ``plugins.yolo_layer.Head``.
    """

    network: Model
    batch: int
    number: Number
    pictures: int
    pitches: Sequence[int]

    _own_heads: Sequence[int] = ()

    @property
    def outputs(self) -> "Outputs":
        """The type and form of the raw outputs."""
        return Outputs(self.batch, [head.shape for head in self.network.heads], self.pitches, self.number)

    @abstractmethod
    def new_heads(self) -> list[int]:
        """Addresses for raw outputs."""

    @abstractmethod
    def steps(self, heads: Sequence[int]) -> list[Step]:
        """The steps that compute the raw outputs at these addresses from ``pictures``."""

    def raw_outputs(self, inputs: NDArray[np.float32], stream: Stream) -> list[NDArray[np.float32]]:
        """Raw outputs for float32 (n, channels, height, width), 0..1, any n. For checks: waits. The stream must be idle."""
        heads = self._own_heads = self._own_heads or self.new_heads()

        def run(pictures: NDArray[Any]) -> list[NDArray[Any]]:
            copy(self.pictures, pictures.ctypes.data, pictures.nbytes, stream)
            for step in self.steps(heads):
                step.launch(stream)
            return download_heads(self.outputs, heads, stream)

        return in_batches(self.prepared(inputs), self.batch, self.number, run)

    def prepared(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The network's input from RGB values of 0..1."""
        return inputs


def in_batches(
    inputs: NDArray[np.float32], batch: int, number: Number, run: Callable[[NDArray[Any]], list[NDArray[Any]]]
) -> list[NDArray[np.float32]]:
    """Run any number of pictures in batches. run: takes one batch of numbers of this type, (batch, …); zeros fill up the last batch."""
    found: list[list[NDArray[np.float32]]] = []
    for start in range(0, len(inputs), batch):
        part = inputs[start : start + batch]
        values = np.zeros((batch, *inputs.shape[1:]), number)
        values[: len(part)] = part
        found.append([output[: len(part)].astype(np.float32) for output in run(values)])
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


@dataclass(frozen=True)
class Outputs:
    """The raw outputs of a batch. shapes: of one picture. pitches: see ``Engine``; 0 for all that are no heads. number: their type."""

    batch: int
    shapes: Sequence[tuple[int, ...]]
    pitches: Sequence[int]
    number: Number

    def nbytes(self, shape: Shape | tuple[int, ...]) -> int:
        """Bytes of a batch of values of this shape."""
        return self.batch * math.prod(shape) * np.dtype(self.number).itemsize


def download_heads(outputs: Outputs, addresses: Sequence[int], stream: Stream) -> list[NDArray[Any]]:
    """Copy the raw outputs from the device, each (batch, …); waits for them."""
    found = []
    for address, pitch, shape in zip(addresses, outputs.pitches, outputs.shapes, strict=True):
        stored = (*shape[1:], pitch) if pitch else shape
        values = np.empty((outputs.batch, *stored), outputs.number)
        copy(values.ctypes.data, address, values.nbytes, stream)
        stream.sync()
        found.append(values[..., : shape[0]].transpose(0, 3, 1, 2) if pitch else values)
    return found
