"""The demo: an embedded model detects objects in an embedded clip whose true objects are known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framefleet.engine.evaluation.accuracy import FLOOR, Accuracy, read_truth, score
from framefleet.engine.settings import ModelFiles, Precision, RunSettings
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import Detections
from framefleet.resources import DEMO

CONFIDENCE = 0.25
"""The least confidence shown. Detection keeps weaker detections too, since average precision counts them."""


def demo_settings(others: Mapping[str, Any] | None = None) -> RunSettings:
    """The settings for a run of the demo's model. others: other settings by name.

    Without a precision, the demo uses fp32: trials would take longer than the faster precision saves in its short clip.
    """
    return RunSettings.of(
        ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels), {"precision": Precision.FP32, **(others or {}), "confidence": FLOOR}
    )


def demo_labels() -> tuple[str, ...]:
    """The labels of the demo's model."""
    return tuple(DEMO.labels.read_text("utf-8").split())


def demo_accuracy(database: Path, source: int) -> Accuracy:
    """Compare a session's detections with the true objects of the clip. Takes some seconds. source: the clip's number in the session.

    Raises
    ------
    ExportError
        The session cannot be read.
    SourceError
        The truth cannot be read.
    """
    with SessionReader(database) as reader:
        found = [frame.detections or Detections() for frame in reader.frames(source)]
    return score(read_truth(DEMO.truth), found)
