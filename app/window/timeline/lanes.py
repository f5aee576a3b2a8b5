"""When objects were seen: a lane for each class, or bars for tracks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from framefleet.app.window.timeline.view import TimeView
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import write
from framefleet.engine.media.annotation.colours import class_colour, ink_on

MOST_BARS = 200
"""The largest number of tracks that are drawn, the longest first."""
LEAST_TEXT = 9
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
    if height < LEAST_TEXT:
        return
    painter.setFont(theme.font(-4))
    painter.setPen(QColor(theme.ON_STAGE))
    for number, name in enumerate(names):
        place = QRectF(area.left() + 4, area.top() + number * height, area.width() - 8, height - 1)
        write(painter, place.adjusted(0, -2, 0, 2), name)  # the ends of letters reach beyond a low row


def rows_of(tracks: NDArray[np.void], rows: int) -> list[tuple[int, np.void]]:
    """Put tracks, of the type ``APPEARANCE``, into rows without overlaps, the longest first. Those without room are left out."""
    lengths = tracks["end"] - tracks["start"]
    longest = np.arange(len(tracks)) if len(tracks) <= MOST_BARS else np.argpartition(-lengths, MOST_BARS)[:MOST_BARS]
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
        if height >= LEAST_TEXT and painter.fontMetrics().horizontalAdvance(text) + 6 < bar.width():
            painter.setPen(QColor(*ink_on(colour)))
            painter.drawText(bar.adjusted(3, 0, 0, 0), text)
