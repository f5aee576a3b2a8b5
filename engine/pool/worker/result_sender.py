"""In a worker: the thread that waits for results in order and sends them, several frames per message."""

from __future__ import annotations

import math
import queue
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn, TypeAlias

from engine.backends.base import Backend
from engine.pool.groups.shared_batch import SharedBatch
from engine.pool.protocol import Detect, Done, Failed, FrameEntry, Frames, FromWorker, Member, Ready
from engine.pool.worker.inference import Batch, Inference
from engine.pool.worker.message_buffer import End, FrameBuffer, Gap, Item, Picture
from engine.pool.worker.meter import Meter
from engine.types import Detections, DeviceId

Timings: TypeAlias = Mapping[DeviceId, Callable[[], Mapping[str, float]]]
"""For each device with its own statistics (the worker's device, or the members of its group), the function that returns its timings."""

MESSAGE_FRAMES = 64
"""Most frames in one message."""

MESSAGE_SECONDS = 0.2
"""Longest time that a finished frame waits for others in its message. Twelve decode threads of a GPU fill theirs in about this time; the
database makes frames visible every half second."""

GROUP_AHEAD = 256
"""Most batches by which the fast devices of a group may be ahead of the slowest one. Only detections wait."""


@dataclass(eq=False)
class _Pending:
    """The next message of one task: finished frames that wait for others.

    position: of the first frame in its segment. items: number of the buffer's items among them. due: when to send them at the latest,
    ``perf_counter``.
    """

    task: Detect
    position: int
    entries: list[FrameEntry] = field(default_factory=list)
    items: int = 0
    due: float = math.inf


class ResultSender:
    """Sends the results of batches to the pool.

    decode_threads: see ``EngineInfo``. send: blocks while the pool does not read, which also stops inference and decoding. die: called
    when the engine does not work any more.
    """

    def __init__(
        self,
        backend: Backend,
        decode_threads: int,
        timings: Timings,
        inference: Inference,
        buffer: FrameBuffer,
        send: Callable[[FromWorker], None],
        die: Callable[[Failed], NoReturn],
    ) -> None:
        self._backend = backend
        self._reported = backend.info
        self._inference = inference
        self._buffer = buffer
        self._send_message = send
        self._die = die
        self._decode_threads = decode_threads
        self._timings = timings
        self._meters = {device: Meter() for device in timings}
        ahead = 2 * backend.info.slots + 2 if len(self._meters) == 1 else max(GROUP_AHEAD, 2 * backend.info.slots + 2)
        self._batches: queue.Queue[Batch | None] = queue.Queue(ahead)
        self._pending: dict[tuple[int, int], _Pending] = {}  # by source and segment

    def put(self, batch: Batch) -> None:
        """Queue a batch; waits until there is room. Called by the inferring thread."""
        self._batches.put(batch)

    def stop(self) -> None:
        """Let ``run`` return after it has sent all results and the last statistics. Called by the inferring thread."""
        self._batches.put(None)

    def run(self) -> None:
        """Send results until ``stop``."""
        while (batch := self._next()) is not None:
            found, failure = self._await(batch)
            shared = batch.result if isinstance(batch.result, SharedBatch) else None
            position = 0
            for item in batch.items:
                why, device = failure, None
                if shared is not None and isinstance(item, Picture):
                    why, device = failure or shared.failures.get(position, ""), shared.devices[position]
                    position += 1
                self._take(item, found, why, None if device == self._backend.device else device)
        self._send_due(math.inf)
        self._report()

    def _next(self) -> Batch | None:
        while True:
            try:
                return self._batches.get(timeout=self._send_what_is_due())
            except queue.Empty:
                continue

    def _await(self, batch: Batch) -> tuple[Iterator[Detections], str]:
        """The batch's detections, or the reason for their absence."""
        if batch.result is None:
            return iter(()), ""
        while not batch.result.done():
            try:
                batch.result.exception(self._send_what_is_due())
            except TimeoutError:
                continue
        problem = batch.result.exception()
        if problem is None:
            found, wanted = batch.result.result(), len(batch.pictures)
            if len(found) != wanted:
                return iter(()), f"inference failed: the engine gave {len(found)} results for {wanted} pictures"
            self._measure(batch)
            return iter(found), ""
        if not self._inference.responds():
            self._send_due(math.inf)
            self._die(Failed(f"the engine stopped working: {problem}", retry=True))
        return iter(()), f"inference failed: {problem}"

    def _measure(self, batch: Batch) -> None:
        shared, pictures = batch.result, batch.pictures
        if not isinstance(shared, SharedBatch):
            self._meters[self._backend.device].add(batch)
            return
        if shared.shares is not None:
            for member, share in shared.shares.items():
                self._meters[member].add(batch, pictures, share)
            return
        done = [picture for position, picture in enumerate(pictures) if position not in shared.failures]
        devices = [device for position, device in enumerate(shared.devices) if position not in shared.failures]
        for member in dict.fromkeys(devices):
            mine = [picture for picture, device in zip(done, devices, strict=True) if device == member]
            self._meters[member].add(batch, mine)

    def _take(self, item: Item, found: Iterator[Detections], failure: str, device: DeviceId | None) -> None:
        task = item.task
        place = task.source, task.segment.number
        pending = self._pending.get(place)
        if pending is None:
            pending = self._pending[place] = _Pending(task, task.skip)
        pending.items += 1
        match item:
            case Picture():
                detections = next(found, None)
                found_here = None if failure else detections
                entry = FrameEntry(item.pts, item.width, item.height, found_here, failure or None, item.name, device, item.index)
                self._append(pending, entry)
            case Gap():
                for number in range(item.count):
                    pts = item.pts if number == 0 else math.nan
                    size = task.info.width, task.info.height
                    self._append(pending, FrameEntry(pts, *size, None, item.reason, item.name, index=item.index))
            case End():
                self._send(pending)
                del self._pending[place]
                self._send_message(Done(*place, item.frames, item.complete, item.error, item.decoder))
        if task.careful:
            self._send(pending)

    def _append(self, pending: _Pending, entry: FrameEntry) -> None:
        if not pending.entries:
            pending.due = time.perf_counter() + MESSAGE_SECONDS
        pending.entries.append(entry)
        if len(pending.entries) == MESSAGE_FRAMES:
            self._send(pending)

    def _send_what_is_due(self) -> float:
        """Send what is due. Returns the seconds until this has to be called again."""
        if self._backend.info is not self._reported:
            self._reported = self._backend.info
            self._send_message(Ready(replace(self._reported, decode_threads=self._decode_threads)))
        now = time.perf_counter()
        self._send_due(now)
        report_due = min(meter.due for meter in self._meters.values())
        if now >= report_due:
            self._report()
            report_due = min(meter.due for meter in self._meters.values())
        due = min((pending.due for pending in self._pending.values()), default=math.inf)
        return max(0.001, min(due, report_due) - time.perf_counter())

    def _send_due(self, now: float) -> None:
        for pending in self._pending.values():
            if pending.entries and pending.due <= now:
                self._send(pending)

    def _send(self, pending: _Pending) -> None:
        if pending.entries:
            task, count = pending.task, len(pending.entries)
            started = time.perf_counter()
            self._send_message(Frames.pack(task.source, task.segment.number, pending.position, pending.entries))
            took = 1000 * (time.perf_counter() - started)
            for member, frames in Counter(entry.device for entry in pending.entries).items():
                for meter in self._meters.values() if member is None else (self._meters[member],):
                    meter.delivered(frames, took)
            pending.position += count
            pending.entries, pending.due = [], math.inf
        self._buffer.settle(pending.items)
        pending.items = 0

    def _report(self) -> None:
        for member, meter in self._meters.items():
            stats = meter.read(self._timings[member](), self._inference.feeding)
            self._send_message(stats if member == self._backend.device else Member(member, stats))
