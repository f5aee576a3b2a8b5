"""The next moment at which objects appear, in stored results."""

from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.app.window.queue.item import Results
from framefleet.app.window.timeline.seeking import next_appearance
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.store import LABELS, make_frame, video_info


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """A run of the frames 50 to 99, of 0.04 s each. Only the frames 60 and 90 have an object."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 100))
        writer.add_frames(make_frame(0, index, boxes=int(index in (60, 90))) for index in range(50, 100))
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert reader.indices(0).tolist() == [*range(50, 100)]
    return Results(tmp_path / "s.sqlite", 0, LABELS)


@pytest.mark.parametrize(("pts", "forward", "found"), [(0.0, True, 2.4), (2.4, True, 3.6), (3.6, True, None), (3.6, False, 2.4)])
def test_objects_appear_in_a_part_of_a_video(results: Results, pts: float, forward: bool, found: float | None) -> None:
    assert next_appearance(results, ViewFilter(0.25), pts, forward) == (None if found is None else pytest.approx(found))


def test_each_start_of_a_shown_class_is_found_while_another_class_is_there(tmp_path: Path) -> None:
    """Frames have an object of class 0 throughout, and one of class 1 in frames 30 to 39 and 70 to 79."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 100))
        writer.add_frames(make_frame(0, index, boxes=1 + (index // 10 in (3, 7))) for index in range(100))
    results = Results(tmp_path / "s.sqlite", 0, LABELS)
    found = [next_appearance(results, ViewFilter(0.25), pts, forward=True) for pts in (-1.0, 0.0, 1.2, 2.8)]
    assert found == [0.0, pytest.approx(1.2), pytest.approx(2.8), None]
    assert next_appearance(results, ViewFilter(0.25), 2.8, forward=False) == pytest.approx(1.2)
    assert next_appearance(results, ViewFilter(0.25, frozenset({1})), 1.2, forward=False) is None
