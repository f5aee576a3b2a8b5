"""Video files kept open between their segments: opening one decodes some frames of it to know it, which takes as long as many packets."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from engine.media.container.video_file import VideoFile
from engine.media.types import Segment

_IDLE = 16

Identity: TypeAlias = tuple[str, int, int, int, int]
"""What tells a file from another one that took its place: path, device, inode, time of change, size."""


def identity(path: Path) -> Identity:
    """Of the file that is there now; all zero where none is."""
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0, 0, 0
    return str(path), found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


class OpenFiles:
    """Files for several threads, each used by one at a time."""

    def __init__(self) -> None:
        self._idle: deque[tuple[Identity, VideoFile]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, path: Path, segment: Segment) -> Iterator[VideoFile]:
        """A file from which this segment can be read. It is closed after an error, and when the segment is given up.

        Raises:
            SourceError: as ``VideoFile``.
        """
        known = identity(path)
        # what has no start is read from the start of the file, where only a new one is
        file = (None if segment.start is None else self._take(known)) or VideoFile(path)
        try:
            yield file
        except BaseException:
            file.close()
            raise
        if file.error:
            file.close()
            return
        with self._lock:
            self._idle.append((known, file))
            if len(self._idle) > _IDLE:
                self._idle.popleft()[1].close()

    def close(self) -> None:
        """Close all that are not in use."""
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()

    def _take(self, known: Identity) -> VideoFile | None:
        with self._lock:
            for entry in self._idle:
                if entry[0] == known:
                    self._idle.remove(entry)
                    return entry[1]
        return None
