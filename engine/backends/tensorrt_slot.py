"""One inference under way: its frames, its results, and the graph that leads from one to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from cuda.core import Device, EventOptions, Stream
from numpy.typing import NDArray

from engine.backends.cuda_graph import Copy, Mark, Step, record
from engine.backends.cuda_memory import Memory
from engine.backends.tensorrt_engine import Engine, download
from engine.postprocess import detections
from engine.preprocess import Fit
from engine.settings import EngineSettings, Hint
from engine.types import Detections
from plugins.kernels import Kernels
from plugins.nms import LIMIT, Nms, class_mask, read_results, result_bytes
from plugins.preprocess import FRAME, Preprocess
from plugins.yolo_layer import CANDIDATE_BYTES, CAPACITY, Candidates, Head, YoloLayer, head_table

STAGES = ("preprocess", "network", "postprocess", "download")
"""What a batch goes through within the graph, in order."""


class Slot:
    """The memory and the graph of one batch. Belongs to the thread that launches it; ``read`` may be called in another one.

    frames: FRAME (batch,), pinned; what ``launch`` works on.
    """

    def __init__(self, device: Device, stream: Stream, engine: Engine, kernels: Kernels, memory: Memory, settings: EngineSettings) -> None:
        """Take the memory and record the graph.

        Raises:
            OutOfMemoryError: the device's memory does not suffice.
        """
        self._engine, self._stream, self._settings = engine, stream, settings
        network, batch = engine.network, engine.batch
        self._network, self._batch = network, batch
        self._frame_bytes = memory.pinned(batch * FRAME.itemsize)
        self.frames = self._frame_bytes.view(FRAME)
        self._results = memory.pinned(result_bytes(batch))
        self._heads = engine.new_heads()
        self._counts, self._records = read_results(self._results, batch)

        table, results = memory.device(self._frame_bytes.nbytes), memory.device(self._results.nbytes)
        candidates = Candidates(memory.device(batch * CAPACITY * CANDIDATE_BYTES), memory.device(batch * 4))
        heads = [
            Head(address, *layer.shape[1:], layer.anchors, layer.scale_x_y, layer.new_coords)
            for address, layer in zip(self._heads, network.heads, strict=True)
        ]
        head_addresses = memory.constant(head_table(heads))
        wanted = memory.constant(class_mask(network.classes, settings.classes))
        self._marks = [device.create_event(EventOptions(timing_enabled=True)) for _ in range(len(STAGES) + 1)]
        marks = [Mark(event) for event in self._marks]
        size = (network.width, network.height)
        beta = network.heads[-1].diou_beta
        self.steps: list[Step] = [
            marks[0],
            Copy(table, self._frame_bytes.ctypes.data, self._frame_bytes.nbytes),
            Preprocess(kernels, table, engine.pictures, batch, *size),
            marks[1],
            *engine.steps(self._heads),
            marks[2],
            YoloLayer(kernels, heads, head_addresses, batch, network.classes, size, settings.confidence, candidates),
            Nms(kernels, candidates, table, wanted, batch, settings.iou, beta, results),
            marks[3],
            Copy(self._results.ctypes.data, results, self._results.nbytes),
            marks[4],
        ]
        for step in self.steps:  # the first run of anything may allocate: here it may
            step.launch(stream)
        stream.sync()
        self._graph = record(self.steps, stream)
        self._graph.upload(stream)
        # spinning answers some 50 µs sooner than sleeping does, and keeps a processor busy
        self._done = device.create_event(EventOptions(blocking_sync=settings.hint is Hint.THROUGHPUT))

    def launch(self) -> None:
        """Put the graph on the stream, with the frames as they are; waits for nothing."""
        self._graph.launch(self._stream)
        self._stream.record(self._done)

    def read(self, fits: Sequence[Fit], exact_stream: Stream) -> list[Detections]:
        """Wait for the launch and give the detections of its first ``len(fits)`` frames.

        A batch with more candidates or detections than the kernels have room for is decoded anew on the host, by the code the
        CPU uses. exact_stream: for what has to be copied then.
        """
        self._done.sync()
        count = len(fits)
        if (self._counts[:count] > (CAPACITY, LIMIT)).any():
            return detections(self._network, self._download_heads(exact_stream), fits, self._settings)
        found = []
        for records, number in zip(self._records[:count], self._counts[:count, 1].tolist(), strict=True):
            records = records[:number]
            found.append(Detections(records["box"].copy(), records["score"].copy(), records["class_id"].copy()))
        return found

    def stage_times(self) -> Mapping[str, float]:
        """ms that the batch just read spent in each of STAGES."""
        return {stage: after - before for stage, (before, after) in zip(STAGES, pairwise(self._marks), strict=True)}

    def _download_heads(self, stream: Stream) -> list[NDArray[np.float32]]:
        return [
            download(address, (self._batch, *head.shape), stream).astype(np.float32)
            for address, head in zip(self._heads, self._network.heads, strict=True)
        ]
