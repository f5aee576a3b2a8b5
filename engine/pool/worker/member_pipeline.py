"""In the worker of a group's member: infers pictures in shared memory, several batches at once."""

from __future__ import annotations

import queue
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

from framefleet.engine.backends.base import Backend
from framefleet.engine.errors import notice_of
from framefleet.engine.pool.events import DeviceReady
from framefleet.engine.pool.groups.protocol import Infer, InferenceFailed, Inferred, SharedMemory
from framefleet.engine.pool.groups.shared_pictures import MappedChunk
from framefleet.engine.pool.protocol import FromWorker, ToWorker
from framefleet.engine.pool.results import PackedResults
from framefleet.engine.pool.worker.inference import Inference
from framefleet.engine.processes.child_main import failed, leave
from framefleet.engine.processes.outcome import lack_of_resources
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.types import DeviceId, EngineInfo, Found

if TYPE_CHECKING:
    from framefleet.engine.cuda.memory import RegisteredMemory


class MemberPipeline:
    """Infers batches of pictures and sends their detections. backend: a built engine."""

    def __init__(self, backend: Backend, send: Callable[[FromWorker], None], watchdog: Watchdog) -> None:
        self._backend = backend
        self._registered = _registered(backend.device)
        self._reported = backend.info
        self._send = send
        self._inference = Inference(backend, watchdog)
        self._tasks: queue.SimpleQueue[Infer | SharedMemory | None] = queue.SimpleQueue()
        self._chunks: dict[int, MappedChunk] = {}

    def receive(self, message: ToWorker) -> None:
        """Handle a message of the decoding worker. Called by the receiving thread."""
        if isinstance(message, Infer | SharedMemory):
            self._tasks.put(message)

    @property
    def info(self) -> EngineInfo:
        """The built engine."""
        return self._backend.info

    def run(self) -> None:
        """Work until ``stop``."""
        while (task := self._tasks.get()) is not None:
            if isinstance(task, Infer):
                self._infer(task)
            else:
                self._map(task)

    def join(self, seconds: float) -> bool:  # noqa: ARG002
        """Return True: no other thread uses the engine."""
        return True

    def stop(self) -> None:
        """Let ``run`` return soon."""
        self._tasks.put(None)

    def close(self) -> None:
        """Release the engine. Call this after ``run``."""
        self._backend.close()

    def _infer(self, task: Infer) -> None:
        try:
            images = [self._chunks[place.chunk].image(place) for place in task.places]
            future = self._inference.submit(images, task.still)
        except Exception as problem:
            self._fail(task, problem)
        else:
            future.add_done_callback(partial(self._finish, task))

    def _finish(self, task: Infer, future: Future[list[Found]]) -> None:
        try:
            found = future.result()
            if len(found) != len(task.places):
                raise RuntimeError(f"the engine gave {len(found)} results for {len(task.places)} pictures")
            message = Inferred(task.number, PackedResults.pack(found), dict(self._backend.timings()))
            if self._backend.info is not self._reported:
                self._reported = self._backend.info
                self._send(DeviceReady(self._reported))
        except Exception as problem:
            self._fail(task, problem)
        else:
            self._send(message)

    def _fail(self, task: Infer, problem: Exception) -> None:
        if lack_of_resources(problem) is not None:  # no picture is to blame
            self._send(failed(problem))
            leave(1)
        traceback.print_exception(problem)
        self._send(InferenceFailed(task.number, notice_of(problem)))

    def _map(self, memory: SharedMemory) -> None:
        wanted = {chunk.number: chunk for chunk in memory.chunks}
        for number in [number for number in self._chunks if number not in wanted]:
            gone = self._chunks.pop(number)
            if self._registered is not None:
                self._registered.remove(gone.address)
        for number, chunk in wanted.items():
            if number not in self._chunks:
                try:
                    mapped = MappedChunk(chunk)
                except (OSError, ValueError):  # the owner has freed it meanwhile: no picture is in it
                    continue
                self._chunks[number] = mapped
                if self._registered is not None:
                    self._registered.add(mapped.address, mapped.nbytes)


def _registered(device: DeviceId) -> RegisteredMemory | None:
    """The host memory that the GPU copies from directly, None for other devices."""
    if device.kind != "cuda":
        return None
    from framefleet.engine.cuda.memory import REGISTERED

    return REGISTERED
