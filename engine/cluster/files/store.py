"""The contents that the workers of one node use: found, awaited, and protected from eviction while a task needs them."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from framefleet.engine.cluster.files.cache import Cache
from framefleet.engine.cluster.files.content import Content
from framefleet.engine.errors import ClusterError, FramefleetError
from framefleet.engine.notices import Notice

Receive: TypeAlias = Callable[[Path | FramefleetError], None]
"""Takes the path of a content, or why this node cannot have it."""

LOOKERS = 4
"""Threads that look whether a content is here. A file system that hangs delays only them."""


class Store:
    """The contents. ask: asks the driver for one. Each ``obtain`` ends with one ``release``."""

    def __init__(self, cache: Cache, ask: Callable[[Content], None]) -> None:
        self._cache = cache
        self._ask = ask
        self._lock = threading.Lock()
        self._lookers = ThreadPoolExecutor(LOOKERS, "look for files")
        self._shared: dict[Content, Path] = {}
        self._cached: dict[Content, Path] = {}
        self._uses: Counter[Content] = Counter()
        self._waiting: dict[Content, list[Receive]] = {}

    def obtain(self, content: Content, receive: Receive) -> None:
        """Pass the content's path to ``receive``, at once or when the content has arrived."""
        with self._lock:
            self._uses[content] += 1
            path = self._shared.get(content) or self._cached.get(content)
            if path is None:
                waiting = self._waiting.setdefault(content, [])
                waiting.append(receive)
                if len(waiting) == 1:
                    self._lookers.submit(self._look, content)
                return
        receive(path)

    def release(self, content: Content) -> None:
        """Note that a task that needed the content has ended."""
        with self._lock:
            self._uses[content] -= 1
            if not self._uses[content]:
                self._forget(content)

    def _forget(self, content: Content) -> None:
        del self._uses[content]
        if self._cached.pop(content, None) is not None:
            self._cache.release(content)

    def arrived(self, content: Content, problem: FramefleetError | None) -> None:
        """Note that the driver has sent a content, or why there is none."""
        self._settle(content, problem or self._take(content) or ClusterError(Notice("cluster.vanished", path=content.path)))

    def _look(self, content: Content) -> None:
        try:
            found = self._find(content)
        except (FramefleetError, OSError) as error:
            found = (
                error
                if isinstance(error, FramefleetError)
                else ClusterError(Notice("cluster.not_found", path=content.path, problem=error.strerror or str(error)))
            )
        if found is None:
            self._ask(content)
        else:
            self._settle(content, found)

    def _find(self, content: Content) -> Path | FramefleetError | None:
        if content.stamp is None or content.is_at(content.path):
            with self._lock:
                self._shared[content] = content.path
            return content.path
        if content.digest is not None and content.path.exists():
            return ClusterError(Notice("cluster.other_model", path=content.path))
        return self._take(content)

    def _take(self, content: Content) -> Path | None:
        with self._lock:
            if content in self._cached:
                return self._cached[content]
            path = self._cache.take(content)
            if path is not None:
                self._cached[content] = path
            return path

    def _settle(self, content: Content, found: Path | FramefleetError) -> None:
        with self._lock:
            waiting = self._waiting.pop(content, [])
        for receive in waiting:
            receive(found)
        with self._lock:
            if not self._uses[content]:  # the workers that waited have ended
                self._forget(content)
