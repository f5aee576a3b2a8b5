"""What is shown of frames that a run left out, because the user wanted a part of the video or samples of it."""

from framefleet.engine.store.reading.reader import SessionReader
from framefleet.engine.types import FrameResult

_NOT_GIVEN = str(None)


def is_sampled(reader: SessionReader) -> bool:
    """Whether the run left out frames between those that it took."""
    return reader.facts.get("every", _NOT_GIVEN) != _NOT_GIVEN


def is_skipped(reader: SessionReader, source: int, pts: float) -> bool:
    """Whether a run of part of a video has passed this time (seconds), so that a frame without results never gets any."""
    part = any(reader.facts.get(name, _NOT_GIVEN) != _NOT_GIVEN for name in ("begin", "end", "every"))
    return part and pts < (reader.last_pts(source) or 0.0)


def result_at(reader: SessionReader, source: int, pts: float) -> FrameResult | None:
    """Return the results of the frame at exactly this time (seconds), None if there are none yet.

    Between two samples, these are the results of the first: boxes would flicker otherwise.
    """
    result = reader.frame_at(source, pts)
    if result is None and is_sampled(reader) and is_skipped(reader, source, pts):
        held = reader.frame_before(source, pts)
        return held if held is not None and held.name is None else None  # the pictures of a folder differ
    return result
