"""In a worker: the bounded way from the decoder to the engine."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

from engine.pool.protocol import Detect
from engine.types import Image

MAX_BYTES = 128 * 2**20
"""Pictures that wait in a worker, bytes: one 8K picture has a hundred million, so a count alone would be no bound."""


@dataclass(eq=False, slots=True)
class Picture:
    """A decoded frame on its way. image: None once the engine has taken it. decoding: ms. decoded: when, ``perf_counter``."""

    task: Detect
    pts: float
    image: Image | None
    width: int
    height: int
    name: str | None
    decoding: float
    decoded: float


@dataclass(frozen=True)
class Gap:
    """Frames of a task that could not be decoded."""

    task: Detect
    pts: float
    count: int
    reason: str
    name: str | None = None


@dataclass(frozen=True)
class End:
    """A task's last item; the fields are those of ``Done``."""

    task: Detect
    frames: int
    complete: bool
    error: str | None


Item: TypeAlias = Picture | Gap | End


class FrameBuffer:
    """Items in order, from one thread to another. pictures: how many may wait, at least one whatever its size."""

    def __init__(self, pictures: int) -> None:
        self._most = pictures
        self._items: deque[Item] = deque()
        self._pictures = 0
        self._bytes = 0
        self._under_way = 0
        self._flushed = False
        self._closed = False
        self._changed = threading.Condition()

    def put(self, item: Item) -> None:
        """Append, once there is room; what comes after ``close`` is forgotten."""
        size = item.image.nbytes if isinstance(item, Picture) and item.image is not None else 0
        with self._changed:
            while size and not self._closed and self._pictures and (self._pictures >= self._most or self._bytes + size > MAX_BYTES):
                self._changed.wait()
            if self._closed:
                return
            self._items.append(item)
            self._pictures += size > 0
            self._bytes += size
            self._under_way += 1
            self._flushed = False
            self._changed.notify_all()

    def take(self, batch: int) -> list[Item] | None:
        """The next items with up to ``batch`` pictures among them: fewer only when no more come soon. None: closed."""
        with self._changed:
            while not self._closed and not (self._items and (self._flushed or self._pictures >= batch or 2 * self._bytes > MAX_BYTES)):
                self._changed.wait()
            if self._closed:
                return None
            taken: list[Item] = []
            pictures = 0
            while self._items and pictures < batch:
                item = self._items.popleft()
                taken.append(item)
                if isinstance(item, Picture) and item.image is not None:
                    pictures += 1
                    self._bytes -= item.image.nbytes
            self._pictures -= pictures
            self._changed.notify_all()
            return taken

    def flush(self) -> None:
        """Nothing comes for a while: do not wait for a full batch."""
        with self._changed:
            self._flushed = True
            self._changed.notify_all()

    def settle(self, items: int) -> None:
        """So many items have left the worker."""
        with self._changed:
            self._under_way -= items
            self._changed.notify_all()

    def wait_settled(self) -> None:
        """Flush, and wait until everything has left the worker."""
        self.flush()
        with self._changed:
            while self._under_way and not self._closed:
                self._changed.wait()

    def close(self) -> None:
        """Let go of everything and everybody."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()
