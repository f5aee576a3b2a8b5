"""Draws the trails of tracks and the heat map."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLine
from PySide6.QtGui import QColor, QImage, QPainter
from shiboken6 import Shiboken

from framefleet.app.window.viewer.layout import Placement
from framefleet.app.window.zones.counts.tracks import Tracks
from framefleet.engine.media.annotation.colours import class_colour
from framefleet.engine.types import Detections

MANY = 1000
"""Number of lines above which trails are one pixel wide."""
_HEAT = np.array([(24, 60, 160), (40, 180, 200), (240, 220, 80), (230, 60, 40)], float)


def draw_trails(painter: QPainter, placement: Placement, shown: Tracks, time: float, found: Detections) -> None:
    """Draw the recent paths of the tracked ones of these detections up to a time, seconds."""
    if found.tracks is None:
        return
    tracked = found.select(found.tracks >= 0)
    assert tracked.tracks is not None
    tracks = tracked.tracks.astype(np.int64)
    lines, owners = shown.trails(time, tracks)
    if not len(lines):
        return
    scale = placement.width / placement.source[0], placement.height / placement.source[1]
    ends = np.rint(np.clip(lines * (scale * 2) + (placement.x, placement.y) * 2, -30_000, 30_000)).astype(np.int32)
    class_of = np.zeros(int(tracks.max()) + 1, np.int64)
    class_of[tracks] = tracked.class_ids
    classes = class_of[owners]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    for class_id in np.unique(classes).tolist():
        mine = ends[classes == class_id]
        painter.setPen(QColor(*class_colour(class_id)))
        for shift in (0, 1)[: 1 if len(lines) > MANY else 2]:  # two thin lines are drawn ten times as fast as a wide one
            _draw_lines(painter, mine + np.int32(shift))


def _draw_lines(painter: QPainter, ends: NDArray[np.int32]) -> None:
    """Draw lines x1 y1 x2 y2, int32 (n, 4), without a Python object for each: the layout is that of QLine."""
    ends = np.ascontiguousarray(ends)
    first: Any = Shiboken.wrapInstance(ends.ctypes.data, QLine)
    painter.drawLines(first, len(ends))


def heat_image(shares: NDArray[np.float32]) -> QImage:
    """A picture with a pixel for each cell of a heat map, transparent where there was nothing. shares: 0..1, (rows, columns)."""
    places = np.clip(shares, 0, 1) * (len(_HEAT) - 1)
    low = np.minimum(places.astype(int), len(_HEAT) - 2)
    part = (places - low)[..., None]
    pixels = np.empty((*shares.shape, 4), np.uint8)
    pixels[..., :3] = _HEAT[low] * (1 - part) + _HEAT[low + 1] * part
    pixels[..., 3] = np.where(shares > 0.02, 40 + 150 * shares, 0)
    return QImage(pixels.tobytes(), shares.shape[1], shares.shape[0], QImage.Format.Format_RGBA8888).copy()
