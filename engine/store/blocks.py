"""Reads stored frames in blocks of arrays: for tables of millions of rows, where an object for each frame takes too long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.store.reader import TRACKS, VERIFIED
from engine.store.session import SessionReader

BLOCK_FRAMES = 2000


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

    frame: int64 (n,), the position in ``frames`` of each detection's frame. class_ids, tracks: int64 (n,); track -1: none.
    scores: float64 (n,), rounded to 4 decimals. boxes: float64 (n, 4): x, y, width, height in source pixels, rounded to 2 decimals.
    verified: bool (n,), whether a person checked them. scores and boxes are empty if they were not asked for.
    """

    frames: list[StoredFrame]
    frame: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    tracks: NDArray[np.int64]
    verified: NDArray[np.bool_]
    scores: NDArray[np.float64]
    boxes: NDArray[np.float64]


def read_blocks(reader: SessionReader, source: int, boxes: bool = True) -> Iterator[Block]:
    """Yield the frames of a source in order, with the detections that pass the reader's filter.

    boxes: whether to read confidences and boxes, too.

    Raises:
        ExportError: the session cannot be read.
    """
    for rows in reader.frame_rows(source, BLOCK_FRAMES):
        frames = [*map(StoredFrame._make, rows)]
        table = reader.detection_table(source, frames[0].number, frames[-1].number, boxes)
        indexes = np.fromiter((frame.number for frame in frames), np.int64, len(frames))
        verified, joined = np.divmod(table[:, 1].astype(np.int64), VERIFIED)
        tracks, class_ids = np.divmod(joined, TRACKS)
        sizes = table[:, 3:]
        sizes[:, 2:] -= sizes[:, :2]
        yield Block(
            frames,
            np.searchsorted(indexes, table[:, 0].astype(np.int64)),
            class_ids,
            tracks - 1,
            verified != 0,
            np.round(table[:, 2], 4) if boxes else np.zeros(0),
            np.round(sizes, 2) + 0.0,  # + 0.0: no "-0.0"
        )
