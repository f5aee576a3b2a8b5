"""Makes frames and sessions whose values all depend on the index of the frame."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.export import file_stems
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.base import Export, Progress
from framefleet.engine.store.exporters.options import DEFAULTS
from framefleet.engine.store.session import SessionReader, SessionWriter, StoredSource
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult, InferenceFailure

CPU = DeviceId("cpu", "0")
LABELS = ("person", "bicycle", "car")


def make_frame(
    source: int, index: int, boxes: int = 2, name: str | None = None, failure: str | None = None, apart: float = 0
) -> FrameResult:
    """A frame of 640×480 at 25 frames/s. apart: how far the boxes behind the second one lie below the others, pixels."""
    below = [box + apart * (box > 1) for box in range(boxes)]
    corners = np.array([[index + box, y, index + box + 10.5, y + 20.25] for box, y in enumerate(below)], np.float32).reshape(-1, 4)
    scores = np.array([0.9 - box / 10 for box in range(boxes)], np.float32)
    found = (
        InferenceFailure(Notice("general.detail", detail=failure))
        if failure
        else Detections(corners, scores, (np.arange(boxes) % 3).astype(np.int32))
    )
    return FrameResult(FrameRef(source, index, index / 25, name), CPU, 640, 480, found)


def resized(frame: FrameResult, parts: float) -> FrameResult:
    """The frame as if its picture, and with it its boxes, were divided by this number."""
    return frame.scaled_to((round(frame.width / parts), round(frame.height / parts)))


def video_info(path: str, frames: int) -> SourceInfo:
    """What ``probe`` would return for a video of ``make_frame``'s frames."""
    return SourceInfo(path, SourceKind.VIDEO, "h264", 640, 480, frames, frames / 25, 25.0, ())


def write_session(
    path: Path,
    sources: Mapping[str, int],
    *,
    boxes: int = 2,
    cancelled: bool = False,
    apart: float = 0,
    facts: Mapping[str, str] | None = None,
) -> Path:
    """Write a session of these sources. sources: the number of frames by path. apart: see ``make_frame``. Returns the database's path."""
    writer = SessionWriter(path, LABELS, {"model": "tiny"} | dict(facts or {}))
    for number, (source, count) in enumerate(sources.items()):
        writer.add_source(number, source, video_info(source, count))
        writer.add_frames(make_frame(number, index, boxes, apart=apart) for index in range(count))
        writer.finish_source(number, source, Ledger(count, count), 1.5, cancelled=cancelled)
    writer.close(complete=not cancelled)
    return path


def write_one(form: str, reader: SessionReader, source: StoredSource, path: Path, progress: Progress = lambda _: None) -> None:
    """Write the first file of a format for one source."""
    EXPORTERS[form].outputs[0].write(Export(reader, [source], file_stems([source.path]), path, path.parent, DEFAULTS, progress))


def same_frame(one: FrameResult, other: FrameResult) -> bool:
    """Whether two frames are equal, to the last bit."""
    if (one.ref, one.device, one.width, one.height, one.failure) != (other.ref, other.device, other.width, other.height, other.failure):
        return False
    if one.detections is None or other.detections is None:
        return one.detections is other.detections
    pairs = [(getattr(one.detections, name), getattr(other.detections, name)) for name in ("boxes", "scores", "class_ids")]
    return all(np.array_equal(left, right) and left.dtype == right.dtype for left, right in pairs)
