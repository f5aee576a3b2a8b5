"""Blocks of frames are read fast, and can be stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.store import blocks
from framefleet.engine.store.blocks import read_blocks
from framefleet.engine.store.session import SessionReader
from tests.support.store import write_session


def test_sqlite_returns_many_detections_at_once(tmp_path: Path) -> None:
    """With a row for each, other threads would wait too often for Python's lock."""
    rows: list[object] = []
    with SessionReader(write_session(tmp_path / "s.sqlite", {"a.mp4": 20}, boxes=9)) as reader:
        reader._connection.row_factory = lambda _, row: rows.append(row) or row
        (block,) = read_blocks(reader, 0)
    assert len(block.frame) == 180
    assert len(rows) < 50


def test_values_are_those_of_the_frames(tmp_path: Path) -> None:
    with SessionReader(write_session(tmp_path / "s.sqlite", {"a.mp4": 5}, boxes=3)) as reader:
        table, frames = reader.detection_table(0, 0, 4), [*reader.frames(0)]
        (block,) = read_blocks(reader, 0)
    assert table.frames.tolist() == [index for index in range(5) for _ in range(3)]
    found = [frame.detections for frame in frames]
    for name, column in (("scores", table.scores), ("boxes", table.boxes), ("class_ids", table.class_ids)):
        assert np.array_equal(np.concatenate([getattr(each, name) for each in found]), column)  # to the last bit
    assert np.abs(block.corners - table.boxes).max() < 0.011  # both are rounded


def test_reading_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_FRAMES", 5)
    with SessionReader(write_session(tmp_path / "s.sqlite", {"a.mp4": 20})) as reader:
        read = []
        for block in read_blocks(reader, 0):
            read += [frame.number for frame in block.frames]
            if len(read) == 10:
                reader.stop.set()
    assert read == [*range(10)]
