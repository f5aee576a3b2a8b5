"""In a worker: batches through the engine, several under way at once, measured."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from engine.backends.base import Backend
from engine.media.types import SourceKind
from engine.pool.buffer import End, FrameBuffer, Item, Picture
from engine.types import Detections, Image


@dataclass(eq=False, slots=True)
class Batch:
    """Items that leave the worker together. result: the detections of the pictures among them.

    submitted, done: when the engine got them and when the result was there, ``perf_counter``. preprocessing: ms of the
    whole batch.
    """

    items: list[Item]
    result: Future[list[Detections]] | None = None
    submitted: float = 0.0
    preprocessing: float = 0.0
    done: float = 0.0

    @property
    def pictures(self) -> list[Picture]:
        """Those of the items that have a picture, in order."""
        return [item for item in self.items if isinstance(item, Picture)]


class Inference:
    """The engine as this worker uses it. Thread-safe, which a ``Backend`` is not."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._submitting = threading.Lock()
        # a slot is awaited here, so that the time ``submit`` takes is the time of the preprocessing
        self._slots = threading.Semaphore(backend.info.slots)

    def run(self, buffer: FrameBuffer, dropped: Callable[[int], bool], put: Callable[[Batch], None]) -> None:
        """Move what the buffer gives through the engine until the buffer is closed."""
        while (items := buffer.take(self._backend.info.batch)) is not None:
            unwanted = [item for item in items if not isinstance(item, End) and dropped(item.task.source)]
            buffer.settle(len(unwanted))
            wanted = [item for item in items if item not in unwanted]
            for _, alike in groupby(wanted, lambda item: item.task.info.kind):
                for batch in self._batches(list(alike)):
                    put(batch)

    def responds(self) -> bool:
        """Whether the engine still works: it is given a black picture."""
        try:
            height, width = self._backend.info.height, self._backend.info.width
            self._submit([np.zeros((height, width, 3), np.uint8)]).result()
        except Exception:
            return False
        return True

    def _batches(self, items: list[Item]) -> Iterator[Batch]:
        batch = Batch(items)
        try:
            self._start(batch)
            yield batch
        except Exception as problem:
            if len(items) > 1:  # one of them is the culprit: the others need not fail with it
                for item in items:
                    yield from self._batches([item])
            else:
                batch.result = Future()
                batch.result.set_exception(problem)
                yield batch

    def _start(self, batch: Batch) -> None:
        pictures = batch.pictures
        if not pictures:
            return

        def note(_: Future[list[Detections]]) -> None:
            batch.done = time.perf_counter()

        still = pictures[0].task.info.kind is SourceKind.IMAGES
        batch.result = self._submit([picture.image for picture in pictures if picture.image is not None], still, batch)
        batch.result.add_done_callback(note)
        for picture in pictures:
            picture.image = None

    def _submit(self, images: list[Image], still: bool = False, batch: Batch | None = None) -> Future[list[Detections]]:
        with self._submitting:
            self._slots.acquire()
            started = time.perf_counter()
            try:
                future = self._backend.submit(images, still)
            except BaseException:
                self._slots.release()
                raise
            if batch is not None:
                batch.submitted = started
                batch.preprocessing = 1000 * (time.perf_counter() - started)
        future.add_done_callback(lambda _: self._slots.release())
        return future
