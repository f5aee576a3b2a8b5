"""Chooses precision, batch and custom layers: by trials on the device, whose outcomes are cached, or without, to be ready soon."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from statistics import median
from typing import Any, TypeAlias

import numpy as np
from cuda.core import Device, Stream
from numpy.typing import NDArray

from framefleet.engine.backends.base import Progress, letterboxes
from framefleet.engine.backends.cudnn.engine import CudnnBuilder, CudnnEngine
from framefleet.engine.backends.cudnn.library import find_cudnn
from framefleet.engine.backends.cudnn.lowering import UnsupportedError
from framefleet.engine.backends.cudnn.program import Program, Stage
from framefleet.engine.backends.nvidia.engine import PLAN_ONLY, CustomLayers, Engine
from framefleet.engine.backends.precision import (
    MATCHING,
    MIN_BOXES,
    TooFewBoxesError,
    Trial,
    agreeing_share,
    count_boxes,
    matching_share,
    probe_pictures,
    resolve_precision,
    trial_settings,
)
from framefleet.engine.backends.tensorrt.engine import TensorRtEngine, cut, first_convolution, mish_convolutions
from framefleet.engine.backends.tensorrt.library import find_library
from framefleet.engine.backends.tensorrt.onnx import OnnxEngine, prepare_onnx_plan
from framefleet.engine.backends.tensorrt.plan import Plan, prepare_plan
from framefleet.engine.cuda.graph import time_steps
from framefleet.engine.cuda.memory import Memory, OutOfMemoryError
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.picture import fit_host_image
from framefleet.engine.model.network import Network
from framefleet.engine.model.onnx.network import Model, OnnxNetwork
from framefleet.engine.model.split import Part
from framefleet.engine.notices import DeviceError, Notice, Option
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import AS_ASKED, DeviceId, Image, of_device
from framefleet.plugins.cache import FileCache
from framefleet.plugins.first_convolution import SOURCES as FIRST_CONVOLUTION
from framefleet.plugins.kernels import KernelError, Kernels, source

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)

ENOUGH = 0.95
"""A batch with this share of the highest images/s is large enough. Twice the batch doubles memory and latency."""

_CLEARLY = 0.02
"""By how much a share has to differ from ENOUGH so that another batch than FIRST_BATCH is taken: trials of an hour differ by 0.01."""

FIRST_BATCH = 32
"""The batch of an engine that was not tuned: the one that trials found on H100s and H200s. With less memory it becomes smaller."""

_DOUBTFUL = 0.90
"""Batches with this share of the highest images/s are measured again."""

_AGAIN = 2
"""How often they are measured again, in turns. The median counts."""

_FLAT = 2
"""After this number of batches that are no faster than a smaller one, larger ones are not tried."""


def tune_batch(
    measure: Callable[[int], float | None], budget_ms: float | None = None, sizes: tuple[int, ...] = SIZES
) -> tuple[int, Notice]:
    """Choose the smallest batch that is fast enough, and say why; FIRST_BATCH unless another one is clearly better.

    All sizes are compared with the fastest one, and the ones that may be chosen are measured several times. A rule that compares each size
    with the one before takes another batch when two measurements differ by 1 %.

    measure: returns the ms of one batch of a size, or None if the device's memory does not suffice. budget_ms: longest time of a batch. It
    does not limit the smallest size. sizes: the batches to try, each larger than the one before. Raises MemoryError: the smallest size does
    not fit.
    """
    times: dict[int, list[float]] = {}
    end = Notice("backends.batch_largest")

    def speeds(share: float = 0.0) -> dict[int, float]:
        """The images/s of the sizes that have at least a share of the highest."""
        found = {batch: 1000 * batch / median(each) for batch, each in times.items()}
        return {batch: speed for batch, speed in found.items() if speed >= share * max(found.values())}

    for batch in sizes:
        ms = measure(batch)
        if ms is None:
            if not times:
                raise MemoryError(f"no memory for a batch of {batch}")
            end = Notice("backends.batch_too_large", batch=batch)
            break
        if times and budget_ms is not None and ms > budget_ms:
            end = Notice("backends.batch_over_budget", batch=batch, ms=ms, budget_ms=budget_ms)
            break
        times[batch] = [ms]
        if len(times) > _FLAT and not set(list(times)[-_FLAT:]).intersection(speeds(1.0)):
            break
    doubtful = list(speeds(_DOUBTFUL))
    for batch in doubtful * (_AGAIN if len(doubtful) > 1 else 0):
        if (ms := measure(batch)) is not None:
            times[batch].append(ms)
    chosen, known = min(speeds(ENOUGH)), speeds()
    if FIRST_BATCH in speeds(ENOUGH - _CLEARLY) and min(speeds(ENOUGH + _CLEARLY)) >= FIRST_BATCH:
        chosen = FIRST_BATCH
    larger = {batch: speed for batch, speed in known.items() if batch > chosen}
    if not larger:
        return chosen, end
    fastest = max(larger, key=larger.__getitem__)
    return chosen, Notice("backends.batch_gains_little", batch=fastest, gain=known[fastest] / known[chosen] - 1)


LAYER_NAMES = {"first_convolution": Notice("backends.layer_first"), "mish": Notice("backends.layer_mish")}

MIN_GAIN = 1.01
"""Least speedup of the network by a custom layer: smaller differences may be chance."""

_log = logging.getLogger(__name__)


Run: TypeAlias = Callable[[Notice, CustomLayers], Trial]
"""Builds an engine with these layers, times it and runs some pictures. The notice names it in progress messages."""


def try_layers(
    run: Run, candidates: Sequence[str], network: Network, tensorrt: str, cudnn: CudnnBuilder | None
) -> tuple[CustomLayers, list[Notice]]:
    """Add one candidate after the other, and keep it if the network becomes faster. Returns the layers, and the results that count.

    candidates: fields of ``CustomLayers``. tensorrt: name and version of the library. cudnn: None = do not try it.
    """
    exact = fastest = run(Notice("backends.no_custom_layers"), PLAN_ONLY)
    best, results = PLAN_ONLY, list[Notice]()
    for candidate in candidates:
        name, layers = LAYER_NAMES[candidate], replace(best, **{candidate: True})
        try:
            trial = run(Notice("backends.separate_layer", name=name), layers)
        except OutOfMemoryError:  # cutting the network takes more memory than one plan does
            continue
        if layer_pays(exact, fastest, trial, network):
            results.append(Notice("backends.faster_with_layer", gain=trial.speed / fastest.speed - 1, name=name))
            best, fastest = layers, trial
    if cudnn is not None:
        chosen, result = _try_cudnn(run, cudnn, network, exact, fastest, tensorrt)
        if chosen is not None:
            return chosen, [result]
        results.append(result)
    return best, results


def _try_cudnn(
    run: Run, cudnn: CudnnBuilder, network: Network, exact: Trial, before: Trial, tensorrt: str
) -> tuple[CustomLayers | None, Notice]:
    """Try cuDNN against the fastest engine of TensorRT, without and with our kernels for pairs of pointwise convolutions."""
    best, fastest, share, library = None, before, 0.0, str(cudnn.library)
    for pairs in (False, True)[: 1 + cudnn.has_pairs]:
        layers = CustomLayers(cudnn=True, pointwise=pairs, fastest=True)
        try:
            trial = run(Notice("backends.cudnn_with_pairs" if pairs else "backends.cudnn", library=library), layers)
        except DeviceError as problem:
            _log.warning("%s: %s", library, problem)
            return None, Notice("backends.cudnn_failed", library=library, problem=problem.notice)
        share = max(share, trial.speed / before.speed)
        if layer_pays(exact, fastest, trial, network):
            best, fastest = layers, trial
    if best is None:
        return None, Notice("backends.cudnn_slower", library=library, share=share)
    gain = fastest.speed / before.speed - 1
    code = "backends.faster_with_cudnn_pairs" if best.pointwise else "backends.faster_with_cudnn"
    return best, Notice(code, gain=gain, library=library, tensorrt=tensorrt)


def layer_pays(exact: Trial, fastest: Trial, trial: Trial, network: Network) -> bool:
    """Whether an engine with one more custom layer is measurably faster than ``fastest`` and has the detections of ``exact``."""
    return trial.speed >= MIN_GAIN * fastest.speed and matching_share(exact, trial, network) >= MATCHING


OFFERED = (Precision.FP32, Precision.FP16)

_TRIAL_BATCH = 8
"""The batch in which a trial runs frames through an ``OnnxNetwork``."""

_ROUNDS = 20
"""Number of timed runs of a trial."""


class Builder:
    """Builds engines of one network for one device, and chooses their options.

    situation: key of everything that a plan depends on besides the network's part, precision and batch.
    """

    def __init__(
        self,
        device: DeviceId,
        cuda: Device,
        stream: Stream,
        network: Model,
        settings: EngineSettings,
        progress: Progress | None,
        tuning: bool = False,
        examples: Callable[[], Iterable[Sequence[HostImage]]] = tuple,
    ) -> None:
        """Find the library and compile the kernels. tuning, examples: see ``Backend``.

        Raises DeviceError if a library is missing, or does not support the device. The message says what to install.
        """
        self._tuning = tuning
        self._device, self._cuda, self._stream = device, cuda, stream
        self._model, self._settings, self._progress, self._examples = network, settings, progress, examples
        self._frames: list[HostImage] = []
        self._trying: Notice | None = None
        capability = cuda.compute_capability
        self.library = find_library((capability.major, capability.minor))
        self._cache, self._arch = FileCache(), f"sm_{cuda.arch}"
        self.kernels = self._compiled()
        layers = hashlib.sha256(source().encode()).hexdigest()
        size = f"{network.width}x{network.height}"
        place = f"{_driver()}\n{cuda.name}\n{capability}"
        self.situation = f"{self.library} without TF32\n{place}\n{network.digest}\n{size}\n{layers}"
        self._cudnn, self._without_cudnn = self._find_cudnn(place)

    @property
    def _network(self) -> Network:
        """The model, if it is one of Darknet's files."""
        assert isinstance(self._model, Network)
        return self._model

    def build(self, precision: Precision, batch: int, layers: CustomLayers = PLAN_ONLY) -> tuple[Engine, Memory]:
        """Build an engine, and return it with its memory. layers: for FP16 only.

        Raises
        ------
        OutOfMemoryError
            The device's memory does not suffice. All memory is freed.
        DeviceError, ModelError
            See ``prepare_plan``.
        """
        memory = Memory(self._cuda, self._stream)
        try:
            if isinstance(self._model, OnnxNetwork):
                plan = prepare_onnx_plan(self.library, self._model, batch, precision, self._cache, self.situation, self._tell)
                memory.own(plan)
                return OnnxEngine(self._model, batch, memory, plan), memory
            if layers.cudnn and self._cudnn is not None:
                return self._cudnn.build(batch, layers.pointwise, layers.fastest, memory, self._tell), memory
            pieces = cut(self._network, layers)
            first = self._compiled(FIRST_CONVOLUTION) if pieces.first is not None else None
            plans = []
            for number, part in enumerate(pieces.parts):

                def tell(doing: Notice, fraction: float, done: int = number) -> None:
                    self._tell(doing, (done + fraction) / len(pieces.parts))

                known = self.library, self._network, part, batch, precision, self._cache, self.situation
                plans.append(prepare_plan(*known, tell, pieces.linear, pieces.channels_last))
                memory.own(plans[-1])
            return TensorRtEngine(self._network, batch, precision, memory, pieces, plans, self.kernels, first), memory
        except KernelError as problem:
            memory.close()
            raise DeviceError(of_device(self._device, problem.notice)) from problem
        except BaseException:
            memory.close()
            raise

    def plan(self, part: Part, precision: Precision, batch: int, number: int, count: int) -> Plan:
        """The plan of one part of the network, the stage ``number`` of ``count``. Errors: see ``prepare_plan``."""

        def tell(doing: Notice, fraction: float) -> None:
            self._tell(Notice("backends.build_stage", number=number, count=count, doing=doing), fraction)

        return prepare_plan(self.library, self._network, part, batch, precision, self._cache, self.situation, tell)

    def cudnn_stages(self, cuts: Sequence[int], batch: int, layers: CustomLayers) -> tuple[Program, list[Stage]]:
        """The program for cuDNN, cut into stages: see ``cut_operations``."""
        assert self._cudnn is not None
        return self._cudnn.stages(cuts, batch, layers.pointwise)

    def build_cudnn_stage(self, stage: Stage, batch: int, layers: CustomLayers, memory: Memory, number: int, count: int) -> CudnnEngine:
        """Build a stage, the ``number``-th of ``count``. Errors: see ``build``."""

        def tell(doing: Notice, fraction: float) -> None:
            self._tell(Notice("backends.build_stage", number=number, count=count, doing=doing), fraction)

        assert self._cudnn is not None
        try:
            return self._cudnn.build_stage(stage, batch, layers.pointwise, layers.fastest, memory, tell)
        except KernelError as problem:
            raise DeviceError(of_device(self._device, problem.notice)) from problem

    def choose_precision(self) -> tuple[Precision, Notice]:
        """The precision of the settings, or the fastest one whose detections match FP32, and the reason.

        Without trials, it is FP16 with ``NOT_TUNED`` as the reason: compare its detections with those of FP32, see ``share_of_exact``.

        With an ``OnnxNetwork``, trials compare boxes in frames of the user's videos; without trials, it is FP32.

        Raises DeviceError if TensorRT does not offer it.
        """
        if isinstance(self._model, OnnxNetwork):
            shown = trial_settings(self._settings)
            situation = f"{self.situation} frames {shown.stored_confidence} {letterboxes(self._model, self._settings)}"
            compare = partial(agreeing_share, network=self._model, settings=shown)
            safe = None if self._tuning else Precision.FP32
            return resolve_precision(
                self._settings.precision, self._device, OFFERED, self._model, situation, self._try_frames, compare, safe
            )
        first = None if self._tuning else Precision.FP16
        return resolve_precision(self._settings.precision, self._device, OFFERED, self._network, self.situation, self._try, first=first)

    @property
    def _untuned(self) -> str:
        """Key of what depends on the engine that is built without trials."""
        return f"{self.situation}\n{'' if self._cudnn is None else self._cudnn.key}\nwithout trials"

    def known_share(self) -> float | None:
        """The outcome of ``share_of_exact`` at an earlier start; None if there is none."""
        share: float | None = self._cache.recall(self._untuned)
        return share

    def share_of_exact(self, exact: Sequence[NDArray[np.float32]] | None, heads: Sequence[NDArray[np.float32]]) -> float:
        """The share of FP32's detections in the probe pictures that an engine has, 0..1; the cache keeps it.

        exact, heads: raw outputs in FP32 and of the engine, as in ``Trial``. exact: None = build an engine in FP32 on this device.
        """
        reference = self._try(Precision.FP32) if exact is None else Trial([*exact], 0.0)
        share: float = self._cache.remember(self._untuned, lambda: matching_share(reference, Trial([*heads], 0.0), self._network))
        return share

    def choose_batch(self, precision: Precision) -> tuple[int, Notice]:
        """The batch of the settings, or 1 for the lowest latency, or the one that tuning found; and the reason.

        Raises DeviceError if an ONNX file takes one picture at once, and the settings say another batch.
        """
        if isinstance(self._model, OnnxNetwork) and self._model.fixed_batch:
            if self._settings.batch not in (None, 1):
                raise DeviceError(of_device(self._device, Notice("backends.onnx_batch", name=self._model.name, option=Option("batch"))))
            return 1, Notice("backends.batch_of_file")
        if self._settings.batch is not None:
            return self._settings.batch, AS_ASKED
        if self._settings.hint.batch is not None:
            return self._settings.hint.batch, Notice("backends.batch_for_latency")

        budget = self._settings.latency_budget
        key = f"{self.situation}\n{precision}\nsmallest batch with {ENOUGH} of the speed, or {FIRST_BATCH}, and reason, within {budget}"
        if not self._tuning and budget is None and self._cache.recall(key) is None:
            return FIRST_BATCH, Notice("backends.first_batch")

        def find() -> tuple[int, list[Any]]:
            best, reason = self._tune(precision, budget)
            return best, reason.as_json()

        batch, reason = self._cache.remember(key, find)
        return batch, Notice.from_json(reason)

    def choose_layers(self, precision: Precision, batch: int) -> tuple[CustomLayers, list[Notice]]:
        """The custom layers, or cuDNN, with which the network was fastest in a trial, and the results (none without a trial).

        Without trials: cuDNN, where it can compute the network. On an H100 it is as soon ready as TensorRT, and faster.

        Raises OutOfMemoryError, DeviceError or ModelError: see ``build``.
        """
        candidates = []
        if isinstance(self._model, OnnxNetwork):
            return PLAN_ONLY, []
        if precision is Precision.FP16:
            candidates += ["first_convolution"] if first_convolution(self._network) is not None else []
            # TensorRT-RTX computes Mish inside convolutions; 72 parts of YOLOv4 take it 40 s to build, and are slower
            candidates += ["mish"] if self.library.full and mish_convolutions(self._network) else []
        cudnn = self._cudnn if precision is Precision.FP16 else None
        if not candidates and cudnn is None:
            return PLAN_ONLY, []
        layer = hashlib.sha256(source(*FIRST_CONVOLUTION).encode()).hexdigest()
        key = f"{self.situation}\n{precision}\n{batch}\ncustom layers and results {layer}\n{'' if cudnn is None else cudnn.key}"

        if not self._tuning and self._cache.recall(key) is None:
            return (PLAN_ONLY if cudnn is None else CustomLayers(cudnn=True, pointwise=cudnn.has_pairs)), []

        def run(what: Notice, layers: CustomLayers) -> Trial:
            return self._trial(what, precision, batch, True, layers)

        def find() -> tuple[dict[str, bool], list[Any]]:
            layers, results = try_layers(run, candidates, self._network, str(self.library), cudnn)
            return asdict(layers), [result.as_json() for result in results]

        chosen, results = self._cache.remember(key, find)
        return CustomLayers(**chosen), [*map(Notice.from_json, results), *filter(None, (self._without_cudnn,))]

    def library_of(self, layers: CustomLayers) -> str:
        """The name and version of the library that computes the network."""
        return str(self.library if self._cudnn is None or not layers.cudnn else self._cudnn.library)

    def _find_cudnn(self, situation: str) -> tuple[CudnnBuilder | None, Notice | None]:
        """What builds engines with cuDNN, or why cuDNN cannot; neither if cuDNN is not installed."""
        if isinstance(self._model, OnnxNetwork):
            return None, None
        capability = self._cuda.compute_capability
        try:
            library = find_cudnn((capability.major, capability.minor))
        except DeviceError as problem:
            _log.info("cuDNN is not used: %s", problem)
            return None, None
        known = self._network, self._cuda, self._stream, self._cache, situation, self._arch
        try:
            return CudnnBuilder(library, *known), None
        except UnsupportedError as problem:
            return None, Notice("backends.cudnn_cannot_compute", library=str(library), problem=problem.notice)

    def _tune(self, precision: Precision, budget: float | None) -> tuple[int, Notice]:
        sizes = SIZES if budget is not None else SIZES[2:]  # without a budget, the smallest sizes never win

        def measure(batch: int) -> float | None:
            try:
                return 1000 * batch / self._trial(Notice("backends.try_batch", batch=batch), precision, batch).speed
            except OutOfMemoryError:
                return None

        try:
            return tune_batch(measure, budget, sizes)
        except MemoryError as problem:
            raise OutOfMemoryError(of_device(self._device, Notice("backends.no_batch_fits", batch=sizes[0]))) from problem

    def _try(self, precision: Precision) -> Trial:
        what = Notice("backends.try_precision", precision=precision.value)
        return self._trial(what, precision, len(self._pictures), True)

    def _try_frames(self, precision: Precision) -> Trial:
        """Run frames of the user's videos. FP32 takes sources until there are enough boxes.

        Raises TooFewBoxesError if there is no frame.
        """
        assert isinstance(self._model, OnnxNetwork)
        batch = 1 if self._model.fixed_batch else _TRIAL_BATCH
        self._trying = Notice("backends.try_precision", precision=precision.value)
        try:
            engine, memory = self.build(precision, batch)
        finally:
            self._trying = None
        try:
            frames, heads, shown = list[HostImage](), list[NDArray[np.float32]](), trial_settings(self._settings)
            for more in [self._frames] if self._frames else filter(None, self._examples()):
                found = engine.raw_outputs(self._inputs_of(more), self._stream)
                heads = [np.concatenate(parts) for parts in zip(heads, found, strict=True)] if heads else found
                frames += more
                if count_boxes(heads, self._model, shown) >= MIN_BOXES:
                    break
            if not frames:
                raise TooFewBoxesError(Notice("backends.no_frames"))
            self._frames = frames
            return Trial(heads, 1000 * batch / time_steps(self._cuda, self._stream, engine.steps(engine.new_heads()), _ROUNDS))
        finally:
            memory.close()

    def _inputs_of(self, frames: Sequence[HostImage]) -> NDArray[np.float32]:
        """Frames as RGB in the network's size, 0..1: (n, 3, height, width)."""
        model, letterbox = self._model, letterboxes(self._model, self._settings)
        inputs = np.empty((len(frames), model.height, model.width, 3), np.float32)
        for frame, out in zip(frames, inputs, strict=True):
            fit_host_image(frame, out, letterbox, placement=model.placement)
        return np.ascontiguousarray(inputs.transpose(0, 3, 1, 2)) / np.float32(255)

    @cached_property
    def _pictures(self) -> list[Image]:
        """The pictures on which trials compare detections."""
        return probe_pictures(self._network.width, self._network.height)

    @cached_property
    def probes(self) -> NDArray[np.float32]:
        """The same pictures as the network's input, (n, 3, height, width), 0..1."""
        return np.stack([np.asarray(picture.transpose(2, 0, 1) / 255, np.float32) for picture in self._pictures])

    def _trial(self, what: Notice, precision: Precision, batch: int, compared: bool = False, layers: CustomLayers = PLAN_ONLY) -> Trial:
        """Build an engine and time it. what: the trial's name in progress messages. compared: also run it on the probe pictures."""
        self._trying = what
        try:
            engine, memory = self.build(precision, batch, layers)
        finally:
            self._trying = None
        try:
            heads = engine.raw_outputs(self.probes, self._stream) if compared else []
            return Trial(heads, 1000 * batch / time_steps(self._cuda, self._stream, engine.steps(engine.new_heads()), _ROUNDS))
        finally:
            memory.close()

    def _compiled(self, sources: Sequence[str] = ()) -> Kernels:
        """Compile the kernels of these sources, by default the ones that every engine needs."""
        try:
            return Kernels(self._arch, self._cache, sources)
        except KernelError as problem:
            raise DeviceError(of_device(self._device, problem.notice)) from problem

    def _tell(self, doing: Notice, fraction: float) -> None:
        if self._progress is not None:
            self._progress(doing if self._trying is None else Notice("backends.trying", what=self._trying, doing=doing), fraction)


def _driver() -> str:
    from cuda.bindings import driver

    _, version = driver.cuDriverGetVersion()
    return f"CUDA driver {version}"
