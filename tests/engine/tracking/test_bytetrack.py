import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.tracking.bytetrack import ByteTrack, Motion, Noise

FIXTURE = Path(__file__).parents[2] / "fixtures" / "tracks.json.gz"
NOISE = Noise(0.1, 0.01, 0.02, 1.0, 2.0)
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


def test_an_object_keeps_its_number_while_it_moves_and_another_gets_its_own():
    frames = [(number / 25, [box(3 * number), box(900 - 4 * number, 400)]) for number in range(40)]
    assert run(ByteTrack(1 / 25), frames) == [[0, 1]] * 40


def test_time_not_the_number_of_frames_moves_the_prediction():
    """After 12 regular frames, five frames are missing: a fast object is only found if the prediction moved six frames ahead."""
    before = [(number / 25, [box(12.0 * number)]) for number in range(12)]
    own = ByteTrack(1 / 25)
    assert run(own, before) == [[0]] * 12
    assert run(own, [(17 / 25, [box(12.0 * 17)])]) == [[0]]


def test_a_track_ends_after_its_patience():
    first = [(number / 25, [box(10)]) for number in range(5)]
    found = run(ByteTrack(1 / 25, 1.0), [*first, (1.1, NO_BOXES), (1.15, [box(10)])])
    late = run(ByteTrack(1 / 25, 1.0), [*first, (1.1, NO_BOXES), (1.2, [box(10)])])
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


def test_a_repeated_time_counts_as_one_interval():
    own = ByteTrack(1 / 25)
    assert run(own, [(0.0, [box(10)]), (0.0, [box(11)]), (0.0, [box(12)])]) == [[0]] * 3


@pytest.fixture(scope="module")
def recorded():
    return json.loads(gzip.decompress(FIXTURE.read_bytes()))


@pytest.mark.parametrize("scene", [0, 1])
def test_tracks_equal_those_of_the_package_trackers(recorded, scene):
    own, ours, theirs, compared = ByteTrack(recorded["interval"]), {}, {}, 0
    for (seconds, boxes, scores), ids in zip(recorded["scenes"][scene], recorded["tracks"]["bytetrack"][scene], strict=True):
        numbers = own.update(np.array(boxes, float).reshape(-1, 4), np.array(scores), seconds).numbers
        for number, track in zip(numbers.tolist(), ids, strict=True):
            if track >= 0:
                compared += 1
                assert number >= 0
                assert ours.setdefault(track, number) == number
                assert theirs.setdefault(number, track) == track
    assert compared > 300


def motion(steps=()):
    filters = Motion(NOISE)
    filters.add(np.array([[0.0, 0.0, 10.0, 10.0], [50.0, 50.0, 80.0, 90.0]]))
    filters.velocities[:] = 1.0, 2.0, 3.0, 4.0
    for step in steps:
        filters.predict(step)
    return filters


def states(filters):
    """The filter of each box: five values of each coordinate."""
    return [filters.state[:, box].ravel() for box in range(filters.state.shape[1])]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_one_long_step_equals_several_short_ones(count):
    np.testing.assert_allclose(states(motion([count])), states(motion([1] * count)), rtol=1e-12)


def test_it_equals_a_textbook_filter():
    """The same with matrices: x = F x, P = F P F' + Q; K = P H' / (H P H' + R)."""
    transition, noise, gain_of = np.array([[1.0, 1.0], [0.0, 1.0]]), np.diag([0.01, 0.02]), np.array([[1.0, 0.0]])
    state, covariance = np.array([10.0, 0.0]), np.diag([1.0, 2.0])
    filters = Motion(NOISE)
    filters.add(np.full((1, 4), 10.0))
    for measured in (11.0, 12.5, 13.0, 20.0):
        state, covariance = transition @ state, transition @ covariance @ transition.T + noise
        gain = covariance @ gain_of.T / (gain_of @ covariance @ gain_of.T + 0.1)
        state, covariance = state + (gain * (measured - state[0])).ravel(), covariance - gain @ gain_of @ covariance
        filters.predict(1)
        filters.update(np.array([0]), np.full((1, 4), measured))
        np.testing.assert_allclose((filters.positions[0, 0], filters.velocities[0, 0]), state, rtol=1e-12)


def test_only_the_measured_boxes_are_corrected():
    filters, untouched = motion([1]), states(motion([1]))[0]
    filters.update(np.array([1]), np.array([[60.0, 60.0, 90.0, 100.0]]))
    np.testing.assert_array_equal(states(filters)[0], untouched)
    assert filters.positions[1, 0] > 51


def test_boxes_keep_their_filters_when_others_go():
    filters = motion([1])
    kept = states(filters)[1]
    filters.keep(np.array([False, True]))
    np.testing.assert_array_equal(states(filters)[0], kept)
