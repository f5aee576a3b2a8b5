"""The backend for NVIDIA GPUs, whose network TensorRT or cuDNN computes.

A batch is one CUDA graph on one stream: preprocessing, network, YOLO layer, suppression, download. Several batches are under way, so
that the device always has the next one. The submitting thread waits only for a free slot; another thread waits for the results.
"""

import logging
import queue
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
from cuda.core import Device, Stream
from numpy.typing import NDArray

from framefleet.engine.backends.base import Backend, Progress, earlier_choice, letterboxes, reasons
from framefleet.engine.backends.cudnn.library import find_cudnn
from framefleet.engine.backends.memory import check_memory
from framefleet.engine.backends.nvidia.engine import PLAN_ONLY, CustomLayers
from framefleet.engine.backends.nvidia.slot import Geometry, Slot, Uploads, WholeSlot
from framefleet.engine.backends.nvidia.trials import Builder
from framefleet.engine.backends.precision import MATCHING, NOT_TUNED
from framefleet.engine.backends.tensorrt.library import find_library
from framefleet.engine.cuda.device import free_memory, open_device
from framefleet.engine.cuda.memory import Memory, OutOfMemoryError, cuda_errors
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.devices.affinity import bind_near
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.model.network import Network
from framefleet.engine.model.onnx.network import Model, OnnxNetwork
from framefleet.engine.notices import DeviceError, ModelError, Notice, notice_of
from framefleet.engine.processes.child_main import name_thread
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import AS_BEFORE, DeviceId, EngineInfo, Found, InferenceFailure
from framefleet.plugins.cache import FileCache

_log = logging.getLogger(__name__)

_SLOTS = 3
"""Batches under way: one runs, one waits on the device, one is being filled."""


def _without_cache() -> Notice | None:
    refusal = FileCache().refusal
    return Notice("backends.without_cache", refusal=refusal) if refusal else None


@dataclass(frozen=True, eq=False)
class _Place:
    """A slot, the uploads of its pictures, and the stream that preprocesses them."""

    slot: Slot
    uploads: Uploads
    stream: Stream


class NvidiaBackend(Backend):
    """A network built by TensorRT or cuDNN for ``cuda:N``. layers: the custom layers to use, None = the ones that a trial finds faster."""

    def __init__(self, device: DeviceId, layers: CustomLayers | None = None) -> None:
        super().__init__(device)
        self.decodes_on = device.members[0]
        self._layers, self._layers_reason = layers, list[Notice]()
        self._spent: Counter[str] = Counter()
        self._counting = Lock()
        self._places: list[_Place] = []
        self._memories: list[Memory] = []
        self._opened = False

    @property
    def slots(self) -> list[Slot]:
        """The slots of the engine. Each one holds a batch while it is under way."""
        return [place.slot for place in self._places]

    def open(self, settings: EngineSettings) -> None:
        """Open the device before ``activate``, which does it otherwise: it takes a while, during which the network can be loaded."""
        self._settings, self._opened = settings, True
        with cuda_errors(self.device, Notice("cuda.open_device")):
            self._open()

    def _activate_impl(self, network: Model, settings: EngineSettings, progress: Progress | None) -> EngineInfo:
        if isinstance(network, OnnxNetwork) and network.suppression is not None:
            from framefleet.engine.model.onnx.prepare import without_suppression  # onnx is needed only for such files

            network = without_suppression(network)
        self._network = network
        if not self._opened:
            self.open(settings)
        with cuda_errors(self.device, Notice("cuda.open_device")):
            free = self._free_memory()
        check_memory(network, settings.batch or 1, 4 if settings.precision is Precision.FP32 else 2, free, self.device)
        bind_near(self._cuda.pci_bus_id)  # before memory is pinned; threads that start later inherit the binding
        self._geometry = Geometry(network.width, network.height, letterboxes(network, settings), network.placement)
        with cuda_errors(self.device, Notice("backends.build_network", name=network.name)):
            self._builder = builder = Builder(
                self.device, self._cuda, self._stream, network, settings, progress, self.tuning, self.examples
            )
            _log.debug("%s: kernels are loaded", self.device)
            earlier = earlier_choice(settings, self._name)
            if earlier is not None and settings.precision in (Precision.AUTO, earlier.precision):
                precision, reason, self._layers = Precision(earlier.precision), AS_BEFORE, CustomLayers.named(earlier.options)
                batch, why = self._start_largest(precision, settings.batch or earlier.batch, AS_BEFORE)
            else:
                precision, reason = builder.choose_precision()
                if reason == NOT_TUNED and isinstance(network, Network):
                    precision, reason, batch, why = self._start_unproven(network, precision)
                else:
                    batch, why = self._start_largest(precision, *builder.choose_batch(precision))
        _log.debug("%s: the engine is built", self.device)
        self._reasons = [reason, *self._layers_reason]
        layers = self._layers or CustomLayers()
        return EngineInfo(
            self.device,
            self._name,
            builder.library_of(layers),
            precision.value,
            self._because(batch, why),
            network.width,
            network.height,
            batch,
            len(self.slots),
            options=layers.names,
        )

    @property
    def _name(self) -> str:
        """The device's name, in the engine's description."""
        return str(self._cuda.name)

    def _start_unproven(self, network: Network, precision: Precision) -> tuple[Precision, Notice, int, Notice]:
        """Start an engine of a precision that no trial has compared with FP32, and compare it; if it differs, start one in FP32.

        The CPU computes the detections in FP32 while the engine is built. Returns the precision, why, the batch, and why.
        """
        builder = self._builder
        share = builder.known_share()
        with ThreadPoolExecutor(1, "compute exact outputs") as thread:
            exact = None if share is not None else thread.submit(_exact_outputs, network, builder.probes)
            batch, why = self._start_largest(precision, *builder.choose_batch(precision))
            if exact is not None:
                share = builder.share_of_exact(exact.result(), self._raw_outputs_impl(builder.probes))
        assert share is not None
        told = {"precision": precision.value, "share": share, "matching": MATCHING}
        if share >= MATCHING:
            return precision, reasons(NOT_TUNED, Notice("backends.first_precision", **told)), batch, why
        self._stop()
        self._layers, self._layers_reason = None, []
        differs = reasons(NOT_TUNED, Notice("backends.first_precision_differs", **told))
        return Precision.FP32, differs, *self._start_largest(Precision.FP32, *builder.choose_batch(Precision.FP32))

    def _start_largest(self, precision: Precision, batch: int, why: Notice) -> tuple[int, Notice]:
        """Start an engine of this batch, or of half, a quarter … of it if the memory does not suffice. Returns the batch, and why."""
        while True:
            try:
                self._start(self._builder, precision, batch)
                return batch, why
            except OutOfMemoryError as problem:
                self._release()
                if batch == 1:
                    raise
                batch, why = batch // 2, Notice("backends.no_memory_for_batch", batch=batch, problem=problem.notice)
            except ValueError as problem:  # the custom layers use 32-bit counts, and limit heads and anchors
                self._release()
                refused = Notice("backends.beyond_kernels", name=self._network.name, batch=batch, problem=str(problem))
                raise ModelError(refused) from problem

    def _because(self, batch: int, why: Notice) -> Notice:
        """Why the engine is built as it is. why: why it has this batch."""
        return reasons(*self._reasons, Notice("backends.batch", batch=batch, why=why), _without_cache())

    def _open(self) -> None:
        """Open the device that takes the pictures. A subclass opens its other devices, too."""
        self._cuda = open_device(self.device, sleep=not self._settings.hint.spins)
        self._stream, self._copies = self._cuda.create_stream(), self._cuda.create_stream()

    def _free_memory(self) -> int | None:
        """Free memory of the device, or of all devices of a subclass, bytes; None = unknown."""
        return free_memory(self._cuda)

    def _start(self, builder: Builder, precision: Precision, batch: int) -> None:
        for slot in self._build_slots(builder, precision, batch):
            stream = slot.stream if isinstance(slot, WholeSlot) else self._stream
            self._places.append(_Place(slot, Uploads(self._cuda, self._copies), stream))
        self._idle: queue.SimpleQueue[_Place] = queue.SimpleQueue()
        for place in self._places:
            self._idle.put(place)
        self._awaiting = ThreadPoolExecutor(1, f"await {self.device}", self._begin_awaiting)

    def _begin_awaiting(self) -> None:
        name_thread("await")
        self._cuda.set_current()

    def _build_slots(self, builder: Builder, precision: Precision, batch: int) -> Sequence[Slot]:
        """Build the slots for a batch size. The current device is the one that takes the pictures."""
        if self._layers is None:  # only once: after a batch is halved during a run, a trial would take too long
            self._layers, self._layers_reason = builder.choose_layers(precision, batch)
        try:
            self._engine, memory = builder.build(precision, batch, self._layers)
        except DeviceError as problem:
            if not self._layers.cudnn or isinstance(problem, OutOfMemoryError) or self._settings.earlier:
                raise
            # no trial has built it before
            failed = Notice("backends.cudnn_failed", library=builder.library_of(self._layers), problem=problem.notice)
            self._layers, self._layers_reason = PLAN_ONLY, [failed]
            self._engine, memory = builder.build(precision, batch)
        self._memories.append(memory)
        count = self._settings.hint.under_way(1, _SLOTS)
        engines = [(self._engine, memory, self._stream)] * count
        if isinstance(self._network, OnnxNetwork) and self._network.fixed_batch:
            # one picture does not fill the device: several run side by side, each with its own engine and stream
            engines = [engines[0]]
            for _ in range(count - 1):
                engine, memory = builder.build(precision, batch, self._layers)
                self._memories.append(memory)
                engines.append((engine, memory, self._cuda.create_stream()))
        return [
            WholeSlot(self._cuda, stream, self._copies, engine, builder.kernels, memory, self._settings)
            for engine, memory, stream in engines
        ]

    def _submit_impl(self, images: Sequence[HostImage | DeviceFrame], still: bool) -> Future[list[Found]]:
        try:
            return self._start_inference(images, still)
        except OutOfMemoryError as problem:
            self._shrink(problem)
            return self._in_parts(images, still)

    def _start_inference(self, images: Sequence[HostImage | DeviceFrame], still: bool) -> Future[list[Found]]:
        place = self._idle.get()
        try:
            self._cuda.set_current()
            with cuda_errors(self.device, Notice("backends.start_inference")):
                fits = self._fill(place, images, still)
                place.slot.launch()
        except BaseException:
            self._idle.put(place)
            raise
        frames = [image for image in images if isinstance(image, DeviceFrame)]
        if not self._settings.hint.spins:
            return self._awaiting.submit(self._await, place, fits, frames)
        finished: Future[list[Found]] = Future()  # a second thread would add latency
        try:
            finished.set_result(self._await(place, fits, frames))
        except Exception as problem:
            finished.set_exception(problem)
        return finished

    def _in_parts(self, images: Sequence[HostImage | DeviceFrame], still: bool) -> Future[list[Found]]:
        """Infer a batch that has become larger than the engine's batch size, in parts."""
        found: list[Found] = []
        while len(found) < len(images):
            part = images[len(found) : len(found) + self.info.batch]
            try:
                found += self._submit_impl(part, still).result()
            except Exception as problem:  # the frames of earlier parts are released, so the caller cannot submit the batch again
                _release_frames(part)
                found += [InferenceFailure(Notice("backends.inference_failed", problem=notice_of(problem)))] * len(part)
        finished: Future[list[Found]] = Future()
        finished.set_result(found)
        return finished

    def _shrink(self, problem: OutOfMemoryError) -> None:
        """Build the engine again for half the batch. Raises the problem again if the batch is 1."""
        info = self.info
        if info.batch == 1:
            raise problem
        self._awaiting.shutdown(wait=True)
        self._release()
        batch = info.batch // 2
        with cuda_errors(self.device, Notice("backends.build_batch", batch=batch)):
            self._start(self._builder, Precision(info.precision), batch)
        self._info = replace(info, batch=batch, reason=self._because(batch, Notice("backends.memory_shrank", batch=info.batch)))

    def _fill(self, place: _Place, images: Sequence[HostImage | DeviceFrame], still: bool) -> list[Fit]:
        host = [image for image in images if not isinstance(image, DeviceFrame)]
        addresses: list[int] = []
        if host:
            addresses, uploaded = place.uploads.put(host)
            place.stream.wait(uploaded)
        # for each decoder's stream once, not for each frame
        for stream in {id(image.written_on): image.written_on for image in images if isinstance(image, DeviceFrame)}.values():
            place.stream.wait(stream)
        return self._geometry.fill(place.slot.frames, images, addresses, still)

    def _await(self, place: _Place, fits: list[Fit], frames: list[DeviceFrame]) -> list[Found]:
        try:
            with cuda_errors(self.device, Notice("backends.finish_inference")):
                found = place.slot.read(fits)
                spent = {**place.slot.stage_times(), "upload": place.uploads.time()}
            with self._counting:
                self._spent.update(spent)
            _release_frames(frames)
            return found
        finally:
            self._idle.put(place)

    def timings(self) -> Mapping[str, float]:
        """ms in each stage since the last call: "upload", and the stages of ``Slot.stage_times``."""
        with self._counting:
            spent, self._spent = self._spent, Counter()
        return spent

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        self._cuda.set_current()
        with cuda_errors(self.device, Notice("backends.run_network")):
            return self._engine.raw_outputs(inputs, self._stream)

    def _close_impl(self) -> None:
        self._stop()

    def _stop(self) -> None:
        self._awaiting.shutdown(wait=True)
        self._release()

    def _release(self) -> None:
        for place in self._places:
            place.uploads.close()
        self._places.clear()
        for memory in self._memories:
            memory.close()
        self._memories.clear()
        self._cuda.set_current()


def load_libraries(index: int) -> None:
    """Load the libraries of an engine before its network is known: that takes a part of a second. index: the device's ordinal, open.

    Raises DeviceError or an error of CUDA or of cuDNN if they cannot be used.
    """
    device = Device(index)
    device.set_current()
    capability = device.compute_capability.major, device.compute_capability.minor
    find_library(capability)
    library = find_cudnn(capability)
    library.cudnn.destroy_handle(library.cudnn.create_handle())  # loads cuDNN's parts, which stay


def _exact_outputs(network: Network, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]] | None:
    """The raw outputs in FP32, by the CPU; None if OpenVINO is missing or cannot compute them. inputs: see ``raw_outputs``."""
    try:
        from framefleet.engine.backends.openvino.backend import exact_outputs

        return exact_outputs(network, inputs)
    except (ImportError, DeviceError) as problem:
        _log.info("FP16 is compared with FP32 on the GPU: %s", problem)
        return None


def _release_frames(images: Sequence[HostImage | DeviceFrame]) -> None:
    for image in images:
        if isinstance(image, DeviceFrame):
            image.release()
