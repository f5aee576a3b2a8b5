"""Tries precisions on a device and compares their speed and results with fp32."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from statistics import median

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.backends.base import Progress
from framefleet.engine.backends.openvino.build import Builder
from framefleet.engine.backends.openvino.engine import Request
from framefleet.engine.backends.precision import LEAST_BOXES, TooFewBoxesError, Trial
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.planes import fit_host_image
from framefleet.engine.notices import Notice
from framefleet.engine.settings import Precision

_SECONDS, _ROUNDS, _ROUND_SECONDS = 1.1, 3, 0.05
"""The least time and number of rounds in which a precision and fp32 are timed in turn, and the time of one round."""


class Trials:
    """The trials of one network on one device, fp32 first.

    examples: decodes frames of the user's sources, one source after the other. letterbox: see ``fit``. count_boxes: the number of boxes
    in raw outputs.
    """

    def __init__(
        self,
        builder: Builder,
        progress: Progress | None,
        examples: Callable[[], Iterable[Sequence[HostImage]]],
        letterbox: bool,
        count_boxes: Callable[[list[NDArray[np.float32]]], int],
    ) -> None:
        self._builder, self._progress, self._examples, self._letterbox = builder, progress, examples, letterbox
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
            if self._count_boxes(heads) >= LEAST_BOXES:
                break
        self._frames = frames
        if precision is Precision.FP32:
            self._exact = requests
        return Trial(heads, self._gain(requests, precision))

    def _outputs(self, precision: Precision, request: Request, frames: Sequence[HostImage]) -> list[NDArray[np.float32]]:
        """The raw outputs for frames, as in ``Trial``."""
        outputs: list[list[NDArray[np.float32]]] = []
        for number, frame in enumerate(frames):
            fit_host_image(frame, request.inputs[0], self._letterbox)
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
            while len(ratios) < _ROUNDS or spent < _SECONDS:
                ratios.append(self._cost(threads, self._exact) / self._cost(threads, requests))
                spent = time.perf_counter() - started
                self._tell(precision, min(1.0, spent / _SECONDS))
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
    while runs == 0 or time.perf_counter() - started < _ROUND_SECONDS:
        request.run()
        runs += 1
    return runs
