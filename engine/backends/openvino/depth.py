"""OpenVINO on several devices, each with a stage of the network. One thread per stage computes it and passes the batch on."""

import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np

from framefleet.engine.backends.base import Progress, darknet, depth_members, describe_balance, joined_names, reasons, remembered_balance
from framefleet.engine.backends.openvino.backend import OpenVinoBackend
from framefleet.engine.backends.openvino.engine import Engine, Request, plan_precision
from framefleet.engine.backends.openvino.library import BACKEND, find_device, openvino_name
from framefleet.engine.detection.postprocess import detections
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.model.split import Rates, StageTime, find_balance, split
from framefleet.engine.notices import Notice
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId, EngineInfo, Found

_RATES = Rates(1e12, 5e10)
"""First estimates: operations and bytes per second of a processor. Stages share the host's memory, so that no value moves."""

_ROUNDS = 3
"""Timed runs of a stage, after a warm-up; the fastest counts."""


class OpenVinoDepthBackend(OpenVinoBackend):
    """A network in stages on a group of ``cpu:N`` and ``openvino:NAME``. The stages of a CPU share its threads."""

    def __init__(self, device: DeviceId) -> None:
        """Raises UsageError: see ``depth_members``."""
        super().__init__(device)
        self._members = depth_members(device)
        self._spent: dict[str, float] = {}
        self._counting = Lock()

    def _activate_impl(self, network: Model, settings: EngineSettings, progress: Progress | None) -> EngineInfo:
        self._darknet = darknet(network, self.device)
        self._names = [find_device(member) for member in self._members]
        info = super()._activate_impl(network, settings, progress)
        return replace(info, device_name=joined_names(self._names), reason=reasons(self._description, info.reason))

    def _start(self, precision: Precision) -> int:
        network, count = self._darknet, len(self._members)
        batch = self._builder.batch
        situation = f"{BACKEND} {os.cpu_count()} {self.device} {self._names} {self._settings.threads}"
        key = f"{situation}\n{network.digest} {network.width}x{network.height}\n{precision}\n{batch}"

        def measure(cuts: tuple[int, ...]) -> list[StageTime]:
            if self._progress is not None:
                self._progress(Notice("backends.time_stages", cuts=cuts), 0.0)
            engine, stages = self._build_stages(cuts, precision)
            return [StageTime(time_ms) for time_ms in _time(Request(engine), stages)]

        self._balance = remembered_balance(key, lambda: find_balance(network, count, batch, 4, _RATES, measure))
        self._description = describe_balance(self._balance, network, Notice("backends.move_through_host"))
        engine, self.stages = self._build_stages(self._balance.cuts, precision)
        slots = count + 2  # one in each stage, one being filled, one being decoded
        self._make_slots(engine, slots)
        self._workers = [ThreadPoolExecutor(1, f"stage {member}") for member in self._members]
        self._threads = ThreadPoolExecutor(1, f"decode {self.device}")
        return slots

    def _build_stages(
        self, cuts: tuple[int, ...], precision: Precision, pictures: bool = True, batch: int | None = None
    ) -> tuple[Engine, list[slice]]:
        """All parts, and the slice of parts of each stage. A stage within which the precision changes has two parts."""
        plan = plan_precision(self._darknet, precision)
        names = [openvino_name(member) for member in self._members]
        threads = self._settings.threads or usable_cores()
        options = {"PERFORMANCE_HINT": "LATENCY"}  # a stage has one batch at a time
        parts, stages = [], [0] * len(names)
        for part in split(self._darknet, *sorted({*cuts, *list(plan)[1:]})):
            stage = sum(cut <= part.layers.start for cut in cuts)
            each = max(start for start in plan if start <= part.layers.start)
            share = max(1, threads // names.count("CPU")) if names[stage] == "CPU" else None
            parts.append((part, self._builder.compile(part, plan[each], names[stage], share, options, pictures, batch)))
            stages[stage] += 1
        ends = np.cumsum(stages).tolist()
        return Engine(self._network, parts), [slice(end - length, end) for end, length in zip(ends, stages, strict=True)]

    def _begin(self, request: Request, fits: list[Fit]) -> Future[list[Found]]:
        finished: Future[list[Found]] = Future()
        finished.set_running_or_notify_cancel()  # it cannot be cancelled any more
        self._workers[0].submit(self._advance, 0, request, fits, finished)
        return finished

    def _advance(self, stage: int, request: Request, fits: list[Fit], finished: Future[list[Found]]) -> None:
        """Compute a stage on its thread, and pass the batch on. The number of requests limits the queues between the stages."""
        try:
            begun = time.perf_counter()
            request.run(self.stages[stage])
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

    def _finish(self, request: Request, fits: list[Fit], finished: Future[list[Found]]) -> None:
        try:
            found = detections(self._network, request.heads, fits, self._settings)
        except Exception as problem:
            self._fail(request, finished, problem)
            return
        self.idle.put(request)
        finished.set_result(found)

    def _fail(self, request: Request, finished: Future[list[Found]], problem: Exception) -> None:
        self.idle.put(request)
        finished.set_exception(self._failed(problem) if isinstance(problem, RuntimeError) else problem)

    def timings(self) -> Mapping[str, float]:
        """ms in each stage since the last call: "network cpu:0", …, by the host's clock."""
        with self._counting:
            spent, self._spent = self._spent, {}
        return spent

    def _build_raw(self, precision: Precision, batch: int) -> Engine:
        return self._build_stages(self._balance.cuts, precision, pictures=False, batch=batch)[0]

    def _close_impl(self) -> None:
        for worker in self._workers:  # in order: each one still passes its batches on
            worker.shutdown(wait=True)
        super()._close_impl()


def _time(request: Request, stages: Sequence[slice]) -> list[float]:
    """ms of each stage when no other stage runs."""
    times = []
    for stage in stages:
        rounds = []
        for _ in range(_ROUNDS + 1):
            begun = time.perf_counter()
            request.run(stage)
            rounds.append(1000 * (time.perf_counter() - begun))
        times.append(min(rounds[1:]))
    return times
