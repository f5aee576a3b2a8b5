"""Video files kept open between their segments: opening one decodes some frames of it to know it, which takes as long as many packets."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.media.types import Segment
from engine.media.video import VideoFile

_IDLE = 16


class OpenFiles:
    """Files for several threads, each used by one at a time."""

    def __init__(self) -> None:
        self._idle: deque[VideoFile] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, path: Path, segment: Segment) -> Iterator[VideoFile]:
        """A file from which this segment can be read. It is closed after an error, and when the segment is given up.

        Raises:
            SourceError: as ``VideoFile``.
        """
        # what has no start is read from the start of the file, where only a new one is
        file = (None if segment.start is None else self._take(path)) or VideoFile(path)
        try:
            yield file
        except BaseException:
            file.close()
            raise
        if file.error:
            file.close()
            return
        with self._lock:
            self._idle.append(file)
            if len(self._idle) > _IDLE:
                self._idle.popleft().close()

    def close(self) -> None:
        """Close all that are not in use."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _take(self, path: Path) -> VideoFile | None:
        with self._lock:
            for file in self._idle:
                if file.path == path:
                    self._idle.remove(file)
                    return file
        return None
