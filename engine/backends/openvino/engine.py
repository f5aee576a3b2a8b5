"""A network built by OpenVINO, in one part or in several parts of different precision, and the requests that run it."""

from collections.abc import Mapping, Sequence

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from framefleet.engine.backends.openvino.library import ELEMENT_TYPES, openvino_name, process_core
from framefleet.engine.backends.openvino.lowering import lower
from framefleet.engine.errors import DeviceError
from framefleet.engine.model.network import Network, Yolo
from framefleet.engine.model.split import PICTURES, Part, split
from framefleet.engine.notices import Notice
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId, of_device


class Engine:
    """The built parts of a network, in order."""

    def __init__(self, network: Network, parts: Sequence[tuple[Part, ov.CompiledModel]]) -> None:
        self.parts = parts
        self.heads = [index for index, layer in enumerate(network.layers) if isinstance(layer, Yolo)]

    @property
    def concurrent(self) -> int:
        """The number of requests that keep the device busy."""
        count: int = self.parts[0][1].get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        return count


class Request:
    """One inference at a time: fill ``inputs``, ``run``, read ``heads``; the arrays stay the same.

    inputs: float32, the network's input. heads: raw outputs of the YOLO heads, float32 (batch, channels, rows, columns).
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
        self.heads: list[NDArray[np.float32]] = [tensors[index].data for index in engine.heads]

    def run(self, parts: slice = slice(None)) -> None:
        """Infer, and wait for the raw outputs. parts: run only these parts, whose inputs are ready.

        Raises RuntimeError if OpenVINO failed.
        """
        for request in self._requests[parts]:
            request.start_async()
            request.wait()


_EXACT_SHARE = 0.8
"""``mixed`` computes this share of the layers in fp32 and the rest in bf16: the rounding errors of a layer pass through
all layers after it, so bf16 harms the last fifth of the network least."""


class Builder:
    """Builds one network for OpenVINO. device: named in errors; ``build`` builds for the first of its members."""

    def __init__(self, device: DeviceId, network: Network, settings: EngineSettings) -> None:
        self._device, self._network, self._settings = device, network, settings
        self.name = openvino_name(device.members[0])
        self.batch = settings.batch or 1

    def build(self, precision: Precision, pictures: bool = True, batch: int | None = None) -> Engine:
        """Build the whole network. pictures: see ``lower``. batch: None = the batch of the settings."""
        plan = plan_precision(self._network, precision)
        options = {"PERFORMANCE_HINT": self._settings.hint.value.upper()}
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
        """Compile a part of the network for OpenVINO's device ``name``. options: in addition to precision and threads.

        Raises DeviceError if OpenVINO cannot build it.
        """
        # always set: on some CPUs the library's default is bf16
        all_options = {**options, "INFERENCE_PRECISION_HINT": ELEMENT_TYPES[precision]}
        if name == "CPU" and threads is not None:
            # several engines on the same cores: if each pinned its threads to the first cores, others would stay idle
            all_options |= {"INFERENCE_NUM_THREADS": threads, "ENABLE_CPU_PINNING": False}
        try:
            return process_core().compile_model(lower(self._network, part, batch or self.batch, pictures), name, all_options)
        except RuntimeError as problem:
            why = Notice("backends.openvino_not_built", name=self._network.name, precision=precision.value, problem=str(problem))
            raise DeviceError(of_device(self._device, why)) from problem


def plan_precision(network: Network, precision: Precision) -> dict[int, Precision]:
    """The precision of the layers, by the index of the first layer that has it."""
    if precision is not Precision.MIXED:
        return {0: precision}
    return {0: Precision.FP32, int(_EXACT_SHARE * len(network.layers)): Precision.BF16}
