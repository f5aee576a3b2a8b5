"""Chooses precision, batch and custom layers by trials on the device, whose outcomes are cached."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
from cuda.core import Device, Stream

from engine.backends.base import Progress
from engine.backends.batch_tuner import SIZES, tune_batch
from engine.backends.cudnn.build import CudnnBuilder
from engine.backends.cudnn.library import find_cudnn
from engine.backends.cudnn.lowering import UnsupportedError
from engine.backends.nvidia.engine import Engine
from engine.backends.precision import MATCHING, Trial, matching_share, probe_pictures, resolve_precision
from engine.backends.tensorrt.build import prepare_plan
from engine.backends.tensorrt.engine import CustomLayers, TensorRtEngine, cut, first_convolution, mish_convolutions
from engine.backends.tensorrt.library import find_library
from engine.backends.tensorrt.plan import Plan
from engine.cuda.memory import Memory, OutOfMemoryError
from engine.cuda.timing import time_steps
from engine.errors import DeviceError
from engine.model.network import Network
from engine.model.split import Part
from engine.settings import EngineSettings, Hint, Precision
from engine.types import DeviceId, Image
from plugins.cache import FileCache
from plugins.first_convolution import SOURCES as FIRST_CONVOLUTION
from plugins.kernels import KernelError, Kernels, source

OFFERED = (Precision.FP32, Precision.FP16)

PLAN_ONLY = CustomLayers()
LAYER_NAMES = {"first_convolution": "the first convolution", "mish": "Mish"}

LEAST_GAIN = 1.01
"""Least speedup of the network by a custom layer: smaller differences may be chance."""

_ROUNDS = 20
"""Number of timed runs of a trial."""

_log = logging.getLogger(__name__)


class Builder:
    """Builds engines of one network for one device, and chooses their options.

    situation: key of everything that a plan depends on besides the network's part, precision and batch.
    """

    def __init__(
        self, device: DeviceId, cuda: Device, stream: Stream, network: Network, settings: EngineSettings, progress: Progress | None
    ) -> None:
        """Find the library and compile the kernels.

        Raises:
            DeviceError: a library is missing, or does not support the device. The message says what to install.
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
        place = f"{_driver()}\n{cuda.name}\n{capability}"
        self.situation = f"{self.library} without TF32\n{place}\n{network.digest}\n{size}\n{layers}"
        self._cudnn, self._without_cudnn = self._find_cudnn(place)

    def build(self, precision: Precision, batch: int, layers: CustomLayers = PLAN_ONLY) -> tuple[Engine, Memory]:
        """Build an engine, and return it with its memory. layers: for FP16 only.

        Raises:
            OutOfMemoryError: the device's memory does not suffice. All memory is freed.
            DeviceError, ModelError: see ``prepare_plan``.
        """
        memory = Memory(self._cuda, self._stream)
        try:
            if layers.cudnn and self._cudnn is not None:
                return self._cudnn.build(batch, layers.pointwise, memory, self._tell), memory
            pieces = cut(self._network, layers)
            first = self._compiled(FIRST_CONVOLUTION) if pieces.first is not None else None
            plans = []
            for number, part in enumerate(pieces.parts):

                def tell(doing: str, fraction: float, done: int = number) -> None:
                    self._tell(doing, (done + fraction) / len(pieces.parts))

                known = self.library, self._network, part, batch, precision, self._cache, self.situation
                plans.append(prepare_plan(*known, tell, pieces.linear, pieces.channels_last))
            return TensorRtEngine(self._network, batch, precision, memory, pieces, plans, self.kernels, first), memory
        except KernelError as problem:
            memory.close()
            raise DeviceError(f"{self._device}: {problem}") from problem
        except BaseException:
            memory.close()
            raise

    def plan(self, part: Part, precision: Precision, batch: int, name: str) -> Plan:
        """The plan of one part of the network. name: the part's name in progress messages. Errors: see ``prepare_plan``."""

        def tell(doing: str, fraction: float) -> None:
            self._tell(f"{name}: {doing}", fraction)

        return prepare_plan(self.library, self._network, part, batch, precision, self._cache, self.situation, tell)

    def choose_precision(self) -> tuple[Precision, str]:
        """The precision of the settings, or the fastest one whose detections match FP32, and the reason.

        Raises:
            DeviceError: TensorRT does not offer it.
        """
        return resolve_precision(self._settings.precision, self._device, OFFERED, self._network, self.situation, self._try)

    def choose_batch(self, precision: Precision) -> tuple[int, str]:
        """The batch of the settings, or 1 for the lowest latency, or the one that tuning found; and the reason."""
        if self._settings.batch is not None:
            return self._settings.batch, "as asked"
        if self._settings.hint is Hint.LATENCY:
            return 1, "for the lowest latency"

        budget = self._settings.latency_budget
        batch, reason = self._cache.remember(f"{self.situation}\n{precision}\nbatch within {budget}", lambda: self._tune(precision, budget))
        return batch, reason

    def choose_layers(self, precision: Precision, batch: int) -> tuple[CustomLayers, str]:
        """The custom layers, or cuDNN, with which the network was fastest in a trial, and the gain in words (empty without a trial).

        Raises:
            OutOfMemoryError, DeviceError, ModelError: see ``build``.
        """
        candidates = []
        if precision is Precision.FP16:
            candidates += ["first_convolution"] if first_convolution(self._network) is not None else []
            candidates += ["mish"] if mish_convolutions(self._network) else []
            candidates += ["cudnn"] if self._cudnn is not None else []
        if not candidates:
            return PLAN_ONLY, ""
        layer = hashlib.sha256(source(*FIRST_CONVOLUTION).encode()).hexdigest()
        cudnn = "" if self._cudnn is None else self._cudnn.key
        key = f"{self.situation}\n{precision}\n{batch}\ncustom layers {layer}\n{cudnn}"
        chosen, reason = self._cache.remember(key, lambda: self._try_layers(batch, candidates))
        return CustomLayers(**chosen), ", ".join(filter(None, (reason, self._without_cudnn)))

    @property
    def offers_cudnn(self) -> bool:
        """Whether cuDNN is installed and can compute the network."""
        return self._cudnn is not None

    def library_of(self, layers: CustomLayers) -> str:
        """The name and version of the library that computes the network."""
        return str(self.library if self._cudnn is None or not layers.cudnn else self._cudnn.library)

    def _find_cudnn(self, situation: str) -> tuple[CudnnBuilder | None, str]:
        """What builds engines with cuDNN, or why there is nothing, in words: empty if cuDNN is not installed."""
        capability = self._cuda.compute_capability
        try:
            library = find_cudnn((capability.major, capability.minor))
        except DeviceError as problem:
            _log.info("cuDNN is not used: %s", problem)
            return None, ""
        known = self._network, self._cuda, self._stream, self._cache, situation, self._arch
        try:
            return CudnnBuilder(library, *known), ""
        except UnsupportedError as problem:
            return None, f"{library} cannot compute {problem}"

    def _try_layers(self, batch: int, candidates: Sequence[str]) -> tuple[dict[str, bool], str]:
        """Add one candidate after the other, and keep it if the network becomes faster."""
        pictures = probe_pictures(self._network.width, self._network.height)
        exact = fastest = self._trial("no custom layers", Precision.FP16, batch, pictures)
        best, reasons = PLAN_ONLY, []
        for candidate in candidates:
            if candidate == "cudnn":
                best, reason = self._try_cudnn(batch, pictures, exact, fastest, best)
                reasons = [reason] if best.cudnn else [*reasons, reason]
                continue
            name, layers = LAYER_NAMES[candidate], replace(best, **{candidate: True})
            try:
                trial = self._trial(f"{name} in a layer of its own", Precision.FP16, batch, pictures, layers)
            except OutOfMemoryError:  # cutting the network takes more memory than one plan does
                continue
            if layer_pays(exact, fastest, trial, self._network):
                reasons.append(f"{100 * (trial.speed / fastest.speed - 1):.1f}% faster with {name} in a layer of its own")
                best, fastest = layers, trial
        return asdict(best), ", ".join(reasons)

    def _try_cudnn(
        self, batch: int, pictures: Sequence[Image], exact: Trial, fastest: Trial, best: CustomLayers
    ) -> tuple[CustomLayers, str]:
        """Try cuDNN against the fastest engine of TensorRT, without and with our kernels for pairs of pointwise convolutions."""
        assert self._cudnn is not None
        cudnn, speed, share = self._cudnn.library, fastest.speed, 0.0
        for pairs in (False, True)[: 1 + self._cudnn.has_pairs]:
            layers = CustomLayers(cudnn=True, pointwise=pairs)
            try:
                trial = self._trial(f"{cudnn}{' with pairs of convolutions' * pairs}", Precision.FP16, batch, pictures, layers)
            except DeviceError as problem:
                _log.warning("%s: %s", cudnn, problem)
                return best, f"{cudnn} cannot be used ({problem})"
            share = max(share, trial.speed / speed)
            if layer_pays(exact, fastest, trial, self._network):
                best, fastest = layers, trial
        if not best.cudnn:
            return best, f"{cudnn} has {share:.1%} of its speed"
        own = " and kernels of our own for pairs of pointwise convolutions" * best.pointwise
        return best, f"{100 * (fastest.speed / speed - 1):.1f}% faster with {cudnn}{own} than with {self.library}"

    def _tune(self, precision: Precision, budget: float | None) -> tuple[int, str]:
        sizes = SIZES if budget is not None else SIZES[2:]  # without a budget, the smallest sizes never win

        def measure(batch: int) -> float | None:
            try:
                return 1000 * batch / self._trial(f"batch {batch}", precision, batch).speed
            except OutOfMemoryError:
                return None

        try:
            return tune_batch(measure, budget, sizes)
        except MemoryError as problem:
            raise OutOfMemoryError(f"{self._device}: {problem}") from problem

    def _try(self, precision: Precision, pictures: list[Image]) -> Trial:
        return self._trial(str(precision), precision, len(pictures), pictures)

    def _trial(
        self, what: str, precision: Precision, batch: int, pictures: Sequence[Image] = (), layers: CustomLayers = PLAN_ONLY
    ) -> Trial:
        """Build an engine, time it, and run it on some pictures. what: the trial's name in progress messages."""
        self._trying = f"trying {what}: "
        try:
            engine, memory = self.build(precision, batch, layers)
        finally:
            self._trying = ""
        try:
            inputs = [np.asarray(picture.transpose(2, 0, 1) / 255, np.float32) for picture in pictures]
            heads = engine.raw_outputs(np.stack(inputs), self._stream) if inputs else []
            return Trial(heads, 1000 * batch / time_steps(self._cuda, self._stream, engine.steps(engine.new_heads()), _ROUNDS))
        finally:
            memory.close()

    def _compiled(self, sources: Sequence[str] = ()) -> Kernels:
        """Compile the kernels of these sources, by default the ones that every engine needs."""
        try:
            return Kernels(self._arch, self._cache, sources)
        except KernelError as problem:
            raise DeviceError(f"{self._device}: {problem}") from problem

    def _tell(self, doing: str, fraction: float) -> None:
        if self._progress is not None:
            self._progress(self._trying + doing, fraction)


def layer_pays(exact: Trial, fastest: Trial, trial: Trial, network: Network) -> bool:
    """Whether an engine with one more custom layer is measurably faster than the fastest so far, with the detections of ``exact``."""
    return trial.speed >= LEAST_GAIN * fastest.speed and matching_share(exact, trial, network) >= MATCHING


def _driver() -> str:
    from cuda.bindings import driver

    _, version = driver.cuDriverGetVersion()
    return f"CUDA driver {version}"
