"""The process of one member of a group: builds the device's engine, then infers what the group's front asks for.

Threads: ``main`` builds the engine and feeds it; ``receive`` listens to the front, and ends the process when the front is gone.
"""

from __future__ import annotations

import faulthandler
import queue
import threading
import traceback
from concurrent.futures import Future
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NoReturn

from engine.backends.base import Backend
from engine.devices.affinity import bind_to_share
from engine.errors import FramefleetError
from engine.pool.groups.protocol import Compute, Found, FromMember, Heads, Infer, MemberSetup, Memory, Problem, ToMember
from engine.pool.groups.shared_pictures import MappedChunk
from engine.pool.host import ignore_terminal, leave
from engine.pool.protocol import Building, Failed, Ready, Stop
from engine.types import Detections

if TYPE_CHECKING:
    from engine.cuda.memory import RegisteredMemory


def main(connection: Connection[FromMember, ToMember], setup: MemberSetup) -> None:
    """A member's life. Never returns."""
    ignore_terminal()
    faulthandler.enable()
    _Member(connection, setup).run()


class _Member:
    def __init__(self, connection: Connection[FromMember, ToMember], setup: MemberSetup) -> None:
        self._connection = connection
        self._setup = setup
        self._sending = threading.Lock()
        self._tasks: queue.SimpleQueue[ToMember] = queue.SimpleQueue()
        self._chunks: dict[int, MappedChunk] = {}
        self._registered: RegisteredMemory | None = None

    def run(self) -> NoReturn:
        threading.excepthook = lambda problem: self._crash(problem.exc_value)
        threading.Thread(target=self._receive, name="receive", daemon=True).start()
        try:
            with self._build() as backend:
                if self._setup.device.kind == "cuda":
                    from engine.cuda.memory import REGISTERED

                    self._registered = REGISTERED
                self._told = backend.info
                self._send(Ready(self._told))
                while not isinstance(task := self._tasks.get(), Stop):
                    self._do(backend, task)
        except Exception as problem:
            self._crash(problem)
        leave(0)

    def _build(self) -> Backend:
        from engine.backends import create_backend
        from engine.model.load import load_network

        try:
            bind_to_share(self._setup.device, self._setup.engine.threads)
            backend = create_backend(self._setup.device)
            network = load_network(self._setup.model)
            backend.activate(network, self._setup.engine, lambda phase, fraction: self._send(Building(phase, fraction)))
        except FramefleetError as error:
            self._die(Failed(str(error).removeprefix(f"{self._setup.device}: "), retry=False))
        return backend

    def _do(self, backend: Backend, task: ToMember) -> None:
        match task:
            case Memory():
                self._map(task)
            case Infer():
                try:
                    images = [self._chunks[place.chunk].image(place) for place in task.places]
                    future = backend.submit(images, task.still)
                except Exception as problem:
                    self._send(Problem(task.number, str(problem)))
                else:
                    future.add_done_callback(partial(self._finish, backend, task.number))
            case Compute():
                self._send(Heads(task.number, tuple(backend.raw_outputs(task.inputs))))

    def _map(self, memory: Memory) -> None:
        wanted = {chunk.number: chunk for chunk in memory.chunks}
        for number in [number for number in self._chunks if number not in wanted]:
            gone = self._chunks.pop(number)
            if self._registered is not None:
                self._registered.remove(gone.address)
        for number, chunk in wanted.items():
            if number not in self._chunks:
                try:
                    mapped = MappedChunk(chunk)
                except (OSError, ValueError):  # it has gone meanwhile: nothing lies in it
                    continue
                self._chunks[number] = mapped
                if self._registered is not None:
                    self._registered.add(mapped.address, mapped.nbytes)

    def _finish(self, backend: Backend, number: int, future: Future[list[Detections]]) -> None:
        problem = future.exception()
        if problem is not None:
            self._send(Problem(number, str(problem)))
            return
        if backend.info is not self._told:
            self._told = backend.info
            self._send(Ready(self._told))
        self._send(Found.pack(number, future.result(), dict(backend.timings())))

    def _receive(self) -> None:
        while True:
            try:
                self._tasks.put(self._connection.recv())
            except (EOFError, OSError):
                leave(1)

    def _send(self, message: FromMember) -> None:
        with self._sending:
            try:
                self._connection.send(message)
            except OSError:
                leave(1)

    def _crash(self, problem: BaseException | None) -> NoReturn:
        traceback.print_exception(problem)
        self._die(Failed(f"{type(problem).__name__}: {problem}", retry=True))

    def _die(self, why: Failed) -> NoReturn:
        self._send(why)
        leave(1)
