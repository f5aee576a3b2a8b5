"""Divides a picture into overlapping tiles, and merges the detections in them.

Two detections of different tiles show the same object if their boxes agree in the region that both tiles cover. An object that is whole
in one tile and cut in another therefore becomes one detection with the whole box. An object that every tile cuts becomes the union of
its parts. Two detections of one tile are never merged: non-maximum suppression within the tile has kept both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.settings import Tiles
from framefleet.engine.types import Detections

MAX_TILES = 1024
"""The maximum number of tiles of an automatic grid."""


@dataclass(frozen=True, eq=False)
class Tiling:
    """The tiles of a picture.

    Attributes
    ----------
    width, height
        Size of the picture, pixels.
    columns, rows
        Size of the grid.
    whole
        Whether the last tile is the whole picture.
    boxes : ndarray
        int32 (tiles, 4), x1 y1 x2 y2 in pixels, row by row.
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
    """Compute the tiles of a picture of width × height pixels.

    If the settings contain no grid, a tile is about as large as the network's input. A single tile is the whole picture.

    Parameters
    ----------
    network_width, network_height
        Size of the network's input, pixels.
    """
    columns = min(width, tiles.columns or _count(width, network_width, tiles.overlap))
    rows = min(height, tiles.rows or _count(height, network_height, tiles.overlap))
    if columns * rows > MAX_TILES:
        share = math.sqrt(MAX_TILES / (columns * rows))
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


AGREEMENT = 0.5
"""The minimum IoU of two boxes of one object, within the region that both tiles cover."""

EDGE = 0.015
"""A box that ends within this distance of an inner border of its tile may be cut. The unit is the tile's side."""

INSIDE = 0.8
"""A cut box that was not merged is dropped if at least this share of its area lies in an object of other tiles."""

_LEFT, _TOP, _RIGHT, _BOTTOM = range(4)


def merge(tiling: Tiling, found: Sequence[Detections], iou: float) -> Detections:
    """Return the objects of a picture, highest confidence first.

    The box of an object is the most confident one that no tile cuts. If there is none, it is the box found in the whole picture, which is
    less exact. If that is missing too, it is the union of all boxes, with their highest confidence.

    Parameters
    ----------
    found
        The detections of each tile, boxes in the tile's pixels.
    iou
        Two boxes of one class and of different tiles with a higher IoU are always one object.
    """
    tile = np.repeat(np.arange(len(tiling)), [len(each) for each in found])
    if not len(tile):
        return Detections()
    areas = tiling.boxes.astype(np.float32)[tile]
    boxes = np.concatenate([each.boxes for each in found]) + areas[:, [0, 1, 0, 1]]
    scores = np.concatenate([each.scores for each in found])
    class_ids = np.concatenate([each.class_ids for each in found])
    if len(tiling) > 1:
        cut = _cut_sides(boxes, areas, tiling)
        coarse = (tile == len(tiling) - 1) & tiling.whole
        groups, tiles = _groups(boxes, class_ids, tile, areas, cut)
        is_cut = np.asarray(cut.any(axis=1), np.bool_)
        first = [group[0] for group in groups]
        merged = {place: _object_box(group, boxes, scores, is_cut, coarse) for place, group in enumerate(groups) if len(group) > 1}
        boxes, scores, class_ids, partial = boxes[first], scores[first], class_ids[first], is_cut[first]
        for place, (box, score) in merged.items():
            boxes[place], scores[place], partial[place] = box, score, False
        alive = _without_duplicates(boxes, scores, class_ids, tiles, partial, iou)
        boxes, scores, class_ids = boxes[alive], scores[alive], class_ids[alive]
    order = np.argsort(-scores, kind="stable")
    return Detections(boxes[order], scores[order], class_ids[order])


def _cut_sides(boxes: NDArray[np.float32], areas: NDArray[np.float32], tiling: Tiling) -> NDArray[np.bool_]:
    """Find the sides of boxes that the tile's border may cut. Returns bool (n, 4)."""
    inner = np.stack([areas[:, 0] > 0, areas[:, 1] > 0, areas[:, 2] < tiling.width, areas[:, 3] < tiling.height], axis=1)
    return np.asarray(inner & (np.abs(boxes - areas) <= np.tile(_edge(areas), 2)), np.bool_)


def _edge(areas: NDArray[np.float32]) -> NDArray[np.float32]:
    """Convert ``EDGE`` to pixels, horizontally and vertically, (n, 2)."""
    return np.asarray(np.maximum(EDGE * (areas[:, 2:] - areas[:, :2]), 1), np.float32)


def _groups(
    boxes: NDArray[np.float32], class_ids: NDArray[np.int32], tile: NDArray[np.intp], areas: NDArray[np.float32], cut: NDArray[np.bool_]
) -> tuple[list[list[int]], list[int]]:
    """Group the detections by object, best agreement first. Returns the indices of each object's boxes, and its tiles as a bit mask."""
    first, second = _near(boxes, class_ids, 2 * float(_edge(areas).min(initial=np.inf)))
    apart = tile[first] != tile[second]
    first, second = first[apart], second[apart]
    agreement = _agreement(boxes, areas, cut, first, second)
    agreeing = np.flatnonzero(agreement >= AGREEMENT)
    owner, members, seen = list(range(len(boxes))), [[index] for index in range(len(boxes))], [1 << int(number) for number in tile]
    for pair in agreeing[np.argsort(-agreement[agreeing], kind="stable")]:
        one, other = owner[first[pair]], owner[second[pair]]
        if one == other or seen[one] & seen[other]:
            continue
        for index in members[other]:
            owner[index] = one
        members[one] += members[other]
        seen[one] |= seen[other]
        members[other] = []
    left = [index for index, group in enumerate(members) if group]
    return [members[index] for index in left], [seen[index] for index in left]


def _near(boxes: NDArray[np.float32], class_ids: NDArray[np.int32], gap: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of all pairs of boxes of one class that are at most ``gap`` pixels apart."""
    # classes lie side by side, so that only boxes of one class are compared; in float64, whole numbers move them without rounding
    aside = class_ids * (math.ceil(np.ptp(boxes[:, [_LEFT, _RIGHT]]) + gap) + 1.0) if len(boxes) else class_ids
    order = np.argsort(boxes[:, _LEFT] + aside, kind="stable")
    left, right = (boxes[:, _LEFT] + aside)[order], (boxes[:, _RIGHT] + aside)[order]
    count = np.searchsorted(left, right + gap, side="right") - np.arange(1, len(order) + 1)
    count = np.maximum(count, 0)
    first = np.repeat(np.arange(len(order)), count)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    first, second = order[first], order[second]
    between = np.maximum(boxes[first, _TOP], boxes[second, _TOP]) - np.minimum(boxes[first, _BOTTOM], boxes[second, _BOTTOM])
    near = np.flatnonzero(between <= gap)
    return first[near], second[near]


def _agreement(
    boxes: NDArray[np.float32], areas: NDArray[np.float32], cut: NDArray[np.bool_], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Compute how well the boxes of each pair agree in the region that both tiles cover, 0..1."""
    both = _intersection(areas[first], areas[second])
    whole = np.asarray(~cut.any(axis=1), np.bool_)
    # if the object is whole in one tile, the other tile's box is not clipped to the shared region
    one = np.where(whole[second, None], boxes[first], _intersection(boxes[first], both))
    other = np.where(whole[first, None], boxes[second], _intersection(boxes[second], both))
    beside, below = (_continuation(boxes, areas, cut, first, second, both, across=across) for across in (True, False))
    return np.maximum(_iou(one, other), np.maximum(beside, below))


def _continuation(
    boxes: NDArray[np.float32],
    areas: NDArray[np.float32],
    cut: NDArray[np.bool_],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    both: NDArray[np.float32],
    across: bool,
) -> NDArray[np.float32]:
    """Compute how well one box continues the other, for tiles that hardly overlap: the IoU of their spans along the border, 0..1."""
    low, high = (_LEFT, _RIGHT) if across else (_TOP, _BOTTOM)
    along = [_TOP, _BOTTOM] if across else [_LEFT, _RIGHT]
    before = np.where(areas[first, low] <= areas[second, low], first, second)
    after = first + second - before
    edge = np.minimum(_edge(areas[first]), _edge(areas[second]))[:, int(not across)]
    seam = both[:, high] - both[:, low]
    meets = (seam >= -1) & (seam < 2 * edge) & (areas[before, low] < areas[after, low]) & cut[before, high] & cut[after, low]
    start, end = along
    one, other = (boxes[index][:, along].clip(both[:, [start]], both[:, [end]]) for index in (before, after))
    shared = np.minimum(one[:, 1], other[:, 1]) - np.maximum(one[:, 0], other[:, 0])
    around = np.maximum(one[:, 1], other[:, 1]) - np.minimum(one[:, 0], other[:, 0])
    return np.asarray(np.where(meets & (around > 0), shared / np.maximum(around, 1e-6), 0), np.float32)


def _object_box(
    group: list[int], boxes: NDArray[np.float32], scores: NDArray[np.float32], cut: NDArray[np.bool_], coarse: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], float]:
    """Return box and confidence of an object that several tiles show."""
    for fitting in ([index for index in group if not cut[index] and not coarse[index]], [index for index in group if coarse[index]]):
        if fitting:
            best = max(fitting, key=lambda index: float(scores[index]))
            return boxes[best], float(scores[best])
    parts = boxes[group]
    return np.concatenate([parts[:, :2].min(axis=0), parts[:, 2:].max(axis=0)]), float(scores[group].max())


def _without_duplicates(
    boxes: NDArray[np.float32],
    scores: NDArray[np.float32],
    class_ids: NDArray[np.int32],
    tiles: list[int],
    partial: NDArray[np.bool_],
    iou: float,
) -> NDArray[np.bool_]:
    """Drop one of two overlapping objects without a common tile. Returns which objects to keep, bool (n,).

    tiles: bit mask of each. partial: whether it is a single box that a tile cuts.
    """
    alive = np.ones(len(boxes), np.bool_)
    first, second = _near(boxes, class_ids, 0)
    shared = _area(_intersection(boxes[first], boxes[second]))
    one, other = _area(boxes[first]), _area(boxes[second])
    double = shared > iou * (one + other - shared)
    within = shared >= INSIDE * np.minimum(one, other)
    for pair in np.flatnonzero(double | within):
        a, b = int(first[pair]), int(second[pair])
        if tiles[a] & tiles[b] or not (alive[a] and alive[b]):
            continue
        smaller = a if one[pair] <= other[pair] else b
        if double[pair]:
            alive[a if scores[a] < scores[b] else b] = False
        elif partial[smaller]:
            alive[smaller] = False
    return alive


def _intersection(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """Intersect two arrays of boxes, (n, 4). Right is less than left where they do not intersect."""
    return np.concatenate([np.maximum(a[:, :2], b[:, :2]), np.minimum(a[:, 2:], b[:, 2:])], axis=1)


def _area(boxes: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.maximum(boxes[:, 2:] - boxes[:, :2], 0).prod(axis=1), np.float32)


def _iou(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    shared = _area(_intersection(a, b))
    return np.asarray(shared / np.maximum(_area(a) + _area(b) - shared, 1e-6), np.float32)
