from engine.store.objects.appearances import By, read_appearances
from engine.store.session import SessionReader
from engine.store.tracks import track_session
from engine.tracking.follow import TrackerName
from tests.support.store import write_session


def test_tracks_appear_if_there_are_any_and_classes_otherwise(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 50, "empty.mp4": 0})
    with SessionReader(path) as reader:
        assert [(row["class_id"], row["track"], row["last"]) for row in read_appearances(reader, 0)] == [(0, -1, 49), (1, -1, 49)]
        assert len(read_appearances(reader, 1)) == 0
    track_session(path, TrackerName.BYTETRACK)
    with SessionReader(path) as reader:
        assert [(row["track"], row["end"], row["confidence"]) for row in read_appearances(reader, 0)] == [(1, 49 / 25, 0.9)]
        assert len(read_appearances(reader, 0, By.CLASS)) == 2


def test_only_detections_that_pass_the_filter_count(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 50})
    with SessionReader(path, confidence=0.85) as reader:
        assert [row["class_id"] for row in read_appearances(reader, 0)] == [0]
    with SessionReader(path, classes=frozenset({1})) as reader:
        assert [row["class_id"] for row in read_appearances(reader, 0)] == [1]
