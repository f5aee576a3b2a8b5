"""Counts while a run writes its session."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from framefleet.engine.store.zones import LiveCounts, read_counts
from framefleet.engine.zones.shapes import Line, Zone, ZoneSet
from tests.support.store import LABELS, make_frame, video_info

ZONES = ZoneSet((640, 480), (Line("gate", (25, 0), (25, 100)), Zone("yard", ((10, 0), (30, 0), (30, 90), (10, 90)))))


def test_counts_grow_with_the_run_and_end_as_those_of_the_stored_tracks(tmp_path):
    path = tmp_path / "s.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 60))
        writer.add_frames(make_frame(0, index) for index in range(15))
        writer.commit()
        live = LiveCounts(path, 0, ZONES)
        early = live.update(60)
        assert (early.crossed(0, forward=False), early.visited(1), live.time) == (0, 1, 14 / 25)
        writer.add_frames(make_frame(0, index) for index in range(15, 60))
        writer.commit()
        late = live.update(60)
    track_session(path)
    with SessionReader(path) as reader:
        stored = read_counts(reader, reader.sources()[0], ZONES)
    assert late.crossed(0, forward=False) == stored.crossed(0, forward=False) == 1
    assert late.as_json() == stored.as_json()


@pytest.mark.parametrize("tracker", ["none", "bytetrack"])
def test_an_object_that_gets_weak_is_followed(tmp_path, tracker):
    """The object is weak when it crosses the line. A run without a tracker has the same counts."""
    path = tmp_path / "s.sqlite"
    with SessionWriter(path, LABELS, {"track": tracker}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 40))
        for index in range(27):
            frame = make_frame(0, index, boxes=1)
            weak = replace(frame.detections, scores=np.full(1, 0.9 if index < 18 else 0.3, np.float32))
            writer.add_frames([replace(frame, found=weak)])
    assert LiveCounts(path, 0, ZONES).update(60).crossed(0, forward=False) == 1


def test_only_the_chosen_tracks_count(tmp_path):
    """The only object crosses the line; its highest confidence is 0.9, its class 0."""
    path = tmp_path / "s.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 40))
        writer.add_frames(make_frame(0, index, boxes=1) for index in range(40))
    live = LiveCounts(path, 0, ZONES)
    for confidence, classes, crossed in ((0.9, None, 1), (0.91, None, 0), (0.0, {1}, 0), (0.0, {0, 1}, 1)):
        assert live.update(60, confidence, classes and frozenset(classes)).crossed(0, forward=False) == crossed


def test_a_short_time_is_continued_by_the_next_call(tmp_path):
    path = tmp_path / "s.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 200))
        writer.add_frames(make_frame(0, index) for index in range(200))
    live = LiveCounts(path, 0, ZONES)
    live.update(0)
    assert live.time == 49 / 25
    for _ in range(4):
        counts = live.update(0)
    assert (live.time, counts.crossed(0, forward=False)) == (199 / 25, 1)
