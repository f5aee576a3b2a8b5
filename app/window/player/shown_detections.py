"""Where the detections of the shown pictures are, and whether pictures wait for theirs."""

from PySide6.QtCore import QObject, Signal

from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.player.upcoming import Upcoming
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.engine.media.preview.messages import LookUp
from framefleet.engine.store.lookup import Stored
from framefleet.engine.types import FrameResult


class ShownDetections(QObject):
    """Tells the upcoming pictures where their detections are, and looks those of the current picture up when they are stored later.

    result: FrameResult of the current picture, None when detection starts again. item: the shown file, None without one.
    edition: grows with each correction, so that detections are read again.
    """

    result = Signal(object)

    def __init__(self, client: PreviewClient, upcoming: Upcoming, parent: QObject) -> None:
        super().__init__(parent)
        self._client, self._next = client, upcoming
        self.item: QueueItem | None = None
        self._pts: float | None = None  # of the current picture
        self._complete = False
        self.edition = 0
        self._waits, self._queue_busy, self._hold = True, False, False
        client.found.connect(self._found)

    def open(self, item: QueueItem | None) -> None:
        """Use another file, None = none."""
        self.item, self._pts = item, None

    def show(self, shown: Shown) -> None:
        """Use another current picture."""
        self._pts, self._complete = shown.pts, shown.result is not None

    def update(self, item: QueueItem, queue_busy: bool) -> None:
        """Use a changed state of the shown file. queue_busy: detection runs in another file."""
        before, self.item, self._queue_busy = self.item, item, queue_busy
        if self._complete and before is not None and _database(item) != _database(before):  # detection started again
            self._complete = False
            self.result.emit(None)
        self._apply()
        head, stored = item.progress.head, self._next.stored
        if self._pts is not None and not self._complete and stored is not None and head is not None and self._pts <= head:
            self._client.look_up(LookUp(self._next.ticket, self._pts, stored))

    def set_wait(self, wait: bool) -> None:
        """Set whether pictures wait for their detections while detection runs."""
        self._waits = wait
        self._apply()

    def begin_at(self, pts: float, first: float) -> None:
        """Prepare for a jump. A jump beyond the analysed part shows pictures without waiting. first: pts of the first picture."""
        assert self.item is not None
        self._hold = pts <= (self.item.progress.head or first)
        self._apply()

    def _apply(self) -> None:
        results = self.item.results if self.item is not None else None
        self._next.stored = Stored(results.database, results.source, self.edition, results.created) if results is not None else None
        self._next.hold = results is not None and self._holds()

    def _holds(self) -> bool:
        item = self.item
        if item is None or not self._waits or not self._hold:
            return False
        return item.state is ItemState.RUNNING or (item.state is ItemState.WAITING and not self._queue_busy)

    def _found(self, ticket: int, pts: float, result: FrameResult | None) -> None:
        if result is not None and ticket == self._next.ticket and self._pts == pts:
            self._complete = True
            self.result.emit(result)


def _database(item: QueueItem) -> object:
    return item.results.database if item.results is not None else None
