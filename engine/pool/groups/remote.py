"""A backend whose device works in a process of its own: pictures lie in shared memory, results come back over a pipe."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.backends.base import Backend, Progress
from engine.errors import DeviceError
from engine.model.network import Network
from engine.pool.groups import member
from engine.pool.groups.protocol import Compute, Found, FromMember, Heads, Infer, MemberSetup, Memory, Problem, ToMember
from engine.pool.groups.shared_pictures import Chunk, Place, SharedPictures
from engine.pool.host import interrupts_held
from engine.pool.outcome import WorkerOutcome
from engine.pool.protocol import Building, Failed, Ready, Stop
from engine.settings import EngineSettings, ModelFiles
from engine.types import Detections, DeviceId, EngineInfo, Image

SLOWEST_TIMES = 10
"""A batch may take so many times as long as the slowest one before it."""

STOP_SECONDS = 0.4
"""How long a member gets to stop by itself."""

KILL_SECONDS = 5.0

_TICKS = 60
_context = multiprocessing.get_context("spawn")


class MemberLostError(DeviceError):
    """The member's process is over; another one may succeed."""


@dataclass(eq=False)
class _Task:
    """What was asked for. images: kept until it is answered, since the member reads them where they lie."""

    future: Future[Any]
    images: Sequence[Image]
    since: float


class RemoteBackend(Backend):
    """A device's engine in its own process.

    model: the member loads it itself. pictures: where those that are submitted lie; others are copied there first. stall_seconds: a
    member that has work and answers nothing for so long is killed. When its process ends, everything under way, and whatever
    is submitted later, fails with MemberLostError.
    """

    member_main: ClassVar[Callable[[Connection[FromMember, ToMember], MemberSetup], None]] = staticmethod(member.main)

    def __init__(self, device: DeviceId, model: ModelFiles, pictures: SharedPictures, stall_seconds: float) -> None:
        super().__init__(device)
        self._model = model
        self._pictures = pictures
        self._stall_seconds = stall_seconds
        self._lock = threading.Lock()
        self._tasks: dict[int, _Task] = {}
        self._number = 0
        self._known: list[Chunk] = []
        self._busy: Counter[str] = Counter()
        self._exit_message: Failed | None = None
        self._lost: str | None = None
        self._slowest: float | None = None

    @property
    def lost(self) -> str | None:
        """Why its process is over; None while it is not."""
        return self._lost

    @property
    def pid(self) -> int:
        """The member's process."""
        assert self._process.pid is not None
        return self._process.pid

    def _activate_impl(
        self,
        network: Network,  # noqa: ARG002
        settings: EngineSettings,
        progress: Progress | None,
    ) -> EngineInfo:
        if multiprocessing.current_process().daemon:  # it ends with this connection, daemon or not
            multiprocessing.current_process().daemon = False
        # the model's weights would take longer through a pipe than from the file
        self._connection: Connection[ToMember, FromMember]
        self._connection, child = _context.Pipe()
        setup = MemberSetup(self.device, self._model, settings)
        self._process = _context.Process(target=type(self).member_main, args=(child, setup), name=f"framefleet {self.device}", daemon=True)
        with child, interrupts_held():
            self._process.start()
        while True:
            match self._receive():
                case Building(phase, fraction):
                    if progress is not None:
                        progress(phase, fraction)
                case Ready(engine):
                    break
                case None:
                    outcome = self._reap()
                    raise (MemberLostError if outcome.retry else DeviceError)(outcome.words)
        self._slots = threading.Semaphore(engine.slots)
        self._listening = threading.Thread(target=self._listen, name=f"member {self.device}", daemon=True)
        self._listening.start()
        return engine

    def _submit_impl(self, images: Sequence[Image], still: bool) -> Future[list[Detections]]:
        self._slots.acquire()
        try:
            # one that tries whether the engine works must not wait for pictures that wait for this
            images = [image if self._pictures.locate(image) is not None else self._pictures.put(image, urgent=True) for image in images]
            places: list[Place] = [place for image in images if (place := self._pictures.locate(image)) is not None]
            future: Future[list[Detections]] = self._ask(lambda number: Infer(number, tuple(places), still), images)
        except BaseException:
            self._slots.release()
            raise
        future.add_done_callback(lambda _: self._slots.release())
        return future

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        found: Future[Sequence[NDArray[np.float32]]] = self._ask(lambda number: Compute(number, inputs), ())
        return list(found.result())

    def timings(self) -> Mapping[str, float]:
        """See ``Backend.timings``."""
        with self._lock:
            busy, self._busy = self._busy, Counter()
        return busy

    def _close_impl(self) -> None:
        self._send(Stop())
        self._listening.join(STOP_SECONDS)
        if self._process_alive():
            self._process.kill()
        self._listening.join(KILL_SECONDS)

    def _process_alive(self) -> bool:
        try:
            return self._process.is_alive()
        except ValueError:  # it is over, and was closed
            return False

    def _ask(self, message: Any, images: Sequence[Image]) -> Future[Any]:
        with self._lock:
            if self._lost is not None:
                raise MemberLostError(self._lost)
            if (chunks := list(self._pictures.chunks)) != self._known:
                self._known = chunks
                self._send(Memory(tuple(chunks)))
            self._number += 1
            task = self._tasks[self._number] = _Task(Future(), images, time.monotonic())
            self._send(message(self._number))
            return task.future

    def _send(self, message: ToMember) -> None:
        with suppress(OSError):  # it is over, which the listening thread sees, too
            self._connection.send(message)

    def _receive(self) -> FromMember | None:
        try:
            message = self._connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, Failed):
            self._exit_message = message
            return self._receive()
        return message

    def _listen(self) -> None:
        tick = min(1.0, self._stall_seconds / _TICKS)
        silence, before = 0.0, time.monotonic()
        while True:
            heard = self._connection.poll(tick)
            now = time.monotonic()
            # longer: this process was stopped, or the machine slept
            silence, before = silence + min(now - before, 2 * tick), now
            if heard:
                silence = 0.0
                message = self._receive()
                if message is None:
                    break
                self._take(message)
            elif not self._tasks:
                silence = 0.0
            elif silence > self._patience():
                self._exit_message = Failed(f"an inference did not come to an end within {self._patience():.0f} s", retry=True)
                self._process.kill()
        why = self._reap().words
        with self._lock:
            self._lost, tasks = why, list(self._tasks.values())
            self._tasks.clear()
        for task in tasks:
            task.future.set_exception(MemberLostError(why))

    def _take(self, message: FromMember) -> None:
        match message:
            case Ready(engine):
                self._info = engine
            case Found() | Heads() | Problem():
                with self._lock:
                    task = self._tasks.pop(message.number)
                    if isinstance(message, Found):
                        self._busy.update(message.busy)
                self._slowest = max(self._slowest or 0.0, time.monotonic() - task.since)
                task.images = ()
                match message:
                    case Found():
                        task.future.set_result(list(message.unpack()))
                    case Heads():
                        task.future.set_result(message.values)
                    case Problem():
                        task.future.set_exception(DeviceError(message.message))

    def _patience(self) -> float:
        """Seconds that a member may work without an answer. Before the first one, nobody knows how slow a processor is."""
        if self._slowest is None and self.device.kind == "cpu" and self._info is not None:
            return self._stall_seconds * self._info.batch
        return max(self._stall_seconds, SLOWEST_TIMES * (self._slowest or 0.0))

    def _reap(self) -> WorkerOutcome:
        self._process.join(STOP_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join(KILL_SECONDS)
        code = self._process.exitcode
        self._connection.close()
        if code is not None:
            self._process.close()
        if self._exit_message is None:
            return WorkerOutcome(code)
        return WorkerOutcome(code, self._exit_message.message, self._exit_message.retry)
