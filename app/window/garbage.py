"""Collects garbage in the window's thread only, in small portions.

Python collects cyclic garbage in the thread that allocates. In the session's thread this would destroy Qt objects outside the thread
that they belong to. A full collection can hold the interpreter's lock for a tenth of a second, which shows as a pause in the video.
"""

import gc

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 1000
FULL_EVERY = 30
"""The number of collections from one of all generations to the next."""


class GarbageCollector(QObject):
    """Replaces Python's automatic collection. It ignores objects that exist at its start, so that a collection takes milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self._collections = 0
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self._collect)

    def start(self) -> None:
        """Replace Python's automatic collection."""
        gc.collect()
        gc.freeze()
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Restore Python's automatic collection."""
        self._timer.stop()
        gc.enable()
        gc.unfreeze()

    def _collect(self) -> None:
        self._collections += 1
        gc.collect(2 if self._collections % FULL_EVERY == 0 else 1)
