"""OpenVINO: CPUs, and Intel's GPUs and NPUs.

Every inference request has a thread that starts it, awaits it and decodes its outputs, so one more request than the
device runs at once keeps the device busy while results are decoded.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from engine.backends.base import Backend, EngineInfo
from engine.backends.openvino_devices import BACKEND, ELEMENT_TYPES, device_name, offered_precisions
from engine.backends.openvino_lowering import lower
from engine.backends.precision import Trial, resolve_precision
from engine.errors import DeviceError, ModelError, UsageError
from engine.model.network import Network
from engine.postprocess import detections
from engine.preprocess import Fit, fit
from engine.settings import EngineSettings, Hint, Precision, Resize
from engine.types import Detections, DeviceId, Image

_TRIAL_SECONDS = 0.4
"""How long each precision is timed, at least, where ``auto`` is asked for."""


class OpenVinoBackend(Backend):
    """A network built by OpenVINO for ``cpu:0`` or ``openvino:NAME``."""

    def __init__(self, device: DeviceId) -> None:
        super().__init__(device)
        self._name = "CPU" if device.kind == "cpu" else device.name
        self._core = ov.Core()

    def _activate_impl(self, network: Network, settings: EngineSettings) -> EngineInfo:
        if network.channels != 3:
            raise ModelError(f"{network.name} takes pictures of {network.channels} channels; videos have 3")
        try:
            full_name, offered = device_name(self._core, self._name), offered_precisions(self._core, self._name)
        except RuntimeError as problem:
            available = ", ".join(self._core.available_devices) or "none"
            raise DeviceError(f"{self.device}: OpenVINO finds no device {self._name} (it has: {available})") from problem
        if settings.threads is not None and settings.threads < 1:
            raise UsageError(f"{self.device}: {settings.threads} threads: an engine needs at least one")
        self._network, self._settings = network, settings
        self._letterbox = network.letter_box if settings.resize is Resize.AUTO else settings.resize is Resize.LETTERBOX
        self._batch = settings.batch or 1
        situation = f"{BACKEND} {full_name} {self._batch} {settings.hint} {settings.threads}"
        precision, reason = resolve_precision(settings.precision, self.device, offered, network, situation, self._try)
        slots = self._start(self._build(precision))
        return EngineInfo(self.device, full_name, BACKEND, precision.value, reason, network.width, network.height, self._batch, slots)

    def _build(self, precision: Precision, pictures: bool = True, batch: int | None = None) -> ov.CompiledModel:
        """The network for this device. pictures: see ``lower``; batch: instead of the settings' one."""
        options: dict[str, object] = {
            # never left to the library: on some CPUs its default is bf16
            "INFERENCE_PRECISION_HINT": ELEMENT_TYPES[precision],
            "PERFORMANCE_HINT": self._settings.hint.value.upper(),
        }
        if self._name == "CPU" and self._settings.threads is not None:
            # several engines on the same cores: each pinning its threads to the first ones would leave others idle
            options |= {"INFERENCE_NUM_THREADS": self._settings.threads, "ENABLE_CPU_PINNING": False}
        try:
            return self._core.compile_model(lower(self._network, batch or self._batch, pictures), self._name, options)
        except RuntimeError as problem:
            raise DeviceError(f"{self.device}: OpenVINO cannot build {self._network.name} in {precision}: {problem}") from problem

    def _try(self, precision: Precision, pictures: list[Image]) -> Trial:
        compiled = self._build(precision)
        heads: list[list[NDArray[np.float32]]] = []
        requests = ov.AsyncInferQueue(compiled)
        for picture in pictures:  # also the warm-up
            results = requests[0].infer([np.broadcast_to(picture.astype(np.float32), (self._batch, *picture.shape))])
            heads.append([results[index][:1].copy() for index in range(len(self._network.heads))])
        count, started = 0, time.perf_counter()
        while count < 2 * len(requests) or time.perf_counter() - started < _TRIAL_SECONDS:
            requests.start_async()
            count += 1
        requests.wait_all()
        speed = count * self._batch / (time.perf_counter() - started)
        return Trial([np.concatenate(parts) for parts in zip(*heads, strict=True)], speed)

    def _start(self, compiled: ov.CompiledModel) -> int:
        concurrent: int = compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        slots = concurrent + 1 if self._settings.hint is Hint.THROUGHPUT else concurrent
        self._idle: queue.SimpleQueue[ov.InferRequest] = queue.SimpleQueue()
        for _ in range(slots):
            self._idle.put(compiled.create_infer_request())
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix=f"infer {self.device}")
        return slots

    def _submit_impl(self, images: Sequence[Image], still: bool) -> Future[list[Detections]]:
        request = self._idle.get()
        try:
            pixels = request.get_input_tensor().data
            fits = [fit(image, pixels[index], self._letterbox, still) for index, image in enumerate(images)]
            return self._threads.submit(self._run, request, fits)
        except BaseException:
            self._idle.put(request)
            raise

    def _run(self, request: ov.InferRequest, fits: list[Fit]) -> list[Detections]:
        try:
            request.start_async()
            request.wait()
            heads = [request.get_output_tensor(index).data for index in range(len(self._network.heads))]
            return detections(self._network, heads, fits, self._settings)
        except RuntimeError as problem:
            raise DeviceError(f"{self.device}: inference failed in OpenVINO: {problem}") from problem
        finally:
            self._idle.put(request)

    def _heads_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        compiled = self._build(Precision(self.info.precision), pictures=False, batch=len(inputs))
        results = compiled(inputs)
        return [results[index].copy() for index in range(len(self._network.heads))]

    def _close_impl(self) -> None:
        self._threads.shutdown(wait=True)
        del self._idle
