"""Previews of readings: each one on the same frame, and why one does not work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.bench.readings import preview_readings
from framefleet.engine.model.onnx.network import Reading
from framefleet.engine.notices import DeviceError
from framefleet.engine.settings import ModelFiles
from tests.support.media import make_video
from tests.support.onnx_models import write_model

BOTH = [Reading.END2END, Reading.RTDETR]


@pytest.fixture
def files(tmp_path: Path) -> ModelFiles:
    """One row: corners in pixels, or centre and size as fractions with scores of two classes."""
    objects = np.zeros((1, 300, 6), np.float32)
    objects[0, 0] = [8, 16, 40, 48, 0.9, 0.1]
    objects[0, 1] = [0.5, 0.5, 0.25, 0.5, 0.1, 0.8]
    return write_model(tmp_path / "a.onnx", {"o": objects})


def test_both_readings_on_one_frame(files: ModelFiles, tmp_path: Path) -> None:
    frame, (sorted_boxes, queries) = preview_readings(files, BOTH, make_video(tmp_path / "a.mp4", 4, (64, 64)))
    assert frame.shape == (64, 64, 3)
    np.testing.assert_allclose(sorted_boxes.found.boxes[0], [8, 16, 40, 48], atol=1e-3)
    assert sorted_boxes.labels[:2] == ("class 0", "class 1"), "the file has none, and the shape does not tell their number"
    np.testing.assert_allclose(queries.found.boxes[-1], [24, 16, 40, 48], atol=1e-3)
    assert queries.labels == ("class 0", "class 1")


def test_a_reading_that_does_not_work_says_why(files: ModelFiles, tmp_path: Path) -> None:
    (tmp_path / "three.names").write_text("a\nb\nc\n")
    labelled = replace(files, labels=tmp_path / "three.names")
    _, (sorted_boxes, queries) = preview_readings(labelled, BOTH, make_video(tmp_path / "a.mp4", 4, (64, 64)))
    assert sorted_boxes.problem is None
    assert queries.problem is not None
    assert queries.problem.code == "model.wrong_labels"


def test_a_source_without_a_frame(files: ModelFiles, tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_text("no video")
    with pytest.raises(DeviceError, match="has no frame to try readings on"):
        preview_readings(files, BOTH, tmp_path / "a.mp4")
