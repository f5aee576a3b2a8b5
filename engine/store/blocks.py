"""Reads stored frames in blocks of arrays: for tables of millions of rows, where an object for each frame takes too long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.store.session import SessionReader

BLOCK_FRAMES = 2000


@dataclass(frozen=True)
class StoredFrame:
    """A row of the table of frames. pts: seconds. width, height: pixels. device: as text."""

    index: int
    pts: float
    width: int
    height: int
    failure: str | None
    name: str | None
    device: str


@dataclass(frozen=True)
class Block:
    """Consecutive frames of a source, and their detections in order.

    frame: int64 (n,), the position in ``frames`` of each detection's frame. class_ids: int64 (n,). scores: float64 (n,), rounded to 4
    decimals. boxes: float64 (n, 4): x, y, width, height in source pixels, rounded to 2 decimals. scores and boxes are empty if they were
    not asked for.
    """

    frames: list[StoredFrame]
    frame: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    boxes: NDArray[np.float64]


def read_blocks(reader: SessionReader, source: int, boxes: bool = True) -> Iterator[Block]:
    """Yield the frames of a source in order, with the detections that pass the reader's filter.

    boxes: whether to read confidences and boxes, too.

    Raises:
        ExportError: the session cannot be read.
    """
    devices = reader.device_names()
    for rows in reader.frame_rows(source, BLOCK_FRAMES):
        frames = [
            StoredFrame(index, pts, width, height, failure, name, devices[device])
            for index, pts, width, height, failure, name, device in rows
        ]
        found = reader.detection_rows(source, frames[0].index, frames[-1].index, boxes)
        columns = np.array(found, np.float64).reshape(-1, 7 if boxes else 2)
        indexes = np.fromiter((frame.index for frame in frames), np.int64, len(frames))
        corners = columns[:, 3:]
        sizes = np.hstack((corners[:, :2], corners[:, 2:] - corners[:, :2]))
        yield Block(
            frames,
            np.searchsorted(indexes, columns[:, 0].astype(np.int64)),
            columns[:, 1].astype(np.int64),
            np.round(columns[:, 2], 4) if boxes else np.zeros(0),
            np.round(sizes, 2) + 0.0 if boxes else np.zeros((0, 4)),  # + 0.0: no "-0.0"
        )
