"""Builds the plan of a part of a network, or takes it from the cache."""

from typing import Any

from framefleet.engine.backends.base import Progress
from framefleet.engine.backends.tensorrt.library import Library, logger
from framefleet.engine.backends.tensorrt.lowering import Lowering
from framefleet.engine.backends.tensorrt.plan import Plan
from framefleet.engine.errors import DeviceError
from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Part
from framefleet.engine.notices import Notice
from framefleet.engine.settings import Precision
from framefleet.plugins.cache import FileCache

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

    Raises:
        DeviceError: the library cannot build it.
        ModelError: a weight is too large for FP16.
    """
    trt = library.trt
    builder = trt.Builder(logger(trt))
    # versions that are always strongly typed do not have the flag
    strongly_typed = getattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
    definition = builder.create_network(0 if strongly_typed is None else 1 << int(strongly_typed))
    lowering = Lowering(trt, definition, batch, exact, linear, channels_last)
    lowering.write(network, part)
    config = builder.create_builder_config()
    config.clear_flag(trt.BuilderFlag.TF32)  # only FP32 engines have FP32 convolutions
    if progress is not None:
        config.progress_monitor = _monitor(trt, progress)
    try:
        plan = builder.build_serialized_network(definition, config)
    except RuntimeError as problem:
        raise DeviceError(Notice("backends.not_built", library=str(library), name=network.name, problem=str(problem))) from problem
    if plan is None:
        raise DeviceError(Notice("backends.not_built_for_device", library=str(library), name=network.name))
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

    Raises:
        DeviceError: the library cannot build or load the plan.
        ModelError: a weight is too large for FP16.
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
