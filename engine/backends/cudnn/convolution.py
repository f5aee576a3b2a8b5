"""One convolution as a cuDNN graph, with bias, activation and sum fused, and its plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cuda.core import Stream

from framefleet.engine.backends.cudnn.library import Library
from framefleet.engine.backends.cudnn.program import Convolve, View
from framefleet.engine.model.network import Activation
from framefleet.engine.notices import DeviceError, Notice

INPUT, WEIGHTS, BIAS, OUTPUT, RESIDUAL, TWO, BOUND = range(1, 8)
"""Numbers of a graph's tensors."""

CONSTANTS = {TWO: 2.0, BOUND: 10.0}
"""Float32 tensors of one number that graphs with Mish read. Above the bound, mish(x) is x in FP32: n / (n + 2) differs from 1 by 4e-9."""

WORKSPACE = 1 << 26
"""Bytes of working memory. Plans that need more are not used."""

Layout = tuple[int, int, int, int]
"""channels, height, width and pitch of a view"""


@dataclass(frozen=True)
class Shape:
    """What a graph depends on: convolutions of equal shapes share their plan. size: of the kernel. Lengths are in pixels."""

    batch: int
    input: Layout
    output: Layout
    residual: Layout | None
    size: int
    stride: int
    padding: int
    activation: Activation

    @classmethod
    def of(cls, operation: Convolve, batch: int) -> Shape:
        """The shape of an operation."""
        residual = None if operation.residual is None else _layout(operation.residual)
        size = operation.weights.shape[2]
        how = size, operation.stride, operation.padding, operation.activation
        return cls(batch, _layout(operation.input), _layout(operation.output), residual, *how)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Shape:
        """The shape whose ``asdict`` went through JSON."""
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**{**values, **lists, "activation": Activation(values["activation"])})


class Plan:
    """A plan on its device. serialized: what ``candidates`` yields."""

    def __init__(self, library: Library, handle: int, serialized: bytes) -> None:
        """Load the plan. Raises DeviceError if cuDNN refuses it."""
        self._cudnn, self._handle = library.cudnn, handle
        self._graph = _new_graph(library, handle)
        try:
            self._graph.deserialize(handle, list(serialized))
        except Exception as problem:
            raise DeviceError(Notice("backends.cudnn_plan_not_loaded", library=str(library), problem=str(problem))) from problem

    def launch(self, addresses: Mapping[int, int], workspace: int, stream: Stream) -> None:
        """Put the convolution on a stream. addresses: of the tensors, by number. workspace: address of WORKSPACE bytes."""
        self._cudnn.set_stream(handle=self._handle, stream=int(stream.handle))
        self._graph.execute(dict(addresses), workspace, handle=self._handle)


def candidates(library: Library, handle: int, shape: Shape) -> Iterator[bytes]:
    """Build the plans that cuDNN offers for a shape, its best guess first. Yields each plan, serialized.

    Raises DeviceError if cuDNN does not support the shape.
    """
    graph = _describe(library, handle, shape)
    try:
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([library.cudnn.heur_mode.A])
        count = int(graph.get_execution_plan_count())
    except Exception as problem:
        refused = Notice("backends.cudnn_shape", library=str(library), shape=str(shape), problem=str(problem))
        raise DeviceError(refused) from problem
    for index in range(count):
        with suppress(Exception):  # cuDNN also offers plans that do not support the shape
            graph.build_plan_at_index(index)
            if graph.get_workspace_size_plan_at_index(index) <= WORKSPACE:
                yield bytes(graph.serialize())


def _new_graph(library: Library, handle: int) -> Any:
    types = library.cudnn.data_type
    return library.cudnn.pygraph(io_data_type=types.HALF, intermediate_data_type=types.FLOAT, compute_data_type=types.FLOAT, handle=handle)


def _describe(library: Library, handle: int, shape: Shape) -> Any:
    """The graph of a shape. Between FP16 inputs and output it computes in FP32."""
    graph, types = _new_graph(library, handle), library.cudnn.data_type

    def values(number: int, layout: Layout) -> Any:
        dim, stride = _sizes(shape.batch, layout)
        return graph.tensor(name=f"t{number}", dim=dim, stride=stride, data_type=types.HALF, uid=number)

    def numbers(number: int, count: int) -> Any:
        return graph.tensor(name=f"t{number}", dim=[1, count, 1, 1], stride=[count, 1, 1, 1], data_type=types.FLOAT, uid=number)

    channels, filters, size = shape.input[0], shape.output[0], shape.size
    dim, stride = [filters, channels, size, size], [channels * size * size, 1, size * channels, channels]
    weights = graph.tensor(name="weights", dim=dim, stride=stride, data_type=types.HALF, uid=WEIGHTS)
    how = {"padding": [shape.padding] * 2, "stride": [shape.stride] * 2, "dilation": [1, 1]}
    value = graph.add(a=graph.conv_fprop(image=values(INPUT, shape.input), weight=weights, **how), b=numbers(BIAS, filters))
    match shape.activation:
        case Activation.MISH:  # x · n / (n + 2) with n = e (e + 2), e = exp(min(x, bound)); other forms are slower
            two = numbers(TWO, 1)
            e = graph.exp(input=graph.min(input0=value, input1=numbers(BOUND, 1)))
            n = graph.mul(a=e, b=graph.add(a=e, b=two))
            value = graph.div(a=graph.mul(a=value, b=n), b=graph.add(a=n, b=two))
        case Activation.LEAKY:
            value = graph.relu(input=value, negative_slope=0.1)
        case Activation.RELU:
            value = graph.relu(input=value)
        case Activation.LOGISTIC:
            value = graph.sigmoid(input=value)
        case Activation.SWISH:
            value = graph.mul(a=value, b=graph.sigmoid(input=value))
    if shape.residual is not None:
        value = graph.add(a=value, b=values(RESIDUAL, shape.residual))
    dim, stride = _sizes(shape.batch, shape.output)
    value.set_output(True).set_data_type(types.HALF).set_uid(OUTPUT)
    value.set_dim(dim)
    value.set_stride(stride)
    return graph


def _layout(view: View) -> Layout:
    return view.channels, view.height, view.width, view.pitch


def _sizes(batch: int, layout: Layout) -> tuple[list[int], list[int]]:
    """Sizes and strides of values, in cuDNN's order: batch, channels, height, width."""
    channels, height, width, pitch = layout
    return [batch, channels, height, width], [height * width * pitch, 1, width * pitch, pitch]
