"""In a worker: threads that decode segments, and request the next segment in time."""

import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

from framefleet.engine.media.decoder import Decoder, DecoderUse, release_all, singly
from framefleet.engine.media.types import DecodeFailure, DeviceFrame
from framefleet.engine.notices import Notice, notice_of
from framefleet.engine.pool.protocol import Began, Detect, Done, FromWorker, Need, Revoke, Trying
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Gap, Picture
from framefleet.engine.processes import outcome
from framefleet.engine.processes.watchdog import Clock, Watchdog
from framefleet.engine.types import UNNUMBERED, FrameRef

StartThread: TypeAlias = Callable[[str, Callable[[], None]], threading.Thread]
"""Starts a thread with a name and a function. If the thread fails, the worker ends, since it would hang without the thread."""


class Forward(Protocol):
    """Lets other workers do tasks."""

    def detect(self, task: Detect) -> Done | Detect:
        """Wait for the end of a task, and return it; or what is left of the task, for this worker."""

    def drop(self, source: int) -> None:
        """Let the tasks of a source end soon."""

    def stop(self) -> None:
        """Let every ``detect`` return now."""


SKIPPED_FRAMES = 100
"""Skipping this many frames may take as long as decoding one."""


class DecodeThreads:
    """The worker's tasks: for each decode thread at most one being decoded and one queued.

    near: a decode thread requests the next segment when its current one has at most this many frames left. That is early enough to
    keep the engine busy, and late enough that a slow device does not hold work that another device could do. forward: asked first, except
    in careful mode.
    """

    def __init__(
        self,
        decoder: Decoder,
        buffer: FrameBuffer,
        near: int,
        send: Callable[[FromWorker], None],
        watchdog: Watchdog,
        start_thread: StartThread,
        forward: Forward | None = None,
    ) -> None:
        self._decoder = decoder
        self._forward = forward
        self._buffer = buffer
        self._near = near
        self._send = send
        self._watchdog = watchdog
        self._start_thread = start_thread
        self._threads: list[threading.Thread] = []
        self._stopped = False
        self._tasks: deque[Detect] = deque()
        self._idle = 0
        self._dropped: set[int] = set()
        self._revoked: set[tuple[int, int]] = set()
        self._changed = threading.Condition()

    def put(self, task: Detect) -> None:
        """Queue a task. Called by the receiving thread."""
        with self._changed:
            self._revoked.discard((task.source, task.segment.number))
            self._tasks.append(task)
            self._changed.notify()

    def drop(self, source: int) -> None:
        """Stop working on a source. Called by the receiving thread."""
        self._dropped.add(source)
        if self._forward is not None:
            self._forward.drop(source)

    def dropped(self, source: int) -> bool:
        """Whether a source was dropped."""
        return source in self._dropped

    def revoke(self, revoke: Revoke) -> None:
        """End a task after the decoded frames. Called by the receiving thread."""
        place = revoke.source, revoke.segment
        with self._changed:
            task = next((task for task in self._tasks if (task.source, task.segment.number) == place), None)
            if task is None:
                self._revoked.add(place)  # until the segment is assigned again
                return
            self._tasks.remove(task)
        self._send(Done(*place, task.skip, complete=False))
        self._send(Need())  # a decode thread needs other work instead

    def start(self) -> None:
        """Start the decode threads, which run until ``stop``."""
        self._threads = [self._start_thread(f"read {number}", self._run) for number in range(self._decoder.threads)]

    def stop(self) -> None:
        """Let the decode threads end, each before its next frame. The caller has to close the buffer, too."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._forward is not None:
            self._forward.stop()

    def join(self, seconds: float) -> bool:
        """Wait for the decode threads after ``stop``. Returns whether all have ended within ``seconds``."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        clock = self._watchdog.add()
        asked = False
        while True:
            if not asked:
                self._send(Need())
            task = self._next()
            if task is None:
                break
            asked = self._decode(task, clock)

    def _next(self) -> Detect | None:
        with self._changed:
            self._idle += 1
            if self._idle == self._decoder.threads and not self._tasks:
                self._buffer.flush()
            while not self._tasks and not self._stopped:
                self._changed.wait()
            self._idle -= 1
            return None if self._stopped else self._tasks.popleft()

    def _decode(self, task: Detect, clock: Clock) -> bool:
        """Do a task. Returns whether the decode thread has requested its next one."""
        if task.careful:
            self._buffer.wait_settled()
        self._send(Began(task.source, task.segment.number))
        if self._forward is not None and not task.careful:
            left = self._forward.detect(task)
            if isinstance(left, Done):
                self._send(left)
                return False
            task = left
        what, limit = Notice("pool.decoding", path=Path(task.info.path)), self._watchdog.seconds
        patience = limit * (1 + task.skip // SKIPPED_FRAMES)
        place = task.source, task.segment.number
        asked = False
        done, complete = task.skip, False
        error: Notice | None = None
        by_cpu = by_nvdec = 0
        try:
            decoder, info = self._decoder, task.info
            if task.careful:  # the frame that ends the process is the next one
                groups = singly(decoder.decode(info, task.segment, task.skip))
            else:
                groups = decoder.groups(info, task.segment, task.skip)
            while not (self._stopped or self.dropped(task.source) or place in self._revoked):
                if not asked and task.segment.frames - done <= self._near:
                    asked = True
                    self._send(Need())
                room = sys.maxsize if task.limit is None else task.limit - (done - task.skip)
                if room <= 0:
                    break
                started = time.perf_counter()
                clock.start(what, patience)
                group = next(groups, None)
                clock.stop()
                patience = limit
                if group is None:
                    complete = True
                    break
                release_all(group[room:])
                now = time.perf_counter()
                took = 1000 * (now - started) / len(group)
                pictures = []
                for frame in group[:room]:
                    if isinstance(frame, DecodeFailure):
                        if outcome.address_space_is_short():
                            raise MemoryError(str(frame.reason))
                        self._buffer.put(Gap(task, frame))
                        done += frame.count
                        continue
                    width, height = frame.size
                    if isinstance(frame.image, DeviceFrame):
                        by_nvdec += 1
                    else:
                        by_cpu += 1
                    if task.careful:
                        self._send(Trying(frame.ref, task.segment.number, done, width, height))
                    pictures.append(Picture(task, frame.ref, frame.image, width, height, took, now))
                if pictures:
                    self._buffer.put_all(pictures)
                    done += len(pictures)
                if task.careful:
                    self._buffer.wait_settled()
        except Exception as problem:  # any error affects this segment only, and the others can go on
            clock.stop()
            if outcome.lack_of_resources(problem) is not None:  # no frame is to blame: the worker ends, and another one continues
                raise
            error = notice_of(problem)
            missing = max(0, task.segment.frames - done)
            self._buffer.put(Gap(task, DecodeFailure(FrameRef(task.source, UNNUMBERED, math.nan), missing, error)))
            done, complete = done + missing, True
        reason = self._decoder.cpu_reason(task.info) if by_cpu else None
        self._buffer.put(End(task, done, complete, error, DecoderUse(by_nvdec, by_cpu, reason)))
        return asked
