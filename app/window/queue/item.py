"""One file in the queue as a frozen value."""

from bisect import bisect_left
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Self

from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.media.live.messages import LiveState
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool import events, live_sources
from framefleet.engine.types import FrameResult

LIVE_STATES = {
    LiveState.CONNECTING: marked("queue", "Connecting…"),
    LiveState.WAITING_FOR_KEYFRAME: marked("queue", "Waiting for a keyframe…"),
    LiveState.RUNNING: marked("queue", "Live"),
    LiveState.STALLED: marked("queue", "Stalled"),
    LiveState.WAITING_TO_RECONNECT: marked("queue", "Not connected"),
    LiveState.STOPPED: marked("queue", "Stopped"),
}
"""The words for the states of a live source."""
SESSION = ".sqlite"
"""The suffix of session databases."""


class ItemState(StrEnum):
    """The state of a file. PAUSED: it is unfinished, and no session has it. FAILED: it could not be opened or not be read to its end."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Results:
    """Where the detections of one file are stored: a session database and the source's number in it (-1: not yet known).

    labels, model: of the model that made them; the name of the model is "" during the run. zones: the lines and zones of the run,
    as the text of a zones file, "" = none. created: identifies the session, "" before it begins.
    """

    database: Path
    source: int
    labels: tuple[str, ...] = ()
    model: str = ""
    zones: str = ""
    created: str = ""


@dataclass(frozen=True, eq=False)
class Ahead:
    """Results that a run holds behind a gap, after the user has sought a place. segments: the frames of each one, by its number."""

    segments: Mapping[int, tuple[FrameResult, ...]] = field(default_factory=dict)

    def after(self, event: events.FramesAhead) -> Self:
        """With further frames."""
        return type(self)({**self.segments, event.segment: (*self.segments.get(event.segment, ()), *event.frames)})

    def behind(self, segment: int | None) -> Self:
        """Without the segments before this one, which are stored; None: without all."""
        return type(self)({number: frames for number, frames in self.segments.items() if segment is not None and number >= segment})

    @property
    def frames(self) -> int:
        """The number of frames."""
        return sum(map(len, self.segments.values()))

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """The times of the first and the last frame of each segment, seconds."""
        return tuple((frames[0].ref.pts, frames[-1].ref.pts) for frames in self.segments.values())

    @property
    def parts(self) -> tuple[tuple[float, float], ...]:
        """The spans of segments that follow each other as one part, to be drawn."""
        parts: list[tuple[float, float]] = []
        for number in sorted(self.segments):
            begin, end = self.segments[number][0].ref.pts, self.segments[number][-1].ref.pts
            if number - 1 in self.segments:
                begin, _ = parts.pop()
            parts.append((begin, end))
        return tuple(parts)

    def at(self, pts: float) -> FrameResult | None:
        """The result of the frame at this time, None if there is none."""
        for frames in self.segments.values():
            if frames[0].ref.pts <= pts <= frames[-1].ref.pts:
                found = frames[bisect_left(frames, pts, key=lambda frame: frame.ref.pts)]
                return found if found.ref.pts == pts else None
        return None


@dataclass(frozen=True)
class Part:
    """A part of a source: seconds of a video, positions of pictures."""

    begin: float
    end: float


@dataclass(frozen=True)
class QueueItem:
    """A file or a folder of pictures in the queue, with the state of its detection.

    key: unique in the window, never reused. rate: frames/s over the last seconds. reason: why detection failed, or what the file
    waits for. changed: whether the file has changed since its results were stored. part: detection is limited to it; None = no limit.
    replaced: whether another run has replaced the session with its results. stream: how to read a live source, None = a file, or stored
    results. ahead: results that are not stored yet. begun: where the first frames are of a file that detection continues or will continue;
    None = nowhere.
    """

    key: int
    progress: events.SourceProgress
    state: ItemState = ItemState.WAITING
    results: Results | None = None
    rate: float | None = None
    reason: Notice | str | None = None
    changed: bool = False
    part: Part | None = None
    replaced: bool = False
    stream: live_sources.LiveSource | None = None
    ahead: Ahead = Ahead()
    begun: Results | None = None

    @property
    def stored(self) -> Results | None:
        """Where its stored frames are, None without any. A file that waits to go on has its first frames, a stream has none then."""
        for found in (self.results, self.begun if self.stream is None else None):
            if found is not None and found.source >= 0:
                return found
        return None

    @property
    def live(self) -> bool:
        """Whether it is a camera or a stream, or its stored results: its pictures cannot be read again."""
        return self.stream is not None or (self.progress.info is not None and self.progress.info.kind is SourceKind.LIVE)

    @property
    def connected(self) -> bool:
        """Whether frames of a live source arrive now."""
        return self.progress.state is not None and self.progress.state.state is LiveState.RUNNING

    @property
    def name(self) -> str:
        """The name of the file or folder; of a stream, its address without the scheme."""
        address = self.progress.address
        return (self.path.name or str(self.path)) if address is None else address.rpartition("://")[2]

    @property
    def path(self) -> Path:
        """The file or folder."""
        return self.progress.path

    @property
    def ended(self) -> bool:
        """Whether detection in this file has ended."""
        return self.state in (ItemState.DONE, ItemState.FAILED, ItemState.CANCELLED)

    @property
    def active(self) -> bool:
        """Whether a session has the file or will get it."""
        return self.state in (ItemState.WAITING, ItemState.RUNNING)

    @property
    def fraction(self) -> float | None:
        """The finished part, 0..1; None if the number of frames is unknown."""
        if self.state is ItemState.DONE:
            return 1.0
        total = self._total
        return min(self._frames / total, 1.0) if total else None

    @property
    def finished_text(self) -> str:
        """The file with its finished part: ``a.mp4: 45 % finished``."""
        if self.live:
            return translate("messages", "{name}: {frames} analysed").format(name=self.name, frames=self.frames_text)
        done = self.frames_text if self.fraction is None else formats.percent(self.fraction)
        return translate("messages", "{name}: {done} finished").format(name=self.path.name, done=done)

    @property
    def remaining(self) -> float | None:
        """The remaining time at the current rate, seconds; None if unknown."""
        if self.state is not ItemState.RUNNING or not self._total or not self.rate:
            return None
        return max(self._total - self._frames, 0) / self.rate

    @property
    def _frames(self) -> int:
        """The number of finished frames, also of those that wait behind a gap."""
        return self.progress.frames + self.ahead.frames

    @property
    def _total(self) -> int:
        return self.progress.info.to_do if self.progress.info is not None else 0

    @property
    def pictures(self) -> bool:
        """Whether it is a picture or a folder of them."""
        return self.progress.info is not None and self.progress.info.kind is SourceKind.IMAGES

    @property
    def frames_text(self) -> str:
        """The number of finished frames or pictures in words; of a file with failed ones, how many of them."""
        if self.state is ItemState.DONE and self.progress.failed:
            failed, count = formats.count(self.progress.failed), formats.count(self.progress.frames)
            pictures, frames = (
                translate("queue", "{failed} of {count} pictures failed"),
                translate("queue", "{failed} of {count} frames failed"),
            )
            return (pictures if self.pictures else frames).format(failed=failed, count=count)
        return formats.plural(self.progress.frames, "picture" if self.pictures else "frame")

    @property
    def new_frames(self) -> int:
        """The number of frames of the last run, to which its time belongs; of stored results, those of all runs."""
        return self.progress.frames - self.progress.before

    def _speed(self, rate: float) -> str:
        text = translate("queue", "{rate} pictures/s") if self.pictures else translate("queue", "{rate} frames/s")
        return text.format(rate=formats.rate(rate))

    @property
    def summary(self) -> str:
        """The state in one short line."""
        progress, frames = self.progress, self.frames_text
        if self.replaced:
            return translate("queue", "Replaced by another run")
        if self.live and self.active and progress.state is not None and progress.state.state is not LiveState.RUNNING:
            return translate("queue", LIVE_STATES[progress.state.state])
        if self.state is ItemState.WAITING:
            return self.explained or translate("queue", "Waiting")
        if self.state is ItemState.PAUSED:
            return translate("queue", "Paused after {frames}").format(frames=frames)
        if self.state is ItemState.RUNNING:
            parts = [formats.percent(self.fraction) if self.fraction is not None else frames]
            if self.rate:
                parts.append(self._speed(self.rate))
            if self.remaining is not None:
                parts.append(translate("queue", "{remaining} left").format(remaining=formats.remaining(self.remaining)))
            return " · ".join(parts)
        if self.state is ItemState.DONE:
            speed = f" · {self._speed(self.new_frames / progress.seconds)}" if progress.seconds else ""
            return f"{frames}{speed}"
        if self.state is ItemState.CANCELLED and self.live:
            return translate("queue", "Stopped after {frames}").format(frames=frames)
        if self.state is ItemState.CANCELLED:
            return (
                translate("queue", "Cancelled after {frames}").format(frames=frames) if progress.frames else translate("queue", "Cancelled")
            )
        return self.explanation

    @property
    def brief(self) -> tuple[str, ...]:
        """The state in parts of a line, of which the queue shows as many as fit. The progress of a running file stands elsewhere there."""
        rest = {ItemState.PAUSED: translate("queue", "Paused at {part}"), ItemState.CANCELLED: translate("queue", "Cancelled at {part}")}
        if self.state in rest and self.progress.frames and not self.live and not self.replaced and self.fraction is not None:
            return (rest[self.state].format(part=formats.percent(self.fraction)),)
        if self.state is ItemState.DONE and self.progress.failed:
            counts = {"failed": formats.count(self.progress.failed), "count": formats.count(self.progress.frames)}
            return (translate("queue", "{failed} of {count} failed").format(**counts),)
        if self.live and self.state is ItemState.CANCELLED:
            return (translate("queue", "Stopped, {frames}").format(frames=self.frames_text),)
        waits = self.live and self.progress.state is not None and self.progress.state.state is not LiveState.RUNNING
        if self.state is not ItemState.RUNNING or waits:
            return (self.summary,)
        parts = [translate("queue", "{rate}/s").format(rate=formats.rate(self.rate))] if self.rate else []
        parts += (
            [translate("queue", "{remaining} left").format(remaining=formats.remaining(self.remaining))]
            if self.remaining is not None
            else []
        )
        return tuple(parts) or (self.frames_text,)

    @property
    def explanation(self) -> str:
        """The state with its complete reason."""
        if not self.reason:
            return translate("queue", "Failed") if self.state is ItemState.FAILED else self.summary
        return self.explained

    @property
    def explained(self) -> str:
        """The reason in the window's language, without the name of the file, which is shown beside it."""
        return of_engine(self.reason, capital=True, beside=self.path) if isinstance(self.reason, Notice) else self.reason or ""


class RateMeter:
    """Measures frames per second over the last seconds. window: this time, seconds."""

    def __init__(self, window: float = 4.0) -> None:
        self._window = window
        self._marks: deque[tuple[float, int]] = deque()

    def mark(self, now: float, frames: int) -> float | None:
        """Record the number of finished frames at a time in seconds. Returns frames/s, None if the recorded times are too close."""
        self._marks.append((now, frames))
        while len(self._marks) > 2 and now - self._marks[1][0] >= self._window:
            self._marks.popleft()
        start, before = self._marks[0]
        return (frames - before) / (now - start) if now - start > 0.2 else None
