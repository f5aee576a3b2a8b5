"""Reads from a session when objects appear."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.blocks import Block, read_blocks
from framefleet.engine.store.session import SessionReader
from framefleet.engine.tracking.appearances import APPEARANCE, GAP, class_appearances, track_appearances

_ROUNDING = 0.001  # seconds: of durations in containers


class By(StrEnum):
    """What appears: each track, or objects of a class."""

    TRACK = "track"
    CLASS = "class"


def read_appearances(
    reader: SessionReader, source: int, by: By | None = None, gap: float = GAP, each: Callable[[Block], None] = lambda _: None
) -> NDArray[Any]:
    """Return the appearances in a source, ordered by start: see ``engine.tracking.appearances.APPEARANCE``.

    They end when the frame after their last one begins, so that an appearance of one frame has the length of one frame.
    Only detections that pass the reader's filter count. by: None: tracks if the source has them, else classes. gap: see ``GAP``.
    In a folder of pictures, an appearance of a class lasts one picture, because the next picture may show another place.
    each: called with each block, for a caller that needs more from them.

    Raises ExportError if the session cannot be read.
    """
    parts: list[tuple[NDArray[Any], ...]] = []
    rows: list[NDArray[np.float64]] = []
    for block in read_blocks(reader, source):
        each(block)
        rows.append(np.stack((block.numbers, block.pts)))
        parts.append((block.numbers[block.frame], block.pts[block.frame], block.class_ids, block.tracks, block.scores))
    if not parts:
        return np.zeros(0, APPEARANCE)
    frames, times, class_ids, tracks, scores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if by is None:
        by = By.TRACK if (tracks >= 0).any() else By.CLASS
    if by is By.TRACK:
        found = track_appearances(frames, times, class_ids, tracks, scores)
    else:
        pictures = reader.source(source).kind is SourceKind.IMAGES
        found = class_appearances(frames, times, class_ids, scores, 0.0 if pictures else gap)
    indices, starts = np.concatenate(rows, 1)
    ends = np.append(starts[1:], end_of(reader, source))  # a frame is shown until the next one
    found["end"] = np.maximum(found["end"], ends[np.searchsorted(indices, found["last"])])  # times of failed frames are estimates
    return found


def end_of(reader: SessionReader, source: int) -> float:
    """Return the time at which the last stored frame ends, seconds.

    The frame is shown for as long as the others on average, but not beyond the end of the video.

    Raises ExportError if the session cannot be read.
    """
    times = np.sort(reader.times(source, reader.count(source)))
    info = reader.source(source).info
    last = float(times.max(initial=0.0))
    if len(times) < 2:
        return last + 1 / ((info.rate if info is not None else None) or 1.0)
    end = last + float(times[-1] - times[0]) / (len(times) - 1)
    stop = info.begin + info.duration if info is not None and info.duration is not None else end
    return stop if last < stop < end - _ROUNDING else end  # frames of varying lengths: the mean may be longer than what remains
