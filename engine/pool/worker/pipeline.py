"""In a worker: decode threads, engine and result sender, connected by bounded queues. A pool that reads slowly slows decoding, too.

The worker of a group's member also infers pictures in shared memory.
"""

from __future__ import annotations

import queue
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from framefleet.engine.backends.base import Backend
from framefleet.engine.media.decoder import Decoder
from framefleet.engine.notices import notice_of
from framefleet.engine.pool import protocol
from framefleet.engine.pool.groups.shared_pictures import MappedChunk
from framefleet.engine.pool.worker import message_buffer
from framefleet.engine.pool.worker.decode_threads import DecodeThreads, Forward, StartThread
from framefleet.engine.pool.worker.inference import Inference
from framefleet.engine.pool.worker.live_streams import Packets, StreamThreads
from framefleet.engine.pool.worker.result_sender import MemberStats, ResultSender, Timings
from framefleet.engine.processes import child_main, outcome
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.types import DeviceId, EngineInfo, Found

if TYPE_CHECKING:
    from framefleet.engine.cuda.memory import PageLock


GATHER_SECONDS = 0.04
"""How long the newest frames of live sources wait for a full batch on a GPU: about as long as until each source has another one."""


class Pipeline:
    """Decodes and infers segments and sends the results.

    backend: a built engine. timings, member_stats, send, die: see ``ResultSender``. forward: see ``DecodeThreads``. member: whether the
    worker belongs to a member of a group.
    """

    def __init__(
        self,
        backend: Backend,
        decoder: Decoder,
        timings: Timings,
        send: Callable[[protocol.FromWorker], None],
        die: Callable[[protocol.Failed], NoReturn],
        watchdog: Watchdog,
        start_thread: StartThread,
        *,
        forward: Forward | None = None,
        member_stats: MemberStats = MappingProxyType({}),
        member: bool = False,
    ) -> None:
        batch = backend.info.batch
        self._backend = backend
        self._decoder = decoder
        self._start_thread = start_thread
        on_device = backend.decodes_on is not None
        self._buffer = message_buffer.FrameBuffer(pictures=2 * batch, gather=GATHER_SECONDS if on_device else 0.0)
        self._decode_threads = DecodeThreads(decoder, self._buffer, 2 * batch + 8, send, watchdog, start_thread, forward)
        self._streams = streams = StreamThreads(self._buffer, send, watchdog, start_thread, on_device, decoder.live)
        self._inference = Inference(backend, watchdog, lambda: streams.idle)  # not of this pipeline: a cycle would keep the engine
        self._result_sender = ResultSender(
            backend, decoder.threads, timings, self._inference, self._buffer, send, die, member_stats, member
        )
        self._shared = SharedPictures(backend, self._inference, send) if member else None

    @property
    def info(self) -> EngineInfo:
        """The built engine, with the number of decode threads."""
        return replace(self._backend.info, decode_threads=self._decoder.threads)

    def run(self) -> None:
        """Work until ``stop``, and send the results of all submitted pictures. Decode threads may still run afterwards."""
        self._decode_threads.start()
        sending = self._start_thread("send", self._result_sender.run)
        sharing = None if self._shared is None else self._start_thread("share", self._shared.run)
        self._inference.run(self._buffer, self._decode_threads.dropped, self._result_sender.put)
        self._result_sender.stop()
        sending.join()
        if sharing is not None:
            sharing.join()

    def join(self, seconds: float) -> bool:
        """Wait for the decode threads after ``run``. Returns whether all have ended."""
        deadline = time.monotonic() + seconds
        return self._decode_threads.join(seconds) and self._streams.join(max(0.0, deadline - time.monotonic()))

    def receive(self, message: protocol.ToWorker) -> None:
        """Handle a message of the pool. Called by the receiving thread."""
        match message:
            case protocol.Detect():
                self._decode_threads.put(message)
            case protocol.Watch():
                self._streams.watch(message)
            case protocol.Drop():
                self._decode_threads.drop(message.source)
            case protocol.Revoke():
                if not self._streams.end(message.source):
                    self._decode_threads.revoke(message)
            case protocol.Infer() | protocol.SharedMemory() if self._shared is not None:
                self._shared.put(message)

    def open_stream(self, stream: protocol.Stream, packets: Packets) -> None:
        """Decode a live source. Called by the receiving thread."""
        self._streams.start(stream, packets)

    def stop(self) -> None:
        """Let ``run`` return soon."""
        self._buffer.close()
        self._streams.stop()
        if self._shared is not None:
            self._shared.stop()
        self._decode_threads.stop()
        self._decoder.stop()

    def close(self) -> None:
        """Release the engine and the decoder. Call this after ``join``, if it returned True."""
        self._backend.close()
        self._decoder.close()


class SharedPictures:
    """In the worker of a group's member: infers batches of pictures in shared memory, beside the segments that this worker decodes."""

    def __init__(self, backend: Backend, inference: Inference, send: Callable[[protocol.FromWorker], None]) -> None:
        self._page_lock = _page_lock(backend.device)
        self._send = send
        self._inference = inference
        self._tasks: queue.SimpleQueue[protocol.Infer | protocol.SharedMemory | None] = queue.SimpleQueue()
        self._chunks: dict[int, MappedChunk] = {}

    def put(self, task: protocol.Infer | protocol.SharedMemory) -> None:
        """Queue a message of the group. Called by the receiving thread."""
        self._tasks.put(task)

    def run(self) -> None:
        """Work until ``stop``."""
        while (task := self._tasks.get()) is not None:
            if isinstance(task, protocol.Infer):
                self._infer(task)
            else:
                self._map(task)

    def stop(self) -> None:
        """Let ``run`` return soon."""
        self._tasks.put(None)

    def _infer(self, task: protocol.Infer) -> None:
        try:
            images = [self._chunks[place.chunk].image(place) for place in task.places]
            future = self._inference.submit(images, task.still)
        except Exception as problem:
            self._fail(task, problem)
        else:
            future.add_done_callback(partial(self._finish, task))

    def _finish(self, task: protocol.Infer, future: Future[list[Found]]) -> None:
        try:
            found = future.result()
            if len(found) != len(task.places):
                raise RuntimeError(f"the engine gave {len(found)} results for {len(task.places)} pictures")
            message = protocol.Inferred(task.number, protocol.PackedResults.pack(found))
        except Exception as problem:
            self._fail(task, problem)
        else:
            self._send(message)

    def _fail(self, task: protocol.Infer, problem: Exception) -> None:
        if outcome.lack_of_resources(problem) is not None:  # no picture is to blame
            self._send(child_main.failed(problem))
            child_main.leave(1)
        traceback.print_exception(problem)
        self._send(protocol.InferenceFailed(task.number, notice_of(problem)))

    def _map(self, memory: protocol.SharedMemory) -> None:
        wanted = {chunk.number: chunk for chunk in memory.chunks}
        for number in [number for number in self._chunks if number not in wanted]:
            gone = self._chunks.pop(number)
            if self._page_lock is not None:
                self._page_lock.remove(gone.address)
        for number, chunk in wanted.items():
            if number not in self._chunks:
                try:
                    mapped = MappedChunk(chunk)
                except (OSError, ValueError):  # the owner has freed it meanwhile: no picture is in it
                    continue
                self._chunks[number] = mapped
                if self._page_lock is not None:
                    self._page_lock.add(mapped.address, mapped.nbytes)


def _page_lock(device: DeviceId) -> PageLock | None:
    """Locks the memory that the GPU copies from directly, None for other devices."""
    if device.kind != "cuda":
        return None
    from framefleet.engine.cuda.memory import PageLock

    return PageLock(int(device.name))
