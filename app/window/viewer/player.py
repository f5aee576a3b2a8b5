"""The player: the current picture, and the time of the next one."""

import time
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot

from app.window.queue.item import ItemState, QueueItem
from app.window.viewer.playback_clock import PlaybackClock
from app.window.viewer.preview_client import PreviewClient, Shown
from app.window.viewer.upcoming import Upcoming
from engine.media.preview.process import LookUp
from engine.media.types import SourceInfo, SourceKind
from engine.store.lookup import Stored
from engine.types import FrameResult

BACK_MS = 40
"""Time from a picture to the next jump while playing backwards."""
PICTURES_PER_SECOND = 2.0
"""The speed at which a folder of pictures plays: their pts are positions, not seconds."""


@dataclass(frozen=True)
class Playback:
    """Whether the player plays. waiting: it has stopped at a picture until the next one has its detections."""

    playing: bool = False
    waiting: bool = False


class Player(QObject):
    """Plays one file at a time by its pts.

    shown: Shown. result: a later FrameResult of the current picture, None when detection starts again. opened: SourceInfo.
    changed: Playback. failed: why the file cannot be shown.
    """

    shown = Signal(object)
    result = Signal(object)
    opened = Signal(object)
    changed = Signal(object)
    failed = Signal(str)

    def __init__(self, client: PreviewClient, parent: QObject | None = None, clock: PlaybackClock | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._clock = clock or PlaybackClock()
        self._next = Upcoming(client, self)
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._show_due)
        self._item: QueueItem | None = None
        self.info: SourceInfo | None = None
        self._waits = True
        self._queue_busy = False
        self._speed = 1.0
        self._shown_at = 0.0
        self._state = Playback()
        self._current: Shown | None = None
        self._edition = 0
        self._analysed = self._hold = False
        self._next.arrived.connect(self._display)
        self._next.changed.connect(self._schedule)
        self._next.opened.connect(self._opened)
        self._next.failed.connect(self._fail)
        client.found.connect(self._found)

    @property
    def position(self) -> float:
        """The pts of the current picture, seconds."""
        return self._current.pts if self._current is not None else self.begin

    @property
    def begin(self) -> float:
        """The pts of the first picture, seconds; 0 while it is unknown."""
        return self.info.begin if self.info is not None else 0.0

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._state.playing

    @property
    def speed(self) -> float:
        """Seconds of video per second; negative = backwards."""
        return self._speed

    @property
    def clock(self) -> PlaybackClock:
        """Says when each picture is due."""
        return self._clock

    @property
    def path(self) -> str | None:
        """The path of the open file."""
        return str(self._item.path) if self._item is not None else None

    @property
    def is_pictures(self) -> bool:
        """Whether the open file is a picture or a folder of them."""
        return self.info is not None and self.info.kind is SourceKind.IMAGES

    @property
    def anchor(self) -> tuple[float, float] | None:
        """A monotonic time and the pts that is due then, both in seconds, while it plays."""
        return self._clock.anchor if self._state.playing and self._speed > 0 else None

    @property
    def current(self) -> Shown | None:
        """The picture on the screen."""
        return self._current

    @property
    def _frame_seconds(self) -> float:
        return 1.0 if self.info is None or not self.info.rate else 1.0 / self.info.rate

    def open(self, item: QueueItem, play: bool, at: float = 0.0) -> None:
        """Show a file from a time on, seconds. play: start to play it."""
        self._item, self.info, self._current = item, item.progress.info, None
        self._next.path = str(item.path)
        self._set(Playback(play))
        self._jump(at=at)

    def close_file(self) -> None:
        """Show nothing."""
        self._next.clear()
        self._item = self.info = self._current = None
        self._timer.stop()
        self._set(Playback())

    def update_item(self, item: QueueItem, queue_busy: bool) -> None:
        """Use a changed state of the shown file. queue_busy: detection runs in another file."""
        before, self._item, self._queue_busy = self._item, item, queue_busy
        if self._analysed and before is not None and _database(item) != _database(before):  # detection started again
            self._analysed = False
            self.result.emit(None)
        self._set_lookup()
        head, stored = item.progress.head, self._next.stored
        if self._current is not None and not self._analysed and stored is not None and head is not None and self._current.pts <= head:
            self._client.look_up(LookUp(self._next.ticket, self._current.pts, stored))

    def reread(self) -> None:
        """Show the current picture with its corrected detections."""
        self._edition += 1
        self._fetch_again()

    def play(self) -> None:
        """Play, from the beginning if it is at the end."""
        if self._item is None or self._state.playing:
            return
        self._set(Playback(True))
        self._clock.stop()
        if self._next.ended and not self._next.pictures:
            self._jump(at=self.begin)
        else:
            self._schedule()

    def pause(self) -> None:
        """Stop at the current picture."""
        self._timer.stop()
        self._clock.stop()
        self._set(Playback(False))

    def toggle(self) -> None:
        """Play or pause."""
        self.pause() if self._state.playing else self.play()

    def seek(self, pts: float) -> None:
        """Show the picture at this time."""
        self._jump(at=max(pts, self.begin))

    def step(self, frames: int) -> None:
        """Show the next (1) or previous (-1) frame, and stop there."""
        if self._current is None:
            return
        self.pause()
        if frames < 0:
            self._jump(before=self._current.pts)
        else:
            self._next.step(self._current.pts)

    def set_speed(self, speed: float) -> None:
        """Play this many seconds of video per second; negative = backwards."""
        if self._speed < 0 <= speed and self._current is not None:
            self._jump(at=self._current.pts)
        self._speed = speed
        self._set_clock_speed()
        self._schedule()

    def set_wait(self, wait: bool) -> None:
        """Set whether playing waits for each picture's detections while detection runs."""
        self._waits = wait
        self._set_lookup()

    def set_viewport(self, size: QSize) -> None:
        """Fetch pictures for a canvas of this size, device pixels."""
        width, height = size.width(), size.height()
        if (width, height) != self._next.size and not size.isEmpty():
            self._next.size = width, height
            if self._current is not None and not self._state.playing:
                self._fetch_again()

    def _fetch_again(self) -> None:
        """Fetch the current picture again, or the picture of a jump that is under way."""
        at, before = self._next.goal or (self.position, None)
        self._jump(at, before)

    def _jump(self, at: float | None = None, before: float | None = None) -> None:
        if self._item is None:
            return
        self._timer.stop()
        self._clock.stop()
        target = at if at is not None else before or 0.0
        self._hold = target <= (self._item.progress.head or self.begin)  # a jump beyond the analysed part shows pictures without waiting
        self._set_lookup()
        self._next.jump(at, before)

    def _set_lookup(self) -> None:
        results = self._item.results if self._item is not None else None
        self._next.stored = Stored(results.database, results.source, self._edition) if results is not None else None
        self._next.hold = results is not None and self._holds()

    def _holds(self) -> bool:
        item = self._item
        if item is None or not self._waits or not self._hold:
            return False
        return item.state is ItemState.RUNNING or (item.state is ItemState.WAITING and not self._queue_busy)

    def _set(self, state: Playback) -> None:
        if state != self._state:
            self._state = state
            self.changed.emit(state)

    def _set_clock_speed(self) -> None:
        self._clock.set_speed(abs(self._speed) * (PICTURES_PER_SECOND if self.is_pictures else 1.0))

    def _display(self, shown: Shown) -> None:
        self._current = shown
        self._analysed = shown.result is not None
        self._set(Playback(self._state.playing))
        self.shown.emit(shown)

    def _schedule(self) -> None:
        """While it plays, request pictures, and start the timer for the next picture."""
        if not self._state.playing:
            return
        now, coming = time.monotonic(), self._next
        if self._speed < 0:
            self._schedule_back(now)
            return
        if self._current is not None and coming.pictures and self._clock.reached(now) is None:
            self._clock.due(self._current.pts, now)  # the clock starts at the current picture
        coming.fill(self._clock.reached(now) if self._speed > 1 or self._clock.skips else None)
        if coming.pictures:
            self._timer.start(max(0, round((self._clock.due(coming.pictures[0].pts, now) - now) * 1000)))
        elif coming.ended:
            self.pause()
        elif coming.held:
            self._clock.stop()
            self._set(Playback(True, waiting=True))

    def _schedule_back(self, now: float) -> None:
        """Playing backwards is a jump after each picture, as far back as the time since the last jump demands."""
        if self._current is None or self._next.goal is not None:
            return
        if self._current.pts <= self.begin:
            self.pause()
            return
        self._shown_at = now
        self._timer.start(BACK_MS)

    def _show_due(self) -> None:
        if self._speed < 0 and self._state.playing and self._current is not None:
            back = (time.monotonic() - self._shown_at) * self._clock.speed
            self._jump(at=max(self._current.pts - max(back, self._frame_seconds), self.begin))
        elif self._next.pictures and self._state.playing:
            self._display(self._next.pictures.popleft())
            self._schedule()

    @Slot(object)
    def _opened(self, info: SourceInfo) -> None:
        self.info = info
        self._set_clock_speed()
        self.opened.emit(info)

    @Slot(str)
    def _fail(self, reason: str) -> None:
        self.pause()
        self.failed.emit(reason)

    @Slot(int, object, object)
    def _found(self, ticket: int, pts: float, result: FrameResult | None) -> None:
        if result is not None and ticket == self._next.ticket and self._current is not None and self._current.pts == pts:
            self._analysed = True
            self.result.emit(result)


def _database(item: QueueItem) -> Path | None:
    return item.results.database if item.results is not None else None
