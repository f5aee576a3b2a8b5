"""Writes a ``Network``, or a part of it, as an OpenVINO model."""

import numpy as np
import openvino as ov
from openvino import Node, opset1, opset13

from framefleet.engine.model import network as model
from framefleet.engine.model.network import Activation, Layer, Network
from framefleet.engine.model.split import PICTURES, Part


def lower(network: Network, part: Part, batch: int, pictures: bool) -> ov.Model:
    """Write a part of the network as a model. Its inputs and outputs are those of the part, in order, float32.

    The network's own input is RGB. pictures: it is (batch, height, width, 3), 0..255; otherwise (batch, channels, height, width),
    0..1. Values of layers are (batch, channels, rows, columns).
    """
    nodes: dict[int, Node] = {}
    parameters = []
    for index in part.inputs:
        shape = network.shape_of(index)
        if index == PICTURES and pictures:
            parameter = opset13.parameter([batch, *shape[1:], shape[0]], np.float32)
            planes = opset13.transpose(parameter, opset13.constant(np.array([0, 3, 1, 2], np.int64)))
            nodes[index] = opset13.multiply(planes, opset13.constant(np.float32(1 / 255)))
        else:
            nodes[index] = parameter = opset13.parameter([batch, *shape], np.float32)
        parameters.append(parameter)
    for index in part.layers:
        layer = network.layers[index]
        nodes[index] = _lower_layer(layer, [nodes[i] for i in layer.inputs])
    return ov.Model([opset13.result(nodes[index]) for index in part.outputs], parameters, network.name)


def _lower_layer(layer: Layer, inputs: list[Node]) -> Node:
    match layer:
        case model.Convolution():
            return _activate(layer.activation, _convolve(layer, inputs[0]))
        case model.MaxPool():
            before, after = [layer.padding // 2] * 2, [layer.padding - layer.padding // 2] * 2
            return opset1.max_pool(inputs[0], [layer.stride] * 2, before, after, [layer.size] * 2)
        case model.LocalAveragePool():
            before, after = [layer.padding // 2] * 2, [layer.padding - layer.padding // 2] * 2
            return opset1.avg_pool(inputs[0], [layer.stride] * 2, before, after, [layer.size] * 2, exclude_pad=True)
        case model.Reorg():
            return _reorg(layer, inputs[0])
        case model.AveragePool():
            return opset13.reduce_mean(inputs[0], opset13.constant(np.array([2, 3], np.int64)), keep_dims=True)
        case model.Upsample():
            return _upsample(layer, inputs[0])
        case model.Shortcut():
            total = inputs[0]
            for other in inputs[1:]:
                total = _add(total, other)
            return _activate(layer.activation, total)
        case model.Route():
            return _route(layer, inputs)
        case model.ScaleChannels() | model.Sam():
            return _activate(layer.activation, opset13.multiply(*inputs))
        case model.Region():
            return _region(layer, inputs[0])
        case model.Identity() | model.Yolo():
            return inputs[0]
        case _:
            raise NotImplementedError(f"no OpenVINO form of {type(layer).__name__}")


def _convolve(layer: model.Convolution, data: Node) -> Node:
    weights = layer.weights
    stride, padding, dilation = [layer.stride] * 2, [layer.padding] * 2, [1, 1]
    if layer.groups == 1:
        product = opset13.convolution(data, opset13.constant(weights), stride, padding, padding, dilation)
    else:
        grouped = weights.reshape(layer.groups, -1, *weights.shape[1:])
        product = opset13.group_convolution(data, opset13.constant(grouped), stride, padding, padding, dilation)
    return opset13.add(product, opset13.constant(layer.bias.reshape(1, -1, 1, 1)))


def _upsample(layer: model.Upsample, data: Node) -> Node:
    return opset13.interpolate(
        data,
        opset13.constant(np.array(layer.shape[1:], np.int64)),
        mode="nearest",
        shape_calculation_mode="sizes",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
        axes=opset13.constant(np.array([2, 3], np.int64)),
    )


def _route(layer: model.Route, inputs: list[Node]) -> Node:
    if layer.groups > 1:
        inputs = [_channel_group(layer, data) for data in inputs]
    return inputs[0] if len(inputs) == 1 else opset13.concat(inputs, 1)


def _channel_group(layer: model.Route, data: Node) -> Node:
    size = data.get_output_shape(0)[1] // layer.groups
    return _channels(data, size * layer.group, size * (layer.group + 1))


def _channels(data: Node, start: int, stop: int, axis: int = 1) -> Node:
    begin, end, step, axes = (opset13.constant(np.array([n], np.int64)) for n in (start, stop, 1, axis))
    return opset13.slice(data, begin, end, step, axes)


def _add(total: Node, other: Node) -> Node:
    """Add the channels that both have. The result has the channels of ``total``."""
    count, channels = other.get_output_shape(0)[1], total.get_output_shape(0)[1]
    if count >= channels:
        return opset13.add(total, other if count == channels else _channels(other, 0, channels))
    return opset13.concat([opset13.add(_channels(total, 0, count), other), _channels(total, count, channels)], 1)


def _reorg(layer: model.Reorg, data: Node) -> Node:
    batch, stride, (channels, height, width) = data.get_output_shape(0)[0], layer.stride, layer.view
    squares = _reshape(data, (batch, channels, height // stride, stride, width // stride, stride))
    order = opset13.constant(np.array([0, 3, 5, 1, 2, 4], np.int64))
    return _reshape(opset13.transpose(squares, order), (batch, *layer.shape))


def _region(layer: model.Region, data: Node) -> Node:
    batch, (channels, height, width) = data.get_output_shape(0)[0], layer.shape
    boxes = _reshape(data, (batch, len(layer.anchors), 5 + layer.classes, height * width))
    probability = opset13.softmax(_channels(boxes, 5, 5 + layer.classes, axis=2), 2)
    least, one = (opset13.constant(np.float32(number)) for number in (model.MIN_PROBABILITY, 1))
    yes, no = (opset13.log(opset13.maximum(each, least)) for each in (probability, opset13.subtract(one, probability)))
    joined = opset13.concat([_channels(boxes, 0, 5, axis=2), opset13.subtract(yes, no)], 2)
    return _reshape(joined, (batch, channels, height, width))


def _reshape(data: Node, shape: tuple[int, ...]) -> Node:
    return opset13.reshape(data, opset13.constant(np.array(shape, np.int64)), special_zero=False)


def _activate(activation: Activation, data: Node) -> Node:
    match activation:
        case Activation.LINEAR:
            return data
        case Activation.LEAKY:
            return opset13.prelu(data, opset13.constant(np.float32(0.1)))
        case Activation.RELU:
            return opset13.relu(data)
        case Activation.RELU6:
            return opset13.clamp(data, 0.0, 6.0)
        case Activation.LOGISTIC:
            return opset13.sigmoid(data)
        case Activation.SWISH:
            return opset13.swish(data)
        case Activation.MISH:
            return opset13.mish(data)
