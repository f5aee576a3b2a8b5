"""In a worker: decoders, engine and delivery, joined by bounded queues. A pool that reads slowly slows the decoders."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NoReturn

from engine.backends.base import Backend
from engine.pool.buffer import FrameBuffer
from engine.pool.delivery import Delivery
from engine.pool.inference import Inference
from engine.pool.protocol import Failed, FromWorker
from engine.pool.reader import Reader
from engine.pool.watchdog import Watchdog


class Pipeline:
    """Segments in, results out, for one built engine. send, die: see ``Delivery``."""

    def __init__(self, backend: Backend, send: Callable[[FromWorker], None], die: Callable[[Failed], NoReturn], watchdog: Watchdog) -> None:
        batch = backend.info.batch
        self.buffer = FrameBuffer(pictures=2 * batch)
        self.reader = Reader(backend, self.buffer, 2 * batch + 8, send, watchdog)
        self._inference = Inference(backend, watchdog)
        self._delivery = Delivery(backend, self._inference, self.buffer, send, die)

    def run(self) -> None:
        """Work until the buffer is closed; then everything that was in the engine has been sent."""
        self.reader.start()
        delivering = threading.Thread(target=self._delivery.run, name="deliver", daemon=True)
        delivering.start()
        self._inference.run(self.buffer, self.reader.dropped, self._delivery.put)
        self._delivery.stop()
        delivering.join()
