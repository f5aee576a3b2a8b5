"""In a worker: submits batches to the engine, several at once, and measures them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

import numpy as np

from engine.backends.base import Backend
from engine.media.types import DeviceFrame, SourceKind
from engine.pool.groups.shared_batch import SharedBatch
from engine.pool.worker.message_buffer import End, FrameBuffer, Item, Picture
from engine.processes.watchdog import Clock, Watchdog
from engine.types import Detections, Image

SLOWEST_TIMES = 10
"""Factor by which a batch may take longer than the slowest one before it."""


@dataclass(eq=False, slots=True)
class Times:
    """When the engine received a batch and returned its result, ``perf_counter``. preprocessing: ms for the whole batch."""

    submitted: float = 0.0
    preprocessing: float = 0.0
    done: float = 0.0


@dataclass(eq=False, slots=True)
class Batch:
    """Items that leave the worker together. pictures: those among the items, in order. result: the detections of the pictures.

    Nothing that ``result`` calls may refer to the batch: the cycle would keep the engine until the garbage collector runs, in any thread.
    """

    items: list[Item]
    result: Future[list[Detections]] | None = None
    times: Times = field(default_factory=Times)
    pictures: list[Picture] = field(init=False)

    def __post_init__(self) -> None:
        self.pictures = [item for item in self.items if isinstance(item, Picture)]


class Inference:
    """Thread-safe access to the worker's engine.

    feeding: seconds per stage that the thread in ``run`` has spent since the start. "decode": waiting for pictures. "preprocess":
    preprocessing. "infer": waiting for a slot of the engine. "deliver": waiting until results are taken. The largest value shows the
    slowest stage.
    """

    def __init__(self, backend: Backend, watchdog: Watchdog) -> None:
        self.feeding = dict.fromkeys(("decode", "preprocess", "infer", "deliver"), 0.0)
        self._backend = backend
        self._watchdog = watchdog
        self._slowest: float | None = None
        self._submitting = threading.Lock()
        # this class waits for a slot itself, so that the time in ``Backend.submit`` is the preprocessing time
        self._slots = threading.Semaphore(backend.info.slots)
        self._clocks: list[Clock] = []  # stopped clocks, for reuse
        self._name = f"an inference on {backend.device}"
        self._on_cpu = any(member.kind == "cpu" for member in backend.device.members)

    def run(self, buffer: FrameBuffer, dropped: Callable[[int], bool], put: Callable[[Batch], None]) -> None:
        """Submit the buffer's items to the engine until the buffer is closed. put: takes each batch after its submission."""
        since = time.perf_counter()
        while (items := buffer.take(self._backend.info.batch)) is not None:
            since = self._count("decode", since)
            wanted = []
            for item in items:
                if isinstance(item, End) or not dropped(item.task.source):
                    wanted.append(item)
                elif isinstance(item, Picture):
                    item.release()
            buffer.settle(len(items) - len(wanted))
            for _, alike in groupby(wanted, lambda item: item.task.info.kind):
                for batch in self._batches(list(alike)):
                    since = time.perf_counter()
                    put(batch)
                    since = self._count("deliver", since)

    def responds(self) -> bool:
        """Whether the engine still works, tested with a black picture."""
        try:
            height, width = self._backend.info.height, self._backend.info.width
            self.submit([np.zeros((height, width, 3), np.uint8)]).result()
        except Exception:
            return False
        return True

    def _batches(self, items: list[Item]) -> Iterator[Batch]:
        batch = Batch(items)
        pictures = batch.pictures
        if len(pictures) > self._backend.info.batch:  # the engine's batch has become smaller meanwhile
            yield from self._halves(items, pictures)
            return
        try:
            self._start(batch)
            yield batch
        except Exception as problem:
            if len(pictures) > 1 and not any(isinstance(picture.image, DeviceFrame) for picture in pictures):
                # only the picture that causes the error should fail
                yield from self._halves(items, pictures)
                return
            for picture in pictures:
                picture.release()
            batch.result = Future()
            batch.result.set_exception(problem)
            yield batch

    def _halves(self, items: list[Item], pictures: list[Picture]) -> Iterator[Batch]:
        middle = items.index(pictures[len(pictures) // 2])
        yield from self._batches(items[:middle])
        yield from self._batches(items[middle:])

    def _start(self, batch: Batch) -> None:
        pictures = batch.pictures
        if not pictures:
            return
        still = pictures[0].task.info.kind is SourceKind.IMAGES
        batch.result = self.submit([picture.image for picture in pictures if picture.image is not None], still, batch.times)
        for picture in pictures:
            picture.image = None

    def submit(self, images: Sequence[Image | DeviceFrame], still: bool = False, times: Times | None = None) -> Future[list[Detections]]:
        """Like ``Backend.submit``, with a watchdog. times: receives the times."""
        times = times or Times()
        with self._submitting:
            waiting = time.perf_counter()
            self._slots.acquire()
            started = self._count("infer", waiting)
            clock = self._clocks.pop() if self._clocks else self._watchdog.add()
            clock.start(self._name, self._patience())
            try:
                future = self._backend.submit(images, still)
            except BaseException:
                self._release(clock)
                raise
            if isinstance(future, SharedBatch):  # each member has its own clocks, and this batch may wait for all batches before it
                clock.stop()
            submitted = self._count("preprocess", started)
            times.submitted, times.preprocessing = started, 1000 * (submitted - started)
        future.add_done_callback(partial(self._finish, clock, times))
        return future

    def _finish(self, clock: Clock, times: Times, _: Future[list[Detections]]) -> None:
        times.done = time.perf_counter()
        self._slowest = max(self._slowest or 0.0, times.done - times.submitted)
        self._release(clock)

    def _release(self, clock: Clock) -> None:
        clock.stop()
        self._clocks.append(clock)
        self._slots.release()

    def _patience(self) -> float:
        """Seconds that a batch may take."""
        if self._slowest is None:  # a processor's speed is not known before its first batch is done
            return self._watchdog.seconds * (self._backend.info.batch if self._on_cpu else 1)
        return max(self._watchdog.seconds, SLOWEST_TIMES * self._slowest)

    def _count(self, stage: str, since: float) -> float:
        now = time.perf_counter()
        self.feeding[stage] += now - since
        return now
