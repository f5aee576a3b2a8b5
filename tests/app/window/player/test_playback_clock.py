import pytest

from framefleet.app.window.player.playback_clock import LATE, PlaybackClock


def test_pictures_are_due_at_their_pts_times_the_speed() -> None:
    clock = PlaybackClock()
    assert clock.due(10.0, now=100.0) == 100.0
    assert clock.due(10.5, now=100.1) == pytest.approx(100.5)
    clock.set_speed(2.0)
    assert clock.due(11.0, now=200.0) == 200.0
    assert clock.due(12.0, now=200.0) == pytest.approx(200.5)
    assert clock.reached(200.25) == pytest.approx(11.5)


def test_a_little_late_is_caught_up_much_is_not() -> None:
    clock = PlaybackClock()
    clock.due(0.0, now=0.0)
    assert clock.due(1.0, now=1.0 + LATE / 2) == 1.0
    assert clock.due(2.0, now=5.0) == 5.0
    assert clock.due(3.0, now=5.0) == 6.0


def test_after_a_pause_the_clock_starts_anew() -> None:
    clock = PlaybackClock()
    clock.due(0.0, now=0.0)
    clock.stop()
    assert clock.reached(9.0) is None
    assert clock.due(0.1, now=9.0) == 9.0
