"""In a worker: builds an engine, submits batches to it, several at once, and measures them."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from threading import Lock

import numpy as np

from framefleet.engine.backends.base import Backend
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.types import DeviceFrame, SourceKind
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.notices import DeviceError, Notice, notice_of
from framefleet.engine.pool.events import EngineBuilding
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Item, Picture
from framefleet.engine.processes.outcome import lack_of_resources
from framefleet.engine.processes.watchdog import Clock, Watchdog
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import Detections, DeviceId, EngineInfo, Found, InferenceFailure


class SharedBatch(Future[list[Found]]):
    """A future that is done when every picture is done.

    devices: the device of each picture. shares: if several devices share each picture, each device's part of the work, in pictures.
    """

    def __init__(self, pictures: int, device: DeviceId) -> None:
        super().__init__()
        self.devices = [device] * pictures
        self.shares: Mapping[DeviceId, float] | None = None
        self._found: list[Found] = [Detections()] * pictures
        self._missing = set(range(pictures))
        self._counting = Lock()

    def put(self, position: int, device: DeviceId, found: Found) -> None:
        """Set one picture's result. Any thread may call this, once per picture.

        Raises KeyError if the picture has a result already, which is a bug.
        """
        with self._counting:
            self._missing.remove(position)
            self.devices[position], self._found[position] = device, found
            done = not self._missing
        if done:
            self.set_result(self._found)


BUILD_TIMES = 5
"""Factor by which a build's time without progress may exceed that of a frame or batch: libraries do not report every step."""

MIN_BUILD_SECONDS = 60.0
"""Least limit for a build without progress, since libraries have to be loaded first."""

PROGRESS_SECONDS = 0.1


def build(
    backend: Backend,
    load: Callable[[], Model],
    settings: EngineSettings,
    report: Callable[[EngineBuilding], None],
    watchdog: Watchdog,
    *,
    watched: bool,
) -> None:
    """Activate ``backend`` for the network that ``load`` returns.

    report: called with every new phase, and at most every ``PROGRESS_SECONDS`` within a phase. watched: whether the process ends if there
    is no progress for too long. Processes of members have their own watchdogs.
    """
    reported: Notice | None = None
    due = 0.0
    device = backend.device  # ``progress`` must not refer to the backend, which may keep it: the cycle would keep the engine

    def progress(phase: Notice, fraction: float) -> None:
        nonlocal reported, due
        watchdog.reset()
        now = time.monotonic()
        if phase != reported or now >= due:
            reported, due = phase, now + PROGRESS_SECONDS
            report(EngineBuilding(device, phase, fraction))

    clock = watchdog.add()
    if watched:
        clock.start(Notice("pool.building", device=str(backend.device)), max(MIN_BUILD_SECONDS, BUILD_TIMES * watchdog.seconds))
    try:
        backend.activate(load(), settings, progress)
    finally:
        watchdog.remove(clock)


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
    """Items that leave the worker together. pictures: those among the items, in order. result: of the pictures.

    Nothing that ``result`` calls may refer to the batch: the cycle would keep the engine until the garbage collector runs, in any thread.
    """

    items: list[Item]
    result: Future[list[Found]] | None = None
    times: Times = field(default_factory=Times)
    pictures: list[Picture] = field(init=False)

    def __post_init__(self) -> None:
        self.pictures = [item for item in self.items if isinstance(item, Picture)]


class Inference:
    """Thread-safe access to the worker's engine.

    feeding: seconds per stage that the thread in ``run`` has spent since the start. "sources": waiting for live sources while their decoder
    has nothing to do. "decode": waiting for pictures. "preprocess": preprocessing. "infer": waiting for a slot of the engine. "deliver":
    waiting until results are taken. The largest value shows the slowest stage. idle: whether the decoder of live sources has nothing to do.
    """

    def __init__(self, backend: Backend, watchdog: Watchdog, idle: Callable[[], bool] = lambda: False) -> None:
        self._idle = idle
        self.feeding = dict.fromkeys(("sources", "decode", "preprocess", "infer", "deliver"), 0.0)
        self._backend = backend
        self._watchdog = watchdog
        self._slowest: float | None = None
        self._submitting = threading.Lock()
        # this class waits for a slot itself, so that the time in ``Backend.submit`` is the preprocessing time
        self._slots = threading.Semaphore(backend.info.slots)
        self._clocks: list[Clock] = []  # stopped clocks, for reuse
        self._name = Notice("pool.inference", device=str(backend.device))
        self._on_cpu = any(member.kind == "cpu" for member in backend.device.members)

    def run(self, buffer: FrameBuffer, dropped: Callable[[int], bool], put: Callable[[Batch], None]) -> None:
        """Submit the buffer's items to the engine until the buffer is closed. put: takes each batch after its submission."""
        since = time.perf_counter()
        while True:
            if buffer.live:  # the newest frames when a slot is free, not those before
                with self._slots:
                    pass
                since = self._count("infer", since)
            if (items := buffer.take(self._backend.info.batch)) is None:
                break
            since = self._count("sources" if buffer.live and self._idle() else "decode", since)
            wanted = []
            for item in items:
                if isinstance(item, End) or not dropped(item.task.source):
                    wanted.append(item)
                elif isinstance(item, Picture):
                    item.release()
            buffer.settle(len(items) - len(wanted))
            for _, alike in groupby(wanted, lambda item: item.task.info.kind):
                batch = Batch(list(alike))
                if pictures := batch.pictures:
                    batch.result = self._submit(pictures, batch.times)
                since = time.perf_counter()
                put(batch)
                since = self._count("deliver", since)

    def results(self, batch: Batch) -> list[Found]:
        """Wait for the results of a batch, one for each picture. If the batch failed, only the pictures at fault get a failure.

        Raises DeviceError if the engine does not work any more, tested with a black picture. Raises the batch's error if the machine lacks
        memory, threads or descriptors.
        """
        return [] if batch.result is None else self._results(batch.pictures, batch.result)

    def _results(self, pictures: Sequence[Picture], result: Future[list[Found]]) -> list[Found]:
        try:
            found, wanted = result.result(), len(pictures)
        except Exception as problem:
            return self._halves(pictures, problem)
        if len(found) != wanted:
            return [InferenceFailure(Notice("pool.wrong_number_of_results", found=len(found), wanted=wanted))] * wanted
        return found

    def _halves(self, pictures: Sequence[Picture], problem: Exception) -> list[Found]:
        """Infer the pictures of a failed batch again in halves, until the pictures at fault are alone. problem: the batch's error."""
        if lack_of_resources(problem) is not None:
            raise problem
        if len(pictures) == 1:
            pictures[0].release()
            if not still_works(self.submit, self._backend.info):
                raise DeviceError(Notice("pool.engine_stopped", problem=notice_of(problem))) from problem
            return [InferenceFailure(Notice("backends.inference_failed", problem=notice_of(problem)))]
        middle = len(pictures) // 2
        return [found for half in (pictures[:middle], pictures[middle:]) for found in self._results(half, self._submit(half, Times()))]

    def _submit(self, pictures: Sequence[Picture], times: Times) -> Future[list[Found]]:
        """Submit pictures. An error of the submission becomes one of the future."""
        images = [picture.image for picture in pictures if picture.image is not None]
        try:
            result = self.submit(images, pictures[0].task.info.kind is SourceKind.IMAGES, times)
        except Exception as problem:
            result = Future()
            result.set_exception(problem)
        result.add_done_callback(partial(_forget_inferred, pictures))
        if isinstance(result, SharedBatch):  # the group keeps its pictures itself, and waits for their memory
            _forget(pictures)
        return result

    def submit(self, images: Sequence[HostImage | DeviceFrame], still: bool = False, times: Times | None = None) -> Future[list[Found]]:
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

    def _finish(self, clock: Clock, times: Times, _: Future[list[Found]]) -> None:
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


def still_works(submit: Callable[[Sequence[HostImage]], Future[list[Found]]], info: EngineInfo) -> bool:
    """Whether an engine still infers, tested with a black picture. submit: see ``Backend.submit``."""
    try:
        submit([np.zeros((info.height, info.width, 3), np.uint8)]).result()
    except Exception:
        return False
    return True


def _forget(pictures: Sequence[Picture]) -> None:
    """Drop the images in host memory, which are not needed any more."""
    for picture in pictures:
        if not isinstance(picture.image, DeviceFrame):
            picture.image = None


def _forget_inferred(pictures: Sequence[Picture], result: Future[list[Found]]) -> None:
    if result.exception() is None:  # else they are inferred again
        _forget(pictures)
