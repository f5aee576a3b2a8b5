"""Networks in ONNX files, built by TensorRT's own parser: plans, and the engine around one."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.backends.base import Progress
from framefleet.engine.backends.nvidia.engine import Engine, Outputs
from framefleet.engine.backends.tensorrt.library import Library, logger
from framefleet.engine.backends.tensorrt.plan import Plan, build_definition, empty_definition
from framefleet.engine.cuda.graph import Step
from framefleet.engine.cuda.memory import Memory
from framefleet.engine.model.onnx.network import OnnxNetwork
from framefleet.engine.notices import DeviceError, Notice, Option
from framefleet.engine.settings import Precision
from framefleet.plugins.cache import FileCache

_PICTURES = "pictures"
_MAX_ERRORS = 5


def build_onnx_plan(library: Library, network: OnnxNetwork, batch: int, precision: Precision, progress: Progress | None = None) -> bytes:
    """The serialized plan of a network. Its outputs are ``output0``, …, float32; TensorRT-RTX needs no device for this.

    Raises DeviceError: the library lacks operators of the network, or cannot build it, or its outputs have other shapes than the reading
    needs. Raises ModelError: the network cannot be computed in FP16.
    """
    from framefleet.engine.model.onnx.prepare import with_fixed_inputs  # imports onnx, which other networks do not need

    trt = library.trt
    content = with_fixed_inputs(network, batch, precision is Precision.FP16)
    builder, definition = empty_definition(library)
    parser = trt.OnnxParser(definition, logger(trt))
    if not parser.parse(content):
        raise _lacking(library, network, [parser.get_error(number) for number in range(parser.num_errors)])
    kinds = {definition.get_layer(number).type for number in range(definition.num_layers)}
    if not library.full and trt.LayerType.NMS in kinds:
        raise _refused(library, network, "NonMaxSuppression")
    definition.get_input(0).name = _PICTURES
    values = [definition.get_output(number) for number in range(definition.num_outputs)]
    for number, value in enumerate(values):
        definition.unmark_output(value)
        exact = definition.add_cast(value, trt.float32).get_output(0)
        exact.name = _output(number)
        definition.mark_output(exact)
    _check_shapes(library, network, batch, [tuple(value.shape) for value in values])
    return build_definition(library, builder, definition, network.name, progress)


def _output(number: int) -> str:
    return f"output{number}"


def _lacking(library: Library, network: OnnxNetwork, errors: Sequence[Any]) -> DeviceError:
    """The parser's errors, each with its operator."""
    said = dict.fromkeys(f"{error.node_operator()}: {error.desc()}" if error.node_operator() else error.desc() for error in errors)
    problem = "; ".join(list(said)[:_MAX_ERRORS])
    return _refused(library, network, problem[:500])


def _refused(library: Library, network: OnnxNetwork, problem: str) -> DeviceError:
    return DeviceError(
        Notice("backends.onnx_not_on_gpu", name=network.name, library=str(library), problem=problem, option=Option("devices", "cpu:0"))
    )


def _check_shapes(library: Library, network: OnnxNetwork, batch: int, shapes: Sequence[tuple[int, ...]]) -> None:
    """Check what decoding relies on: a file may say something else about its outputs than what it computes."""
    wanted = network.output_shapes(batch)
    fitting = len(shapes) == len(wanted) and all(
        len(shape) == len(other) and all(size > 0 and expected in (None, size) for size, expected in zip(shape, other, strict=True))
        for shape, other in zip(shapes, wanted, strict=True)
    )
    if not fitting:
        raise _refused(library, network, "outputs " + ", ".join(str(list(shape)) for shape in shapes))


def prepare_onnx_plan(
    library: Library, network: OnnxNetwork, batch: int, precision: Precision, cache: FileCache, situation: str, progress: Progress
) -> Plan:
    """Build or load the plan of a network on the current device. situation, errors: see ``prepare_plan`` and ``build_onnx_plan``."""
    key = f"{situation}\n{precision}\n{batch}\nonnx"
    serialized = cache.get(key, lambda: build_onnx_plan(library, network, batch, precision, progress))
    progress(Notice("backends.prepare_kernels"), 0.0)
    return Plan(library, serialized, cache, key)


class OnnxEngine(Engine):
    """A plan for an ONNX file. Raw outputs are those that the reading describes, float32."""

    network: OnnxNetwork

    def __init__(self, network: OnnxNetwork, batch: int, memory: Memory, plan: Plan) -> None:
        """Allocate the memory. Raises OutOfMemoryError if the device's memory does not suffice."""
        self.network, self.batch, self._memory, self._plan = network, batch, memory, plan
        self.number = plan.number(_PICTURES)
        count = len(network.output_shapes(batch))
        shapes = [plan.shape(_output(number)) for number in range(count)]
        if not network.reading.has_rows:  # its rows are those of one picture
            shapes = [shape[1:] for shape in shapes]
        self.pitches = [0] * count
        self._outputs = Outputs(batch, shapes, self.pitches, np.float32)
        plan.use_scratch(memory.device(plan.scratch), plan.scratch)
        size = batch * math.prod((network.channels, network.height, network.width))
        self.pictures = memory.device(size * np.dtype(self.number).itemsize)

    @property
    def outputs(self) -> Outputs:
        """The type and form of the raw outputs."""
        return self._outputs

    def new_heads(self) -> list[int]:
        """Addresses for raw outputs."""
        return [self._memory.device(self._outputs.nbytes(shape)) for shape in self._outputs.shapes]

    def steps(self, heads: Sequence[int]) -> list[Step]:
        """The steps that compute the raw outputs at these addresses from ``pictures``."""
        return [self._plan.step({_PICTURES: self.pictures, **{_output(number): head for number, head in enumerate(heads)}})]

    def prepared(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The network's input from RGB values of 0..1."""
        how = self.network.preprocessing
        values = 255 * (inputs[:, ::-1] if how.bgr else inputs)
        mean, scale = (np.array(each, np.float32).reshape(3, 1, 1) for each in (how.mean, how.scale))
        result: NDArray[np.float32] = (values - mean) / scale
        return result
