import pytest

from app.window.viewer.pacing import LATE, Pacer


def test_pictures_are_due_at_their_pts_times_the_speed() -> None:
    pacer = Pacer()
    assert pacer.due(10.0, now=100.0) == 100.0
    assert pacer.due(10.5, now=100.1) == pytest.approx(100.5)
    pacer.set_speed(2.0)
    assert pacer.due(11.0, now=200.0) == 200.0
    assert pacer.due(12.0, now=200.0) == pytest.approx(200.5)
    assert pacer.reached(200.25) == pytest.approx(11.5)


def test_a_little_late_is_caught_up_much_is_not() -> None:
    pacer = Pacer()
    pacer.due(0.0, now=0.0)
    assert pacer.due(1.0, now=1.0 + LATE / 2) == 1.0
    assert pacer.due(2.0, now=5.0) == 5.0
    assert pacer.due(3.0, now=5.0) == 6.0


def test_after_a_pause_the_clock_starts_anew() -> None:
    pacer = Pacer()
    pacer.due(0.0, now=0.0)
    pacer.stop()
    assert pacer.reached(9.0) is None
    assert pacer.due(0.1, now=9.0) == 9.0
