"""In a worker: the bounded queue between the decode threads and the engine."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.types import DecodeFailure, DeviceFrame
from framefleet.engine.notices import Notice
from framefleet.engine.pool.protocol import Detect
from framefleet.engine.types import FrameRef

MAX_BYTES = 128 * 2**20
"""Most host memory for queued pictures, bytes. A limit on their number is not enough: one 8K picture has 100 MB."""

ROOM_BYTES = 8 * 2**20
"""Host memory allowed for each picture of two batches, even if that exceeds ``MAX_BYTES``: a little more than a 1080p frame."""

PAUSE_SECONDS = 0.1
"""After this long without a new picture, the queued ones do not wait for a full batch."""


@dataclass(eq=False, slots=True)
class Picture:
    """A decoded frame of a task. image: None after the engine has taken it. decoding: time it took, ms. decoded: when, ``perf_counter``."""

    task: Detect
    ref: FrameRef
    image: HostImage | DeviceFrame | None
    width: int
    height: int
    decoding: float
    decoded: float

    @property
    def host_bytes(self) -> int:
        """Host memory of the picture, bytes. The decoder limits device memory."""
        return 0 if self.image is None or isinstance(self.image, DeviceFrame) else self.image.nbytes

    def release(self) -> None:
        """Release an image that will not reach the engine."""
        image, self.image = self.image, None
        if isinstance(image, DeviceFrame):
            image.release()


@dataclass(frozen=True)
class Gap:
    """Frames of a task that could not be decoded."""

    task: Detect
    failure: DecodeFailure


@dataclass(frozen=True)
class End:
    """A task's last item; the fields are those of ``Done``."""

    task: Detect
    frames: int
    complete: bool
    error: Notice | None
    decoder: DecoderUse = DecoderUse()  # noqa: RUF009


Item: TypeAlias = Picture | Gap | End


@dataclass(frozen=True, eq=False, slots=True)
class Newest:
    """The newest frame of a live source. convert: makes a picture of it. release: gives its memory back instead, if it is replaced."""

    convert: Callable[[], Picture | Gap]
    release: Callable[[], None]


@dataclass(eq=False, slots=True)
class _Turn:
    """A thread that waits for room for a picture. size: of this picture, bytes."""

    size: int
    comes: threading.Condition


class FrameBuffer:
    """A queue from several threads to one.

    pictures: most pictures in it; a single one of any size always fits. gather: seconds that the newest frames of live sources wait for
    others, at most. A GPU computes a small batch as long as a full one.
    """

    def __init__(self, pictures: int, gather: float = 0.0) -> None:
        self._most = pictures
        self._gather = gather
        self._most_bytes = max(MAX_BYTES, pictures * ROOM_BYTES)
        self._items: deque[Item] = deque()
        self._pictures = 0
        self._bytes = 0
        self._under_way = 0
        self._batch = 1
        self._put_at = 0.0
        self._flushed = False
        self._closed = False
        self._lock = threading.Lock()
        self._enough = threading.Condition(self._lock)
        self._settled = threading.Condition(self._lock)
        # first come, first served: no thread waits for ever, and large pictures get room, too
        self._waiting: deque[_Turn] = deque()
        self._newest: dict[int, Newest] = {}  # by source, in the order in which they get their turn
        self._offered_at = 0.0  # the first of them
        self._sources: set[int] = set()  # that offer frames
        self.live = False

    def offer(self, source: int, frame: Newest) -> bool:
        """Offer the newest frame of a live source, which never waits for room. Returns whether it replaces one that was not taken.

        A source keeps its turn, so that all get an equal share of a device that cannot take all frames.
        """
        with self._lock:
            replaced = self._newest.get(source)
            unwanted = frame if self._closed else replaced
            if not self._closed:
                if not self._newest:
                    self._offered_at = time.monotonic()
                self._newest[source] = frame
                self._sources.add(source)
                self.live = True
                if len(self._newest) == 1 or self._is_gathered():
                    self._enough.notify()
        if unwanted is not None:
            unwanted.release()
        return replaced is not None

    def withdraw(self, source: int) -> Newest | None:
        """Take the frame that waits of a live source, None if there is none: its epoch ends."""
        with self._lock:
            self._sources.discard(source)
            return self._newest.pop(source, None)

    def put(self, item: Item) -> None:
        """Append an item; waits until there is room. After ``close``, releases the item instead."""
        if isinstance(item, Picture):
            self.put_all((item,))
            return
        with self._lock:
            if not self._closed:
                self._append(item)

    def put_all(self, pictures: Iterable[Picture]) -> None:
        """Append pictures as ``put``. Those of other threads come before or after all of them: each change of threads takes time."""
        unwanted: list[Picture] = []
        turn: _Turn | None = None
        with self._lock:
            for picture in pictures:
                size = picture.host_bytes
                if not self._has_room(size) or (turn is None and self._waiting):
                    if turn is None:
                        turn = _Turn(size, threading.Condition(self._lock))
                        self._waiting.append(turn)
                    self._wait_for_room(turn, size)
                if self._closed:
                    unwanted.append(picture)
                    continue
                self._pictures += 1
                self._bytes += size
                self._append(picture)
            if turn is not None:
                self._waiting.remove(turn)
            self._call_next()
        for picture in unwanted:
            picture.release()

    def _wait_for_room(self, turn: _Turn, size: int) -> None:
        turn.size = size
        self._enough.notify()
        while not self._closed and (self._waiting[0] is not turn or not self._has_room(size)):
            turn.comes.wait()

    def take(self, batch: int) -> list[Item] | None:
        """Take the next items, with up to ``batch`` pictures; fewer only if no more arrive soon. None: the buffer is closed."""
        with self._lock:
            self._batch = batch
            while not self._closed and not self._is_enough():
                due = min(
                    self._put_at + PAUSE_SECONDS if self._items else math.inf,
                    self._offered_at + self._gather if self._newest else math.inf,
                )
                pause = due - time.monotonic()
                if pause <= 0:
                    break
                self._enough.wait(None if pause == math.inf else pause)
            if self._closed:
                return None
            taken: list[Item] = []
            chosen = [self._newest.pop(source) for source in list(self._newest)[:batch]] if self._newest else []
            self._under_way += len(chosen)
            pictures = len(chosen)
            while self._items and pictures < batch:
                item = self._items.popleft()
                taken.append(item)
                if isinstance(item, Picture):
                    pictures += 1
                    self._bytes -= item.host_bytes
            self._pictures -= pictures - len(chosen)
            self._call_next()
        return [*(frame.convert() for frame in chosen), *taken] if chosen else taken

    def flush(self) -> None:
        """Do not wait for a full batch, since no more pictures arrive soon."""
        with self._lock:
            self._flushed = True
            self._enough.notify()

    def settle(self, items: int) -> None:
        """Count items that have left the worker."""
        with self._lock:
            self._under_way -= items
            self._settled.notify_all()

    def wait_settled(self) -> None:
        """Flush, and wait until everything has left the worker."""
        self.flush()
        with self._lock:
            while self._under_way and not self._closed:
                self._settled.wait()

    def close(self) -> None:
        """Release all items and wake all waiting threads."""
        with self._lock:
            self._closed = True
            items, self._items = self._items, deque()
            newest, self._newest = self._newest, {}
            self._enough.notify()
            self._settled.notify_all()
            for turn in self._waiting:
                turn.comes.notify()
        for frame in newest.values():
            frame.release()
        for item in items:
            if isinstance(item, Picture):
                item.release()

    def _append(self, item: Item) -> None:
        self._items.append(item)
        self._under_way += 1
        self._put_at = time.monotonic()
        self._flushed = False
        if self._is_enough() or len(self._items) == 1:  # the first item starts the timeout in ``take``
            self._enough.notify()

    def _has_room(self, size: int) -> bool:
        return not self._pictures or (self._pictures < self._most and self._bytes + size <= self._most_bytes)

    def _is_enough(self) -> bool:
        full = self._pictures >= self._batch or 2 * self._bytes > self._most_bytes
        blocked = bool(self._waiting) and not self._has_room(self._waiting[0].size)
        return self._is_gathered() or (bool(self._items) and (self._flushed or full or blocked))

    def _is_gathered(self) -> bool:
        """Whether the newest frames fill a batch, or no source has another one."""
        return bool(self._newest) and (not self._gather or len(self._newest) >= min(self._batch, len(self._sources)))

    def _call_next(self) -> None:
        if self._waiting:
            self._waiting[0].comes.notify()
