"""OpenVINO: CPUs, and Intel's GPUs and NPUs.

Every inference request has a thread that starts it, awaits it and decodes its outputs, so one more request than the
device runs at once keeps the device busy while results are decoded.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from statistics import median

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from engine.backends.base import Backend, Progress
from engine.backends.openvino.devices import BACKEND, ELEMENT_TYPES, device_name, offered_precisions, process_core
from engine.backends.openvino.engine import Engine, Request
from engine.backends.openvino.lowering import lower
from engine.backends.precision import Trial, resolve_precision
from engine.detection.postprocess import detections
from engine.detection.preprocess import Fit, fit
from engine.errors import DeviceError, ModelError, UsageError
from engine.model.network import Network
from engine.model.split import Part, split
from engine.settings import EngineSettings, Hint, Precision, Resize
from engine.types import Detections, DeviceId, EngineInfo, Image

_TRIAL_SECONDS, _TRIAL_ROUNDS, _ROUND_SECONDS = 1.1, 3, 0.05
"""How long, and how often, a precision and fp32 are timed in turn at least, where ``auto`` is asked for, and how long each time."""

_EXACT_SHARE = 0.8
"""``mixed`` computes this share of the layers in fp32 and the rest in bf16: the rounding errors of a layer pass through
all layers after it, so that the last fifth may be computed roughly where the whole network may not."""


class OpenVinoBackend(Backend):
    """A network built by OpenVINO for ``cpu:0`` or ``openvino:NAME``."""

    def __init__(self, device: DeviceId) -> None:
        super().__init__(device)
        self._name = openvino_name(device.members[0])
        self._core = process_core()
        self._yardstick: Sequence[Request] = []

    def _activate_impl(self, network: Network, settings: EngineSettings, progress: Progress | None) -> EngineInfo:
        if network.channels != 3:
            raise ModelError(f"{network.name} takes pictures of {network.channels} channels; videos have 3")
        try:
            full_name, offered = device_name(self._core, self._name), offered_precisions(self._core, self._name)
        except RuntimeError as problem:
            available = ", ".join(self._core.available_devices) or "none"
            raise DeviceError(f"{self.device}: OpenVINO finds no device {self._name} (it has: {available})") from problem
        if settings.threads is not None and settings.threads < 1:
            raise UsageError(f"{self.device}: {settings.threads} threads: an engine needs at least one")
        self._network, self._settings, self._progress = network, settings, progress
        self._letterbox = network.letter_box if settings.resize is Resize.AUTO else settings.resize is Resize.LETTERBOX
        self._batch = settings.batch or 1
        situation = f"{BACKEND} {full_name} {self._batch} {settings.hint} {settings.threads}"
        precision, reason = resolve_precision(settings.precision, self.device, offered, network, situation, self._try)
        self._yardstick = []
        slots = self._start(precision)
        size = network.width, network.height
        return EngineInfo(self.device, full_name, BACKEND, precision.value, reason, *size, self._batch, slots)

    def _build(self, precision: Precision, pictures: bool = True, batch: int | None = None) -> Engine:
        """The network for this device. pictures: see ``lower``; batch: instead of the settings' one."""
        plan = plan_precision(self._network, precision)
        options = {"PERFORMANCE_HINT": self._settings.hint.value.upper()}
        parts = split(self._network, *list(plan)[1:])
        built = [
            self._compile(part, each, self._name, self._settings.threads, options, pictures, batch)
            for part, each in zip(parts, plan.values(), strict=True)
        ]
        return Engine(self._network, list(zip(parts, built, strict=True)))

    def _compile(
        self,
        part: Part,
        precision: Precision,
        name: str,
        threads: int | None,
        options: dict[str, object] | dict[str, str],
        pictures: bool,
        batch: int | None,
    ) -> ov.CompiledModel:
        """A part of the network for OpenVINO's device ``name``. options: beside those that precision and threads make."""
        # never left to the library: on some CPUs its default is bf16
        options = {**options, "INFERENCE_PRECISION_HINT": ELEMENT_TYPES[precision]}
        if name == "CPU" and threads is not None:
            # several engines on the same cores: each pinning its threads to the first ones would leave others idle
            options = {**options, "INFERENCE_NUM_THREADS": threads, "ENABLE_CPU_PINNING": False}
        try:
            return self._core.compile_model(lower(self._network, part, batch or self._batch, pictures), name, options)
        except RuntimeError as problem:
            raise DeviceError(f"{self.device}: OpenVINO cannot build {self._network.name} in {precision}: {problem}") from problem

    def _try(self, precision: Precision, pictures: list[Image]) -> Trial:
        self._tell(precision, 0.0)
        engine = self._build(precision)
        requests = [Request(engine) for _ in range(engine.concurrent)]
        heads: list[list[NDArray[np.float32]]] = []
        for picture in pictures:  # also the warm-up
            requests[0].inputs[:] = picture
            requests[0].run()
            heads.append([head[:1].copy() for head in requests[0].heads])
        if precision is Precision.FP32:
            self._yardstick = requests
        return Trial([np.concatenate(parts) for parts in zip(*heads, strict=True)], self._gain(requests, precision))

    def _gain(self, requests: Sequence[Request], precision: Precision) -> float:
        """How many times as fast as in fp32 they are. Both take turns, so that whatever else the machine does meets both."""
        if precision is Precision.FP32:
            return 1.0
        ratios, started, spent = list[float](), time.perf_counter(), 0.0
        with ThreadPoolExecutor(max(len(requests), len(self._yardstick))) as threads:
            while len(ratios) < _TRIAL_ROUNDS or spent < _TRIAL_SECONDS:
                ratios.append(self._cost(threads, self._yardstick) / self._cost(threads, requests))
                spent = time.perf_counter() - started
                self._tell(precision, min(1.0, spent / _TRIAL_SECONDS))
        return median(ratios)

    def _cost(self, threads: ThreadPoolExecutor, requests: Sequence[Request]) -> float:
        """Seconds an inference takes, with all requests at work."""
        # processor time, where the processor is the device: what else is running right now takes less part in it
        clock = time.process_time if self._name == "CPU" else time.perf_counter
        begin = clock()
        runs = sum(threads.map(_run_a_while, requests))
        return (clock() - begin) / runs

    def _tell(self, precision: Precision, fraction: float) -> None:
        if self._progress is not None:
            self._progress(f"trying {precision}", fraction)

    def _start(self, precision: Precision) -> int:
        """Make ready what ``_submit_impl`` needs; gives how many inferences may be under way."""
        engine = self._build(precision)
        slots = engine.concurrent + 1 if self._settings.hint is Hint.THROUGHPUT else engine.concurrent
        self._idle: queue.SimpleQueue[Request] = queue.SimpleQueue()
        for _ in range(slots):
            self._idle.put(Request(engine))
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix=f"infer {self.device}")
        return slots

    def _submit_impl(self, images: Sequence[Image], still: bool) -> Future[list[Detections]]:
        request = self._idle.get()
        try:
            fits = [fit(image, request.inputs[index], self._letterbox, still) for index, image in enumerate(images)]
            return self._threads.submit(self._run, request, fits)
        except BaseException:
            self._idle.put(request)
            raise

    def _run(self, request: Request, fits: list[Fit]) -> list[Detections]:
        try:
            request.run()
            return detections(self._network, request.heads, fits, self._settings)
        except RuntimeError as problem:
            raise self._failed(problem) from problem
        finally:
            self._idle.put(request)

    def _failed(self, problem: RuntimeError) -> DeviceError:
        return DeviceError(f"{self.device}: inference failed in OpenVINO: {problem}")

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        request = Request(self._build(Precision(self.info.precision), pictures=False, batch=len(inputs)))
        request.inputs[:] = inputs
        request.run()
        return [head.copy() for head in request.heads]

    def _close_impl(self) -> None:
        self._threads.shutdown(wait=True)
        del self._idle


def openvino_name(device: DeviceId) -> str:
    """What OpenVINO calls it."""
    return "CPU" if device.kind == "cpu" else device.name


def plan_precision(network: Network, precision: Precision) -> dict[int, Precision]:
    """The layers from which on another precision is computed in."""
    if precision is not Precision.MIXED:
        return {0: precision}
    return {0: Precision.FP32, int(_EXACT_SHARE * len(network.layers)): Precision.BF16}


def _run_a_while(request: Request) -> int:
    runs, started = 0, time.perf_counter()
    while runs == 0 or time.perf_counter() - started < _ROUND_SECONDS:
        request.run()
        runs += 1
    return runs
