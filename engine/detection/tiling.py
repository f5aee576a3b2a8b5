"""Divides a picture into overlapping tiles. ``engine.detection.tile_merging`` merges their detections."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.settings import Tiles

MOST_TILES = 1024
"""The maximum number of tiles of an automatic grid."""


@dataclass(frozen=True, eq=False)
class Tiling:
    """The tiles of a picture. width, height: size of the picture, pixels. columns, rows: size of the grid.

    whole: whether the last tile is the whole picture. boxes: int32 (tiles, 4), x1 y1 x2 y2 in pixels, row by row.
    """

    width: int
    height: int
    columns: int
    rows: int
    whole: bool
    boxes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.boxes)


@lru_cache(64)
def plan_tiles(width: int, height: int, network_width: int, network_height: int, tiles: Tiles) -> Tiling:
    """Compute the tiles of a picture of width × height pixels. network_width, network_height: size of the network's input, pixels.

    If the settings contain no grid, a tile is about as large as the network's input. A single tile is the whole picture.
    """
    columns = min(width, tiles.columns or _count(width, network_width, tiles.overlap))
    rows = min(height, tiles.rows or _count(height, network_height, tiles.overlap))
    if columns * rows > MOST_TILES:
        share = math.sqrt(MOST_TILES / (columns * rows))
        columns = columns if tiles.columns else max(1, int(columns * share))
        rows = rows if tiles.rows else max(1, int(rows * share))
    across, down = _spans(width, columns, tiles.overlap), _spans(height, rows, tiles.overlap)
    boxes = [(left, top, right, bottom) for top, bottom in down for left, right in across]
    whole = len(boxes) == 1 or tiles.full_frame
    if whole and len(boxes) > 1:
        boxes.append((0, 0, width, height))
    return Tiling(width, height, columns, rows, whole, np.array(boxes, np.int32))


def _count(size: int, tile: int, overlap: float) -> int:
    """Return the number of tiles of about this size that cover a side of the picture."""
    return max(1, round((size / tile - overlap) / (1 - overlap)))


def _spans(size: int, count: int, overlap: float) -> list[tuple[int, int]]:
    """Return start and end of each tile along a side: of equal length, evenly spaced, and overlapping by at least ``overlap`` of it."""
    length = min(size, math.ceil(size / (count - (count - 1) * overlap)))
    starts = [round(index * (size - length) / max(1, count - 1)) for index in range(count)]
    return [(start, start + length) for start in starts]
