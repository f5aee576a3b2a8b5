"""What each possible reading of an ONNX file finds in a frame, for a person who has to choose one. It runs in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from framefleet.engine.backends.create import create_backend
from framefleet.engine.detection.frame_format import Planes
from framefleet.engine.model.load import load_model
from framefleet.engine.model.onnx.network import Reading
from framefleet.engine.notices import DeviceError, FramefleetError, Notice
from framefleet.engine.processes import child
from framefleet.engine.processes.outcome import Failed
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import Detections, DeviceId, Image

FRAMES = 4
"""Most frames that are tried: the one with the most boxes is shown."""

_CLASSES = 1_000
"""Number of classes where neither the file nor the user says it."""


@dataclass(frozen=True, eq=False)
class ReadingPreview:
    """What one reading finds.

    Parameters
    ----------
    reading : Reading
        The reading.
    found : Detections
        The boxes in the frame, in its pixels.
    labels : tuple of str
        One per class.
    problem : Notice or None
        Why the reading finds nothing; None if it works.
    """

    reading: Reading
    found: Detections
    labels: tuple[str, ...]
    problem: Notice | None = None


def preview_readings(files: ModelFiles, readings: Sequence[Reading], source: Path) -> tuple[Image, list[ReadingPreview]]:
    """Detect in a frame with each reading, in another process.

    Parameters
    ----------
    files : ModelFiles
        The ONNX file.
    readings : sequence of Reading
        The readings to try.
    source : Path
        A video or picture.

    Returns
    -------
    tuple of ndarray and list of ReadingPreview
        The frame, uint8 (height, width, 3), and a preview for each reading.

    Raises
    ------
    DeviceError
        The source has no frame that can be decoded, or the process ended.
    """
    process = child.ChildProcess("readings", _main, files, readings, source, words=Notice("bench.tries_readings"), quiet=True)
    answer: tuple[Image, list[ReadingPreview]] | None = None
    try:
        for message in process.messages():
            answer = message
    finally:
        outcome = process.end()
    if answer is None:
        raise DeviceError(outcome.reason)
    return answer


def _main(connection: Connection[Any, Any], files: ModelFiles, readings: Sequence[Reading], source: Path) -> None:
    try:
        connection.send(_preview(files, readings, source))
    except FramefleetError as problem:
        connection.send(Failed(problem.notice, retry=False))


def _preview(files: ModelFiles, readings: Sequence[Reading], source: Path) -> tuple[Image, list[ReadingPreview]]:
    from framefleet.engine.media.picture import picture_of
    from framefleet.engine.media.probe import examples

    decoded = next(iter(examples([source], FRAMES)), [])
    frames = [picture_of(frame) if isinstance(frame, Planes) else frame for frame in decoded]
    if not frames:
        raise DeviceError(Notice("bench.no_frame", path=source))
    found = [_with_reading(replace(files, reading=reading.value), reading, frames) for reading in readings]
    best = int(np.argmax([max(len(previews[number].found) for previews in found) for number in range(len(frames))]))
    return frames[best], [previews[best] for previews in found]


def _with_reading(files: ModelFiles, reading: Reading, frames: Sequence[Image]) -> list[ReadingPreview]:
    with tempfile.NamedTemporaryFile("w", suffix=".names") as numbered:
        try:
            try:
                network = load_model(files)
            except FramefleetError as problem:
                if problem.notice.code != "model.onnx_labels_needed":
                    raise
                numbered.write("\n".join(f"class {number}" for number in range(_CLASSES)))
                numbered.flush()
                network = load_model(replace(files, labels=Path(numbered.name)))
            with create_backend(DeviceId("cpu", "0")) as backend:
                backend.activate(network, EngineSettings(precision=Precision.FP32))
                return [ReadingPreview(reading, backend.infer([frame])[0], network.labels) for frame in frames]
        except FramefleetError as problem:
            return [ReadingPreview(reading, Detections(), (), problem.notice)] * len(frames)
