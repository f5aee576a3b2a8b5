"""OpenVINO: CPUs, and Intel's GPUs and NPUs.

Each inference request has a thread that starts it, waits for it and decodes its outputs. One request more than the device runs at
once keeps the device busy during the decoding.
"""

import queue
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.backends.base import Backend, Progress, letterboxes
from framefleet.engine.backends.memory import check_memory
from framefleet.engine.backends.openvino.build import Builder
from framefleet.engine.backends.openvino.engine import Engine, Request
from framefleet.engine.backends.openvino.library import BACKEND, find_device, offered_precisions, process_core
from framefleet.engine.backends.openvino.trials import Trials
from framefleet.engine.backends.precision import agreeing_share, count_boxes, resolve_precision
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.detection.postprocess import detections
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.devices.host_memory import free_host_memory
from framefleet.engine.errors import DeviceError
from framefleet.engine.media.planes import fit_host_image
from framefleet.engine.model.network import Network
from framefleet.engine.notices import Notice
from framefleet.engine.settings import EngineSettings, Hint, Precision
from framefleet.engine.types import EngineInfo, Found, of_device


class OpenVinoBackend(Backend):
    """A network built by OpenVINO for ``cpu:0`` or ``openvino:NAME``."""

    def _activate_impl(self, network: Network, settings: EngineSettings, progress: Progress | None) -> EngineInfo:
        full_name = find_device(self.device.members[0])

        self._network, self._settings, self._progress = network, settings, progress
        self._letterbox = letterboxes(network, settings)
        self._builder = builder = Builder(self.device, network, settings)
        offered = offered_precisions(process_core(), builder.name)
        value_bytes = 4 if settings.precision is Precision.FP32 or offered == (Precision.FP32,) else 2
        check_memory(network, builder.batch, value_bytes, free_host_memory(), self.device)
        situation = f"{BACKEND} {full_name} {builder.batch} {settings.hint} {settings.threads}"
        situation += f" frames {settings.confidence} {settings.iou} {settings.classes and sorted(settings.classes)} {self._letterbox}"
        count = partial(count_boxes, network=network, settings=settings)
        trials = Trials(builder, progress, self.examples, self._letterbox, count)
        compare = partial(agreeing_share, network=network, settings=settings)
        precision, reason = resolve_precision(settings.precision, self.device, offered, network, situation, trials.run, compare)
        slots = self._start(precision)
        return EngineInfo(self.device, full_name, BACKEND, precision.value, reason, network.width, network.height, builder.batch, slots)

    def _start(self, precision: Precision) -> int:
        """Build the engine and its threads. Returns the number of inferences that may be under way."""
        engine = self._builder.build(precision)
        slots = engine.concurrent + 1 if self._settings.hint is Hint.THROUGHPUT else engine.concurrent
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix=f"infer {self.device}")
        self._make_slots(engine, slots)
        return slots

    def _make_slots(self, engine: Engine, count: int) -> None:
        self._idle: queue.SimpleQueue[Request] = queue.SimpleQueue()
        for _ in range(count):
            self._idle.put(Request(engine))

    def _submit_impl(self, images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
        request = self._idle.get()
        try:
            fits = [fit_host_image(image, request.inputs[index], self._letterbox, still) for index, image in enumerate(images)]
            return self._begin(request, fits)
        except BaseException:
            self._idle.put(request)
            raise

    def _begin(self, request: Request, fits: list[Fit]) -> Future[list[Found]]:
        return self._threads.submit(self._run, request, fits)

    def _run(self, request: Request, fits: list[Fit]) -> list[Found]:
        try:
            request.run()
            return detections(self._network, request.heads, fits, self._settings)
        except RuntimeError as problem:
            raise self._failed(problem) from problem
        finally:
            self._idle.put(request)

    def _failed(self, problem: RuntimeError) -> DeviceError:
        return DeviceError(of_device(self.device, Notice("backends.openvino_failed", problem=str(problem))))

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        request = Request(self._build_raw(Precision(self.info.precision), len(inputs)))
        request.inputs[:] = inputs
        request.run()
        return [head.copy() for head in request.heads]

    def _build_raw(self, precision: Precision, batch: int) -> Engine:
        """The network for ``raw_outputs``, whose inputs are not pictures."""
        return self._builder.build(precision, pictures=False, batch=batch)

    def _close_impl(self) -> None:
        self._threads.shutdown(wait=True)
        del self._idle
