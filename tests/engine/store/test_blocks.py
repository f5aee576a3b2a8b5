"""Blocks of frames hold the stored values, and reading them can be stopped."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framefleet.engine.notices import ExportError
from framefleet.engine.store import reader as reader_module
from framefleet.engine.store.reader import MANY_FRAMES
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import track_session
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


def _read(reader: SessionReader, sources: range) -> list[tuple[object, ...]]:
    """All that the blocks of sources hold."""
    columns = ("frame", "places", "class_ids", "tracks", "confidences", "stored")
    return [
        (source, block.frames, *(getattr(block, column).tolist() for column in columns))
        for source in sources
        for block in reader.blocks(source)
    ]


LENGTHS = [3, 1, 0, 7, MANY_FRAMES + 1, 2, 499, 4, *[25] * 42]
"""Frames of sources, short and long ones."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of these sources, with tracks."""
    path = tmp_path_factory.mktemp("many") / "s.sqlite"
    write_session(path, {f"{number}.mp4": length for number, length in enumerate(LENGTHS)}, boxes=3)
    track_session(path)
    return path


@pytest.mark.parametrize(("confidence", "classes"), [(0.0, None), (0.6, frozenset({1}))])
def test_short_sources_read_together_have_the_same_frames(many: Path, confidence: float, classes: frozenset[int] | None) -> None:
    every = range(len(LENGTHS))
    with SessionReader(many, confidence, classes) as reader:
        alone = _read(reader, every)
        with reader.steady():
            assert _read(reader, every) == alone
            assert _read(reader, every[::-1]) == alone[::-1]


def test_short_sources_read_together_can_be_read_without_the_filter(many: Path) -> None:
    every = range(len(LENGTHS))
    with SessionReader(many, 0.6, frozenset({1})) as reader, SessionReader(many) as other, reader.steady(), reader.unfiltered():
        assert _read(reader, every) == _read(other, every)


def test_many_short_sources_take_few_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_session(tmp_path / "s.sqlite", {f"{number}.mp4": 4 for number in range(500)})
    connect, queries = sqlite3.connect, []

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(queries.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    with SessionReader(path) as reader, reader.steady():
        queries.clear()
        assert len(_read(reader, range(500))) == 500
    assert len(queries) <= 10


def test_a_wrong_value_among_short_sources_names_its_source(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.sqlite", {f"{number}.mp4": 4 for number in range(9)})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE frames SET width = -5 WHERE source = 6 AND frame = 2")
    with SessionReader(path) as reader, reader.steady(), pytest.raises(ExportError, match="source 6, frame 2"):
        _read(reader, range(9))
