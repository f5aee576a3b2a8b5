"""Counts stored detections again, one file after the other, and keeps the counts of files that are not shown small."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from threading import Event

from PySide6.QtCore import QObject, QTimer

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.results.stored import count_stored
from framefleet.app.window.run.background import Background
from framefleet.app.window.run.controller import DetectionController
from framefleet.app.window.timeline.class_counts import Tally

WAIT_MS = 300
"""Time after a correction until the file is counted, so that several corrections are counted at once."""


BATCH = 64
"""The largest number of files that are counted in one step, because opening a session takes longer than counting a short file."""


class StoredCounts(QObject):
    """Counts files in the background, one after the other, when their run has ended; the shown file first.

    The activity over time of a file with many classes takes megabytes. Only the shown file keeps it: another one that the user shows is
    counted again.
    """

    def __init__(self, items: QueueModel, controller: DetectionController, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._items, self._controller, self._background = items, controller, background
        self._wanted: dict[int, None] = {}
        self._running: set[int] = set()
        self._shown: int | None = None
        self._busy = False
        self._wait = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._wait.timeout.connect(self._start)
        controller.item_changed.connect(self._item_changed)

    def ask(self, key: int) -> None:
        """Count the file with this key again soon."""
        self._wanted[key] = None
        self._wait.start()

    def count(self, keys: Iterable[int]) -> None:
        """Count these files now, one after the other."""
        self._wanted |= dict.fromkeys(keys)
        self._start()

    def show(self, item: QueueItem | None) -> None:
        """Keep all counts of this file, and no longer those of the file that was shown before."""
        before, self._shown = self._shown, None if item is None else item.key
        if before is not None:
            self._item_changed(before)
        tally = None if item is None else self._controller.tally(item.key)
        if item is not None and tally is not None and tally.compact:
            self.count([item.key])

    def _item_changed(self, key: int) -> None:
        """Count a file that was corrected during its run and has ended now. Keep little of one that is not shown."""
        item, tally = self._items.get(key), self._controller.tally(key)
        if item is None or not item.ended:
            return
        if key in self._running:
            self._running.remove(key)
            self.ask(key)
        if key != self._shown and tally is not None and tally.complete and item.progress.finished is not None:
            tally.compress()

    def _start(self) -> None:
        if self._busy or not self._wanted:
            return
        batch: dict[int, tuple[QueueItem, Tally]] = {}
        for key in [self._shown] if self._shown in self._wanted else list(islice(self._wanted, BATCH)):
            assert key is not None
            del self._wanted[key]
            item = self._items.get(key)
            if item is not None and item.results is not None and item.ended:
                batch[key] = item, Tally(complete=False)
            elif item is not None:
                self._running.add(key)
        if not batch:
            self._start()
            return
        stop = Event()
        self._busy = True
        done = partial(self._done, batch)
        self._background.start(self, partial(count_stored, list(batch.values()), stop, self._shown), done, done, stop)

    def _done(self, batch: Mapping[int, tuple[QueueItem, Tally]], _said: object) -> None:
        """Show the counts. If the session cannot be read, what reads it for the picture says so."""
        self._busy = False
        for key, (item, tally) in batch.items():
            now = self._items.get(key)
            if tally.complete and now is not None and now.results == item.results:  # else it is detected again
                self._controller.set_tally(key, tally)
                if key == self._shown and tally.compact:  # the user has shown it meanwhile
                    self._wanted[key] = None
        self._start()


def attach(context: Context) -> Feature:
    """Count restored and corrected files."""
    counts = StoredCounts(context.queue, context.run, context.background, context.window)
    context.opening.restored_anew.connect(counts.count)
    context.run.corrected.connect(counts.ask)
    context.selection.file_changed.connect(counts.show)
    return Feature()
