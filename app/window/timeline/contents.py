"""What a timeline shows besides the position: lanes, crossings and failed frames."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

from framefleet.app.window.timeline.class_counts import BINS
from framefleet.app.window.timeline.lanes import NAMES, Lane, draw_lanes, draw_names, draw_tracks
from framefleet.app.window.timeline.view import TimeView
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.store.appearances import EVENTS, EventKind

LANES, FEW_LANES = 6, 2
"""Rows of classes or tracks at most, usually and where there is little room."""
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
            height = area.height() / max(self.rows, 1)
            names = QRectF(area.left() - self.names_width, area.top(), self.names_width, area.height())
            draw_names(painter, [*(lane.name for lane in self.shown), self.more] if names.width() else (), names, height)
            painter.setClipRect(area.adjusted(0, 0, 0, MARKS))
            if len(self.tracks):
                draw_tracks(painter, self.tracks, view, duration, self.most, area)
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
