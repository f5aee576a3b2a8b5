import pytest

from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.corrections import Corrections, OneDetection, OneTrack, edits
from framefleet.engine.store.merge import merge_sessions
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from tests.support.store import LABELS, make_frame, video_info, write_session

# a frame has the boxes person 0.9, bicycle 0.8, car 0.7; persons are track 1, cars track 2


@pytest.fixture
def path(tmp_path):
    found = write_session(tmp_path / "s.sqlite", {"a.mp4": 20, "b.mp4": 5}, boxes=3, apart=8)
    track_session(found)
    return found


def seen(path, source=0, **options):
    """Class ids, tracks and verified of each frame."""
    with SessionReader(path, **options) as reader:
        found = [frame.detections for frame in reader.frames(source)]
    return [
        (
            each.class_ids.tolist(),
            None if each.tracks is None else each.tracks.tolist(),
            None if each.verified is None else [*each.verified],
        )
        for each in found
    ]


PLAIN = ([0, 1, 2], [1, -1, 2], None)


def test_a_detection_is_confirmed_relabelled_and_deleted_and_the_model_s_results_stay(path):
    with Corrections(path) as corrections:
        corrections.confirm(OneDetection(0, 3, 0))
        corrections.relabel(OneDetection(0, 3, 1), 2)
        corrections.delete(OneDetection(0, 3, 2))
    assert seen(path)[3] == ([0, 2], [1, -1], [True, True])
    assert seen(path)[4] == ([0, 1, 2], [1, -1, 2], [False] * 3)
    assert seen(path, corrected=False) == [PLAIN] * 20
    with SessionReader(path) as reader:
        assert reader.places(0, 3) == [0, 1]
        assert next(reader.blocks(0, first=3, last=3)).class_ids.tolist() == [0, 2]
        assert reader.class_ids() == [0, 1, 2]


def test_filters_see_what_was_corrected(path):
    with Corrections(path) as corrections:
        corrections.relabel(OneDetection(0, 3, 0), 2)
    assert seen(path, classes=frozenset({2}))[3][0] == [2, 2]
    with SessionReader(path, classes=frozenset({0})) as reader:
        assert next(reader.blocks(0, first=3, last=3)).class_ids.tolist() == []
        assert reader.places(0, 4) == [0]


def test_a_track_is_split_relabelled_and_joined_again(path):
    with Corrections(path) as corrections:
        assert corrections.split(0, 1, 12) == 3
        corrections.relabel(OneTrack(0, 3), 2)
    with SessionReader(path) as reader:
        assert reader.tracks(0) == [(1, 0, 0, 11, 12), (2, 2, 0, 19, 20), (3, 2, 12, 19, 8)]
        assert reader.tracks(1) == [(1, 0, 0, 4, 5), (2, 2, 0, 4, 5)], "another source keeps its tracks"
    with Corrections(path) as corrections:
        corrections.join(0, [1, 3])
    with SessionReader(path) as reader:
        assert reader.tracks(0) == [(1, 0, 0, 19, 20), (2, 2, 0, 19, 20)]
        assert [frame.detections.tracks[0] for frame in reader.frames(0)] == [1] * 20


def test_each_split_makes_a_new_number_and_confidence_decides_the_class_of_a_track(path):
    with Corrections(path) as corrections:
        assert corrections.split(0, 1, 9) == 3
        assert corrections.split(0, 2, 10) == 4
        corrections.join(0, [1, 4])  # 9 times a person of 0.9, 10 times a car of 0.7
    with SessionReader(path) as reader:
        assert reader.tracks(0)[0] == (1, 0, 0, 19, 19)


def test_each_edit_can_be_undone(path):
    before = seen(path)
    with Corrections(path) as corrections:
        corrections.split(0, 1, 12)
        corrections.relabel(OneTrack(0, 3), 1)
        once = seen(path)
        corrections.relabel(OneDetection(0, 13, 0), 2)
        corrections.delete(OneTrack(0, 3))
        assert [str(edit.words) for edit in corrections.edits()][2:] == [
            "detection 0 (bicycle, 0.90) in frame 13 of a.mp4 labelled car",
            "track 3 of a.mp4 deleted",
        ]
        assert seen(path)[13][0] == [1, 2]
        assert str(corrections.undo().words) == "track 3 of a.mp4 deleted"
        assert seen(path)[13][0] == [2, 1, 2]
        corrections.undo()
        assert seen(path) == once
        corrections.undo()
        corrections.undo()
        assert corrections.undo() is None
    assert seen(path) == before


def test_each_undone_edit_can_be_made_again_until_there_is_a_new_one(path):
    states, said = [seen(path)], []
    with Corrections(path) as corrections:
        for edit in (
            lambda: corrections.split(0, 1, 12),
            lambda: corrections.relabel(OneTrack(0, 3), 1),
            lambda: corrections.delete(OneDetection(0, 13, 0)),
        ):
            edit()
            states.append(seen(path))
        said = [str(edit.words) for edit in corrections.edits()]
        assert corrections.redo() is None
        for _ in range(2):
            assert [str(corrections.undo().words) for _ in said] == said[::-1]
            assert (corrections.edits(), seen(path)) == ([], states[0])
            for words, state in zip(said, states[1:], strict=True):
                assert str(corrections.redo().words) == words
                assert seen(path) == state
        assert [str(edit.words) for edit in corrections.edits()] == said
        corrections.undo()
        corrections.undo()
        corrections.confirm(OneDetection(0, 0, 0))
        assert corrections.redo() is None
        assert str(corrections.undo().words) == "detection 0 (person, 0.90) in frame 0 of a.mp4 confirmed"
    assert seen(path) == states[1]
    with Corrections(path) as corrections:  # another process makes it again
        assert str(corrections.redo().words) == "detection 0 (person, 0.90) in frame 0 of a.mp4 confirmed"


def test_new_tracks_forget_what_was_undone(path):
    with Corrections(path) as corrections:
        corrections.split(0, 1, 12)
        corrections.undo()
    track_session(path)
    before = seen(path)
    with Corrections(path) as corrections:
        assert corrections.redo() is None
    assert seen(path) == before


def test_the_last_edit_differs_after_undo_and_redo(path):
    def last():
        with SessionReader(path) as reader:
            return reader.last_edit

    with Corrections(path) as corrections:
        corrections.confirm(OneDetection(0, 0, 0))
        once = last()
        corrections.confirm(OneDetection(0, 1, 0))
        twice = last()
        corrections.undo()
        assert last() == once != twice
        corrections.redo()
        assert last() == twice


def test_a_deleted_track_is_gone_from_everything(path):
    with Corrections(path) as corrections:
        corrections.delete(OneTrack(0, 1))
        with pytest.raises(UsageError, match=r"no track 1 of a\.mp4"):
            corrections.confirm(OneTrack(0, 1))
    with SessionReader(path) as reader:
        assert reader.tracks(0) == [(2, 2, 0, 19, 20)]
        assert reader.class_ids() == [0, 1, 2], "the other source has persons"


def test_what_does_not_exist_or_makes_no_sense_is_refused(path):
    with Corrections(path) as corrections:
        with pytest.raises(UsageError, match="no detection 7 in frame 3"):
            corrections.confirm(OneDetection(0, 3, 7))
        with pytest.raises(UsageError, match="no class 9"):
            corrections.relabel(OneTrack(0, 1), 9)
        with pytest.raises(UsageError, match="two or more"):
            corrections.join(0, [1, 1])
        with pytest.raises(UsageError, match="frames 0 to 19"):
            corrections.split(0, 1, 0)
        assert corrections.edits() == []


def test_tracks_that_are_seen_at_once_are_not_joined(path):
    with Corrections(path) as corrections, pytest.raises(UsageError, match="track 1 and track 2 are both in frame 0"):
        corrections.join(0, [1, 2])


def test_a_run_that_detects_again_forgets_the_corrections_of_these_frames_and_keeps_a_copy(path):
    with Corrections(path) as corrections:
        corrections.delete(OneDetection(0, 3, 0))
        corrections.delete(OneDetection(0, 15, 0))
    kept = path.with_name("s.previous.sqlite")
    with SessionWriter(path, LABELS, {"model": "tiny"}, go_on=False) as writer:
        assert [*map(str, writer.notes)] == [f"the earlier results are kept in {kept}"]
    assert seen(kept)[3][0] == [1, 2]
    with SessionReader(kept) as reader:
        assert reader.corrected


def test_going_on_keeps_the_corrections_of_the_frames_that_stay(tmp_path, monkeypatch):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 10}, cancelled=True)
    with Corrections(path) as corrections:
        corrections.delete(OneDetection(0, 3, 0))
        corrections.delete(OneDetection(0, 8, 0))
    monkeypatch.setattr("framefleet.engine.store.files.reasons_against", lambda *_: [])
    writer = SessionWriter(path, LABELS, {"model": "tiny"}, go_on=True)
    writer.go_on(0, 5)
    writer.add_frames(make_frame(0, index) for index in range(5, 10))
    writer.close(complete=False)
    assert [len(found[0]) for found in seen(path)] == [2, 2, 2, 1, 2, 2, 2, 2, 2, 2]
    assert [str(edit.words) for edit in edits(path)] == ["detection 0 (person, 0.90) in frame 3 of a.mp4 deleted"]
    assert [len(found[0]) for found in seen(tmp_path / "s.previous.sqlite")] == [2, 2, 2, 1, 2, 2, 2, 2, 1, 2]


def test_a_run_that_goes_on_forgets_which_tracks_were_split(path, monkeypatch):
    with Corrections(path) as corrections:
        corrections.split(0, 1, 5)
        corrections.relabel(OneDetection(0, 2, 2), 1)
    monkeypatch.setattr("framefleet.engine.store.files.reasons_against", lambda *_: [])
    with SessionWriter(path, LABELS, {"model": "tiny"}, go_on=True) as writer:
        writer.go_on(0, 10)
    with SessionReader(path) as reader:
        assert reader.tracks(0) == []
        assert not reader.has_track_corrections
    assert seen(path)[2] == ([0, 1, 1], None, [False, False, True])


def test_a_source_that_the_session_does_not_have(tmp_path):
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 3})
    with Corrections(path) as corrections, pytest.raises(UsageError, match="there is no detection 0 in frame 1 of source 9"):
        corrections.delete(OneDetection(9, 1, 0))


def test_an_empty_file_becomes_a_session(tmp_path):
    path = tmp_path / "s.sqlite"
    path.touch()
    with SessionWriter(path, LABELS, {}, go_on=True) as writer:
        assert (writer.continued, writer.notes) == (False, [])


def boxes(path, frame, **options):
    """Class id, confidence, box, verified and drawn of each detection of a frame of the first source."""
    with SessionReader(path, **options) as reader:
        (block,) = reader.blocks(0, 1, frame, frame)
        columns = block.class_ids, block.scores, block.corners, block.verified, block.drawn
        return [tuple(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def test_a_missing_object_is_added_and_a_box_moved_and_both_are_undone_and_made_again(path):
    before = boxes(path, 3)
    with Corrections(path) as corrections:
        new = corrections.add(0, 3, 2, (100, 100, 700, 200))
        assert new == OneDetection(0, 3, 3)
        added = boxes(path, 3)
        assert added == [(2, 1.0, [100, 100, 640, 200], True, True), *before]  # cut to the picture
        corrections.move(OneDetection(0, 3, 1), (1, 2, 31, 42))
        moved = boxes(path, 3)
        assert moved[2] == (1, 0.8, [1, 2, 31, 42], True, True)
        corrections.move(new, (10, 10, 20, 20))
        corrections.relabel(new, 0)
        assert boxes(path, 3)[0] == (0, 1.0, [10, 10, 20, 20], True, True)
        assert [str(edit.words) for edit in corrections.edits()][:2] == [
            "car added in frame 3 of a.mp4",
            "detection 1 (bicycle, 0.80) in frame 3 of a.mp4: box moved",
        ]
        corrections.undo()
        corrections.undo()
        assert boxes(path, 3) == moved
        corrections.undo()
        assert boxes(path, 3) == added
        corrections.undo()
        assert boxes(path, 3) == before
        corrections.redo()
        assert boxes(path, 3) == added
        corrections.redo()
        assert boxes(path, 3) == moved
        corrections.delete(new)
        assert boxes(path, 3) == moved[1:]
        corrections.undo()
        assert boxes(path, 3) == moved
    assert boxes(path, 3, corrected=False) == before


def test_each_added_object_has_a_place_of_its_own_also_after_undo(path):
    with Corrections(path) as corrections:
        places = [corrections.add(0, 5, 0, (10 * n, 0, 10 * n + 9, 9)).place for n in range(1, 3)]
        corrections.undo()
        places.append(corrections.add(0, 5, 0, (90, 0, 99, 9)).place)
    assert places[:2] == [3, 4]
    assert [box for _, _, box, *_ in boxes(path, 5)[:2]] == [[10, 0, 19, 9], [90, 0, 99, 9]]


def test_drawn_boxes_pass_filters_and_are_gone_when_their_frames_are_detected_again(path, monkeypatch):
    with Corrections(path) as corrections:
        corrections.add(0, 3, 2, (100, 100, 140, 200))
        corrections.move(OneDetection(0, 4, 0), (1, 2, 31, 42))
    assert len(boxes(path, 3, confidence=0.95)) == 1
    assert len(boxes(path, 3, classes=frozenset({0}))) == 1
    monkeypatch.setattr("framefleet.engine.store.files.reasons_against", lambda *_: [])
    with SessionWriter(path, LABELS, {"model": "tiny"}, go_on=True) as writer:
        writer.go_on(0, 4)
        writer.add_frames(make_frame(0, index, 3) for index in range(4, 20))
    assert [any(drawn for *_, drawn in boxes(path, frame)) for frame in (3, 4)] == [True, False]
    with SessionWriter(path, LABELS, {"model": "tiny"}, go_on=True) as writer:
        writer.discard(0)
        writer.add_source(0, "a.mp4", video_info("a.mp4", 20))
        writer.add_frames(make_frame(0, index, 3) for index in range(20))
        writer.finish_source(0, "a.mp4", Ledger(20, 20), 1.0)
    assert len(boxes(path, 3)) == 3


@pytest.mark.parametrize("box", [(-50, 0, -10, 40), (10, 10, 10.5, 40), (700, 0, 800, 40)])
def test_a_box_without_a_pixel_in_the_picture_is_refused(path, box):
    with Corrections(path) as corrections:
        with pytest.raises(UsageError, match="at least one pixel inside the picture of 640 × 480"):
            corrections.add(0, 3, 0, box)
        with pytest.raises(UsageError, match="has no results"):
            corrections.add(0, 99, 0, (0, 0, 10, 10))
        with pytest.raises(UsageError, match="9"):
            corrections.add(0, 3, 9, (0, 0, 10, 10))


def test_a_merged_session_has_the_drawn_boxes(path, tmp_path):
    with Corrections(path) as corrections:
        corrections.add(0, 3, 2, (100, 100, 140, 200))
    merge_sessions([path], tmp_path / "merged.sqlite")
    assert boxes(tmp_path / "merged.sqlite", 3)[0] == (2, 1.0, [100, 100, 140, 200], True, True)
