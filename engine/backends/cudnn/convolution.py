"""One convolution as a cuDNN graph: with bias, activation and sum fused, and the plans that cuDNN offers for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cuda.core import Stream

from engine.backends.cudnn.library import Library
from engine.backends.cudnn.program import Convolve, View
from engine.errors import DeviceError
from engine.model.network import Activation

_MISH_BOUND = 10.0
"""Above this bound, mish(x) is x in FP32: n / (n + 2) differs from 1 by 4e-9."""

INPUT, WEIGHTS, BIAS, OUTPUT, RESIDUAL, TWO, BOUND = range(1, 8)
"""Numbers of a graph's tensors."""

FORM = "div"
CONSTANTS = {TWO: 2.0, BOUND: _MISH_BOUND}


@dataclass(frozen=True)
class Shape:
    """What a graph depends on: equal convolutions share one graph. Views as (channels, height, width, pitch)."""

    batch: int
    input: tuple[int, int, int, int]
    output: tuple[int, int, int, int]
    residual: tuple[int, int, int, int] | None
    size: int
    stride: int
    padding: int
    activation: Activation

    @classmethod
    def of(cls, operation: Convolve, batch: int) -> Shape:
        """The shape of an operation's graph."""
        residual = None if operation.residual is None else _layout(operation.residual)
        size = operation.weights.shape[2]
        how = size, operation.stride, operation.padding, operation.activation
        return cls(batch, _layout(operation.input), _layout(operation.output), residual, *how)


def _layout(view: View) -> tuple[int, int, int, int]:
    return view.channels, view.height, view.width, view.pitch


class Graph:
    """The cuDNN graph of one shape. plans: number of plans that cuDNN offers, best guess first.

    Raises:
        DeviceError: cuDNN does not support the shape.
    """

    def __init__(self, library: Library, handle: Any, shape: Shape) -> None:
        self._library, self._handle, self.shape = library, handle, shape
        cudnn = library.cudnn
        half, single = cudnn.data_type.HALF, cudnn.data_type.FLOAT
        graph = cudnn.pygraph(io_data_type=half, intermediate_data_type=single, compute_data_type=single, handle=handle)

        def tensor(number: int, layout: tuple[int, int, int, int]) -> Any:
            dim, stride = _nhwc(shape.batch, layout)
            return graph.tensor(name=f"t{number}", dim=dim, stride=stride, data_type=half, uid=number)

        def vector(number: int, count: int) -> Any:
            return graph.tensor(name=f"t{number}", dim=[1, count, 1, 1], stride=[count, 1, 1, 1], data_type=single, uid=number)

        channels, filters = shape.input[0], shape.output[0]
        size = shape.size
        weights = graph.tensor(
            name="weights",
            dim=[filters, channels, size, size],
            stride=[channels * size * size, 1, size * channels, channels],
            data_type=half,
            uid=WEIGHTS,
        )
        around, step = [shape.padding] * 2, [shape.stride] * 2
        value = graph.conv_fprop(image=tensor(INPUT, shape.input), weight=weights, padding=around, stride=step, dilation=[1, 1])
        value = graph.add(a=value, b=vector(BIAS, filters))
        match shape.activation:
            case Activation.MISH:  # x · n / (n + 2) with n = e (e + 2), e = exp(min(x, 10))
                two = vector(TWO, 1)
                e = graph.exp(input=graph.min(input0=value, input1=vector(BOUND, 1)))
                n = graph.mul(a=e, b=graph.add(a=e, b=two))
                if FORM == "div":
                    value = graph.div(a=graph.mul(a=value, b=n), b=graph.add(a=n, b=two))
                elif FORM == "reciprocal":
                    value = graph.mul(a=graph.mul(a=value, b=n), b=graph.reciprocal(input=graph.add(a=n, b=two)))
                elif FORM == "rsqrt":
                    d = graph.add(a=n, b=two)
                    value = graph.mul(a=graph.mul(a=value, b=n), b=graph.rsqrt(input=graph.mul(a=d, b=d)))
            case Activation.LEAKY:
                value = graph.relu(input=value, negative_slope=0.1)
            case Activation.RELU:
                value = graph.relu(input=value)
            case Activation.LOGISTIC:
                value = graph.sigmoid(input=value)
            case Activation.SWISH:
                value = graph.mul(a=value, b=graph.sigmoid(input=value))
        if shape.residual is not None:
            value = graph.add(a=value, b=tensor(RESIDUAL, shape.residual))
        dim, stride = _nhwc(shape.batch, shape.output)
        value.set_output(True).set_data_type(half).set_uid(OUTPUT)
        value.set_dim(dim)
        value.set_stride(stride)
        try:
            graph.validate()
            graph.build_operation_graph()
            graph.create_execution_plans([cudnn.heur_mode.A])
            self.plans = int(graph.get_execution_plan_count())
        except Exception as problem:
            raise DeviceError(f"{library} does not support a convolution of {shape}: {problem}") from problem
        self._graph = graph
        self._built: dict[int, int] = {}

    def build(self, plan: int) -> int | None:
        """Build a plan. Returns the bytes of its working memory, None if cuDNN cannot build it."""
        if plan not in self._built:
            try:
                self._graph.build_plan_at_index(plan)
                self._built[plan] = int(self._graph.get_workspace_size_plan_at_index(plan))
            except Exception:  # cuDNN offers plans that do not support the problem
                self._built[plan] = -1
        return self._built[plan] if self._built[plan] >= 0 else None

    def launch(self, plan: int, addresses: Mapping[int, int], workspace: int, stream: Stream) -> None:
        """Put a built plan on a stream. addresses: of the tensors."""
        cudnn = self._library.cudnn
        cudnn.set_stream(handle=self._handle, stream=int(stream.handle))
        self._graph.execute_plan_at_index(dict(addresses), workspace, plan, handle=self._handle)


def _nhwc(batch: int, layout: tuple[int, int, int, int]) -> tuple[list[int], list[int]]:
    channels, height, width, pitch = layout
    return [batch, channels, height, width], [height * width * pitch, 1, width * pitch, pitch]
