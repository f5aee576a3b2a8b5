"""The player: its clock, the current picture, and the time of the next one."""

import time
from dataclasses import dataclass

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal

from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.player.upcoming import ShownDetections, Upcoming
from framefleet.app.window.queue.item import QueueItem
from framefleet.engine.media.types import SourceInfo, SourceKind

LATE = 0.25
"""Delay from which the clock is set back, seconds; smaller delays are caught up."""
WAIT = 0.05
"""Time until the next look while the followed clock is stopped, seconds."""


@dataclass(frozen=True)
class Playback:
    """Whether the player plays. waiting: it has stopped at a picture until the next one has its detections."""

    playing: bool = False
    waiting: bool = False


class PlaybackClock:
    """Maps pts to times of a monotonic clock, all in seconds, at a speed that may change."""

    skips = False
    """Whether pictures that are late are left out also at normal speed."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._anchor: tuple[float, float] | None = None

    @property
    def anchor(self) -> tuple[float, float] | None:
        """A time and the pts that is due then, None while the clock is stopped."""
        return self._anchor

    def stop(self) -> None:
        """Stop the clock; the next ``due`` starts it again."""
        self._anchor = None

    def set_speed(self, speed: float) -> None:
        """Play ``speed`` seconds of video per second."""
        self.speed = speed
        self._anchor = None

    def due(self, pts: float, now: float) -> float:
        """The time at which to show a picture. If it is late by more than ``LATE``, the clock is set back and it is due now."""
        if self._anchor is None:
            self._anchor = (now, pts)
        start, first = self._anchor
        due = start + (pts - first) / self.speed
        if due < now - LATE:
            self._anchor = (now, pts)
            return now
        return due

    def reached(self, now: float) -> float | None:
        """The pts that is due now; None while the clock is stopped."""
        if self.anchor is None:
            return None
        start, first = self.anchor
        return first + (now - start) * self.speed


class FollowingClock(PlaybackClock):
    """Is ``offset`` seconds ahead of another clock. Pictures that are late are left out, because the other clock does not wait."""

    skips = True

    def __init__(self, leader: PlaybackClock) -> None:
        self._leader = leader
        self.offset = 0.0
        super().__init__()

    @property
    def speed(self) -> float:
        """That of the other clock."""
        return self._leader.speed

    @speed.setter
    def speed(self, _speed: float) -> None: ...

    @property
    def anchor(self) -> tuple[float, float] | None:
        """A time and the pts that is due then."""
        anchor = self._leader.anchor
        return None if anchor is None else (anchor[0], anchor[1] + self.offset)

    def stop(self) -> None:
        """Do nothing: the other player stops the clock."""

    def set_speed(self, speed: float) -> None:
        """Do nothing: the other player sets the speed."""

    def due(self, pts: float, now: float) -> float:
        """The time at which to show a picture."""
        if self.anchor is None:
            return now + WAIT
        start, first = self.anchor
        return max(start + (pts - first) / self.speed, now)


BACK_MS = 40
"""Time from a picture to the next jump while playing backwards."""
PICTURES_PER_SECOND = 2.0
"""The speed at which a folder of pictures plays: their pts are positions, not seconds."""


class Player(QObject):
    """Plays one file at a time by its pts.

    shown: Shown. result: a later FrameResult of the current picture, None when detection starts again. opened: SourceInfo.
    changed: Playback. failed: why the file cannot be shown. live_wanted: the newest picture of a live source. live_sought: a time, seconds,
    and which frame of a live source to show: that at the time (0), the one before (-1) or after (1). detection_wanted: key of the file and
    a time, seconds, at which the player rests before detection was there.
    Attributes: clock: says when each picture is due. current: the picture on the screen. info: about the open file.
    speed: seconds of video per second; negative = backwards. live: whether the open item is a live source, whose pictures come by
    ``show_live``.
    """

    shown = Signal(object)
    result = Signal(object)
    opened = Signal(object)
    changed = Signal(object)
    failed = Signal(str)
    live_wanted = Signal()
    live_sought = Signal(float, int)
    detection_wanted = Signal(int, float)

    def __init__(self, client: PreviewClient, parent: QObject | None = None, clock: PlaybackClock | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self.clock = clock or PlaybackClock()
        self._next = Upcoming(client, self)
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._show_due)
        self._detections = ShownDetections(client, self._next, self)
        self.info: SourceInfo | None = None
        self.speed = 1.0
        self._shown_at = 0.0
        self.live = False
        self._step = 0  # to take after the jump under way
        self._state = Playback()
        self.current: Shown | None = None
        self._next.arrived.connect(self._display)
        self._next.changed.connect(self._schedule)
        self._next.opened.connect(self._opened)
        self._next.failed.connect(self._fail)
        self._detections.result.connect(self.result)
        self._detections.wanted.connect(self.detection_wanted)

    @property
    def position(self) -> float:
        """The pts of the current picture, seconds."""
        return self.current.pts if self.current is not None else self.begin

    @property
    def begin(self) -> float:
        """The pts of the first picture, seconds; 0 while it is unknown."""
        return self.info.begin if self.info is not None else 0.0

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._state.playing

    @property
    def path(self) -> str | None:
        """The path of the open file."""
        item = self._detections.item
        return str(item.path) if item is not None else None

    @property
    def is_pictures(self) -> bool:
        """Whether the open file is a picture or a folder of them."""
        return self.info is not None and self.info.kind is SourceKind.IMAGES

    @property
    def anchor(self) -> tuple[float, float] | None:
        """A monotonic time and the pts that is due then, both in seconds, while it plays."""
        return self.clock.anchor if self._state.playing and self.speed > 0 else None

    def open(self, item: QueueItem, play: bool, at: float = 0.0) -> None:
        """Show a file from a time on, seconds. play: start to play it."""
        self._detections.open(item)
        self.info, self.current = item.progress.info, None
        self.live = item.live
        if self.live:
            self._next.clear()
            self._timer.stop()
            self._set(Playback(True))
            return
        self._next.path = str(item.path)
        self._set(Playback(play))
        self._jump(at=at)

    def show_live(self, shown: Shown) -> None:
        """Show a picture of the open live source."""
        self.current = shown
        self.shown.emit(shown)

    def close_file(self) -> None:
        """Show nothing."""
        self._next.clear()
        self._detections.open(None)
        self.info = self.current = None
        self._timer.stop()
        self._set(Playback())

    def update_item(self, item: QueueItem, queue_busy: bool) -> None:
        """Use a changed state of the shown file. queue_busy: detection runs in another file."""
        if self.live:
            self.info = item.progress.info
        self._detections.update(item, queue_busy)

    def reread(self) -> None:
        """Show the current picture with its corrected detections."""
        self._detections.read_again()
        self._fetch_again()

    def play(self) -> None:
        """Play, from the beginning if it is at the end."""
        if self._detections.item is None or self._state.playing:
            return
        self._set(Playback(True))
        self.clock.stop()
        if self.live:
            self.live_wanted.emit()
            return
        if self._next.ended and not self._next.pictures:
            self._jump(at=self.begin)
        else:
            self._schedule()

    def pause(self) -> None:
        """Stop at the current picture."""
        self._timer.stop()
        self.clock.stop()
        self._set(Playback(False))

    def toggle(self) -> None:
        """Play or pause."""
        self.pause() if self._state.playing else self.play()

    def seek(self, pts: float) -> None:
        """Show the picture at this time."""
        self._jump(at=max(pts, self.begin))

    def step(self, frames: int) -> None:
        """Show the next (1) or previous (-1) frame, and stop there. During a jump, the step begins at its picture."""
        if self.current is None:
            return
        self.pause()
        if self.live:
            self.live_sought.emit(self.current.pts, frames)
        elif self._next.goal is not None:
            self._step = frames
        elif frames < 0:
            self._jump(before=self.current.pts)
        else:
            self._next.step(self.current.pts)

    def set_speed(self, speed: float) -> None:
        """Play this many seconds of video per second; negative = backwards."""
        if self.speed < 0 <= speed and self.current is not None:
            self._jump(at=self.current.pts)
        self.speed = speed
        self._set_clock_speed()
        self._schedule()

    def set_wait(self, wait: bool) -> None:
        """Set whether playing waits for each picture's detections while detection runs."""
        self._detections.set_wait(wait)

    def set_viewport(self, size: QSize) -> None:
        """Fetch pictures for a canvas of this size, device pixels."""
        width, height = size.width(), size.height()
        if (width, height) != self._next.size and not size.isEmpty():
            self._next.size = width, height
            if self.current is not None and not self._state.playing and not self.live:
                self._fetch_again()

    def _fetch_again(self) -> None:
        """Fetch the current picture again, or the picture of a jump that is under way."""
        at, before = self._next.goal or (self.position, None)
        self._jump(at, before)

    def _jump(self, at: float | None = None, before: float | None = None) -> None:
        if self._detections.item is None:
            return
        if self.live:
            self.pause()
            self.live_sought.emit(self.position if at is None else at, 0)
            return
        self._timer.stop()
        self.clock.stop()
        self._step = 0
        self._next.jump(at, before)

    def _set(self, state: Playback) -> None:
        if state != self._state:
            self._state = state
            self.changed.emit(state)

    def _set_clock_speed(self) -> None:
        self.clock.set_speed(abs(self.speed) * (PICTURES_PER_SECOND if self.is_pictures else 1.0))

    def _display(self, shown: Shown) -> None:
        self.current = shown
        self._detections.show(shown)
        self._set(Playback(self._state.playing))
        self.shown.emit(shown)
        if step := self._step:
            self._step = 0
            self.step(step)

    def _schedule(self) -> None:
        """While it plays, request pictures, and start the timer for the next picture."""
        if not self._state.playing or self.live:
            return
        now, coming = time.monotonic(), self._next
        if self.speed < 0:
            self._schedule_back(now)
            return
        if self.current is not None and coming.pictures and self.clock.reached(now) is None:
            self.clock.due(self.current.pts, now)  # the clock starts at the current picture
        coming.fill(self.clock.reached(now) if self.speed > 1 or self.clock.skips else None)
        if coming.pictures:
            self._timer.start(max(0, round((self.clock.due(coming.pictures[0].pts, now) - now) * 1000)))
        elif coming.ended:
            self.pause()
        elif coming.held:
            self.clock.stop()
            self._set(Playback(True, waiting=True))

    def _schedule_back(self, now: float) -> None:
        """Playing backwards is a jump after each picture, as far back as the time since the last jump demands."""
        if self.current is None or self._next.goal is not None:
            return
        if self.current.pts <= self.begin:
            self.pause()
            return
        self._shown_at = now
        self._timer.start(BACK_MS)

    def _show_due(self) -> None:
        if self.speed < 0 and self._state.playing and self.current is not None:
            back = (time.monotonic() - self._shown_at) * self.clock.speed
            frame = 1.0 / self.info.rate if self.info is not None and self.info.rate else 1.0
            self._jump(at=max(self.current.pts - max(back, frame), self.begin))
        elif self._next.pictures and self._state.playing:
            self._display(self._next.pictures.popleft())
            self._schedule()

    def _opened(self, info: SourceInfo) -> None:
        self.info = info
        self._set_clock_speed()
        self.opened.emit(info)

    def _fail(self, reason: str) -> None:
        self.pause()
        self.failed.emit(reason)
