"""Memory and CUDA graph of one batch under way: its pictures, frame table, network and results.

Pictures in host memory are uploaded; frames decoded on the device stay in place.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from cuda.core import Device, Event, EventOptions, Stream
from numpy.typing import NDArray

from framefleet.engine.backends.nvidia.engine import Engine, Outputs, download_heads
from framefleet.engine.cuda.graph import Copy, Mark, Step, copy, copy_rows, record
from framefleet.engine.cuda.memory import REGISTERED, Memory
from framefleet.engine.detection.frame_format import FrameFormat, HostImage, PixelFormat, Planes
from framefleet.engine.detection.postprocess import MAX_SCORE, cut_off, detections, strongest, with_own_thresholds
from framefleet.engine.detection.preprocess import DARKNET, Fit, plan_fit
from framefleet.engine.detection.readings import MAX_QUERIES, NEEDS_NMS, grid_cells
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.model.network import Placement
from framefleet.engine.model.onnx.network import Model, OnnxNetwork, Reading
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import Detections, Found
from framefleet.plugins.kernels import Kernels, Number
from framefleet.plugins.nms import LIMIT, Nms, class_mask, read_results, result_bytes
from framefleet.plugins.preprocess import FRAME, I420, NV12, P016, RGB8, Preprocess, Scaling, describe_frame
from framefleet.plugins.rows import NUMBER_BYTES, Rows, RowsLayer, Values, rows_table, scratch_bytes
from framefleet.plugins.yolo_layer import CANDIDATE_BYTES, CAPACITY, Candidates, Head, YoloLayer, head_table

_FORMATS = {PixelFormat.NV12: NV12, PixelFormat.P016: P016, PixelFormat.I420: I420, PixelFormat.RGB8: RGB8}
_ALIGNMENT = 256


class Geometry:
    """Maps pictures to a network's input of width × height pixels. letterbox, placement: see ``plan_fit``.

    Attributes: of_image, of_frame: functions that return FRAME () without addresses, and the fit, for RGB pictures of a stored
    width and height and an orientation (still: see ``Backend.submit``), and for frames of another ``FrameFormat``.
    """

    def __init__(self, width: int, height: int, letterbox: bool, placement: Placement = DARKNET) -> None:
        self._width, self._height, self._letterbox, self._placement = width, height, letterbox, placement
        self.of_image, self.of_frame = lru_cache(64)(self._describe_image), lru_cache(64)(self._describe_frame)

    def fill(self, table: NDArray[Any], images: Sequence[HostImage | DeviceFrame], uploaded: Sequence[int], still: bool) -> list[Fit]:
        """Describe the pictures of a batch in its table, FRAME (batch,), and return their fits. Entries without a picture get no address.

        uploaded: addresses on the device of the pictures in host memory, in order. still: see ``Backend.submit``.
        """
        remaining, fits = iter(uploaded), []
        luma, chroma = np.zeros(len(table), np.uint64), np.zeros(len(table), np.uint64)
        known: FrameFormat | None = None
        for index, image in enumerate(images):
            if not isinstance(image, DeviceFrame | Planes):
                entry, fit = self.of_image(image.shape[1], image.shape[0], still)
                luma[index] = next(remaining)
            elif isinstance(image, DeviceFrame) and image.format.format is PixelFormat.RGB8:
                layout = image.format
                entry, fit = self.of_image(layout.stored_width, layout.stored_height, still, layout.orientation)
                luma[index] = image.address
            else:
                if image.format is not known:  # frames of one source share it
                    known, (frame_entry, frame_fit) = image.format, self.of_frame(image.format)
                entry, fit = frame_entry, frame_fit
                luma[index] = address = image.address if isinstance(image, DeviceFrame) else next(remaining)
                chroma[index] = address + known.chroma_offset
            table[index] = entry
            fits.append(fit)
        table["luma"], table["chroma"] = luma, chroma
        return fits

    def _fit(self, width: int, height: int) -> Fit:
        return plan_fit(width, height, self._width, self._height, self._letterbox, self._placement)

    def _describe_image(
        self, width: int, height: int, still: bool, orientation: tuple[bool, int | None] = (False, None)
    ) -> tuple[NDArray[Any], Fit]:
        return self._describe_frame(FrameFormat.rgb(width, height, orientation), still and self._placement.like_darknet)

    def _describe_frame(self, layout: FrameFormat, corner_to_corner: bool = False) -> tuple[NDArray[Any], Fit]:
        stored, shown = (layout.stored_width, layout.stored_height), (layout.width, layout.height)
        fit = self._fit(*shown)
        colours = layout.matrix, layout.full_range, layout.orientation
        entry = describe_frame(_FORMATS[layout.format], stored, shown, _inside(fit), *colours, corner_to_corner, fit.scale)
        entry["pitch"] = layout.pitch
        return entry, fit


_TOGETHER_BYTES = 8 * 2**20
"""From this size on, several threads copy a batch to pinned memory: one copies about 4 GB/s."""

_STAGERS = 4

_ALONE_BYTES = 2**20
"""Up to this size the driver copies a picture that is alone: 416 × 416 pixels in 92 instead of 104 µs. Larger ones were not measured."""


def _stage(copying: tuple[HostImage, NDArray[np.uint8]]) -> None:
    """Copy a picture into pinned memory."""
    image, block = copying
    if isinstance(image, Planes):
        image.copy_to(block)
    else:
        np.copyto(block.reshape(image.shape), image)


class Uploads:
    """Copies one slot's host pictures to the device. stream: only for copies, so that copying and computing overlap.

    Pictures in ``REGISTERED`` memory are copied directly, and so is a small picture that is alone: the driver copies it in parts,
    and one part travels while the next one is read. The others go through the slot's own pinned memory, several at once.
    """

    def __init__(self, device: Device, stream: Stream) -> None:
        self._memory = Memory(device, stream)
        self._stream = stream
        self._host: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._address = 0
        self._room = 0
        self._begun = device.create_event(EventOptions(timing_enabled=True))
        self._done = device.create_event(EventOptions(timing_enabled=True))
        self._used = False

    def put(self, images: Sequence[HostImage]) -> tuple[list[int], Event]:
        """Copy the pictures. Returns their addresses on the device and the event after the copies. The slot's last batch must be done.

        Pictures in registered memory must not change until then.

        Raises OutOfMemoryError if the device's memory does not suffice.
        """
        places = np.cumsum([0, *(-(-image.nbytes // _ALIGNMENT) * _ALIGNMENT for image in images)]).tolist()
        at_hand = [_goes_directly(image, alone=len(images) == 1) for image in images]
        if places[-1] > self._room or (len(self._host) < self._room and not all(at_hand)):
            self._memory.close()
            self._room = max(places[-1], self._room)
            self._address = self._memory.device(self._room)
            self._host = self._memory.pinned(0 if all(at_hand) else self._room)
        self._stream.record(self._begun)
        staged = [self._host[place : place + image.nbytes] for image, place in zip(images, places, strict=False)]
        to_stage = [(image, block) for image, block, ready in zip(images, staged, at_hand, strict=True) if not ready]
        together = len(to_stage) > 1 and places[-1] >= _TOGETHER_BYTES
        with ThreadPoolExecutor(_STAGERS, "stage") if together else nullcontext() as stagers:
            staging = iter((map if stagers is None else stagers.map)(_stage, to_stage))
            for image, place, block, ready in zip(images, places, staged, at_hand, strict=False):
                if not ready:
                    next(staging)
                    copy(self._address + place, block.ctypes.data, image.nbytes, self._stream)
                elif isinstance(image, Planes):
                    copy(self._address + place, image.luma.ctypes.data, image.nbytes, self._stream)
                else:
                    height, width = image.shape[:2]
                    copy_rows(self._address + place, image.ctypes.data, image.strides[0], 3 * width, height, self._stream)
        self._stream.record(self._done)
        self._used = True
        return [self._address + place for place in places[:-1]], self._done

    def time(self) -> float:
        """ms of the last batch's copies, 0 if there were none. The batch must be done."""
        if not self._used:
            return 0.0
        self._used = False
        return float(self._done - self._begun)

    def close(self) -> None:
        """Free the memory."""
        self._memory.close()


def _inside(fit: Fit) -> tuple[int, int, int, int]:
    return fit.left, fit.top, fit.inner_width, fit.inner_height


def _goes_directly(image: HostImage, alone: bool) -> bool:
    """Whether a picture can be copied to the device from where it is. Frames of FFmpeg, whose planes are apart, never can."""
    if isinstance(image, Planes):
        return REGISTERED.covers(image.luma.ctypes.data)
    if alone and image.nbytes <= _ALONE_BYTES and image.flags.c_contiguous:
        return True
    return image.strides[1:] == (3, 1) and REGISTERED.covers(image.ctypes.data)


STAGES = ("preprocess", "network", "postprocess")
"""The stages of a batch within the graph, in order."""


class Slot(ABC):
    """Base of a batch under way. frames: FRAME (batch,), pinned, the input of ``launch``.

    One thread calls ``launch``; another one may call ``read``.
    """

    frames: NDArray[Any]

    @abstractmethod
    def launch(self) -> None:
        """Start the batch with the frames in the table. Does not wait."""

    @abstractmethod
    def read(self, fits: Sequence[Fit]) -> list[Found]:
        """Wait for the batch and return the detections of its first ``len(fits)`` frames."""

    @abstractmethod
    def stage_times(self) -> Mapping[str, float]:
        """ms that the last read batch spent in each stage."""


class InputSteps:
    """The first steps of a batch: a table of its frames, and the preprocessing into the network's input.

    steps: for the stream, in order. pictures, number: see ``Preprocess``.
    """

    def __init__(self, network: Model, batch: int, kernels: Kernels, memory: Memory, pictures: int, number: Number) -> None:
        self.table = FrameTable(batch, memory, memory.pinned(batch * FRAME.itemsize))
        self.frames = self.table.host.view(FRAME)
        size = (network.width, network.height)
        fill = Preprocess(kernels, self.table.address, pictures, batch, *size, number, scaling_of(network))
        self.steps: list[Step] = [self.table.copy, fill]


def scaling_of(network: Model) -> Scaling:
    """How values 0..255 become a network's input."""
    if isinstance(network, OnnxNetwork):
        prepared = network.preprocessing
        return Scaling(network.placement.grey, prepared.bgr, prepared.mean, prepared.scale)
    return Scaling(network.placement.grey)


class FrameTable:
    """The table of frames on a device. host: the pinned original, uint8 (bytes,). copy: the step that copies it to the device."""

    def __init__(self, batch: int, memory: Memory, host: NDArray[np.uint8]) -> None:
        self.host = host
        self.address = memory.device(batch * FRAME.itemsize)
        self.copy = Copy(self.address, host.ctypes.data, host.nbytes)


class OutputSteps:
    """The last steps of a batch: decoding and suppression on the device, detections in pinned memory.

    outputs, heads: form and addresses of the raw outputs. table: address of the frames. steps: for the stream, in this order.
    exact_stream: another stream of this device, to download raw outputs when the kernels find more than they can keep.
    """

    def __init__(
        self,
        network: Model,
        outputs: Outputs,
        kernels: Kernels,
        memory: Memory,
        settings: EngineSettings,
        heads: Sequence[int],
        table: int,
        exact_stream: Stream,
    ) -> None:
        """Raises ValueError if the network is too large for the kernels."""
        settings = with_own_thresholds(network, settings)
        self._network, self._outputs, self._settings, self._exact_stream = network, outputs, settings, exact_stream
        self._heads, batch = heads, outputs.batch
        self._results = memory.pinned(result_bytes(batch))
        self._counts, self._records = read_results(self._results, batch)
        # for one picture, the kernel writes there; for many, one copy is faster than that
        results = self._results.ctypes.data if batch == 1 else memory.device(self._results.nbytes)
        candidates = Candidates(memory.device(batch * CAPACITY * CANDIDATE_BYTES), memory.device(batch * 4))
        wanted = memory.constant(class_mask(network.classes, settings.classes))
        beta, suppress, most = None, True, None
        decoding: Step
        if isinstance(network, OnnxNetwork) and network.reading is not Reading.FRAMEFLEET:
            rows = _describe_rows(network, heads, outputs.shapes, memory.constant)
            described = memory.constant(rows_table(rows, network.classes, settings.stored_confidence))
            scratch = memory.device(scratch_bytes(rows, network.classes, batch))
            decoding = RowsLayer(kernels, rows, described, network.classes, batch, scratch, candidates)
            suppress, most = network.reading in NEEDS_NMS, MAX_QUERIES if rows.pairs else None
        else:
            described_heads = [
                Head(address, *layer.shape[1:], layer.anchors, layer.scale_x_y, layer.new_coords, pitch)
                for address, layer, pitch in zip(heads, network.heads, outputs.pitches, strict=True)
            ]
            addresses, size = memory.constant(head_table(described_heads)), (network.width, network.height)
            how = batch, network.classes, size, settings.stored_confidence, candidates, outputs.number
            decoding, beta = YoloLayer(kernels, described_heads, addresses, *how), network.heads[-1].diou_beta
        self.steps: list[Step] = [
            decoding,
            Nms(kernels, candidates, table, wanted, batch, settings.iou, beta, results, suppress, most),
        ]
        if batch > 1:
            self.steps.append(Copy(self._results.ctypes.data, results, self._results.nbytes))

    def read(self, fits: Sequence[Fit]) -> list[Found]:
        """The detections of the first ``len(fits)`` frames, after the steps.

        If the kernels found more candidates or detections than they can keep, or outputs that are not finite or no probabilities, the CPU's
        code decodes the raw outputs instead.
        """
        count = len(fits)
        wrong = (self._records["score"][:count, 0] > MAX_SCORE) & (self._counts[:count, 1] > 0)
        if wrong.any() or (self._counts[:count] > (CAPACITY, LIMIT)).any():
            raw = [head.astype(np.float32) for head in download_heads(self._outputs, self._heads, self._exact_stream)]
            return detections(self._network, raw, fits, self._settings)
        found: list[Found] = []
        for records, number in zip(self._records[:count], self._counts[:count, 1].tolist(), strict=True):
            records = records[:number]
            found.append(Detections(records["box"].copy(), records["score"].copy(), records["class_id"].copy()))
        own = cut_off(self._network)
        return found if own is None else strongest(found, own)


class Marks:
    """Events that time the stages: put ``begin`` before the first stage, ``end(stage)`` after each one."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._stages: list[str] = []
        self._events: list[Event] = []

    def begin(self) -> Mark:
        """The step before the first stage."""
        return self._new()

    def end(self, stage: str) -> Mark:
        """The step after a stage."""
        self._stages.append(stage)
        return self._new()

    def times(self) -> dict[str, float]:
        """ms of each stage, after all are done."""
        return {stage: float(after - before) for stage, (before, after) in zip(self._stages, pairwise(self._events), strict=True)}

    def _new(self) -> Mark:
        self._events.append(self._device.create_event(EventOptions(timing_enabled=True)))
        return Mark(self._events[-1])


class WholeSlot(Slot):
    """The memory and the graph of one batch on one device."""

    def __init__(
        self,
        device: Device,
        stream: Stream,
        exact_stream: Stream,
        engine: Engine,
        kernels: Kernels,
        memory: Memory,
        settings: EngineSettings,
    ) -> None:
        """Allocate the memory and record the graph. exact_stream: see ``OutputSteps``.

        Raises OutOfMemoryError if the device's memory does not suffice.
        """
        self.stream = stream
        inputs = InputSteps(engine.network, engine.batch, kernels, memory, engine.pictures, engine.number)
        self.frames = inputs.frames
        heads = engine.new_heads()
        self._outputs = OutputSteps(engine.network, engine.outputs, kernels, memory, settings, heads, inputs.table.address, exact_stream)
        self._marks = Marks(device)
        self.steps: list[Step] = [
            self._marks.begin(),
            *inputs.steps,
            self._marks.end("preprocess"),
            *engine.steps(heads),
            self._marks.end("network"),
            *self._outputs.steps,
            self._marks.end("postprocess"),
        ]
        for step in self.steps:  # the first launch of a kernel may allocate, which a recording forbids
            step.launch(stream)
        stream.sync()
        self._graph = record(self.steps, stream)
        self._graph.upload(stream)
        self._done = finish_event(device, settings)

    def launch(self) -> None:
        """Start the batch with the frames in the table. Does not wait."""
        self._graph.launch(self.stream)
        self.stream.record(self._done)

    def read(self, fits: Sequence[Fit]) -> list[Found]:
        """Wait for the batch and return the detections of its first ``len(fits)`` frames."""
        self._done.sync()
        return self._outputs.read(fits)

    def stage_times(self) -> Mapping[str, float]:
        """ms that the last read batch spent in each of STAGES."""
        return self._marks.times()


def finish_event(device: Device, settings: EngineSettings) -> Event:
    """Create the event at the end of a batch. The thread that waits for it sleeps or spins, as the hint says."""
    return device.create_event(EventOptions(blocking_sync=not settings.hint.spins))


def _describe_rows(
    network: OnnxNetwork, addresses: Sequence[int], shapes: Sequence[tuple[int, ...]], upload: Callable[[NDArray[Any]], int]
) -> Rows:
    """Describe where the boxes and scores are in the float32 outputs: what ``detection/readings.py`` reads, for ``RowsLayer``.

    addresses, shapes: of the outputs, in the order of the reading; shapes of one picture. upload: copies an array to the device, and
    returns its address. Raises ValueError if no grids have as many cells as an output of YOLOX has rows.
    """
    arrays = [_Array(address, shape) for address, shape in zip(addresses, shapes, strict=True)]
    first, count = arrays[0], arrays[0].shape[0]
    factors = float(network.width), float(network.height)
    match network.reading:
        case Reading.YOLOV8:
            return Rows(first.shape[1], first.columns(), first.columns(4), centre=True)
        case Reading.YOLOV8_CORNERS:
            return Rows(first.shape[1], first.columns(), first.columns(4))
        case Reading.YOLOV5 | Reading.YOLOX_DECODED:
            return Rows(count, first.rows(), first.rows(5), objectness=first.rows(4), centre=True)
        case Reading.YOLOX:
            cells = grid_cells(network.width, network.height, count)
            if cells is None:
                raise ValueError(f"{count} cells, which no grids of {network.width} × {network.height} pixels have")
            return Rows(count, first.rows(), first.rows(5), objectness=first.rows(4), cells=upload(cells), centre=True)
        case Reading.END2END:
            return Rows(count, first.rows(), first.rows(4), ids=first.rows(5))
        case Reading.RTDETR:
            return Rows(count, first.rows(), first.rows(4), centre=True, factors=factors)
        case Reading.RTDETR_SORTED:
            return Rows(count, first.rows(), first.rows(4), ids=first.rows(5), centre=True, factors=factors)
        case Reading.DETR:
            ids, boxes, scores = arrays
            return Rows(boxes.shape[0], boxes.rows(), scores.rows(), ids=ids.rows())
        case Reading.RF_DETR | Reading.DETR_LOGITS:
            return Rows(count, first.rows(), arrays[1].rows(), pairs=True, centre=True, factors=factors)
        case Reading.DETR_SOFTMAX:
            return Rows(count, first.rows(), arrays[1].rows(), centre=True, factors=factors)
        case Reading.YOLOV4:
            return Rows(count, first.rows(), arrays[1].rows(), factors=factors)
        case Reading.EFFICIENT_NMS:
            number, boxes, scores, ids = arrays
            return Rows(boxes.shape[0], boxes.rows(), scores.rows(), ids=ids.rows(), number=number.rows())
        case Reading.BEFORE_NMS:
            return Rows(count, first.rows(), arrays[1].rows(), centre=network.centre_boxes)
        case Reading.NMS_ROWS:
            return Rows(count, first.rows(1), first.rows(6), ids=first.rows(5))
        case Reading.NMS_SCORED_ROWS:
            return Rows(count, first.rows(1), first.rows(5), ids=first.rows(6))
        case Reading.FRAMEFLEET:
            raise AssertionError("its outputs are YOLO heads")


class _Array:
    """An output. shape: of one picture."""

    def __init__(self, address: int, shape: tuple[int, ...]) -> None:
        self.address, self.shape = address, shape

    def rows(self, first: int = 0) -> Values:
        """The numbers of each row, from one on."""
        width = int(np.prod(self.shape[1:]))
        return Values(self.address + NUMBER_BYTES * first, self.shape[0] * width, width, 1)

    def columns(self, first: int = 0) -> Values:
        """The numbers of each column, from one on."""
        height, width = self.shape
        return Values(self.address + NUMBER_BYTES * first * width, height * width, 1, width)
