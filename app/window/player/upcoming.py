"""The pictures after the current one, requested ahead from the preview process, and where their detections are."""

from collections import deque

from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.engine.media.preview.messages import Answer, Fetch, LookUp
from framefleet.engine.store.lookup import Stored
from framefleet.engine.types import FrameResult

BATCH, AHEAD = 2, 4
"""The number of pictures in a request, since each wakes both processes, and the largest number requested or waiting."""
LOOK_MS = 100
"""Time between looks for the detections that the next picture waits for."""


class Upcoming(QObject):
    """Requests the pictures of one file in order, beginning with a jump.

    arrived: Shown, the picture of a jump or step. changed: pictures, ``ended`` or ``held``. opened: SourceInfo. failed: why there are no
    pictures.
    Attributes: pictures: those that wait. ended: whether the file has no more. held: whether the next one waits for its detections.
    path: of the file. size: width and height of the area to fill, device pixels. stored: where its detections are. hold: whether pictures
    wait for their detections. ticket: of the last jump. goal: the ``at`` and ``before`` of a jump or step under way.
    """

    arrived = Signal(object)
    changed = Signal()
    opened = Signal(object)
    failed = Signal(str)

    def __init__(self, client: PreviewClient, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self.path = ""
        self.size = (640, 360)
        self.stored: Stored | None = None
        self.hold = False
        self.pictures: deque[Shown] = deque()
        self.ended = self.held = False
        self.ticket = 0
        self._asked: deque[int] = deque()  # the number of pictures in each request under way
        self.goal: tuple[float | None, float | None] | None = None
        self._looking = QTimer(self, interval=LOOK_MS, singleShot=True)
        self._looking.timeout.connect(self._look)
        client.answered.connect(self._answered)

    def jump(self, at: float | None = None, before: float | None = None) -> None:
        """Go to the picture at this time, or to the last one before it, seconds; ``arrived`` follows."""
        self.clear()
        self.goal = at, before
        self._asked.append(1)
        self._client.jump(Fetch(self.ticket, self.path, self.size, at=at, before=before, stored=self.stored))

    def step(self, position: float) -> None:
        """Let the next picture arrive. position: the time of the current one, seconds."""
        if self.pictures:
            self.arrived.emit(self.pictures.popleft())
        elif not self.ended:
            self.goal = position, None
            self.fill()

    def clear(self) -> None:
        """Forget all pictures, and ignore those under way."""
        self.ticket += 1
        self.pictures.clear()
        self._asked.clear()
        self.goal, self.ended, self.held = None, False, False
        self._looking.stop()

    def fill(self, after: float | None = None) -> None:
        """Request as many pictures as may be ahead. after: none before this time, seconds; those are requested one by one."""
        count = BATCH if after is None else 1
        while sum(self._asked) + len(self.pictures) + count <= AHEAD and not self.ended and not self.held:
            self._asked.append(count)
            places = (None,) * count
            fetch = Fetch(self.ticket, self.path, self.size, places, after=after, stored=self.stored, hold=self.hold)
            self._client.more(fetch)

    def _answered(self, answer: Answer, shown: list[Shown]) -> None:
        if answer.info is not None and answer.info.path == self.path:
            self.opened.emit(answer.info)
        if answer.ticket != self.ticket:
            return
        self._asked.popleft()
        self.pictures += shown
        self.ended = answer.ended or answer.reason is not None
        if answer.waits:
            self.held = True
            self._looking.start()
        if self.goal is not None and (self.pictures or self.ended):
            self.goal = None
            if self.pictures:
                self.arrived.emit(self.pictures.popleft())
        if answer.reason is not None:
            self.failed.emit(of_engine(answer.reason))
        self.changed.emit()

    def _look(self) -> None:
        self.held = False
        self.changed.emit()


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
        self._waits, self._queue_busy = True, False
        client.found.connect(self._found)

    def open(self, item: QueueItem | None) -> None:
        """Use another file, None = none."""
        self.item, self._pts = item, None
        self._apply()

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

    def read_again(self) -> None:
        """Use the detections as they were corrected by now."""
        self.edition += 1
        self._apply()

    def set_wait(self, wait: bool) -> None:
        """Set whether pictures wait for their detections while detection runs."""
        self._waits = wait
        self._apply()

    def _apply(self) -> None:
        results = self.item.results if self.item is not None else None
        self._next.stored = Stored(results.database, results.source, self.edition, results.created) if results is not None else None
        self._next.hold = results is not None and self._holds()

    def _holds(self) -> bool:
        item = self.item
        if item is None or not self._waits:
            return False
        return item.state is ItemState.RUNNING or (item.state is ItemState.WAITING and not self._queue_busy)

    def _found(self, ticket: int, pts: float, result: FrameResult | None) -> None:
        if result is not None and ticket == self._next.ticket and self._pts == pts:
            self._complete = True
            self.result.emit(result)


def _database(item: QueueItem) -> object:
    return item.results.database if item.results is not None else None
