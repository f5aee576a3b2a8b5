import numpy as np
import pytest

from framefleet.engine.tracking.follow import Follower, follow, make_tracker, strong_confidence
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult, InferenceFailure
from tests.support.notices import words

CPU = DeviceId("cpu", "0")


def frame(number, *objects, failure=None):
    """objects: x, class id, confidence."""
    boxes = np.array([[x, 100, x + 40, 140] for x, *_ in objects], np.float32).reshape(-1, 4)
    found = Detections(boxes, np.array([o[2] for o in objects], np.float32), np.array([o[1] for o in objects], np.int32))
    return FrameResult(FrameRef(0, number, number / 25), CPU, 640, 480, InferenceFailure(words(failure)) if failure else found)


def tracked(frames):
    return follow(frames, make_tracker(1 / 25))


def test_a_track_has_the_class_with_most_confidence_and_counts_from_its_first_frame():
    tracks = tracked(frame(number, (10 + number, 2 if number == 1 else 5, 0.9)) for number in range(5))
    assert tracks.frames.tolist() == [0, 1, 2, 3, 4]
    assert tracks.tracks.tolist() == [1] * 5
    assert tracks.class_ids.tolist() == [5]


def test_false_alarms_get_no_track_and_leave_no_gap_in_the_numbers():
    once, late = [(400, 0, 0.8)], [(300, 1, 0.7)]
    frames = [frame(number, (10, 0, 0.9), *(once if number == 0 else ()), *(late if number > 2 else ())) for number in range(6)]
    tracks = tracked(frames)
    assert tracks.tracks.max() == 2
    assert tracks.frames[tracks.tracks == 2].tolist() == [3, 4, 5]


def test_a_second_box_of_another_class_on_the_same_object_gets_no_track():
    tracks = tracked(frame(number, (10, 2, 0.9), (12, 7, 0.8)) for number in range(4))
    assert tracks.ordinals.tolist() == [0] * 4


def test_the_weaker_box_on_an_object_and_boxes_below_0_1_are_not_tracked_at_all():
    follower = Follower(make_tracker(1 / 25))
    for number in range(3):
        places, _ = follower.add(frame(number, (10, 2, 0.9), (300, 0, 0.8), (12, 7, 0.7), (500, 0, 0.12), (400, 0, 0.09)))
        assert places.tolist() == [0, 1, 3]


def test_a_failed_frame_is_a_gap():
    frames = [frame(number, (10 + 3 * number, 0, 0.9)) if number != 4 else frame(4, failure="damaged") for number in range(9)]
    assert tracked(frames).tracks.tolist() == [1] * 8


def test_a_source_without_objects_has_no_tracks():
    tracks = tracked([frame(0), frame(1)])
    assert (len(tracks.tracks), len(tracks.class_ids)) == (0, 0)


@pytest.mark.parametrize(
    ("scores", "strong"),
    [
        ([0.95, 0.92, 0.91, 0.3], 0.6),  # a sure model
        ([0.95] * 4 + [0.3] * 6, 0.6),  # sure of some objects
        ([0.9] + [0.42] * 9, 0.28),  # sure of one object only
        ([0.3, 0.26, 0.1], 0.25),
        ([0.2, 0.1], 0.6),  # nothing that counts as an object
        ([], 0.6),
    ],
)
def test_how_sure_the_model_is_decides_what_begins_a_track(scores, strong):
    assert strong_confidence(np.array(scores)) == pytest.approx(strong)


def test_the_class_of_a_track_that_goes_on_has_the_highest_sum_not_the_last_confidence():
    follower = Follower(make_tracker(1 / 25))
    for number, (class_id, confidence) in enumerate([(5, 0.7), (5, 0.7), (5, 0.7), (2, 0.95)]):
        follower.add(frame(number, (10 + number, class_id, confidence)))
    (track,) = follower.confirmed
    assert follower.class_of(track) == 5
