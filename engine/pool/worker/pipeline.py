"""In a worker: decode threads, engine and result sender, connected by bounded queues. A pool that reads slowly slows decoding, too."""

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from framefleet.engine.backends.base import Backend
from framefleet.engine.media.decoder import Decoder
from framefleet.engine.pool.protocol import Detect, Drop, Failed, FromWorker, Revoke, ToWorker
from framefleet.engine.pool.worker.decode_threads import DecodeThreads, StartThread
from framefleet.engine.pool.worker.inference import Inference
from framefleet.engine.pool.worker.message_buffer import FrameBuffer
from framefleet.engine.pool.worker.result_sender import ResultSender, Timings
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.types import EngineInfo


class Pipeline:
    """Decodes and infers segments and sends the results. backend: a built engine. timings, send, die: see ``ResultSender``."""

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
        self._backend = backend
        self._decoder = decoder
        self._start_thread = start_thread
        self._buffer = FrameBuffer(pictures=2 * batch)
        self._decode_threads = DecodeThreads(decoder, self._buffer, 2 * batch + 8, send, watchdog, start_thread)
        self._inference = Inference(backend, watchdog)
        self._result_sender = ResultSender(backend, decoder.threads, timings, self._inference, self._buffer, send, die)

    @property
    def info(self) -> EngineInfo:
        """The built engine, with the number of decode threads."""
        return replace(self._backend.info, decode_threads=self._decoder.threads)

    def run(self) -> None:
        """Work until ``stop``, and send the results of all submitted pictures. Decode threads may still run afterwards."""
        self._decode_threads.start()
        sending = self._start_thread("send", self._result_sender.run)
        self._inference.run(self._buffer, self._decode_threads.dropped, self._result_sender.put)
        self._result_sender.stop()
        sending.join()

    def join(self, seconds: float) -> bool:
        """Wait for the decode threads after ``run``. Returns whether all have ended."""
        return self._decode_threads.join(seconds)

    def receive(self, message: ToWorker) -> None:
        """Handle a message of the pool. Called by the receiving thread."""
        match message:
            case Detect():
                self._decode_threads.put(message)
            case Drop():
                self._decode_threads.drop(message.source)
            case Revoke():
                self._decode_threads.revoke(message)

    def stop(self) -> None:
        """Let ``run`` return soon."""
        self._buffer.close()
        self._decode_threads.stop()
        self._decoder.stop()

    def close(self) -> None:
        """Release the engine and the decoder. Call this after ``join``, if it returned True."""
        self._backend.close()
        self._decoder.close()
