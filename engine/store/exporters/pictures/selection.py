"""Selects the frames of a data set."""

from collections.abc import Iterable, Iterator

from engine.store.exporters.common.options import ExportOptions
from engine.types import FrameResult


def select(frames: Iterable[FrameResult], options: ExportOptions) -> Iterator[FrameResult]:
    """Yield the frames that ``between`` and ``every`` of the options choose, without failed frames.

    ``every`` counts the frames that ``between`` leaves over, so that neighbouring frames, which look alike, are not all chosen.
    """
    low, high = options.between or (0.0, 1.0)
    number, interval = 0, None
    for frame in frames:
        found = frame.detections
        if found is None or (options.between is not None and not ((found.scores >= low) & (found.scores <= high)).any()):
            continue
        if options.every.seconds is None:
            chosen = number % options.every.frames == 0
        else:
            current = int(frame.ref.pts // options.every.seconds)
            chosen, interval = current != interval, current
        number += 1
        if chosen:
            yield frame
