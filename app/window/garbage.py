"""Collects garbage in the window's thread only, in small portions.

Python collects cyclic garbage in whichever thread happens to allocate. In the session's thread that would destroy Qt objects
away from the thread they belong to, and anywhere it can hold the interpreter's lock for a tenth of a second: a gap that is seen.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer, Slot

LOOK_MS = 1000
WHOLE = 30
"""Looks between two collections of everything that is not frozen."""


class GarbageCollector(QObject):
    """Takes Python's collector over. What exists when it starts is left alone, so that a collection takes milliseconds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._looks = 0
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        """From now on only this collects."""
        gc.collect()
        gc.freeze()
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Python collects by itself again."""
        self._timer.stop()
        gc.enable()
        gc.unfreeze()

    @Slot()
    def _look(self) -> None:
        self._looks += 1
        gc.collect(2 if self._looks % WHOLE == 0 else 1)
