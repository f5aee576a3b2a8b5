"""Builds compiled models and engines from parts of a network."""

from collections.abc import Mapping

import openvino as ov

from framefleet.engine.backends.openvino.engine import Engine
from framefleet.engine.backends.openvino.library import ELEMENT_TYPES, openvino_name, process_core
from framefleet.engine.backends.openvino.lowering import lower
from framefleet.engine.errors import DeviceError
from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Part, split
from framefleet.engine.notices import Notice
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId, of_device

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
