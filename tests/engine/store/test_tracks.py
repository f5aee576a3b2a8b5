import pytest

from framefleet.engine.notices import ExportError, UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.corrections import Corrections, OneDetection, OneTrack
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import has_current_tracks, track_session, why_untracked
from tests.support.store import LABELS, make_frame, resized, video_info, write_session


def test_detections_get_tracks_and_a_second_call_replaces_them(tmp_path):
    """Two objects move by a pixel a frame in each of two videos."""
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 30, "b.mp4": 20})
    with SessionReader(path) as reader:
        assert all(frame.detections.tracks is None for frame in reader.frames(0))
    assert not has_current_tracks(path, 1)
    for _ in range(2):
        assert track_session(path) == [
            ("a.mp4", 1, None),
            ("b.mp4", 1, None),
        ]  # the two boxes of a frame overlap: they show one object
        with SessionReader(path) as reader:
            assert [frame.detections.tracks.tolist() for frame in reader.frames(1)] == [[1, -1]] * 20
            assert reader.tracks(0) == [(1, 0, 0, 29, 30)]
        assert has_current_tracks(path, 1)


def test_filtered_detections_keep_their_tracks(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 5}, boxes=3)
    track_session(path)
    with SessionReader(path, confidence=0.85) as reader:
        assert [frame.detections.tracks.tolist() for frame in reader.frames(0)] == [[1]] * 5


def test_a_file_that_is_no_session_is_refused(tmp_path):
    (tmp_path / "s.sqlite").write_text("text")
    with pytest.raises(ExportError, match="not a session database"):
        track_session(tmp_path / "s.sqlite")


def test_tracks_joined_by_hand_are_not_replaced_without_being_asked(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 10}, boxes=1)
    track_session(path)
    with Corrections(path) as corrections:
        corrections.confirm(OneTrack(0, 1))
        track_session(path)
        corrections.split(0, 1, 5)
    with pytest.raises(UsageError, match="--drop-corrections"):
        track_session(path)
    track_session(path, drop_corrections=True)
    with SessionReader(path) as reader:
        assert reader.tracks(0) == [(1, 0, 0, 9, 10)]
        assert all(frame.detections.verified.all() for frame in reader.frames(0)), "confirmations stay"


def test_drawn_boxes_stay_without_the_edits_that_drew_them(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 10}, boxes=1)
    track_session(path)
    with Corrections(path) as corrections:
        corrections.add(0, 3, 2, (100, 100, 150, 150))
        corrections.move(OneDetection(0, 4, 0), (200, 200, 250, 250))
        corrections.split(0, 1, 5)
    track_session(path, drop_corrections=True)
    with Corrections(path) as corrections:
        corrections.confirm(OneDetection(0, 8, 0))
        corrections.undo()
        corrections.move(OneDetection(0, 4, 0), (300, 300, 350, 350))
        corrections.undo()
    with SessionReader(path) as reader:
        found = {frame.ref.index: frame.detections.boxes.tolist() for frame in reader.frames(0)}
    assert [100, 100, 150, 150] in found[3]
    assert found[4] == [[200, 200, 250, 250]]


def test_deleted_tracks_need_no_reason(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 20}, boxes=1)
    track_session(path)
    with Corrections(path) as corrections:
        corrections.delete(OneTrack(0, 1))
    with SessionReader(path) as reader:
        assert (reader.tracks(0), why_untracked(reader, 0)) == ([], None)


def test_tracks_go_on_where_the_size_of_the_pictures_changes(tmp_path):
    """The pictures become half as large, and larger again, as in an adaptive stream."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.ts", video_info("a.ts", 60))
        frames = [resized(make_frame(0, index, boxes=1), 2 if index % 20 >= 10 else 1) for index in range(60)]
        writer.add_frames(frames)
        writer.finish_source(0, "a.ts", Ledger(60, 60), 1.0)
    assert track_session(tmp_path / "s.sqlite") == [("a.ts", 1, None)]
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert reader.tracks(0) == [(1, 0, 0, 59, 60)]
        assert [frame.detections.boxes.tolist() for frame in reader.frames(0)] == [frame.detections.boxes.tolist() for frame in frames]


def test_a_change_of_the_size_is_no_movement(tmp_path):
    """The size changes with every fourth frame: if it counted as a movement, objects would be too fast to be followed."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.ts", video_info("a.ts", 60))
        writer.add_frames(resized(make_frame(0, index, boxes=3, apart=200), 2 if index % 4 >= 2 else 1) for index in range(60))
        writer.finish_source(0, "a.ts", Ledger(60, 60), 1.0)
    ((_, tracks, why),) = track_session(tmp_path / "s.sqlite")
    assert (tracks, why) == (2, None)
