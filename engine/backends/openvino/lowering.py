"""Writes networks as OpenVINO models: Darknet's, or parts of them, and ONNX files with pictures as their input."""

from pathlib import Path

import numpy as np
import openvino as ov
from openvino import Layout, Node, PartialShape, Type, opset1, opset13
from openvino.preprocess import PrePostProcessor

from framefleet.engine.backends.openvino.library import process_core
from framefleet.engine.model import network as layers
from framefleet.engine.model.network import Activation, Layer, Network
from framefleet.engine.model.onnx.network import OnnxNetwork
from framefleet.engine.model.split import PICTURES, Part
from framefleet.engine.notices import ModelError, Notice, Option


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
        case layers.Convolution():
            return _activate(layer.activation, _convolve(layer, inputs[0]))
        case layers.MaxPool():
            before, after = [layer.padding // 2] * 2, [layer.padding - layer.padding // 2] * 2
            return opset1.max_pool(inputs[0], [layer.stride] * 2, before, after, [layer.size] * 2)
        case layers.LocalAveragePool():
            before, after = [layer.padding // 2] * 2, [layer.padding - layer.padding // 2] * 2
            return opset1.avg_pool(inputs[0], [layer.stride] * 2, before, after, [layer.size] * 2, exclude_pad=True)
        case layers.Reorg():
            return _reorg(layer, inputs[0])
        case layers.AveragePool():
            return opset13.reduce_mean(inputs[0], opset13.constant(np.array([2, 3], np.int64)), keep_dims=True)
        case layers.Upsample():
            return _upsample(layer, inputs[0])
        case layers.Shortcut():
            total = inputs[0]
            for other in inputs[1:]:
                total = _add(total, other)
            return _activate(layer.activation, total)
        case layers.Route():
            return _route(layer, inputs)
        case layers.ScaleChannels() | layers.Sam():
            return _activate(layer.activation, opset13.multiply(*inputs))
        case layers.Region():
            return _region(layer, inputs[0])
        case layers.Identity() | layers.Yolo():
            return inputs[0]
        case _:
            raise NotImplementedError(f"no OpenVINO form of {type(layer).__name__}")


def _convolve(layer: layers.Convolution, data: Node) -> Node:
    weights = layer.weights
    stride, padding, dilation = [layer.stride] * 2, [layer.padding] * 2, [1, 1]
    if layer.groups == 1:
        product = opset13.convolution(data, opset13.constant(weights), stride, padding, padding, dilation)
    else:
        grouped = weights.reshape(layer.groups, -1, *weights.shape[1:])
        product = opset13.group_convolution(data, opset13.constant(grouped), stride, padding, padding, dilation)
    return opset13.add(product, opset13.constant(layer.bias.reshape(1, -1, 1, 1)))


def _upsample(layer: layers.Upsample, data: Node) -> Node:
    return opset13.interpolate(
        data,
        opset13.constant(np.array(layer.shape[1:], np.int64)),
        mode="nearest",
        shape_calculation_mode="sizes",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
        axes=opset13.constant(np.array([2, 3], np.int64)),
    )


def _route(layer: layers.Route, inputs: list[Node]) -> Node:
    if layer.groups > 1:
        inputs = [_channel_group(layer, data) for data in inputs]
    return inputs[0] if len(inputs) == 1 else opset13.concat(inputs, 1)


def _channel_group(layer: layers.Route, data: Node) -> Node:
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


def _reorg(layer: layers.Reorg, data: Node) -> Node:
    batch, stride, (channels, height, width) = data.get_output_shape(0)[0], layer.stride, layer.view
    squares = _reshape(data, (batch, channels, height // stride, stride, width // stride, stride))
    order = opset13.constant(np.array([0, 3, 5, 1, 2, 4], np.int64))
    return _reshape(opset13.transpose(squares, order), (batch, *layer.shape))


def _region(layer: layers.Region, data: Node) -> Node:
    batch, (channels, height, width) = data.get_output_shape(0)[0], layer.shape
    boxes = _reshape(data, (batch, len(layer.anchors), 5 + layer.classes, height * width))
    probability = opset13.softmax(_channels(boxes, 5, 5 + layer.classes, axis=2), 2)
    least, one = (opset13.constant(np.float32(number)) for number in (layers.MIN_PROBABILITY, 1))
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


def lower_onnx(network: OnnxNetwork, batch: int) -> ov.Model:
    """Write an ONNX network as a model with one input, float32 (batch, height, width, 3), RGB, 0..255.

    Raises ModelError: OpenVINO cannot read the network, or its outputs have other shapes than the file says. Raises RuntimeError: OpenVINO
    cannot change its input.
    """
    try:
        model = process_core().read_model(network.content, b"")
        shapes = {network.input: PartialShape([batch, 3, network.height, network.width])}
        sizes = network.sizes_input
        if sizes is not None and any(sizes in value.get_names() for value in model.inputs):  # not if nothing reads it
            model.reshape({**shapes, sizes: PartialShape([batch, 2])})
            _fix_sizes(model, sizes, network, batch)
        else:
            model.reshape(shapes)
    except RuntimeError as problem:
        raise ModelError(Notice("model.onnx_not_loaded", path=Path(f"{network.name}.onnx"), problem=str(problem)[-500:])) from problem
    _check_outputs(model, network, batch)
    prepared = PrePostProcessor(model)
    pictures = prepared.input(network.input)
    pictures.tensor().set_element_type(Type.f32).set_layout(Layout("NHWC"))
    pictures.model().set_layout(Layout("NCHW"))
    steps, preprocessing = pictures.preprocess(), network.preprocessing
    if preprocessing.bgr:
        steps.reverse_channels()
    if any(preprocessing.mean):
        steps.mean(list(preprocessing.mean))
    if preprocessing.scale != (1.0, 1.0, 1.0):
        steps.scale(list(preprocessing.scale))
    for number in range(len(model.outputs)):
        prepared.output(number).tensor().set_element_type(Type.f32)
    return prepared.build()


def _fix_sizes(model: ov.Model, name: str, network: OnnxNetwork, batch: int) -> None:
    """Make the input for sizes a constant: boxes refer to the network's input."""
    (parameter,) = (node for node in model.get_parameters() if name in node.output(0).get_names())
    kind = parameter.get_element_type().to_dtype()
    constant = ov.opset13.constant(np.tile(np.array([[network.width, network.height]], kind), (batch, 1)))
    for target in parameter.output(0).get_target_inputs():
        target.replace_source_output(constant.output(0))
    model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()


def _check_outputs(model: ov.Model, network: OnnxNetwork, batch: int) -> None:
    """Check the shapes on which decoding relies: a file may say something else about its outputs than what it computes."""
    wanted = [PartialShape([-1 if size is None else size for size in shape]) for shape in network.output_shapes(batch)]
    found = [output.get_partial_shape() for output in model.outputs]
    if len(found) != len(wanted) or not all(shape.compatible(other) for shape, other in zip(found, wanted, strict=True)):
        if batch > 1 and all(shape.rank.is_static and len(shape) and shape[0] == 1 for shape in found):
            raise ModelError(Notice("backends.onnx_batch", name=network.name, option=Option("batch")))
        problem = Notice("model.onnx_unknown_outputs", path=Path(f"{network.name}.onnx"), outputs=tuple(str(shape) for shape in found))
        raise ModelError(problem)
