"""In a worker: the thread that waits for results in order, sends several frames per message, and measures the stages of frames."""

import math
import queue
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import NoReturn, TypeAlias

import numpy as np

from framefleet.engine.backends.base import Backend
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import DeviceError
from framefleet.engine.pool.events import DeviceReady
from framefleet.engine.pool.protocol import Detect, Done, Failed, Frames, FromWorker, Stats
from framefleet.engine.pool.worker.inference import Batch, Inference, SharedBatch
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Gap, Item, Picture
from framefleet.engine.types import Detections, DeviceId, Found, FrameResult, InferenceFailure

STATS_SECONDS = 0.5

STAGES = ("decode", "queue", "preprocess", "infer", "deliver")
"""The stages of a frame, in order. The frames of a batch wait for each other, so that each one counts the batch's whole time.

``decode`` includes the wait for the device's memory, if frames are decoded there. A long ``queue`` means that the engine is slower than
the decoder, a short one that the engine waits for the decoder. A long ``deliver`` means that the consumer does not take the results. It
does not include the short time in which results are collected into a message.
"""


class Meter:
    """Sums of a device since the last ``read``. For the thread of the result sender."""

    def __init__(self, device: DeviceId) -> None:
        self._device = device
        self._fed: Mapping[str, float] = {}
        self._added: list[Stats] = []
        self._worth: float | None = None
        self._reset()

    @property
    def due(self) -> float:
        """The time of the next ``read``, ``perf_counter``."""
        return self._since + STATS_SECONDS

    def add(self, batch: Batch, pictures: Sequence[Picture], worth: float | None = None) -> None:
        """Count these pictures of a finished batch. worth: see ``Stats``."""
        if worth is not None:
            self._worth = worth + (self._worth or 0.0)
        count, times = len(pictures), batch.times
        done = times.done or time.perf_counter()  # the future may be done before its callback has run
        decoded = [picture.decoded for picture in pictures]
        latencies = [1000 * (done - moment) for moment in decoded]
        self._latencies += latencies
        for picture, latency in zip(pictures, latencies, strict=True):
            if picture.task.info.kind is SourceKind.LIVE:
                self._live[picture.task.source].append(latency)
        self._stages["decode"] += sum(picture.decoding for picture in pictures)
        self._stages["queue"] += 1000 * (count * times.submitted - sum(decoded))
        self._stages["preprocess"] += count * times.preprocessing
        self._stages["infer"] += count * (1000 * (done - times.submitted) - times.preprocessing)

    def delivered(self, frames: int, milliseconds: float) -> None:
        """Count sent frames. milliseconds: the time that sending took."""
        self._stages["deliver"] += frames * milliseconds

    def read(self, busy: Mapping[str, float], feeding: Mapping[str, float]) -> Stats:
        """The statistics since the last ``read``. busy: see ``Stats``. feeding: see ``Inference``."""
        now = time.perf_counter()
        now_fed = dict(feeding)
        fed = Counter({stage: seconds - self._fed.get(stage, 0.0) for stage, seconds in now_fed.items()})
        self._fed = now_fed
        live = {source: np.array(found, np.float32) for source, found in self._live.items()}
        stages, latencies = Counter(self._stages), [np.array(self._latencies, np.float32)]
        if self._added:  # the thread that feeds the group had less to do than the member's own
            fed = Counter()
        for stats in self._added:
            latencies.append(stats.latencies)
            stages.update(stats.stages)
            fed.update(stats.feeding)
        stats = Stats(self._device, now - self._since, np.concatenate(latencies), stages, dict(busy), fed, self._worth, live)
        self._reset()
        return stats

    def add_stats(self, stats: Stats) -> None:
        """Add what a member of the group has measured in segments that it decoded itself; not its ``busy``."""
        self._added.append(stats)

    def _reset(self) -> None:
        self._since = time.perf_counter()
        self._worth = None
        self._added = []
        self._latencies: list[float] = []
        self._live = defaultdict[int, list[float]](list)
        self._stages = dict.fromkeys(STAGES, 0.0)


Timings: TypeAlias = Mapping[DeviceId, Callable[[], Mapping[str, float]]]
"""For each device with its own statistics (the worker's device, or the members of its group), the function that returns its timings."""

MemberStats: TypeAlias = Mapping[DeviceId, Callable[[], Sequence[Stats]]]
"""For each member of a group, the function that returns what it has measured since the last call."""

MESSAGE_FRAMES = 64
"""Most frames in one message."""

MESSAGE_SECONDS = 0.2
"""Longest time that a finished frame waits for others in its message, unless it is the first one of its source.

Twelve decode threads of a GPU fill theirs in about this time; the database makes frames visible every half second.
"""

LIVE_SECONDS = 0.02
"""The same for live sources, whose frames shall be shown soon."""

GROUP_AHEAD = 256
"""Most batches by which the fast devices of a group may be ahead of the slowest one. Only detections wait."""


NOTHING = Detections()
"""Stands for the result of an item that is not a picture."""


@dataclass(eq=False)
class _Pending:
    """The next message of one task: finished frames that wait for others.

    position: of the first frame in its segment. items: number of the buffer's items among them. due: when to send them at the latest,
    ``perf_counter``.
    """

    task: Detect
    position: int
    results: list[FrameResult] = field(default_factory=list)
    items: int = 0
    due: float = math.inf


class ResultSender:
    """Sends the results of batches to the pool.

    decode_threads: see ``EngineInfo``. send: blocks while the pool does not read, which also stops inference and decoding. die: called
    when the engine does not work any more. member: whether the worker belongs to a member of a group, which then has the statistics of each
    segment before it learns of the segment's end: a short file may be done before they are due.
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
        member_stats: MemberStats,
        member: bool = False,
    ) -> None:
        self._backend = backend
        self._member = member
        self._reported = backend.info
        self._inference = inference
        self._buffer = buffer
        self._send_message = send
        self._die = die
        self._decode_threads = decode_threads
        self._timings = timings
        self._member_stats = member_stats
        self._meters = {device: Meter(device) for device in timings}
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
            found = self._await(batch)
            results = zip(found, self._devices(batch), strict=True)
            for item in batch.items:
                if isinstance(item, Picture):
                    self._take(item, *next(results))
                else:
                    self._take(item, NOTHING, self._backend.device)
        self._send_due(math.inf)
        self._report()

    def _next(self) -> Batch | None:
        while True:
            try:
                return self._batches.get(timeout=self._send_what_is_due())
            except queue.Empty:
                continue

    def _await(self, batch: Batch) -> list[Found]:
        """One result for each picture of the batch."""
        while batch.result is not None and not batch.result.done():
            with suppress(TimeoutError):
                batch.result.exception(self._send_what_is_due())
        try:
            found = self._inference.results(batch)
        except DeviceError as problem:
            self._send_due(math.inf)
            self._die(Failed(problem.notice, retry=True))
        self._measure(batch, found)
        return found

    def _devices(self, batch: Batch) -> list[DeviceId]:
        """The device of each picture."""
        return batch.result.devices if isinstance(batch.result, SharedBatch) else [self._backend.device] * len(batch.pictures)

    def _measure(self, batch: Batch, found: Sequence[Found]) -> None:
        shared, pictures = batch.result, batch.pictures
        if isinstance(shared, SharedBatch) and shared.shares is not None:
            for member, share in shared.shares.items():
                self._meters[member].add(batch, pictures, share)
            return
        inferred = [isinstance(each, Detections) for each in found]
        if not isinstance(shared, SharedBatch):
            if (meter := self._meters.get(self._backend.device)) is not None:  # a group has none: a batch that it refused is not counted
                meter.add(batch, list(compress(pictures, inferred)))
            return
        for member in dict.fromkeys(shared.devices):
            mine = [done and device == member for device, done in zip(shared.devices, inferred, strict=True)]
            self._meters[member].add(batch, list(compress(pictures, mine)))

    def _take(self, item: Item, found: Found, device: DeviceId) -> None:
        """Take an item. found, device: of a picture."""
        task = item.task
        place = task.source, task.segment.number
        pending = self._pending.get(place)
        if pending is None:
            pending = self._pending[place] = _Pending(task, task.skip)
        pending.items += 1
        match item:
            case Picture():
                self._append(pending, FrameResult(item.ref, device, item.width, item.height, found))
            case Gap(_, failure):
                info, reason, ref = task.info, InferenceFailure(failure.reason), failure.ref
                for _ in range(failure.count):
                    self._append(pending, FrameResult(ref, device, info.width, info.height, reason))
                    ref = ref._replace(pts=math.nan)
            case End():
                self._send(pending)
                del self._pending[place]
                if self._member:
                    self._report()
                self._send_message(Done(*place, item.frames, item.complete, item.error, item.decoder))
        if task.careful:
            self._send(pending)

    def _append(self, pending: _Pending, result: FrameResult) -> None:
        if not pending.results:
            first = pending.task.segment.number == 0 and pending.position == 0  # somebody waits for the first boxes
            longest = LIVE_SECONDS if pending.task.info.kind is SourceKind.LIVE else MESSAGE_SECONDS
            pending.due = time.perf_counter() + (0.0 if first else longest)
        pending.results.append(result)
        if len(pending.results) == MESSAGE_FRAMES:
            self._send(pending)

    def _send_what_is_due(self) -> float:
        """Send what is due. Returns the seconds until this has to be called again."""
        if self._backend.info != self._reported:
            self._reported = self._backend.info
            self._send_message(DeviceReady(replace(self._reported, decode_threads=self._decode_threads)))
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
            if pending.results and pending.due <= now:
                self._send(pending)

    def _send(self, pending: _Pending) -> None:
        if pending.results:
            task, count = pending.task, len(pending.results)
            started = time.perf_counter()
            self._send_message(Frames.pack(task.segment.number, pending.position, pending.results, self._backend.device))
            took = 1000 * (time.perf_counter() - started)
            alone = len(self._meters) == 1  # counting devices takes longer than the rest
            counts = {self._backend.device: count} if alone else Counter(result.device for result in pending.results)
            for device, frames in counts.items():
                for meter in (self._meters[device],) if device in self._meters else self._meters.values():
                    meter.delivered(frames, took)
            pending.position += count
            pending.results, pending.due = [], math.inf
        self._buffer.settle(pending.items)
        pending.items = 0

    def _report(self) -> None:
        for member, meter in self._meters.items():
            if member in self._member_stats:
                for stats in self._member_stats[member]():
                    meter.add_stats(stats)
            self._send_message(meter.read(self._timings[member](), self._inference.feeding))
