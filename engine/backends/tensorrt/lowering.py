"""Writes a ``Network``, or a part of it, as a strongly typed TensorRT network, for ``tensorrt`` and ``tensorrt_rtx``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model import network as model
from framefleet.engine.model.network import Activation, Layer, Network
from framefleet.engine.model.split import PICTURES, Part
from framefleet.engine.notices import ModelError, Notice, Option

_MISH_BOUND = 10.0
"""Above this bound, mish(x) is x in FP32: n / (n + 2) differs from 1 by 4e-9."""


def value_name(index: int) -> str:
    """The name of a layer's value among a plan's inputs and outputs; ``PICTURES`` is the network's input."""
    return "pictures" if index == PICTURES else f"layer{index}"


class Lowering:
    """Writes one part of a network into an empty, strongly typed ``trt.INetworkDefinition``.

    trt: the library, ``tensorrt`` or ``tensorrt_rtx``. definition: valid only while this object exists. exact: FP32 instead of FP16, for
    the arithmetic, the pictures and the raw outputs. linear: convolutions without their activation, which a custom layer computes.
    channels_last: layers whose FP16 values are (batch, height, width, channels), with a multiple of 8 channels. Pictures are RGB,
    (batch, channels, height, width), 0..1.
    """

    def __init__(
        self,
        trt: Any,
        definition: Any,
        batch: int,
        exact: bool = False,
        linear: frozenset[int] = frozenset(),
        channels_last: frozenset[int] = frozenset(),
    ) -> None:
        self._trt, self._definition, self._batch, self._linear, self._channels_last = trt, definition, batch, linear, channels_last
        self._type = trt.float32 if exact else trt.float16
        self._numpy_type: type[np.floating[Any]] = np.float32 if exact else np.float16
        self._kept: list[NDArray[Any]] = []  # keep the weights alive: TensorRT reads them when it builds
        self._pooled: dict[tuple[int, int], Any] = {}

    def write(self, network: Network, part: Part) -> None:
        """Add the part's inputs, layers and outputs, all named by ``value_name``. Raises ModelError if a weight is too large for FP16."""
        values: dict[int, Any] = {}
        for index in part.inputs:
            value = self._definition.add_input(value_name(index), self._type, (self._batch, *network.shape_of(index)))
            if index in self._channels_last:
                value.allowed_formats = 1 << int(self._trt.TensorFormat.HWC8)
            values[index] = value
        for index in part.layers:
            layer = network.layers[index]
            inputs = [values[i] for i in layer.inputs]
            values[index] = self._pool(network, layer, inputs[0]) if isinstance(layer, model.MaxPool) else self._lower(index, layer, inputs)
        for index in part.outputs:
            value = self._definition.add_identity(values[index]).get_output(0)  # the same tensor may be an input, or be marked twice
            value.name = value_name(index)
            self._definition.mark_output(value)

    def _lower(self, index: int, layer: Layer, inputs: list[Any]) -> Any:
        add, trt = self._definition, self._trt
        match layer:
            case model.Convolution():
                value = self._convolve(index, layer, inputs[0])
                return value if index in self._linear else self._activate(layer.activation, value)
            case model.LocalAveragePool():
                return self._average_pool(layer, inputs[0])
            case model.Reorg():
                return self._reorg(layer, inputs[0])
            case model.AveragePool():
                return add.add_reduce(inputs[0], trt.ReduceOperation.AVG, 0b1100, keep_dims=True).get_output(0)
            case model.Upsample():
                resize = add.add_resize(inputs[0])
                resize.shape = (self._batch, *layer.shape)
                resize.resize_mode = trt.InterpolationMode.NEAREST
                resize.coordinate_transformation = trt.ResizeCoordinateTransformation.ASYMMETRIC
                resize.nearest_rounding = trt.ResizeRoundMode.FLOOR
                return resize.get_output(0)
            case model.Shortcut():
                total = inputs[0]
                for other in inputs[1:]:
                    total = self._add(total, other)
                return self._activate(layer.activation, total)
            case model.Route():
                return self._route(layer, inputs)
            case model.ScaleChannels() | model.Sam():
                return self._activate(layer.activation, self._combine("PROD", inputs[0], inputs[1]))
            case model.Region():
                return self._region(layer, inputs[0])
            case model.Identity() | model.Yolo():
                return inputs[0]
            case _:
                raise NotImplementedError(f"no TensorRT form of {type(layer).__name__}")

    def _pool(self, network: Network, layer: model.MaxPool, data: Any) -> Any:
        """A maximum pool. In a pyramid (SPP) each pool continues from the next smaller one: 9 = 5 of 5, 13 = 5 of 9."""
        size, same = layer.size, layer.stride == 1 and layer.padding == layer.size - 1 and layer.size % 2 == 1
        if same:
            source = _source(network, layer.inputs[0])
            smaller = max((known for place, known in self._pooled if place == source and known < size), default=1)
            data, size = self._pooled.get((source, smaller), data), size - smaller + 1
        pool = self._definition.add_pooling_nd(data, self._trt.PoolingType.MAX, (size, size))
        padding = size - 1 if same else layer.padding
        pool.stride_nd, pool.pre_padding, pool.post_padding = (layer.stride,) * 2, (padding // 2,) * 2, (padding - padding // 2,) * 2
        value = pool.get_output(0)
        if same:
            self._pooled[source, layer.size] = value
        return value

    def _convolve(self, index: int, layer: model.Convolution, data: Any) -> Any:
        kernel, bias = self._weights(index, layer.weights), self._weights(index, layer.bias)
        convolution = self._definition.add_convolution_nd(data, len(layer.bias), (layer.weights.shape[2],) * 2, kernel, bias)
        convolution.stride_nd, convolution.padding_nd = (layer.stride,) * 2, (layer.padding,) * 2
        convolution.num_groups = layer.groups
        return convolution.get_output(0)

    def _weights(self, index: int, values: NDArray[np.float32]) -> Any:
        with np.errstate(over="ignore"):
            converted = np.ascontiguousarray(values, self._numpy_type)
        if not np.isfinite(converted).all():
            raise ModelError(Notice("backends.too_large_for_fp16", index=index, option=Option("precision", "fp32")))
        self._kept.append(converted)
        return self._trt.Weights(converted)

    def _route(self, layer: model.Route, inputs: list[Any]) -> Any:
        if layer.groups > 1:
            inputs = [self._channel_group(layer, value) for value in inputs]
        return inputs[0] if len(inputs) == 1 else self._join(inputs, axis=1)

    def _channel_group(self, layer: model.Route, value: Any) -> Any:
        size = value.shape[1] // layer.groups
        return self._slice(value, size * layer.group, size * (layer.group + 1), axis=1)

    def _add(self, total: Any, other: Any) -> Any:
        """The sum of the channels that both have. The result has the channels of ``total``."""
        channels, count = total.shape[1], other.shape[1]
        if count >= channels:
            return self._combine("SUM", total, other if count == channels else self._slice(other, 0, channels, axis=1))
        first = self._combine("SUM", self._slice(total, 0, count, axis=1), other)
        return self._join([first, self._slice(total, count, channels, axis=1)], axis=1)

    def _average_pool(self, layer: model.LocalAveragePool, data: Any) -> Any:
        pool = self._definition.add_pooling_nd(data, self._trt.PoolingType.AVERAGE, (layer.size,) * 2)
        before = layer.padding // 2
        pool.stride_nd, pool.pre_padding, pool.post_padding = (layer.stride,) * 2, (before,) * 2, (layer.padding - before,) * 2
        pool.average_count_excludes_padding = True
        return pool.get_output(0)

    def _reorg(self, layer: model.Reorg, data: Any) -> Any:
        stride, (channels, height, width) = layer.stride, layer.view
        squares = (self._batch, channels, height // stride, stride, width // stride, stride)
        return self._reshape(self._reshape(data, squares, then=(0, 3, 5, 1, 2, 4)), (self._batch, *layer.shape))

    def _region(self, layer: model.Region, data: Any) -> Any:
        """The softmax and its logarithms are computed in FP32, in which 1 - p has enough digits."""
        _, height, width = layer.shape
        boxes = self._reshape(data, (self._batch, len(layer.anchors), 5 + layer.classes, height * width))
        softmax = self._definition.add_softmax(self._cast(self._slice(boxes, 5, 5 + layer.classes, axis=2), self._trt.float32))
        softmax.axes = 1 << 2
        probability = softmax.get_output(0)
        others = self._combine("SUB", self._constant(1.0), probability)
        yes, no = (self._combine("MAX", each, self._constant(model.MIN_PROBABILITY)) for each in (probability, others))
        logit = self._combine("SUB", self._logarithm(yes), self._logarithm(no))
        joined = self._join([self._slice(boxes, 0, 5, axis=2), self._cast(logit, data.dtype)], axis=2)
        return self._reshape(joined, (self._batch, *layer.shape))

    def _logarithm(self, value: Any) -> Any:
        return self._definition.add_unary(value, self._trt.UnaryOperation.LOG).get_output(0)

    def _slice(self, value: Any, start: int, stop: int, axis: int) -> Any:
        starts, shape = [0] * len(value.shape), list(value.shape)
        starts[axis], shape[axis] = start, stop - start
        return self._definition.add_slice(value, starts, shape, [1] * len(shape)).get_output(0)

    def _join(self, values: list[Any], axis: int) -> Any:
        joined = self._definition.add_concatenation(values)
        joined.axis = axis
        return joined.get_output(0)

    def _reshape(self, value: Any, shape: tuple[int, ...], then: tuple[int, ...] | None = None) -> Any:
        """Give a value another shape. then: an order of the axes, applied afterwards."""
        shuffle = self._definition.add_shuffle(value)
        shuffle.reshape_dims = shape
        if then:
            shuffle.second_transpose = then
        return shuffle.get_output(0)

    def _activate(self, activation: Activation, value: Any) -> Any:
        kinds = self._trt.ActivationType
        match activation:
            case Activation.LINEAR:
                return value
            case Activation.LEAKY:
                return self._activation(kinds.LEAKY_RELU, value, 0.1)
            case Activation.RELU:
                return self._activation(kinds.RELU, value)
            case Activation.RELU6:
                return self._activation(kinds.CLIP, value, 0.0, 6.0)
            case Activation.LOGISTIC:
                return self._activation(kinds.SIGMOID, value)
            case Activation.SWISH:
                return self._combine("PROD", value, self._activation(kinds.SIGMOID, value))
            case Activation.MISH:
                return self._mish(value)

    def _mish(self, value: Any) -> Any:
        """x · tanh(ln(1 + eˣ)) as x · n / (n + 2) with n = e (e + 2), e = eˣ, which TensorRT fuses into the convolution.

        It is written in FP32, in which the fused kernels compute anyway: 8 % more images/s than in FP16, where x · n also overflows.
        """
        x = self._cast(value, self._trt.float32)
        e = self._definition.add_unary(self._combine("MIN", x, self._constant(_MISH_BOUND)), self._trt.UnaryOperation.EXP).get_output(0)
        n = self._combine("PROD", e, self._combine("SUM", e, self._constant(2.0)))
        y = self._combine("DIV", self._combine("PROD", x, n), self._combine("SUM", n, self._constant(2.0)))
        return self._cast(y, value.dtype)

    def _activation(self, kind: Any, value: Any, alpha: float = 0.0, beta: float = 0.0) -> Any:
        activation = self._definition.add_activation(value, kind)
        activation.alpha, activation.beta = alpha, beta
        return activation.get_output(0)

    def _combine(self, operation: str, one: Any, other: Any) -> Any:
        return self._definition.add_elementwise(one, other, getattr(self._trt.ElementWiseOperation, operation)).get_output(0)

    def _constant(self, number: float) -> Any:
        array = np.full((1, 1, 1, 1), number, np.float32)
        self._kept.append(array)
        return self._definition.add_constant(array.shape, self._trt.Weights(array)).get_output(0)

    def _cast(self, value: Any, kind: Any) -> Any:
        return value if value.dtype == kind else self._definition.add_cast(value, kind).get_output(0)


def _source(network: Network, index: int) -> int:
    """The layer whose value this one passes on unchanged."""
    while index >= 0:
        layer = network.layers[index]
        if not (isinstance(layer, model.Identity) or (isinstance(layer, model.Route) and len(layer.inputs) == layer.groups == 1)):
            break
        index = layer.inputs[0]
    return index
