"""Blocks of frames hold the stored values, and reading them can be stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.store import reader as reader_module
from framefleet.engine.store.session import SessionReader
from tests.support.store import write_session


def test_values_are_those_of_the_frames(tmp_path: Path) -> None:
    with SessionReader(write_session(tmp_path / "s.sqlite", {"a.mp4": 5}, boxes=3)) as reader:
        (block,), frames = reader.blocks(0), [*reader.frames(0)]
    assert block.numbers[block.frame].tolist() == [index for index in range(5) for _ in range(3)]
    assert block.places.tolist() == [0, 1, 2] * 5
    found = [frame.detections for frame in frames]
    for name, column in (("scores", block.confidences), ("boxes", block.stored), ("class_ids", block.class_ids)):
        assert np.array_equal(np.concatenate([getattr(each, name) for each in found]), column)  # to the last bit
    assert np.abs(block.corners - block.stored).max() < 0.011  # both are rounded


def test_reading_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "BLOCK_FRAMES", 5)
    with SessionReader(write_session(tmp_path / "s.sqlite", {"a.mp4": 20})) as reader:
        read = []
        for block in reader.blocks(0):
            read += [frame.number for frame in block.frames]
            if len(read) == 10:
                reader.stop.set()
    assert read == [*range(10)]
