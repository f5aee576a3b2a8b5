"""Reads stored frames in blocks of arrays: for tables of millions of rows, where an object for each frame takes too long."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.store.reading.columns import DetectionTable
from framefleet.engine.store.session import SessionReader

BLOCK_FRAMES = 2000
_TOGETHER = 200  # frames whose detections are read at once, see ``SessionReader.detection_table``


class StoredFrame(NamedTuple):
    """A row of the table of frames.

    number: the frame's index. pts: seconds. width, height: pixels. device: its number in ``SessionReader.device_names``.
    """

    number: int
    pts: float
    width: int
    height: int
    failure: str | None
    name: str | None
    device: int


@dataclass(frozen=True)
class Block:
    """Consecutive frames of a source, and their detections in order.

    rows: the fields of ``StoredFrame`` of each frame.
    frame: int64 (n,), the position in ``frames`` of each detection's frame. class_ids, tracks: int64 (n,); track -1: none.
    scores: float64 (n,), rounded to 4 decimals. boxes: float64 (n, 4): x, y, width, height in source pixels, rounded to 2 decimals.
    verified: bool (n,), whether a person checked them. scores and boxes are empty if they were not asked for.
    """

    rows: list[tuple[Any, ...]]
    frame: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    tracks: NDArray[np.int64]
    verified: NDArray[np.bool_]
    scores: NDArray[np.float64]
    boxes: NDArray[np.float64]

    @property
    def corners(self) -> NDArray[np.float64]:
        """The boxes as x1, y1, x2, y2, float64 (n, 4)."""
        return np.concatenate((self.boxes[:, :2], self.boxes[:, :2] + self.boxes[:, 2:]), 1)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The index of each frame, int64 (frames,)."""
        return np.fromiter((row[0] for row in self.rows), np.int64, len(self.rows))

    @cached_property
    def pts(self) -> NDArray[np.float64]:
        """The time of each frame, float64 (frames,), seconds."""
        return np.fromiter((row[1] for row in self.rows), np.float64, len(self.rows))

    @cached_property
    def frames(self) -> list[StoredFrame]:
        """The rows as objects, which takes longer than the rows themselves."""
        return [*map(StoredFrame._make, self.rows)]


def read_blocks(reader: SessionReader, source: int, boxes: bool = True) -> Iterator[Block]:
    """Yield the frames of a source in order, with the detections that pass the reader's filter.

    boxes: whether to read confidences and boxes, too.

    Raises ExportError if the session cannot be read.
    """
    for rows in reader.frame_rows(source, BLOCK_FRAMES):
        parts = [rows[first : first + _TOGETHER] for first in range(0, len(rows), _TOGETHER)]
        tables = [reader.detection_table(source, part[0][0], part[-1][0], boxes) for part in parts]
        table = DetectionTable(*map(np.concatenate, zip(*tables, strict=True)))
        indexes = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        sizes = table.boxes
        sizes[:, 2:] -= sizes[:, :2]
        yield Block(
            rows,
            np.searchsorted(indexes, table.frames),
            table.class_ids,
            table.tracks,
            table.verified,
            np.round(table.scores, 4),
            np.round(sizes, 2) + 0.0,  # + 0.0: no "-0.0"
        )
