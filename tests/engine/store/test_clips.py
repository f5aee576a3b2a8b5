"""Planning clips."""

from __future__ import annotations

import pytest

from framefleet.engine.store.appearances import By
from framefleet.engine.store.clips import ClipPlan, plan_clips
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from tests.support.store import LABELS, make_frame, video_info, write_session


@pytest.fixture
def plan(tmp_path):
    """The first clip that is planned for two seconds in which two classes are seen all the time."""

    def planned(padding: float) -> ClipPlan:
        with SessionReader(write_session(tmp_path / f"{padding}.sqlite", {"a.mp4": 50})) as reader:
            (found,) = plan_clips(reader, reader.sources()[0], By.CLASS, padding)
            return found

    return planned


@pytest.mark.parametrize("padding", [0.0, 10.0])
def test_a_clip_stays_within_the_video(plan, padding):
    assert plan(padding) == ClipPlan(0.0, 2.0, "person+bicycle", (0.0, 0.0))


def test_clips_by_class_are_joined_and_end_with_the_last_appearance(tmp_path):
    """A bicycle is there from 0.4 to 0.8 s, while the person stays to the end."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 50))
        writer.add_frames(make_frame(0, index, 2 if 10 <= index < 20 else 1) for index in range(50))
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert plan_clips(reader, reader.sources()[0], By.CLASS, 0.0) == [ClipPlan(0.0, 2.0, "person+bicycle", (0.0, 0.4))]


def test_a_clip_of_sampled_frames_lasts_until_the_next_one(tmp_path):
    """Of five seconds, a frame is detected in every two, and the person is in all of them."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 125))
        writer.add_frames(make_frame(0, index, 1) for index in (0, 50, 100))
    with SessionReader(tmp_path / "s.sqlite") as reader:
        (found,) = plan_clips(reader, reader.sources()[0], By.CLASS, 2.0)
    assert (found.start, found.end) == (0.0, 5.0)


def test_each_track_has_its_own_clip(tmp_path):
    """Of three objects, two show the same place."""
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 50}, boxes=3, apart=100)
    track_session(path)
    with SessionReader(path) as reader:
        plans = plan_clips(reader, reader.sources()[0], By.TRACK, 0.0)
    assert [(plan.start, plan.end, plan.name) for plan in plans] == [(0.0, 2.0, "person-1"), (0.0, 2.0, "car-2")]
