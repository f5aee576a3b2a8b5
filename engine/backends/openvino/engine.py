"""A network built by OpenVINO, in one part or in several parts of different precision, and the requests that run it."""

from collections.abc import Mapping, Sequence

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from framefleet.engine.backends.base import darknet
from framefleet.engine.backends.openvino.library import ELEMENT_TYPES, openvino_name, process_core
from framefleet.engine.backends.openvino.lowering import lower, lower_onnx
from framefleet.engine.model.network import Network, Yolo
from framefleet.engine.model.onnx.network import Model, OnnxNetwork
from framefleet.engine.model.split import PICTURES, Part, split
from framefleet.engine.notices import DeviceError, Notice, Option
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId, of_device


class Engine:
    """The built parts of a network, in order."""

    def __init__(self, network: Model, parts: Sequence[tuple[Part, ov.CompiledModel]]) -> None:
        self.parts = parts
        self.has_rows = False
        if isinstance(network, OnnxNetwork):
            self.heads = list(parts[0][0].outputs)
            self.has_rows = network.reading.has_rows
        else:
            self.heads = [index for index, layer in enumerate(network.layers) if isinstance(layer, Yolo)]

    @property
    def concurrent(self) -> int:
        """The number of requests that keep the device busy."""
        count: int = self.parts[0][1].get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        return count


class Request:
    """One inference at a time: fill ``inputs``, ``run``, read ``heads``.

    inputs: float32, the network's input; the array stays the same.
    """

    def __init__(self, engine: Engine) -> None:
        self._requests = [compiled.create_infer_request() for _, compiled in engine.parts]
        tensors: dict[int, ov.Tensor] = {}
        for (part, _), request in zip(engine.parts, self._requests, strict=True):
            for position, index in enumerate(part.inputs):
                if index in tensors:
                    request.set_input_tensor(position, tensors[index])
                else:
                    tensors[index] = request.get_input_tensor(position)
            tensors |= {index: request.get_output_tensor(position) for position, index in enumerate(part.outputs)}
        self.inputs: NDArray[np.float32] = tensors[PICTURES].data
        self._heads: list[NDArray[np.float32] | int] = [
            position if engine.has_rows or compiled.output(position).get_partial_shape().is_dynamic else tensors[index].data
            for (part, compiled), _ in zip(engine.parts, self._requests, strict=True)
            for position, index in enumerate(part.outputs)
            if index in engine.heads
        ]
        self._has_rows = engine.has_rows

    def run(self, parts: slice = slice(None)) -> None:
        """Infer, and wait for the raw outputs. parts: run only these parts, whose inputs are ready.

        Raises RuntimeError if OpenVINO failed.
        """
        for request in self._requests[parts]:
            request.start_async()
            request.wait()

    @property
    def heads(self) -> list[NDArray[np.float32]]:
        """The raw outputs: of the YOLO heads, float32 (batch, channels, rows, columns), or as the reading of an ``OnnxNetwork`` says."""
        return [head if isinstance(head, np.ndarray) else self._filled(head) for head in self._heads]

    def _filled(self, position: int) -> NDArray[np.float32]:
        """An output whose number of rows depends on the picture, with rows of -1 up to a fixed number: float32 (1, rows, values)."""
        rows = self._requests[-1].get_output_tensor(position).data
        if self._has_rows:
            rows = rows[None]
        filled = np.full((1, MAX_ROWS, *rows.shape[2:]), -1, np.float32)
        filled[:, : rows.shape[1]] = rows[:1, :MAX_ROWS]
        return filled


MAX_ROWS = 4_096
"""Maximum number of boxes of a network whose number of boxes depends on the picture."""

_EXACT_SHARE = 0.8
"""``mixed`` computes this share of the layers in fp32 and the rest in bf16: the rounding errors of a layer pass through
all layers after it, so bf16 harms the last fifth of the network least."""


class Builder:
    """Builds one network for OpenVINO. device: named in errors; ``build`` builds for the first of its members."""

    def __init__(self, device: DeviceId, network: Model, settings: EngineSettings) -> None:
        """Raises DeviceError if an ONNX file takes one picture at once, and the settings say another batch."""
        if isinstance(network, OnnxNetwork) and network.fixed_batch and settings.batch not in (None, 1):
            raise DeviceError(of_device(device, Notice("backends.onnx_batch", name=network.name, option=Option("batch"))))
        self._device, self._network, self._settings = device, network, settings
        self.name = openvino_name(device.members[0])
        self.batch = settings.batch or 1

    def build(self, precision: Precision, pictures: bool = True, batch: int | None = None) -> Engine:
        """Build the whole network. pictures: see ``lower``. batch: None = the batch of the settings."""
        options = {"PERFORMANCE_HINT": self._settings.hint.value.upper()}
        if isinstance(self._network, OnnxNetwork):
            compiled = self._compile(lower_onnx(self._network, batch or self.batch), precision, self.name, self._settings.threads, options)
            return Engine(self._network, [(Part(range(0), (PICTURES,), tuple(range(len(compiled.outputs)))), compiled)])
        plan = plan_precision(self._network, precision)
        parts = split(self._network, *list(plan)[1:])
        built = [
            self.compile(part, each, self.name, self._settings.threads, options, pictures, batch)
            for part, each in zip(parts, plan.values(), strict=True)
        ]
        return Engine(self._network, list(zip(parts, built, strict=True)))

    def compile(
        self,
        part: Part,
        precision: Precision,
        name: str,
        threads: int | None,
        options: Mapping[str, object],
        pictures: bool = True,
        batch: int | None = None,
    ) -> ov.CompiledModel:
        """Compile a part of a Darknet network for OpenVINO's device ``name``. options: in addition to precision and threads.

        Raises DeviceError if OpenVINO cannot build it.
        """
        network = darknet(self._network, self._device)
        return self._compile(lower(network, part, batch or self.batch, pictures), precision, name, threads, options)

    def _compile(
        self, model: ov.Model, precision: Precision, name: str, threads: int | None, options: Mapping[str, object]
    ) -> ov.CompiledModel:
        # always set: on some CPUs the library's default is bf16
        all_options = {**options, "INFERENCE_PRECISION_HINT": ELEMENT_TYPES[precision]}
        if name == "CPU" and threads is not None:
            # several engines on the same cores: if each pinned its threads to the first cores, others would stay idle
            all_options |= {"INFERENCE_NUM_THREADS": threads, "ENABLE_CPU_PINNING": False}
        try:
            return process_core().compile_model(model, name, all_options)
        except RuntimeError as problem:
            why = Notice("backends.openvino_not_built", name=self._network.name, precision=precision.value, problem=str(problem))
            raise DeviceError(of_device(self._device, why)) from problem


def plan_precision(network: Network, precision: Precision) -> dict[int, Precision]:
    """The precision of the layers, by the index of the first layer that has it."""
    if precision is not Precision.MIXED:
        return {0: precision}
    return {0: Precision.FP32, int(_EXACT_SHARE * len(network.layers)): Precision.BF16}
