"""Keeps video files open between segments, because opening a file is slow: FFmpeg decodes some frames each time."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.types import Segment

_IDLE = 16

Identity: TypeAlias = tuple[str, int, int, int, int]
"""Path, device, inode, time of change and size of a file. They change if the file is replaced."""


def identity(path: Path) -> Identity:
    """Return the identity of the file at a path. All numbers are 0 if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0, 0, 0
    return str(path), found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


class OpenFiles:
    """A pool of open video files for several threads. Each file is used by one thread at a time."""

    def __init__(self) -> None:
        self._idle: deque[tuple[Identity, VideoFile]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, path: Path, segment: Segment) -> Iterator[VideoFile]:
        """Provide an open file for reading this segment, as a context manager.

        The file returns to the pool afterwards. It is closed instead if the caller raises an exception or reading failed.

        Raises SourceError as ``VideoFile``.
        """
        known = identity(path)
        # a segment without a start is read from the start of the file, so it needs a newly opened one
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
        """Close the files in the pool, not the ones in use."""
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
