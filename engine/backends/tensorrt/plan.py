"""Plans: built for a part of a network or taken from the cache, loaded onto their device, ready for a stream."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from cuda.core import Device, Stream

from framefleet.engine.backends.base import Progress
from framefleet.engine.backends.tensorrt.library import Library, logger
from framefleet.engine.backends.tensorrt.lowering import Lowering
from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Part
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.settings import Precision
from framefleet.engine.types import Closing
from framefleet.plugins.cache import FileCache
from framefleet.plugins.kernels import Number


@cache
def _runtime(trt: Any, _device: int) -> Any:
    """The one runtime of a library for a device, which must be the current one. It lives as long as the process, like the context."""
    return trt.Runtime(logger(trt))


class Plan(Closing):
    """One deserialized plan. cache, key: for the kernels that TensorRT-RTX compiles for the device when a plan is loaded.

    scratch: bytes of device memory that the plan needs while it runs; set it with ``use_scratch``. Plans that run one after the other
    may share the memory.
    """

    def __init__(self, library: Library, serialized: bytes, cache: FileCache, key: str) -> None:
        """Load the plan onto the current device.

        Raises DeviceError if the library refuses the plan or the device, or the device's memory does not suffice.
        """
        self._library = library
        self._engine = _runtime(library.trt, Device().device_id).deserialize_cuda_engine(serialized)
        if self._engine is None:
            raise DeviceError(Notice("backends.plan_not_loaded", library=str(library)))
        self._context = self._create_context(cache, f"{key}\nkernels")
        if self._context is None:
            raise DeviceError(Notice("backends.plan_not_prepared", library=str(library)))
        self.scratch = int(self._engine.device_memory_size_v2)

    def use_scratch(self, address: int, nbytes: int) -> None:
        """Set the working memory: at least ``scratch`` bytes, aligned to 256."""
        self._context.set_device_memory(address, nbytes)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an input or output; -1 where a size depends on values."""
        return tuple(self._engine.get_tensor_shape(name))

    def number(self, name: str) -> Number:
        """The type of an input or output, FP16 or FP32."""
        return np.float16 if self._engine.get_tensor_dtype(name) == self._library.trt.float16 else np.float32

    def step(self, addresses: Mapping[str, int]) -> PlanStep:
        """The plan as a step. addresses: device addresses of its inputs and outputs, by name."""
        return PlanStep(self._library, self, dict(addresses))

    def run(self, addresses: Mapping[str, int], stream: Stream) -> bool:
        """Put the plan on a stream. Returns whether the library accepted it."""
        for name, address in addresses.items():
            self._context.set_tensor_address(name, address)
        return bool(self._context.execute_async_v3(int(stream.handle)))

    def close(self) -> None:
        """Release the execution context, then the engine. The plan's device must be the current one; see ``Memory.own``."""
        self._context = None
        self._engine = None

    def _create_context(self, cache: FileCache, key: str) -> Any:
        trt = self._library.trt
        by_user = trt.ExecutionContextAllocationStrategy.USER_MANAGED
        if self._library.full:
            return self._engine.create_execution_context(by_user)
        config = self._engine.create_runtime_config()
        config.set_execution_context_allocation_strategy(by_user)
        kernels = config.create_runtime_cache()
        known = cache.read(key)
        if known is not None and not kernels.deserialize(known):
            known = None
        config.set_runtime_cache(kernels)
        context = self._engine.create_execution_context(config)
        if context is not None and known is None:
            cache.write(key, bytes(kernels.serialize()))
        return context


class PlanStep:
    """A plan with the addresses of its inputs and outputs: a ``Step``."""

    def __init__(self, library: Library, plan: Plan, addresses: Mapping[str, int]) -> None:
        self._library, self._plan, self._addresses = library, plan, addresses

    def launch(self, stream: Stream) -> None:
        """Put the work on a stream."""
        if not self._plan.run(self._addresses, stream):
            raise DeviceError(Notice("backends.plan_not_run", library=str(self._library)))


_PHASES = {
    "Building engine": Notice("backends.tensorrt_build"),
    "Building engine from subgraph": Notice("backends.tensorrt_build_subgraph"),
    "Cloning network graph": Notice("backends.tensorrt_clone"),
    "Computing profile costs": Notice("backends.tensorrt_profile"),
    "Computing reformatting costs": Notice("backends.tensorrt_reformat_costs"),
    "Determining refit engines": Notice("backends.tensorrt_refit"),
    "Optimizing graph": Notice("backends.tensorrt_optimize"),
    "Preparing graph for optimization": Notice("backends.tensorrt_prepare"),
    "Timing graph nodes": Notice("backends.tensorrt_time_nodes"),
    "Timing tactics": Notice("backends.tensorrt_time_tactics"),
    "Timing tensor reformats": Notice("backends.tensorrt_time_reformats"),
}
"""The phases that TensorRT reports, by its names."""


def build_plan(
    library: Library,
    network: Network,
    part: Part,
    batch: int,
    exact: bool = False,
    linear: frozenset[int] = frozenset(),
    progress: Progress | None = None,
    channels_last: frozenset[int] = frozenset(),
) -> bytes:
    """The serialized plan of a part for the current device; TensorRT-RTX needs no device for this. Options: see ``Lowering``.

    Raises DeviceError: the library cannot build it. Raises ModelError: a weight is too large for FP16.
    """
    builder, definition = empty_definition(library)
    lowering = Lowering(library.trt, definition, batch, exact, linear, channels_last)
    lowering.write(network, part)
    return build_definition(library, builder, definition, network.name, progress)


def empty_definition(library: Library) -> tuple[Any, Any]:
    """A builder, and an empty network whose numbers have the types that its layers say."""
    trt = library.trt
    builder = trt.Builder(logger(trt))
    # versions that are always strongly typed do not have the flag
    strongly_typed = getattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
    return builder, builder.create_network(0 if strongly_typed is None else 1 << int(strongly_typed))


def build_definition(library: Library, builder: Any, definition: Any, name: str, progress: Progress | None) -> bytes:
    """The serialized plan of a network of TensorRT. name: of the model, for errors.

    Raises DeviceError if the library cannot build it.
    """
    trt = library.trt
    config = builder.create_builder_config()
    config.clear_flag(trt.BuilderFlag.TF32)  # only FP32 engines have FP32 convolutions
    if progress is not None:
        config.progress_monitor = _monitor(trt, progress)
    try:
        plan = builder.build_serialized_network(definition, config)
    except RuntimeError as problem:
        raise DeviceError(Notice("backends.not_built", library=str(library), name=name, problem=str(problem))) from problem
    if plan is None:
        raise DeviceError(Notice("backends.not_built_for_device", library=str(library), name=name))
    return bytes(plan)


def prepare_plan(
    library: Library,
    network: Network,
    part: Part,
    batch: int,
    precision: Precision,
    cache: FileCache,
    situation: str,
    progress: Progress,
    linear: frozenset[int] = frozenset(),
    channels_last: frozenset[int] = frozenset(),
) -> Plan:
    """Build or load the plan of a part on the current device. situation: key of everything else that the plan depends on.

    Raises
    ------
    DeviceError
        The library cannot build or load the plan.
    ModelError
        A weight is too large for FP16.
    """
    key = f"{situation}\n{precision}\n{batch}\n{part}\n{sorted(linear)}\n{sorted(channels_last)}"
    exact, inside = precision is Precision.FP32, linear & frozenset(part.layers)
    serialized = cache.get(key, lambda: build_plan(library, network, part, batch, exact, inside, progress, channels_last))
    progress(Notice("backends.prepare_kernels"), 0.0)
    return Plan(library, serialized, cache, key)


def _monitor(trt: Any, progress: Progress) -> Any:
    """A monitor that reports each phase at every percent."""

    class Monitor(trt.IProgressMonitor):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.IProgressMonitor.__init__(self)
            self._steps: dict[str, int] = {}

        def phase_start(self, phase_name: str, _parent: str | None, num_steps: int) -> None:
            self._steps[phase_name] = num_steps

        def step_complete(self, phase_name: str, step: int) -> bool:
            steps = self._steps.get(phase_name, 0)
            if steps and 100 * (step + 1) // steps > 100 * step // steps:
                progress(_PHASES.get(phase_name, Notice("general.detail", detail=phase_name)), min(1.0, (step + 1) / steps))
            return True

        def phase_finish(self, phase_name: str) -> None:
            self._steps.pop(phase_name, None)

    return Monitor()
