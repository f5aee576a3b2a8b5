"""In a worker: decoders, engine and delivery, joined by bounded queues. A pool that reads slowly slows the decoders."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from engine.backends.base import Backend
from engine.media.decoder import Decoder
from engine.pool.protocol import Failed, FromWorker
from engine.pool.worker.decode_threads import DecodeThreads, StartThread
from engine.pool.worker.inference import Inference
from engine.pool.worker.message_buffer import FrameBuffer
from engine.pool.worker.result_sender import ResultSender, Timings
from engine.pool.worker.watchdog import Watchdog

DECODE_THREADS_SECONDS = 0.5
"""How long the decode threads get to end, each within a frame."""


class Pipeline:
    """Segments in, results out, for ``backend``, a built engine. send, die: see ``Delivery``."""

    def __init__(
        self,
        backend: Backend,
        decoder: Decoder,
        timings: Timings,
        send: Callable[[FromWorker], None],
        die: Callable[[Failed], NoReturn],
        watchdog: Watchdog,
        start_thread: StartThread,
    ) -> None:
        batch = backend.info.batch
        self.backend = backend
        self._start_thread = start_thread
        self._buffer = FrameBuffer(pictures=2 * batch)
        self.reader = DecodeThreads(decoder, self._buffer, 2 * batch + 8, send, watchdog, start_thread)
        self._inference = Inference(backend, watchdog)
        self._delivery = ResultSender(backend, decoder.threads, timings, self._inference, self._buffer, send, die)

    def run(self) -> bool:
        """Work until ``stop``; then everything that was in the engine has been sent. Whether nothing uses the backend any more."""
        self.reader.start()
        delivering = self._start_thread("deliver", self._delivery.run)
        self._inference.run(self._buffer, self.reader.dropped, self._delivery.put)
        self._delivery.stop()
        delivering.join()
        return self.reader.join(DECODE_THREADS_SECONDS)

    def stop(self) -> None:
        """Let ``run`` return soon."""
        self._buffer.close()
        self.reader.stop()
