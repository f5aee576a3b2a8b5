"""What a timeline shows besides the position: its visible part, lanes of classes, bars of tracks, crossings and failed frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap

from framefleet.app.window.timeline.class_counts import BINS
from framefleet.app.window.widgets import formats, painting, theme
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.annotation.layout import class_colour, ink_on
from framefleet.engine.store.appearances import EVENTS, EventKind

MIN_SPAN = 1 / 2000
"""The smallest part of a source's length that the timeline shows: 1.8 seconds of an hour."""


@dataclass(frozen=True)
class TimeView:
    """A part of a source's length, from ``start`` to ``end``, both 0..1."""

    start: float = 0.0
    end: float = 1.0

    @property
    def span(self) -> float:
        """The length of the part, 0..1."""
        return self.end - self.start

    def place(self, fraction: float) -> float:
        """Where a fraction of the length lies in the view: 0 = at its start, 1 = at its end."""
        return (fraction - self.start) / self.span

    def fraction(self, place: float) -> float:
        """The fraction of the length at a place of the view."""
        return self.start + place * self.span

    def zoomed(self, factor: float, at: float) -> TimeView:
        """The view enlarged by a factor, where the fraction ``at`` keeps its place. It never exceeds the length."""
        span = min(max(self.span / factor, MIN_SPAN), 1.0)
        return TimeView(at - self.place(at) * span, at - self.place(at) * span + span).moved(0.0)

    def moved(self, by: float) -> TimeView:
        """The view moved by a fraction of the length, at most to its start or end."""
        start = min(max(self.start + by, 0.0), 1.0 - self.span)
        return TimeView(start, start + self.span)

    def showing(self, fraction: float) -> TimeView:
        """The view, moved on by its own length until it contains this fraction."""
        return self if self.start <= fraction <= self.end else self.moved(fraction - self.start - 0.1 * self.span)


MAX_BARS = 200
"""The largest number of tracks that are drawn, the longest first."""
MIN_TEXT = 9
"""The height of a lane from which it has room for text, logical pixels."""
NAMES = 80.0
"""The width of the names beside the lanes, logical pixels."""


@dataclass(frozen=True)
class Lane:
    """When objects of a class were seen. counts, frames: detections of the class and frames in each slice of the length, int64 (BINS,)."""

    name: str
    class_id: int
    counts: NDArray[np.int64]
    frames: NDArray[np.int64]

    def image(self, view: TimeView, columns: int) -> QImage:
        """A picture of the view, at most this wide: the more detections in a frame, the stronger the class's colour.

        Slices of short videos have one or two frames in turn, so the number of detections alone would look striped.
        """
        first, last = int(view.start * len(self.counts)), max(math.ceil(view.end * len(self.counts)), 1)
        starts = np.unique(np.linspace(first, last, columns, endpoint=False).astype(np.int64))
        density = self.counts / np.maximum(self.frames, 1)
        shown = np.maximum.reduceat(density[:last], starts)  # not every second one, which would hide rare objects
        pixels = np.empty((1, len(shown), 4), np.uint8)
        pixels[..., :3] = class_colour(self.class_id)
        shares = np.sqrt(shown / (density.max() or 1))  # with the square root, single objects stay visible beside many
        pixels[0, :, 3] = np.where(shown > 0, 60 + 195 * shares, 0)
        return QImage(pixels.tobytes(), len(shown), 1, QImage.Format.Format_RGBA8888).copy()


def columns_of(frames: NDArray[np.int64]) -> int:
    """The finest useful division of the length: slices without a frame between others would look like gaps.

    frames: with results in each slice, int64 (BINS,). A run may take a part of the video, or some of the frames.
    """
    seen = np.flatnonzero(frames)
    if not len(seen):
        return len(frames)
    each = frames.sum() / (seen[-1] - seen[0] + 1)
    return max(min(int(each * len(frames) / 2), len(frames)), 1)


def draw_lanes(painter: QPainter, lanes: Sequence[Lane], view: TimeView, columns: int, area: QRectF, ratio: float) -> None:
    """Draw the lanes below each other in an area.

    columns: the finest division of the whole length. ratio: device pixels of a logical pixel.
    """
    columns = max(min(round(columns * view.span), round(area.width() * ratio)), 1)
    height = area.height() / len(lanes)
    for number, lane in enumerate(lanes):
        slices, top = len(lane.counts), area.top() + number * height
        first, last = int(view.start * slices), max(math.ceil(view.end * slices), 1)
        left, right = (area.left() + area.width() * view.place(each / slices) for each in (first, last))
        painter.drawImage(QRectF(left, top, right - left, max(height - 1, 1)), lane.image(view, columns))


def draw_names(painter: QPainter, names: Sequence[str], area: QRectF, height: float) -> None:
    """Draw names below each other in an area, in rows of this height if they fit."""
    if height < MIN_TEXT:
        return
    painter.setFont(theme.font(-4))
    painter.setPen(QColor(theme.ON_STAGE))
    for number, name in enumerate(names):
        place = QRectF(area.left() + 4, area.top() + number * height, area.width() - 8, height - 1)
        painting.write(painter, place.adjusted(0, -2, 0, 2), name)  # the ends of letters reach beyond a low row


def rows_of(tracks: NDArray[np.void], rows: int) -> list[tuple[int, np.void]]:
    """Put tracks, of the type ``APPEARANCE``, into rows without overlaps, the longest first. Those without room are left out."""
    lengths = tracks["end"] - tracks["start"]
    longest = np.arange(len(tracks)) if len(tracks) <= MAX_BARS else np.argpartition(-lengths, MAX_BARS)[:MAX_BARS]
    longest = longest[np.argsort(-lengths[longest], kind="stable")]
    filled: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
    placed = []
    for track in tracks[longest]:
        start, end = float(track["start"]), float(track["end"])
        for number, row in enumerate(filled):
            if all(end <= before or start >= after for before, after in row):
                row.append((start, end))
                placed.append((number, track))
                break
    return placed


def draw_tracks(painter: QPainter, tracks: NDArray[np.void], view: TimeView, duration: float, rows: int, area: QRectF) -> None:
    """Draw tracks as bars in an area, each with its number if that fits. tracks: of the type ``APPEARANCE``. duration: of the source."""
    visible = tracks[(tracks["end"] >= view.start * duration) & (tracks["start"] <= view.end * duration)]
    height = area.height() / rows
    painter.setFont(theme.font(-4))
    for number, track in rows_of(visible, rows):
        left, right = (area.left() + area.width() * view.place(float(track[end]) / duration) for end in ("start", "end"))
        bar = QRectF(left, area.top() + number * height, max(right - left, 2.0), max(height - 1, 1)).intersected(area)
        colour = class_colour(int(track["class_id"]))
        painter.fillRect(bar, QColor(*colour))
        text = str(track["track"])
        if height >= MIN_TEXT and painter.fontMetrics().horizontalAdvance(text) + 6 < bar.width():
            painter.setPen(QColor(*ink_on(colour)))
            painter.drawText(bar.adjusted(3, 0, 0, 0), text)


LANES, FEW_LANES = 6, 2
"""Rows of classes or tracks at most, usually and where there is little room."""
LANE = 10
"""The height of a row, logical pixels; of few rows in much room, up to twice as much."""
MARKS = 4.0
"""The height of the marks of crossings and failures, logical pixels."""
CROSSING = QColor("#f5d76e")
_WIDEST = 100_000
"""More than the width of any mark, logical pixels."""


@dataclass(eq=False)
class Contents:
    """What was found in a source.

    lanes: of classes. columns: the finest useful division of the length. failures: failed frames in each slice of the length, int32
    (BINS,). events: ``EVENTS``. by_track: whether to show tracks instead of classes, if there are any. most: lanes at most, unless
    all_lanes is set.
    """

    lanes: tuple[Lane, ...] = ()
    columns: int = BINS
    failures: NDArray[np.int32] = field(default_factory=lambda: np.zeros(BINS, np.int32))
    events: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, EVENTS))
    _kinds: tuple[object, NDArray[np.void], NDArray[np.float64]] | None = None
    by_track: bool = False
    most: int = LANES
    all_lanes: bool = False

    @property
    def tracks(self) -> NDArray[np.void]:
        """The appearances of tracks, if they are to be shown."""
        return self._by_kind[0] if self.by_track else self.events[:0]

    @property
    def _by_kind(self) -> tuple[NDArray[np.void], NDArray[np.float64]]:
        """The appearances of tracks, and the times of crossings: found once for all paintings."""
        if self._kinds is None or self._kinds[0] is not self.events:
            kinds = self.events["kind"]
            tracks = self.events[(kinds == EventKind.APPEARANCE) & (self.events["track"] >= 0)]
            self._kinds = self.events, tracks, self.events["start"][kinds == EventKind.CROSSING]
        return self._kinds[1:]

    @property
    def rows(self) -> int:
        """The number of lanes, and of the row that says how many more there are."""
        return self.most if len(self.tracks) else len(self.shown) + bool(self.more)

    def row_height(self, room: float) -> float:
        """The height of a row. room: the height that all rows may have together. Both in logical pixels."""
        return min(room / max(self.rows, 1), 2.0 * LANE)

    @property
    def shown(self) -> tuple[Lane, ...]:
        """The lanes that are shown, if no tracks are."""
        few = len(self.lanes) <= self.most + 1  # a row that says "1 more" is as high as the lane
        return self.lanes if few or self.all_lanes else self.lanes[: self.most]

    @property
    def more(self) -> str:
        """The text of the row that shows more or fewer lanes, "" without such a row."""
        if len(self.lanes) <= self.most + 1 or len(self.tracks):
            return ""
        if self.all_lanes:
            return translate("timeline", "fewer classes")
        return translate("timeline", "+ %Ln classes", None, len(self.lanes) - self.most)

    @property
    def names_width(self) -> float:
        """The width of the names beside the lanes, logical pixels."""
        return NAMES if self.lanes and not len(self.tracks) else 0.0

    def draw(self, view: TimeView, duration: float, size: QSize, area: QRectF, ratio: float) -> QPixmap:
        """Draw a picture of this size, logical pixels. area: of the lanes; the marks are below it. duration: of the source, seconds."""
        drawn = QPixmap(size * ratio)
        drawn.setDevicePixelRatio(ratio)
        drawn.fill(Qt.GlobalColor.transparent)
        with QPainter(drawn) as painter:
            height = self.row_height(area.height())
            names = QRectF(area.left() - self.names_width, area.top(), self.names_width, area.height())
            draw_names(painter, [*(lane.name for lane in self.shown), self.more] if names.width() else (), names, height)
            painter.setClipRect(area.adjusted(0, 0, 0, MARKS))
            if len(self.tracks):
                lanes = QRectF(area.left(), area.top(), area.width(), height * self.rows)
                draw_tracks(painter, self.tracks, view, duration, self.most, lanes)
            elif self.lanes:
                lanes = QRectF(area.left(), area.top(), area.width(), height * len(self.shown))
                draw_lanes(painter, self.shown, view, self.columns, lanes, ratio)
            crossings = self._by_kind[1] / duration if duration else np.zeros(0)
            failed = np.flatnonzero(self.failures)
            for places, end, colour in ((crossings, crossings, CROSSING), (failed / BINS, (failed + 1) / BINS, QColor(theme.DANGER))):
                _draw_marks(painter, area, view, places, end, colour)
        return drawn

    def words(self, place: int, pts: float, step: float) -> list[str]:
        """What there is in the slice with this number, from a time on, for ``step`` seconds: a line for each class."""
        seen = [f"{formats.count(int(lane.counts[place]))} {lane.name}" for lane in self.lanes if lane.counts[place]]
        near = int((abs(self._by_kind[1] - pts) <= step).sum())
        if near:
            seen.append(translate("timeline", "%Ln crossings", None, near))
        if self.failures[place]:
            seen.append(translate("timeline", "%Ln frames failed", None, int(self.failures[place])))
        return seen


def _draw_marks(
    painter: QPainter, area: QRectF, view: TimeView, begins: NDArray[np.float64], ends: NDArray[np.float64], colour: QColor
) -> None:
    """Draw marks from some fractions of the length to others below an area, at least two pixels wide."""
    seen = (ends >= view.start) & (begins <= view.end)
    lefts, rights = (np.round(area.left() + area.width() * (each[seen] - view.start) / view.span) for each in (begins, ends))
    widths = np.clip(rights - lefts, 2, area.width() + 1)
    for mark in np.unique(lefts * _WIDEST + widths).tolist():  # many share a place
        left, width = divmod(mark, _WIDEST)
        painter.fillRect(QRectF(left, area.bottom(), width, MARKS - 1), colour)
