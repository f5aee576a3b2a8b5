"""OpenVINO: CPUs, and Intel's GPUs and NPUs.

Each inference request has a thread that starts it, waits for it and decodes its outputs. One request more than the device runs at
once keeps the device busy during the decoding. Trials compare the speed and the results of a precision with fp32.
"""

import queue
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain
from statistics import median

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.backends import base, memory
from framefleet.engine.backends.openvino.engine import Builder, Engine, Request
from framefleet.engine.backends.openvino.library import BACKEND, find_device, offered_precisions, process_core
from framefleet.engine.backends.precision import (
    MIN_BOXES,
    TooFewBoxesError,
    Trial,
    agreeing_share,
    count_boxes,
    resolve_precision,
    trial_settings,
)
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.detection.postprocess import detections
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.devices.host_memory import free_host_memory
from framefleet.engine.media.picture import fit_host_image
from framefleet.engine.model.network import Network, Placement
from framefleet.engine.model.onnx.network import Model, OnnxNetwork
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import AS_BEFORE, DeviceId, EngineInfo, Found, of_device

TRIAL_SECONDS, _ROUNDS, ROUND_SECONDS = 1.1, 3, 0.05
"""The least time and number of rounds in which a precision and fp32 are timed in turn, and the time of one round."""


class Trials:
    """The trials of one network on one device, fp32 first.

    examples: decodes frames of the user's sources, one source after the other. letterbox, placement: see ``fit``. count_boxes: the number
    of boxes in raw outputs.
    """

    def __init__(
        self,
        builder: Builder,
        progress: base.Progress | None,
        examples: Callable[[], Iterable[Sequence[HostImage]]],
        letterbox: bool,
        placement: Placement,
        count_boxes: Callable[[list[NDArray[np.float32]]], int],
    ) -> None:
        self._builder, self._progress, self._examples = builder, progress, examples
        self._letterbox, self._placement = letterbox, placement
        self._count_boxes = count_boxes
        self._exact: Sequence[Request] = []
        self._frames: list[HostImage] = []

    def run(self, precision: Precision) -> Trial:
        """Build an engine of this precision, run it on the examples, and time it. FP32 takes sources until there are enough boxes.

        Raises TooFewBoxesError if there is no example.
        """
        self._tell(precision, 0.0)
        sources = iter([self._frames] if self._frames else filter(None, self._examples()))
        if (first := next(sources, None)) is None:
            raise TooFewBoxesError(Notice("backends.no_frames"))
        engine = self._builder.build(precision)
        requests = [Request(engine) for _ in range(engine.concurrent)]
        heads: list[NDArray[np.float32]] = []
        frames: list[HostImage] = []
        for more in chain([first], sources):
            found = self._outputs(precision, requests[0], more)  # also the warm-up
            heads = [np.concatenate(parts) for parts in zip(heads, found, strict=True)] if heads else found
            frames += more
            if self._count_boxes(heads) >= MIN_BOXES:
                break
        self._frames = frames
        if precision is Precision.FP32:
            self._exact = requests
        return Trial(heads, self._gain(requests, precision))

    def _outputs(self, precision: Precision, request: Request, frames: Sequence[HostImage]) -> list[NDArray[np.float32]]:
        """The raw outputs for frames, as in ``Trial``."""
        outputs: list[list[NDArray[np.float32]]] = []
        for number, frame in enumerate(frames):
            fit_host_image(frame, request.inputs[0], self._letterbox, placement=self._placement)
            request.run()
            self._tell(precision, number / len(frames))
            outputs.append([head[:1].copy() for head in request.heads])
        return [np.concatenate(parts) for parts in zip(*outputs, strict=True)]

    def _gain(self, requests: Sequence[Request], precision: Precision) -> float:
        """The speed relative to fp32. The two run in turn, so that other work of the machine slows both."""
        if precision is Precision.FP32:
            return 1.0
        ratios, started, spent = list[float](), time.perf_counter(), 0.0
        with ThreadPoolExecutor(max(len(requests), len(self._exact))) as threads:
            while len(ratios) < _ROUNDS or spent < TRIAL_SECONDS:
                ratios.append(self._cost(threads, self._exact) / self._cost(threads, requests))
                spent = time.perf_counter() - started
                self._tell(precision, min(1.0, spent / TRIAL_SECONDS))
        return median(ratios)

    def _cost(self, threads: ThreadPoolExecutor, requests: Sequence[Request]) -> float:
        """Seconds of an inference while all requests run."""
        # processor time, where the processor is the device: other programs disturb it less
        clock = time.process_time if self._builder.name == "CPU" else time.perf_counter
        begin = clock()
        runs = sum(threads.map(_run_a_while, requests))
        return (clock() - begin) / runs

    def _tell(self, precision: Precision, fraction: float) -> None:
        if self._progress is not None:
            self._progress(Notice("backends.try_precision", precision=precision.value), fraction)


def _run_a_while(request: Request) -> int:
    runs, started = 0, time.perf_counter()
    while runs == 0 or time.perf_counter() - started < ROUND_SECONDS:
        request.run()
        runs += 1
    return runs


def exact_outputs(network: Network, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The raw outputs of the YOLO heads in FP32 on the CPU. inputs: float32 (n, channels, height, width), 0..1.

    Raises DeviceError if OpenVINO cannot build or run the network.
    """
    builder = Builder(DeviceId("cpu", "0"), network, EngineSettings(precision=Precision.FP32))
    request = Request(builder.build(Precision.FP32, pictures=False, batch=len(inputs)))
    request.inputs[:] = inputs
    try:
        request.run()
    except RuntimeError as problem:
        raise DeviceError(Notice("backends.openvino_failed", problem=str(problem))) from problem
    return [head.copy() for head in request.heads]


class OpenVinoBackend(base.Backend):
    """A network built by OpenVINO for ``cpu:0`` or ``openvino:NAME``."""

    def _activate_impl(self, network: Model, settings: EngineSettings, progress: base.Progress | None) -> EngineInfo:
        full_name = find_device(self.device.members[0])

        self._network, self._settings, self._progress = network, settings, progress
        self._letterbox = base.letterboxes(network, settings)
        self._builder = builder = Builder(self.device, network, settings)
        offered = offered_precisions(process_core(), builder.name)
        if isinstance(network, OnnxNetwork):  # it cannot be cut into parts of different precision
            offered = tuple(precision for precision in offered if precision is not Precision.MIXED)
        value_bytes = 4 if settings.precision is Precision.FP32 or offered == (Precision.FP32,) else 2
        memory.check_memory(network, builder.batch, value_bytes, free_host_memory(), self.device)
        situation = f"{BACKEND} {full_name} {builder.batch} {settings.hint} {settings.threads}"
        shown = trial_settings(settings)
        situation += f" frames {shown.stored_confidence} {self._letterbox}"
        count = partial(count_boxes, network=network, settings=shown)
        trials = Trials(builder, progress, self.examples, self._letterbox, network.placement, count)
        compare = partial(agreeing_share, network=network, settings=shown)
        if settings.precision is Precision.AUTO and (earlier := base.earlier_choice(settings, full_name)) is not None:
            precision, reason = Precision(earlier.precision), AS_BEFORE
        else:
            first = None if self.tuning else Precision.FP32
            precision, reason = resolve_precision(settings.precision, self.device, offered, network, situation, trials.run, compare, first)
        slots = self._start(precision)
        return EngineInfo(self.device, full_name, BACKEND, precision.value, reason, network.width, network.height, builder.batch, slots)

    def _start(self, precision: Precision) -> int:
        """Build the engine and its threads. Returns the number of inferences that may be under way."""
        engine = self._builder.build(precision)
        slots = self._settings.hint.under_way(engine.concurrent, engine.concurrent + 1)
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix=f"infer {self.device}")
        self._make_slots(engine, slots)
        return slots

    def _make_slots(self, engine: Engine, count: int) -> None:
        self.idle: queue.SimpleQueue[Request] = queue.SimpleQueue()
        for _ in range(count):
            self.idle.put(Request(engine))

    def _submit_impl(self, images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
        request = self.idle.get()
        try:
            fits = [
                fit_host_image(image, request.inputs[index], self._letterbox, still, self._network.placement)
                for index, image in enumerate(images)
            ]
            return self._begin(request, fits)
        except BaseException:
            self.idle.put(request)
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
            self.idle.put(request)

    def _failed(self, problem: RuntimeError) -> DeviceError:
        return DeviceError(of_device(self.device, Notice("backends.openvino_failed", problem=str(problem))))

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        request = Request(self._build_raw(Precision(self.info.precision), len(inputs)))
        request.inputs[:] = 255 * inputs.transpose(0, 2, 3, 1) if isinstance(self._network, OnnxNetwork) else inputs
        request.run()
        return [head.copy() for head in request.heads]

    def _build_raw(self, precision: Precision, batch: int) -> Engine:
        """The network for ``raw_outputs``, whose inputs are not pictures."""
        return self._builder.build(precision, pictures=False, batch=batch)

    def _close_impl(self) -> None:
        self._threads.shutdown(wait=True)
        del self.idle
