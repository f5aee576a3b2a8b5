"""Prepares an ``OnnxNetwork`` as an OpenVINO model: pictures in, the outputs of its reading as float32 out."""

from pathlib import Path

import numpy as np
import openvino as ov
from openvino import Layout, PartialShape, Type
from openvino.preprocess import PrePostProcessor

from framefleet.engine.backends.openvino.library import process_core
from framefleet.engine.errors import ModelError
from framefleet.engine.model.onnx.network import OnnxNetwork
from framefleet.engine.notices import Notice


def lower_onnx(network: OnnxNetwork, batch: int) -> ov.Model:
    """Write an ONNX network as a model with one input, float32 (batch, height, width, 3), RGB, 0..255.

    Raises
    ------
    ModelError
        OpenVINO cannot read the network, or its outputs have other shapes than the file says.
    RuntimeError
        OpenVINO cannot change its input.
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
        problem = Notice("model.onnx_unknown_outputs", path=Path(f"{network.name}.onnx"), outputs=tuple(str(shape) for shape in found))
        raise ModelError(problem)
