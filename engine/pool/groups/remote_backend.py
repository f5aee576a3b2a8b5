"""A backend whose engine runs in another process. Pictures are in shared memory; results come back over a pipe."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import ClassVar

from framefleet.engine.backends.base import Backend, Progress
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.errors import DeviceError
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceReady, EngineBuilding
from framefleet.engine.pool.groups.shared_pictures import Chunk, PictureLocation, SharedPictures
from framefleet.engine.pool.hosts import Host, RemoteWorker, WorkerMain
from framefleet.engine.pool.protocol import FromWorker, Infer, InferenceFailed, Inferred, Setup, SharedMemory, Stop
from framefleet.engine.pool.worker import worker
from framefleet.engine.processes.child import KILL_SECONDS
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import EngineInfo, Found

STOP_SECONDS = 0.4
"""How long ``close`` waits for the worker to stop by itself."""


class MemberLostError(DeviceError):
    """The member's process has ended; a new one may succeed. waited, external: as in ``Outcome``."""

    def __init__(self, why: Notice, waited: float = 0.0, external: bool = False) -> None:
        super().__init__(why)
        self.waited, self.external = waited, external


@dataclass(eq=False)
class _Task:
    """A batch that was sent. images: kept until the answer, since the member reads them in place."""

    future: Future[list[Found]]
    images: Sequence[HostImage]


class RemoteBackend(Backend):
    """A device's engine in its own worker process.

    setup: of its worker. pictures: shared memory; submitted pictures that are not in it are copied into it. When the process ends, all
    current and later submissions fail with MemberLostError. The process has its own watchdog; a frozen process is killed.

    Attributes: lost: why the process has ended; None while it runs.
    """

    worker_main: ClassVar[WorkerMain] = staticmethod(worker.main)

    def __init__(self, setup: Setup, pictures: SharedPictures) -> None:
        super().__init__(setup.device)
        self._setup = setup
        self._pictures = pictures
        # nice=0: the process inherits this process's niceness
        self._host = Host(str(setup.device), type(self).worker_main, nice=0)
        self._remote = RemoteWorker(setup.device, self._host)
        self._lock = threading.Lock()
        self._tasks: dict[int, _Task] = {}
        self._number = 0
        self._known: list[Chunk] = []
        self._busy: Counter[str] = Counter()
        self.lost: MemberLostError | None = None

    def _activate_impl(
        self,
        network: Model,  # noqa: ARG002  sending the weights through a pipe takes longer than reading the file
        settings: EngineSettings,
        progress: Progress | None,
    ) -> EngineInfo:
        self._remote.start(replace(self._setup, engine=settings, inferring=True))
        self._messages = self._remote.messages()
        for message in self._messages:
            match message:
                case EngineBuilding(_, phase, fraction):
                    if progress is not None:
                        progress(phase, fraction)
                case DeviceReady(engine):
                    self._slots = threading.Semaphore(engine.slots)
                    self._listening = threading.Thread(target=self._listen, name=f"member {self.device}", daemon=True)
                    self._listening.start()
                    return engine
        outcome = self._remote.reap(self._remote.host.end())
        raise MemberLostError(outcome.reason, outcome.waited, outcome.external) if outcome.retry else DeviceError(outcome.reason)

    def _submit_impl(self, images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
        self._slots.acquire()
        try:
            # urgent: the picture that tests the engine must not wait for memory of pictures that wait for this test
            images = [image if self._pictures.locate(image) is not None else self._pictures.put(image, urgent=True) for image in images]
            places = tuple(map(self._place, images))
            with self._lock:
                if self.lost is not None:
                    raise self.lost
                if (chunks := self._pictures.chunks) != self._known:
                    self._known = chunks
                    self._remote.send(SharedMemory(tuple(chunks)))
                self._number += 1
                future: Future[list[Found]] = Future()
                self._tasks[self._number] = _Task(future, images)
                self._remote.send(Infer(self._number, places, still))
        except BaseException:
            self._slots.release()
            raise
        future.add_done_callback(lambda _: self._slots.release())
        return future

    def _place(self, image: HostImage) -> PictureLocation:
        place = self._pictures.locate(image)
        if place is None:
            raise RuntimeError(f"a picture of {image.nbytes} bytes is not in shared memory")
        return place

    def timings(self) -> Mapping[str, float]:
        """See ``Backend.timings``."""
        with self._lock:
            busy, self._busy = self._busy, Counter()
        return busy

    def _close_impl(self) -> None:
        with self._lock:
            if self.lost is None:
                self._remote.send(Stop())
        self._listening.join(STOP_SECONDS)
        if self._listening.is_alive():
            self._host.kill()
            self._listening.join(KILL_SECONDS)

    def _listen(self) -> None:
        for message in self._messages:
            self._take(message)
        ended = self._remote.host.end()
        with self._lock:
            outcome, tasks = self._remote.reap(ended), list(self._tasks.values())
            self.lost = MemberLostError(outcome.reason, outcome.waited, outcome.external)
            self._tasks.clear()
        for task in tasks:
            task.future.set_exception(self.lost)

    def _take(self, message: FromWorker) -> None:
        match message:
            case DeviceReady(engine) if self._info is not None:
                self._info = engine
            case Inferred() | InferenceFailed():
                with self._lock:
                    task = self._tasks.pop(message.number)
                    if isinstance(message, Inferred):
                        self._busy.update(message.busy)
                task.images = ()
                if isinstance(message, Inferred):
                    task.future.set_result(list(message.results.unpack()))
                else:
                    task.future.set_exception(DeviceError(message.message))
