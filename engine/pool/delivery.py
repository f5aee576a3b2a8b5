"""In a worker: the thread that awaits results in order and sends them, several frames to a message."""

from __future__ import annotations

import math
import queue
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

from engine.pool.buffer import End, FrameBuffer, Gap, Item, Picture
from engine.pool.inference import Batch, Inference
from engine.pool.meter import Meter
from engine.pool.protocol import Detect, Done, Failed, FrameEntry, Frames, FromWorker
from engine.types import Detections

MESSAGE_FRAMES = 64
"""The most frames in one message."""

MESSAGE_SECONDS = 0.05
"""The longest a finished frame waits for others to travel with."""


class Delivery:
    """Batches in, messages out.

    slots: inferences under way at once. send: blocks while the pool does not read, and so holds up everything before it.
    die: called when the engine no longer works.
    """

    def __init__(
        self, inference: Inference, buffer: FrameBuffer, slots: int, send: Callable[[FromWorker], None], die: Callable[[Failed], NoReturn]
    ) -> None:
        self._inference = inference
        self._buffer = buffer
        self._send_message = send
        self._die = die
        self._meter = Meter()
        self._batches: queue.Queue[Batch | None] = queue.Queue(2 * slots + 2)
        self._task: Detect | None = None
        self._position = 0
        self._entries: list[FrameEntry] = []
        self._items = 0
        self._send_at = math.inf

    def put(self, batch: Batch) -> None:
        """The next batch, once there is room. Called by the inferring thread."""
        self._batches.put(batch)

    def stop(self) -> None:
        """Send what is finished and the last statistics, then let ``run`` return. Called by the inferring thread."""
        self._batches.put(None)

    def run(self) -> None:
        """The thread's life, until ``stop``."""
        while (batch := self._next()) is not None:
            found, failure = self._await(batch)
            for item in batch.items:
                self._take(item, found, failure)
        self._send()
        self._send_message(self._meter.read())

    def _next(self) -> Batch | None:
        while True:
            try:
                return self._batches.get(timeout=self._send_what_is_due())
            except queue.Empty:
                continue

    def _await(self, batch: Batch) -> tuple[Iterator[Detections], str]:
        """The batch's detections, or why there are none."""
        if batch.result is None:
            return iter(()), ""
        while not batch.result.done():
            try:
                batch.result.exception(self._send_what_is_due())
            except TimeoutError:
                continue
        problem = batch.result.exception()
        if problem is None:
            self._meter.add(batch)
            return iter(batch.result.result()), ""
        if not self._inference.responds():
            self._send()
            self._die(Failed(f"the engine stopped working: {problem}", retry=True))
        return iter(()), f"inference failed: {problem}"

    def _take(self, item: Item, found: Iterator[Detections], failure: str) -> None:
        task = item.task
        if task is not self._task:
            self._send()
            self._task, self._position = task, task.skip
        self._items += 1
        match item:
            case Picture():
                detections = None if failure else next(found)
                self._append(FrameEntry(item.pts, item.width, item.height, detections, failure or None, item.name))
            case Gap():
                for number in range(item.count):
                    pts = item.pts if number == 0 else math.nan
                    self._append(FrameEntry(pts, task.info.width, task.info.height, None, item.reason, item.name))
            case End():
                self._send()
                self._send_message(Done(task.source, task.segment.number, item.frames, item.complete, item.error))
                self._task = None
        if task.careful:
            self._send()

    def _append(self, entry: FrameEntry) -> None:
        self._entries.append(entry)
        self._send_at = min(self._send_at, time.perf_counter() + MESSAGE_SECONDS)
        if len(self._entries) == MESSAGE_FRAMES:
            self._send()

    def _send_what_is_due(self) -> float:
        """Seconds until there is something to do here again."""
        now = time.perf_counter()
        if now >= self._send_at:
            self._send()
        if now >= self._meter.due:
            self._send_message(self._meter.read())
        return max(0.001, min(self._send_at, self._meter.due) - time.perf_counter())

    def _send(self) -> None:
        if self._entries:
            assert self._task is not None
            started = time.perf_counter()
            self._send_message(Frames.pack(self._task.source, self._task.segment.number, self._position, self._entries))
            self._meter.delivered(len(self._entries), 1000 * (time.perf_counter() - started))
            self._position += len(self._entries)
            self._entries, self._send_at = [], math.inf
        self._buffer.settle(self._items)
        self._items = 0
