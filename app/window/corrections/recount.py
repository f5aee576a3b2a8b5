"""Counts a corrected file again, for the list of classes and the timeline."""

from functools import partial
from threading import Event

from PySide6.QtCore import QObject, QTimer

from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.results.stored import count_stored
from framefleet.app.window.session.background import Background
from framefleet.app.window.session.controller import DetectionController
from framefleet.app.window.timeline.class_counts import Tally

WAIT_MS = 300
"""Time after a correction until the file is counted, so that several corrections are counted at once."""


class Recount(QObject):
    """Counts one file at a time in the background, when its run has ended."""

    def __init__(self, items: QueueModel, controller: DetectionController, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._items, self._controller, self._background = items, controller, background
        self._wanted: set[int] = set()
        self._running: set[int] = set()
        self._busy = False
        self._wait = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._wait.timeout.connect(self._start)
        controller.item_changed.connect(self._item_changed)

    def ask(self, key: int) -> None:
        """Count the file with this key again soon."""
        self._wanted.add(key)
        self._wait.start()

    def _item_changed(self, key: int) -> None:
        """Count a file that was corrected during its run and has ended now."""
        if key in self._running and (item := self._items.get(key)) is not None and item.ended:
            self._running.remove(key)
            self.ask(key)

    def _start(self) -> None:
        if self._busy or not self._wanted:
            return
        item = self._items.get(self._wanted.pop())
        if item is None or item.results is None or not item.ended:
            if item is not None:
                self._running.add(item.key)
            self._start()
            return
        tally, stop = Tally(), Event()
        self._busy = True
        work = partial(count_stored, item, tally, stop)
        self._background.start(self, work, lambda _: self._done(item, tally), lambda _: self._done(item, None), stop)

    def _done(self, item: QueueItem, tally: Tally | None) -> None:
        """Show the counts. tally: None = the session cannot be read; what reads it for the picture says so."""
        self._busy = False
        now = self._items.get(item.key)
        if tally is not None and now is not None and now.results == item.results:  # else it is detected again
            self._controller.set_tally(item.key, tally)
        self._start()
