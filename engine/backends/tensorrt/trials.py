"""What to build: the library, the precision and the batch for a device, tried on it once and remembered."""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Sequence

import numpy as np
from cuda.core import Device, EventOptions, Stream

from engine.backends.base import Progress
from engine.backends.batch_tuner import SIZES, tune_batch
from engine.backends.precision import MATCHING, Trial, matching_share, probe_pictures, resolve_precision
from engine.backends.tensorrt.engine import Engine, first_convolution, prepare_plan
from engine.backends.tensorrt.library import find_library
from engine.backends.tensorrt.plan import Plan
from engine.cuda.graph import record
from engine.cuda.memory import Memory, OutOfMemoryError
from engine.errors import DeviceError
from engine.model.network import Network
from engine.model.split import Part
from engine.settings import EngineSettings, Hint, Precision
from engine.types import DeviceId, Image
from plugins.cache import FileCache
from plugins.errors import KernelError
from plugins.first_convolution import SOURCES as FIRST_CONVOLUTION
from plugins.kernels import Kernels, source

OFFERED = (Precision.FP32, Precision.FP16)

_WARM_UP_SECONDS, _ROUNDS = 0.2, 20
"""Runs whose median counts, and how long others go before: a device that had nothing to do raises its clocks first."""


class Builder:
    """Builds engines of one network for one device. progress: is told what is being done.

    situation: what a plan depends on beside the network's part, precision and batch, as a key.
    """

    def __init__(
        self, device: DeviceId, cuda: Device, stream: Stream, network: Network, settings: EngineSettings, progress: Progress | None
    ) -> None:
        """Find the library and compile the kernels.

        Raises:
            DeviceError: a library is missing, or refuses the device; says what to install.
        """
        self._device, self._cuda, self._stream = device, cuda, stream
        self._network, self._settings, self._progress = network, settings, progress
        self._trying = ""
        capability = cuda.compute_capability
        self.library = find_library((capability.major, capability.minor))
        self._cache, self._arch = FileCache(), f"sm_{cuda.arch}"
        self.kernels = self._compiled()
        layers = hashlib.sha256(source().encode()).hexdigest()
        size = f"{network.width}x{network.height}"
        self.situation = f"{self.library}\n{_driver()}\n{cuda.name}\n{capability}\n{network.digest}\n{size}\n{layers}"

    def build(self, precision: Precision, batch: int, mish_layer: bool = False, first_layer: bool = False) -> tuple[Engine, Memory]:
        """An engine and the memory it lies in. mish_layer, first_layer: see ``cut``; the latter for FP16 only.

        Raises:
            OutOfMemoryError: the device's memory does not suffice; nothing of it stays taken.
            DeviceError, ModelError: see ``Engine``.
        """
        memory = Memory(self._cuda, self._stream)
        try:
            first = self._compiled(FIRST_CONVOLUTION) if first_layer else None
            return Engine(
                self.library,
                self._network,
                batch,
                precision,
                memory,
                self._cache,
                self.situation,
                self.kernels,
                mish_layer,
                first,
                self._tell,
            ), memory
        except BaseException:
            memory.close()
            raise

    def plan(self, part: Part, precision: Precision, batch: int, name: str) -> Plan:
        """The plan of a part of the network. name: what this part is called when progress is told. Errors: see ``build``."""

        def tell(doing: str, fraction: float) -> None:
            self._tell(f"{name}: {doing}", fraction)

        return prepare_plan(self.library, self._network, part, batch, precision, self._cache, self.situation, tell)

    def choose_precision(self) -> tuple[Precision, str]:
        """The precision that was asked for, or the fastest whose detections match FP32, and why.

        Raises:
            DeviceError: TensorRT does not offer it.
        """
        return resolve_precision(self._settings.precision, self._device, OFFERED, self._network, self.situation, self._try)

    def choose_batch(self, precision: Precision) -> tuple[int, str]:
        """The batch that was asked for, or 1 where the least latency is, or the one that tuning found; and why."""
        if self._settings.batch is not None:
            return self._settings.batch, "as asked"
        if self._settings.hint is Hint.LATENCY:
            return 1, "for the least latency"

        budget = self._settings.latency_budget
        known = self._cache.get(f"{self.situation}\n{precision}\nbatch within {budget}", lambda: self._tune(precision, budget))
        outcome = json.loads(known)
        return int(outcome["batch"]), str(outcome["reason"])

    def choose_first_layer(self, precision: Precision, batch: int) -> tuple[bool, str]:
        """Whether the first convolution is for the custom layer, as a trial showed; and, if so, why in words.

        Raises:
            OutOfMemoryError, DeviceError, ModelError: see ``build``.
        """
        if precision is not Precision.FP16 or first_convolution(self._network) is None:
            return False, ""
        layer = hashlib.sha256(source(*FIRST_CONVOLUTION).encode()).hexdigest()
        known = self._cache.get(f"{self.situation}\n{precision}\n{batch}\nfirst layer {layer}", lambda: self._try_first_layer(batch))
        pays, reason = json.loads(known)
        return bool(pays), str(reason)

    def _try_first_layer(self, batch: int) -> bytes:
        pictures = probe_pictures(self._network.width, self._network.height)
        within = self._trial("the first layer in the plan", Precision.FP16, batch, pictures)
        alone = self._trial("the first layer by itself", Precision.FP16, batch, pictures, first_layer=True)
        return json.dumps(first_layer_pays(within, alone, self._network)).encode()

    def _tune(self, precision: Precision, budget: float | None) -> bytes:
        sizes = SIZES if budget is not None else SIZES[2:]  # without a budget, the smallest are never the fastest

        def measure(batch: int) -> float | None:
            try:
                return 1000 * batch / self._trial(f"batch {batch}", precision, batch).speed
            except OutOfMemoryError:
                return None

        try:
            tuning = tune_batch(measure, budget, sizes)
        except MemoryError as problem:
            raise OutOfMemoryError(f"{self._device}: {problem}") from problem
        return json.dumps({"batch": tuning.batch, "reason": tuning.reason, "images_per_s": tuning.images_per_s}).encode()

    def _try(self, precision: Precision, pictures: list[Image]) -> Trial:
        return self._trial(str(precision), precision, len(pictures), pictures)

    def _trial(self, what: str, precision: Precision, batch: int, pictures: Sequence[Image] = (), first_layer: bool = False) -> Trial:
        """Build an engine, time it, and let it look at some pictures. what: in words, for those who wait."""
        self._trying = f"trying {what}: "
        try:
            engine, memory = self.build(precision, batch, first_layer=first_layer)
        finally:
            self._trying = ""
        try:
            inputs = [np.asarray(picture.transpose(2, 0, 1) / 255, np.float32) for picture in pictures]
            heads = engine.heads(np.stack(inputs), self._stream) if inputs else []
            return Trial(heads, 1000 * batch / self._time(engine))
        finally:
            memory.close()

    def _compiled(self, sources: Sequence[str] = ()) -> Kernels:
        """The kernels in these sources; those that every engine needs, if none is named."""
        try:
            return Kernels(self._arch, self._cache, sources)
        except KernelError as problem:
            raise DeviceError(f"{self._device}: {problem}") from problem

    def _tell(self, doing: str, fraction: float) -> None:
        if self._progress is not None:
            self._progress(self._trying + doing, fraction)

    def _time(self, engine: Engine) -> float:
        """ms of one batch, median, when the clocks have risen."""
        steps = engine.steps(engine.new_heads())
        for step in steps:
            step.launch(self._stream)
        self._stream.sync()
        graph = record(steps, self._stream)
        start = time.perf_counter()
        while time.perf_counter() - start < _WARM_UP_SECONDS:
            graph.launch(self._stream)
            self._stream.sync()
        begun, done = (self._cuda.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
        times = []
        for _ in range(_ROUNDS):
            self._stream.record(begun)
            graph.launch(self._stream)
            self._stream.record(done)
            done.sync()
            times.append(float(done - begun))
        return statistics.median(times)


def first_layer_pays(within: Trial, alone: Trial, network: Network) -> tuple[bool, str]:
    """Whether a custom layer for the first convolution is faster than a plan with it within, and right; and, if so, why in words."""
    gain = alone.speed / within.speed
    if gain <= 1 or matching_share(within, alone, network) < MATCHING:
        return False, ""
    return True, f"{100 * (gain - 1):.1f}% faster with the first convolution in a layer of its own"


def _driver() -> str:
    from cuda.bindings import driver

    _, version = driver.cuDriverGetVersion()
    return f"CUDA driver {version}"
