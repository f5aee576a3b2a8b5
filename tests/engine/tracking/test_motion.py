import numpy as np
import pytest

from framefleet.engine.tracking.motion import Motion, Noise

NOISE = Noise(*(np.array([value]) for value in (0.1, 0.01, 0.02, 1.0, 2.0)))


def motion(steps=()):
    filters = Motion(NOISE)
    filters.add(np.array([[0.0, 0.0, 10.0, 10.0], [50.0, 50.0, 80.0, 90.0]]))
    filters.velocities[:] = 1.0, 2.0, 3.0, 4.0
    for step in steps:
        filters.predict(step)
    return filters


def states(filters):
    return [np.concatenate(state) for state in filters.states(np.arange(2))]


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
    np.testing.assert_array_equal(np.concatenate(filters.states(np.array([0]))[0]), kept)
