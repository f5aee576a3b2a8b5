"""The pictures after the current one, requested ahead from the preview process, and where their detections are."""

from collections import deque
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.queue.item import Ahead, ItemState, QueueItem
from framefleet.app.window.widgets.translation import of_engine
from framefleet.engine.media.preview.messages import Answer, Fetch, LookUp
from framefleet.engine.store.lookup import Stored
from framefleet.engine.types import FrameResult

BATCH, AHEAD = 2, 4
"""The number of pictures in a request, since each wakes both processes, and the largest number requested or waiting."""
LOOK_MS = 100
"""Time between looks for the detections that the next picture waits for."""
REST_MS = 250
"""Detection moves to a place where the player has rested for this time, ms."""


class Upcoming(QObject):
    """Requests the pictures of one file in order, beginning with a jump.

    arrived: Shown, the picture of a jump or step. changed: pictures, ``ended`` or ``held``. opened: SourceInfo. failed: why there are no
    pictures.
    Attributes: pictures: those that wait. ended: whether the file has no more. held: whether the next one waits for its detections.
    path: of the file. size: width and height of the area to fill, device pixels. stored: where its detections are. ahead: those that are
    not stored yet. hold: whether pictures wait for their detections. ticket: of the last jump. goal: the ``at`` and ``before`` of a jump or
    step under way.
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
        self.ahead = Ahead()
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
        self.pictures += (replace(each, result=self.ahead.at(each.pts)) if each.result is None else each for each in shown)
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

    result: FrameResult of the current picture, None when detection starts again. wanted: key of the file and a time, seconds: the player
    rests at a picture without detections while detection runs elsewhere in the file. item: the shown file, None without one.
    edition: grows with each correction, so that detections are read again.
    """

    result = Signal(object)
    wanted = Signal(int, float)

    def __init__(self, client: PreviewClient, upcoming: Upcoming, parent: QObject) -> None:
        super().__init__(parent)
        self._client, self._next = client, upcoming
        self.item: QueueItem | None = None
        self._pts: float | None = None  # of the current picture
        self._complete = False
        self.edition = 0
        self._waits, self._queue_busy = True, False
        self._resting = QTimer(self, interval=REST_MS, singleShot=True)
        self._resting.timeout.connect(self._want)
        self._wanted: tuple[int, float] | None = None
        client.found.connect(self._found)

    def open(self, item: QueueItem | None) -> None:
        """Use another file, None = none."""
        self.item, self._pts = item, None
        self._resting.stop()
        self._apply()

    def show(self, shown: Shown) -> None:
        """Use another current picture."""
        self._pts, self._complete = shown.pts, shown.result is not None
        self._resting.stop()
        if not self._complete:
            self._resting.start()

    def update(self, item: QueueItem, queue_busy: bool) -> None:
        """Use a changed state of the shown file. queue_busy: detection runs in another file."""
        before, self.item, self._queue_busy = self.item, item, queue_busy
        if self._complete and before is not None and _database(item) != _database(before):  # detection started again
            self._complete = False
            self.result.emit(None)
        self._apply()
        head, stored = item.progress.head, self._next.stored
        if self._pts is None or self._complete or stored is None or head is None:
            return
        if self._pts <= head:
            self._client.look_up(LookUp(self._next.ticket, self._pts, stored))
        elif (result := item.ahead.at(self._pts)) is not None:
            self._found(self._next.ticket, self._pts, result)
        elif not self._resting.isActive() and self._wanted != (item.key, self._pts):
            self._resting.start()

    def _want(self) -> None:
        """Let detection go to the current picture, if the run would reach it much later."""
        item, pts = self.item, self._pts
        if item is None or pts is None or self._complete or item.state is not ItemState.RUNNING:
            return
        if item.progress.head is not None and pts > item.progress.head:
            self._wanted = item.key, pts
            self.wanted.emit(item.key, pts)

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
        self._next.ahead = ahead = self.item.ahead if self.item is not None else Ahead()
        self._next.stored = (
            Stored(results.database, results.source, self.edition, results.created, ahead.spans) if results is not None else None
        )
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
