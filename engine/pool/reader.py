"""In a worker: the thread that decodes one segment after the other, and asks for the next one in time."""

from __future__ import annotations

import gc
import math
import threading
import time
from collections import deque
from collections.abc import Callable

from engine.media.types import DecodeFailure
from engine.pool.buffer import End, FrameBuffer, Gap, Picture
from engine.pool.protocol import Began, Detect, FromWorker, Need, Trying


class Reader:
    """The worker's tasks: at most one being decoded and one that follows.

    near: the next segment is asked for when this one has no more frames than that: early enough that the engine never
    waits for it, late enough that a slow device does not sit on work that another one could do.
    """

    def __init__(self, buffer: FrameBuffer, near: int, send: Callable[[FromWorker], None]) -> None:
        self._buffer = buffer
        self._near = near
        self._send = send
        self._tasks: deque[Detect] = deque()
        self._asked = False
        self._dropped: set[int] = set()
        self._changed = threading.Condition()

    def put(self, task: Detect) -> None:
        """A task has arrived. Called by the receiving thread."""
        with self._changed:
            self._tasks.append(task)
            self._asked = False
            self._changed.notify()

    def drop(self, source: int) -> None:
        """Stop working on a source. Called by the receiving thread."""
        self._dropped.add(source)

    def dropped(self, source: int) -> bool:
        """Whether a source is no longer wanted."""
        return source in self._dropped

    def run(self) -> None:
        """The thread's life: for ever."""
        # a closed file and its decoder's buffers are in reference cycles (PyAV's streams and container know each other):
        # left to the collector's own rhythm, hundreds of MB pile up. Frozen, what is there by now costs no time any more
        gc.collect()
        gc.freeze()
        while True:
            self._ask()
            with self._changed:
                if not self._tasks:
                    self._buffer.flush()
                while not self._tasks:
                    self._changed.wait()
                task = self._tasks.popleft()
            self._decode(task)
            gc.collect()

    def _ask(self) -> None:
        with self._changed:
            if self._asked or self._tasks:
                return
            self._asked = True
        self._send(Need())

    def _decode(self, task: Detect) -> None:
        from engine.media.decode import decode

        if task.careful:
            self._buffer.wait_settled()
        self._send(Began(task.source, task.segment.number))
        done, complete, error = task.skip, False, None
        try:
            frames = iter(decode(task.info, task.segment, task.skip))
            while not self.dropped(task.source):
                if task.segment.frames - done <= self._near:
                    self._ask()
                if task.limit is not None and done - task.skip >= task.limit:
                    break
                started = time.perf_counter()
                frame = next(frames, None)
                if frame is None:
                    complete = True
                    break
                if isinstance(frame, DecodeFailure):
                    self._buffer.put(Gap(task, frame.pts, frame.count, frame.reason, frame.name))
                    done += frame.count
                    continue
                now = time.perf_counter()
                height, width = frame.image.shape[:2]
                if task.careful:
                    self._send(Trying(task.source, task.segment.number, done, frame.pts, width, height, frame.name))
                self._buffer.put(Picture(task, frame.pts, frame.image, width, height, frame.name, 1000 * (now - started), now))
                done += 1
                if task.careful:
                    self._buffer.wait_settled()
        except Exception as problem:  # whatever it is, it concerns this segment only, and the others can go on
            error = str(problem) or type(problem).__name__
            missing = max(0, task.segment.frames - done)
            self._buffer.put(Gap(task, math.nan, missing, error))
            done, complete = done + missing, True
        self._buffer.put(End(task, done, complete, error))
