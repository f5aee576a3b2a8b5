from dataclasses import replace

import pytest

from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.appearances import By, read_appearances
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from tests.support.store import LABELS, make_frame, video_info, write_session


def test_tracks_appear_if_there_are_any_and_classes_otherwise(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 50, "empty.mp4": 0})
    with SessionReader(path) as reader:
        assert [(row["class_id"], row["track"], row["last"]) for row in read_appearances(reader, 0)] == [(0, -1, 49), (1, -1, 49)]
        assert len(read_appearances(reader, 1)) == 0
    track_session(path)
    with SessionReader(path) as reader:
        assert [(row["track"], row["end"], row["confidence"]) for row in read_appearances(reader, 0)] == [(1, 50 / 25, 0.9)]
        assert len(read_appearances(reader, 0, By.CLASS)) == 2


def test_only_detections_that_pass_the_filter_count(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 50})
    with SessionReader(path, confidence=0.85) as reader:
        assert [row["class_id"] for row in read_appearances(reader, 0)] == [0]
    with SessionReader(path, classes=frozenset({1})) as reader:
        assert [row["class_id"] for row in read_appearances(reader, 0)] == [1]


def test_an_appearance_lasts_until_its_last_frame_ends(tmp_path):
    """Frames at 0, 0.1, 0.2, 0.5 and 0.6 s; the object is in the first one, in the third one, and in the last two."""
    times = (0.0, 0.1, 0.2, 0.5, 0.6)
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", len(times)))
        frames = (make_frame(0, index, boxes=int(index not in (1, 3))) for index in range(len(times)))
        writer.add_frames(replace(frame, ref=frame.ref._replace(pts=pts)) for frame, pts in zip(frames, times, strict=True))
    with SessionReader(tmp_path / "s.sqlite") as reader:
        found = read_appearances(reader, 0, gap=0.05)
        assert found["start"].tolist() == [0.0, 0.2, 0.6]
        assert found["end"].tolist() == pytest.approx([0.1, 0.5, 0.75])


def test_an_appearance_ends_no_later_than_the_video(tmp_path):
    """Frames at 0, 3, 6 and 9 s of a video of 10 s: on average, a frame is shown for 3 s."""
    info = replace(video_info("a.mp4", 4), duration=10.0)
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", info)
        frames = (make_frame(0, index, boxes=1) for index in range(4))
        writer.add_frames(replace(frame, ref=frame.ref._replace(pts=3.0 * frame.ref.index)) for frame in frames)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert read_appearances(reader, 0, gap=5)["end"].tolist() == [10.0]


def test_the_only_frame_lasts_as_long_as_the_rate_says(tmp_path):
    with SessionReader(write_session(tmp_path / "s.sqlite", {"a.mp4": 1})) as reader:
        assert read_appearances(reader, 0)["end"].tolist() == [1 / 25] * 2


def test_a_class_appears_in_each_picture_of_a_folder_for_itself(tmp_path):
    """Four pictures; the third one has no object, the last one has two classes."""
    info = replace(video_info("pictures", 4), kind=SourceKind.IMAGES, duration=None, rate=None)
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "pictures", info)
        frames = (make_frame(0, index, boxes=count) for index, count in enumerate((1, 1, 0, 2)))
        writer.add_frames(replace(frame, ref=frame.ref._replace(pts=float(frame.ref.index))) for frame in frames)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        found = read_appearances(reader, 0)
    assert list(zip(found["first"], found["class_id"], found["end"], strict=True)) == [(0, 0, 1), (1, 0, 2), (3, 0, 4), (3, 1, 4)]
