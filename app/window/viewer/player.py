"""The player: the current picture, the next pictures, and their times."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot

from app.window.queue.item import ItemState, QueueItem
from app.window.results.lookup import Lookup
from app.window.viewer.playback_clock import PlaybackClock
from app.window.viewer.preview_client import PreviewClient
from app.window.viewer.preview_conversation import IN_FLIGHT, Shown
from app.window.widgets.engine_text import of_engine
from engine.media.preview.process import Fetch
from engine.media.types import SourceInfo, SourceKind
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
    """Plays one file at a time by its pts, with at most two pictures decoded ahead.

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
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._show_due)
        self._ticket = self._asked = 0
        self._size = QSize(640, 360)
        self._item: QueueItem | None = None
        self.info: SourceInfo | None = None
        self._follow = True
        self._queue_busy = False
        self._speed = 1.0
        self._shown_at = 0.0
        self._state = Playback()
        self._ahead: deque[Shown] = deque()
        self._display_next = self._at_end = False
        self._goal: tuple[float | None, float | None] = (0.0, None)
        self._current: Shown | None = None
        self._analysed = self._hold = self._held = False
        client.opened.connect(self._opened)
        client.shown.connect(self._arrived)
        client.holding.connect(self._holding)
        client.ended.connect(self._ended)
        client.unavailable.connect(self._unavailable)
        client.found.connect(self._found)

    @property
    def position(self) -> float:
        """The pts of the current picture, seconds."""
        return self._current.pts if self._current is not None else 0.0

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
        self._set(Playback(play))
        self._jump(at=at)

    def close_file(self) -> None:
        """Show nothing."""
        self._ticket += 1
        self._item = self.info = self._current = None
        self._ahead.clear()
        self._timer.stop()
        self._set(Playback())

    def update_item(self, item: QueueItem, queue_busy: bool) -> None:
        """Use a changed state of the shown file. queue_busy: detection runs in another file."""
        before, self._item, self._queue_busy = self._item, item, queue_busy
        if self._analysed and before is not None and _database(item) != _database(before):  # detection started again
            self._analysed = False
            self.result.emit(None)
        self._set_lookup()
        if self._current is not None and not self._analysed and item.progress.head is not None and self._current.pts <= item.progress.head:
            self._client.look_up(self._ticket, self._current.pts)

    def reread(self) -> None:
        """Show the current picture with its corrected detections."""
        self._client.reread()
        if self._item is not None:
            self._fetch_again()

    def play(self) -> None:
        """Play, from the beginning if it is at the end."""
        if self._item is None or self._state.playing:
            return
        self._set(Playback(True))
        self._clock.stop()
        if self._at_end and not self._ahead:
            self._jump(at=0.0)
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
        if self._item is not None:
            self._jump(at=max(pts, 0.0))

    def step(self, frames: int) -> None:
        """Show the next (1) or previous (-1) frame, and stop there."""
        if self._item is None or self._current is None:
            return
        self.pause()
        if frames < 0:
            self._jump(before=self._current.pts)
        elif self._ahead:
            self._display(self._ahead.popleft())
        elif not self._at_end:
            self._display_next, self._goal = True, (self._current.pts, None)
            self._ask()

    def set_speed(self, speed: float) -> None:
        """Play this many seconds of video per second; negative = backwards."""
        if self._speed < 0 <= speed and self._current is not None:
            self._jump(at=self._current.pts)
        self._speed = speed
        self._set_clock_speed()
        if self._state.playing:
            self._schedule()

    def set_follow(self, follow: bool) -> None:
        """Set whether playing waits for each picture's detections while detection runs."""
        self._follow = follow
        self._set_lookup()

    def set_viewport(self, size: QSize) -> None:
        """Fetch pictures for a canvas of this size, device pixels."""
        if size == self._size or size.isEmpty():
            return
        self._size = size
        if self._item is not None and self._current is not None and not self._state.playing:
            self._fetch_again()

    def _fetch_again(self) -> None:
        """Fetch the current picture again, or the picture of a jump that is under way."""
        at, before = self._goal if self._display_next else (self.position, None)
        self._jump(at=at, before=before)

    def _jump(self, at: float | None = None, before: float | None = None) -> None:
        if self._item is None:
            return
        self._ticket += 1
        self._goal = at, before
        self._ahead.clear()
        self._timer.stop()
        self._clock.stop()
        self._asked, self._display_next, self._at_end, self._held = 1, True, False, False
        target = at if at is not None else before or 0.0
        self._hold = target <= (self._item.progress.head or 0.0)  # a jump beyond the analysed part shows pictures without waiting
        fetch = Fetch(self._ticket, str(self._item.path), self._size.toTuple(), at=at, before=before)
        self._client.jump(fetch, Lookup(self._item.results, self._holds()))

    def _ask(self, after: float | None = None) -> None:
        if self._item is not None and not self._at_end:
            self._asked += 1
            self._client.more(Fetch(self._ticket, str(self._item.path), self._size.toTuple(), after=after))

    def _set_lookup(self) -> None:
        if self._item is not None:
            self._client.set_lookup(Lookup(self._item.results, self._holds()))

    def _holds(self) -> bool:
        item = self._item
        if item is None or not self._follow or not self._hold or item.results is None:
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
        """Request pictures, and start the timer for the next picture."""
        now = time.monotonic()
        if self._speed < 0:
            self._schedule_back(now)
            return
        if self._current is not None and self._clock.reached(now) is None:
            self._clock.due(self._current.pts, now)  # the clock starts at the current picture
        while self._asked + len(self._ahead) < IN_FLIGHT and not self._at_end:
            reached = self._clock.reached(now)
            self._ask(after=reached if reached is not None and (self._speed > 1 or self._clock.skips) else None)
        if self._ahead:
            self._timer.start(max(0, round((self._clock.due(self._ahead[0].pts, now) - now) * 1000)))
        elif self._at_end and not self._asked:
            self.pause()
        elif self._held:
            self._clock.stop()
            self._set(Playback(True, waiting=True))

    def _schedule_back(self, now: float) -> None:
        """Playing backwards is a jump after each picture, as far back as the time since the last jump demands."""
        if self._current is None or self._display_next:
            return
        if self._current.pts <= 0.0:
            self.pause()
            return
        self._shown_at = now
        self._timer.start(BACK_MS)

    def _show_due(self) -> None:
        if self._speed < 0 and self._state.playing and self._current is not None:
            back = (time.monotonic() - self._shown_at) * self._clock.speed
            self._jump(at=max(self._current.pts - max(back, self._frame_seconds), 0.0))
        elif self._ahead and self._state.playing:
            self._display(self._ahead.popleft())
            self._schedule()

    @Slot(str, object)
    def _opened(self, path: str, info: SourceInfo) -> None:
        if self._item is not None and path == str(self._item.path):
            self.info = info
            self._set_clock_speed()
            self.opened.emit(info)

    @Slot(object)
    def _arrived(self, shown: Shown) -> None:
        if shown.ticket != self._ticket:
            return
        self._asked = max(self._asked - 1, 0)
        self._held = False
        if self._display_next:
            self._display_next = False
            self._display(shown)
        else:
            self._ahead.append(shown)
        if self._state.playing:
            self._schedule()

    @Slot(int)
    def _holding(self, ticket: int) -> None:
        if ticket == self._ticket:
            self._held = True
            if self._state.playing:
                self._schedule()

    @Slot(int)
    def _ended(self, ticket: int) -> None:
        if ticket == self._ticket:
            self._asked, self._at_end, self._display_next = 0, True, False
            if self._state.playing:
                self._schedule()

    @Slot(int, str)
    def _unavailable(self, ticket: int, reason: str) -> None:
        if ticket == self._ticket:
            self.pause()
            self._at_end, self._asked = True, 0
            self.failed.emit(of_engine(reason))

    @Slot(int, object, object)
    def _found(self, ticket: int, pts: float, result: FrameResult) -> None:
        if ticket == self._ticket and self._current is not None and self._current.pts == pts:
            self._analysed = True
            self.result.emit(result)


def _database(item: QueueItem) -> Path | None:
    return item.results.database if item.results is not None else None
