"""The pictures after the current one, requested ahead from the preview process."""

from collections import deque

from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.engine.media.preview.messages import Answer, Fetch
from framefleet.engine.store.lookup import Stored

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
