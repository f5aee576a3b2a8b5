"""OpenVINO on several devices, each with a stage of the network: a pipeline of threads, one a stage, that hand batches on."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from engine.backends.base import Progress
from engine.backends.depth import depth_members, describe_balance, joined_names, remembered_balance
from engine.backends.openvino.backend import OpenVinoBackend, openvino_name, plan_precision
from engine.backends.openvino.devices import BACKEND, device_name
from engine.backends.openvino.engine import Engine, Request
from engine.detection.postprocess import detections
from engine.detection.preprocess import Fit, fit
from engine.errors import DeviceError
from engine.model.balance import Rates, StageTime, find_balance
from engine.model.network import Network
from engine.model.split import split
from engine.settings import EngineSettings, Precision
from engine.types import Detections, DeviceId, EngineInfo, Image

_RATES = Rates(1e12, 5e10)
"""A first guess, about a processor's; values do not move, the stages share the host's memory."""

_ROUNDS = 3
"""Runs of a stage of which the fastest counts, after one that does not."""


class OpenVinoDepthBackend(OpenVinoBackend):
    """A network in stages on a group of ``cpu:N`` and ``openvino:NAME``. The threads of a CPU are shared out among its stages."""

    def __init__(self, device: DeviceId) -> None:
        """Raises UsageError: see ``depth_members``."""
        super().__init__(device)
        self._members = depth_members(device)
        self._spent: dict[str, float] = {}
        self._counting = Lock()

    def _activate_impl(self, network: Network, settings: EngineSettings, progress: Progress | None) -> EngineInfo:
        info = super()._activate_impl(network, settings, progress)
        return replace(info, device_name=joined_names(self._full_names()), reason=f"{self._description}; {info.reason}")

    def _full_names(self) -> list[str]:
        try:
            return [device_name(self._core, openvino_name(member)) for member in self._members]
        except RuntimeError as problem:
            available = ", ".join(self._core.available_devices) or "none"
            raise DeviceError(f"{self.device}: OpenVINO does not find all of these devices (it has: {available})") from problem

    def _start(self, precision: Precision) -> int:
        network, count = self._network, len(self._members)
        situation = f"{BACKEND} {os.cpu_count()} {self.device} {self._full_names()} {self._settings.threads}"
        key = f"{situation}\n{network.digest} {network.width}x{network.height}\n{precision}\n{self._batch}"

        def measure(cuts: tuple[int, ...]) -> list[StageTime]:
            if self._progress is not None:
                self._progress(f"timing stages that begin at layers {', '.join(map(str, cuts))}", 0.0)
            engine, stages = self._build_stages(cuts, precision)
            return [StageTime(time_ms) for time_ms in _time(Request(engine), stages)]

        self._balance = remembered_balance(key, lambda: find_balance(network, count, self._batch, 4, _RATES, measure))
        self._description = describe_balance(self._balance, network, "through the host's memory")
        engine, self._stages = self._build_stages(self._balance.cuts, precision)
        slots = count + 2  # one in every stage, one being filled, one being decoded
        self._idle: queue.SimpleQueue[Request] = queue.SimpleQueue()
        for _ in range(slots):
            self._idle.put(Request(engine))
        self._workers = [ThreadPoolExecutor(1, f"stage {member}") for member in self._members]
        self._threads = ThreadPoolExecutor(1, f"decode {self.device}")
        return slots

    def _build_stages(
        self, cuts: tuple[int, ...], precision: Precision, pictures: bool = True, batch: int | None = None
    ) -> tuple[Engine, list[slice]]:
        """All parts, and which of them make up each stage: a stage has two where the precision changes within."""
        plan = plan_precision(self._network, precision)
        names = [openvino_name(member) for member in self._members]
        threads = self._settings.threads or _processors()
        options = {"PERFORMANCE_HINT": "LATENCY"}  # a stage has one batch at a time
        parts, stages = [], [0] * len(names)
        for part in split(self._network, *sorted({*cuts, *list(plan)[1:]})):
            stage = sum(cut <= part.layers.start for cut in cuts)
            each = max(start for start in plan if start <= part.layers.start)
            share = max(1, threads // names.count("CPU")) if names[stage] == "CPU" else None
            parts.append((part, self._compile(part, plan[each], names[stage], share, options, pictures, batch)))
            stages[stage] += 1
        ends = np.cumsum(stages).tolist()
        return Engine(self._network, parts), [slice(end - length, end) for end, length in zip(ends, stages, strict=True)]

    def _submit_impl(self, images: Sequence[Image], still: bool) -> Future[list[Detections]]:
        request = self._idle.get()
        try:
            fits = [fit(image, request.inputs[index], self._letterbox, still) for index, image in enumerate(images)]
            finished: Future[list[Detections]] = Future()
            finished.set_running_or_notify_cancel()  # from here on nobody can take it back
            self._workers[0].submit(self._advance, 0, request, fits, finished)
            return finished
        except BaseException:
            self._idle.put(request)
            raise

    def _advance(self, stage: int, request: Request, fits: list[Fit], finished: Future[list[Detections]]) -> None:
        """On a stage's thread: compute, and hand on to the next. As many are under way as there are requests, so no queue grows."""
        try:
            begun = time.perf_counter()
            request.run(self._stages[stage])
            spent = 1000 * (time.perf_counter() - begun)
            name = f"network {self._members[stage]}"
            with self._counting:
                self._spent[name] = self._spent.get(name, 0.0) + spent
        except Exception as problem:
            self._fail(request, finished, problem)
            return
        if stage + 1 < len(self._workers):
            self._workers[stage + 1].submit(self._advance, stage + 1, request, fits, finished)
        else:
            self._threads.submit(self._finish, request, fits, finished)

    def _finish(self, request: Request, fits: list[Fit], finished: Future[list[Detections]]) -> None:
        try:
            found = detections(self._network, request.heads, fits, self._settings)
        except Exception as problem:
            self._fail(request, finished, problem)
            return
        self._idle.put(request)
        finished.set_result(found)

    def _fail(self, request: Request, finished: Future[list[Detections]], problem: Exception) -> None:
        self._idle.put(request)
        finished.set_exception(self._failed(problem) if isinstance(problem, RuntimeError) else problem)

    def timings(self) -> Mapping[str, float]:
        """ms that each stage computed since the last call, "network cpu:0", …; by the host's clock."""
        with self._counting:
            spent, self._spent = self._spent, {}
        return spent

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        precision = Precision(self.info.precision)
        engine, _ = self._build_stages(self._balance.cuts, precision, pictures=False, batch=len(inputs))
        request = Request(engine)
        request.inputs[:] = inputs
        request.run()
        return [head.copy() for head in request.heads]

    def _close_impl(self) -> None:
        for worker in self._workers:  # in order: each still hands on what it has
            worker.shutdown(wait=True)
        super()._close_impl()


def _time(request: Request, stages: Sequence[slice]) -> list[float]:
    """ms of each stage alone."""
    times = []
    for stage in stages:
        rounds = []
        for _ in range(_ROUNDS + 1):
            begun = time.perf_counter()
            request.run(stage)
            rounds.append(1000 * (time.perf_counter() - begun))
        times.append(min(rounds[1:]))
    return times


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
