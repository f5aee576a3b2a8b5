import numpy as np
import pytest

from framefleet.engine.tracking.bytetrack import ByteTrack
from framefleet.engine.tracking.ocsort import OcSort

BOTH = pytest.mark.parametrize("tracker", [ByteTrack, OcSort])
NO_BOXES = np.zeros((0, 4))


def box(x, y=100.0, side=40.0):
    return [x, y, x + side, y + side]


def run(tracker, frames):
    """frames: seconds and boxes, or boxes with confidences. Returns each frame's numbers."""
    numbers = []
    for seconds, boxes, *scores in frames:
        table = np.array(boxes, float).reshape(-1, 4)
        numbers.append(tracker.update(table, np.array(*scores) if scores else np.full(len(table), 0.9), seconds).numbers.tolist())
    return numbers


@BOTH
def test_an_object_keeps_its_number_while_it_moves_and_another_gets_its_own(tracker):
    frames = [(number / 25, [box(3 * number), box(900 - 4 * number, 400)]) for number in range(40)]
    assert run(tracker(1 / 25), frames) == [[0, 1]] * 40


@BOTH
def test_time_not_the_number_of_frames_moves_the_prediction(tracker):
    """After 12 regular frames, five frames are missing: a fast object is only found if the prediction moved six frames ahead."""
    before = [(number / 25, [box(12.0 * number)]) for number in range(12)]
    own = tracker(1 / 25)
    assert run(own, before) == [[0]] * 12
    assert run(own, [(17 / 25, [box(12.0 * 17)])]) == [[0]]


@BOTH
def test_a_track_ends_after_its_patience(tracker):
    first = [(number / 25, [box(10)]) for number in range(5)]
    found = run(tracker(1 / 25, 1.0), [*first, (1.1, NO_BOXES), (1.15, [box(10)])])
    late = run(tracker(1 / 25, 1.0), [*first, (1.1, NO_BOXES), (1.2, [box(10)])])
    assert (found[-1], late[-1]) == ([0], [1])


def test_weak_detections_continue_a_track_but_begin_none():
    frames = [(0.0, [box(10)], [0.9]), (0.04, [box(11)], [0.9]), (0.08, [box(12), box(500)], [0.2, 0.2])]
    assert run(ByteTrack(1 / 25), frames)[-1] == [0, -1]


def test_a_single_detection_is_never_confirmed():
    own = ByteTrack(1 / 25)
    boxes, scores = np.array([box(10)]), np.array([0.9])
    assert own.update(boxes, scores, 0.0).confirmed.tolist() == []
    assert own.update(NO_BOXES, np.zeros(0), 0.04).confirmed.tolist() == []
    assert own.update(boxes, scores, 0.08).numbers.tolist() == [1]  # the first track has ended unconfirmed
    assert own.update(boxes, scores, 0.12).confirmed.tolist() == [1]


@BOTH
def test_a_repeated_time_counts_as_one_interval(tracker):
    own = tracker(1 / 25)
    assert run(own, [(0.0, [box(10)]), (0.0, [box(11)]), (0.0, [box(12)])]) == [[0]] * 3


def test_a_turning_object_is_found_again_where_it_was_last_seen():
    """Its filter expects it far ahead; the last observation is near."""
    frames = [(number / 25, [box(8.0 * number)]) for number in range(10)]
    gap = [(number / 25, NO_BOXES) for number in range(10, 20)]
    assert run(OcSort(1 / 25), [*frames, *gap, (20 / 25, [box(76.0)])])[-1] == [0]


def test_a_track_that_is_found_again_is_known_as_if_it_had_been_seen_on_a_straight_line():
    seen, hidden = OcSort(1 / 25), OcSort(1 / 25)
    frames = [(number / 25, [box(100 + 2 * max(number - 19, 0))]) for number in range(30)]
    assert run(seen, frames) == [[0]] * 30
    assert run(hidden, [*frames[:20], *((seconds, NO_BOXES) for seconds, _ in frames[20:29]), frames[29]])[-1] == [0]
    variances = [tracker._motion.states(np.array([0]))[0, 2:] for tracker in (seen, hidden)]
    assert (variances[1] <= variances[0]).all()
