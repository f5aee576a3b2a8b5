"""Counts while a run writes its session."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from framefleet.engine.store.zones import LiveCounts, read_counts, read_heat
from framefleet.engine.types import Detections, FrameRef, FrameResult
from framefleet.engine.zones.shapes import Line, Zone, ZoneSet
from tests.support.store import LABELS, make_frame, resized, video_info

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


def test_counts_and_heat_map_do_not_depend_on_the_size_of_the_pictures(tmp_path):
    """The pictures become half as large while the object lies on the line."""
    found = []
    for name, parts in (("one", 1), ("other", 2)):
        path = tmp_path / f"{name}.sqlite"
        with SessionWriter(path, LABELS, {}) as writer:
            writer.add_source(0, "a.ts", video_info("a.ts", 60))
            writer.add_frames(resized(make_frame(0, index, apart=300), 1 if index < 20 else parts) for index in range(60))
        live = LiveCounts(path, 0, ZONES).update(60)
        track_session(path)
        with SessionReader(path) as reader:
            source = reader.source(0)
            found.append((live.as_json(), read_counts(reader, source, ZONES).as_json(), read_heat(reader, source).cells.tolist()))
    assert found[0] == found[1]
    assert found[0][0] == found[0][1]


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


def test_a_long_run_keeps_no_more_than_a_short_one_and_counts_the_same(tmp_path, monkeypatch):
    """A picture each two seconds for 40 minutes: some objects wait in the zone for minutes, the others come, cross the line and go."""
    path = tmp_path / "s.sqlite"
    random = np.random.default_rng(36)
    begins, speeds = np.cumsum(random.uniform(5, 60, 150)), random.choice([0.05, 2.0, 3.0], 150)
    seconds = 2400

    def frame(index: int) -> FrameResult:
        second = 2 * index
        moving = (begins <= second) & (5 + speeds * (second - begins) < 60)
        x, y = 5 + speeds * (second - begins), 30 + 80 * (np.arange(150) % 4)
        corners = np.stack((x - 15, y - 30, x + 15, y), 1)[moving].astype(np.float32)
        found = Detections(corners, np.full(len(corners), 0.9, np.float32), np.flatnonzero(moving).astype(np.int32) % 4 % 3)
        return replace(make_frame(0, index), ref=FrameRef(0, index, float(second)), found=found)

    kept, counted = [], []
    gate, yard = ZONES.shapes
    zones = replace(ZONES, shapes=(gate.moved_to([(25, 0), (25, 400)]), yard.moved_to([(10, 0), (40, 0), (40, 400), (10, 400)])))
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", seconds // 2))
        live: LiveCounts | None = None
        for first in range(0, seconds // 2, 150):
            writer.add_frames(frame(index) for index in range(first, first + 150))
            writer.commit()
            live = live or LiveCounts(path, 0, zones)
            late = live.update(60)
            kept.append(live.kept)
            counted.append(late.crossed(0, forward=False))
    monkeypatch.setattr("framefleet.engine.store.zones.SETTLE_SECONDS", 1e9)
    forgets_nothing = LiveCounts(path, 0, zones)
    once = forgets_nothing.update(60)
    assert counted[-1] > 30
    assert counted == sorted(counted)
    assert np.array_equal(late.crossings, once.crossings)
    assert np.array_equal(np.sort(late.visits, order=["begin", "track"]), np.sort(once.visits, order=["begin", "track"]))
    assert late.as_json() == once.as_json()
    assert max(kept) < forgets_nothing.kept / 5
    assert max(kept[4:]) <= 1.5 * max(kept[:4])
    people, weak = live.update(60, classes=frozenset({0})), live.update(60, confidence=0.95)
    assert 0 < people.crossed(0, forward=False) < counted[-1]
    assert (len(weak.crossings), len(weak.visits)) == (0, 0)
