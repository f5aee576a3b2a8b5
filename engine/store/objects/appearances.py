"""Reads from a session when objects appear."""

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.store.blocks import read_blocks
from engine.store.session import SessionReader
from engine.tracking.appearances import APPEARANCE, GAP, class_appearances, track_appearances


class By(StrEnum):
    """What appears: each track, or objects of a class."""

    TRACK = "track"
    CLASS = "class"


def read_appearances(reader: SessionReader, source: int, by: By | None = None, gap: float = GAP) -> NDArray[Any]:
    """Return the appearances in a source, ordered by start: see ``engine.tracking.appearances.APPEARANCE``.

    Only detections that pass the reader's filter count. by: None: tracks if the source has them, else classes. gap: see ``GAP``.

    Raises ExportError if the session cannot be read.
    """
    parts: list[tuple[NDArray[Any], ...]] = []
    for block in read_blocks(reader, source):
        numbers = np.fromiter((frame.number for frame in block.frames), np.int64, len(block.frames))
        times = np.fromiter((frame.pts for frame in block.frames), np.float64, len(block.frames))
        parts.append((numbers[block.frame], times[block.frame], block.class_ids, block.tracks, block.scores))
    if not parts:
        return np.zeros(0, APPEARANCE)
    frames, times, class_ids, tracks, scores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if by is None:
        by = By.TRACK if (tracks >= 0).any() else By.CLASS
    if by is By.TRACK:
        return track_appearances(frames, times, class_ids, tracks, scores)
    return class_appearances(frames, times, class_ids, scores, gap)
