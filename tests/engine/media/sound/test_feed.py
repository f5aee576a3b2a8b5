"""The feed with a simulated clock and device."""

from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.media.sound.feed import LATENCY, MOST_ERROR, Feed
from framefleet.engine.media.sound.track import RATE, Samples

PERIOD = 960


def ramp(first: int, count: int) -> Samples:
    """Samples that count, so that a sample tells its place."""
    return np.repeat(np.arange(first, first + count, dtype=np.int64)[:, None] % 30_000 + 1, 2, axis=1).astype(np.int16)


def test_samples_come_in_order_and_after_the_end_there_is_silence() -> None:
    feed = Feed(0.0, at=100.0 + LATENCY)
    feed.add(0.0, ramp(0, 1500))
    out = np.concatenate([feed.take(PERIOD, 100.0), feed.take(PERIOD, 100.02)])
    assert np.array_equal(out[:1500], ramp(0, 1500))
    assert not out[1500:].any()


def test_a_gap_becomes_silence_and_what_overlaps_is_left_out() -> None:
    feed = Feed(0.0, at=LATENCY)
    feed.add(0.0, ramp(0, 480))
    feed.add(0.02, ramp(960, 960))
    feed.add(0.02, ramp(960, 1440))
    out = feed.take(2400, 0.0)
    assert np.array_equal(out[:480], ramp(0, 480))
    assert not out[480:960].any()
    assert np.array_equal(out[960:], ramp(960, 1440))


def test_a_sound_that_begins_later_waits_and_one_that_began_earlier_is_joined() -> None:
    later, earlier = Feed(0.0, at=10.0 + LATENCY + 0.01), Feed(0.0, at=10.0 + LATENCY - 0.5)
    for feed in (later, earlier):
        feed.add(0.0, ramp(0, RATE))
    assert np.array_equal(later.take(PERIOD, 10.0)[480:], ramp(0, 480))
    assert np.array_equal(earlier.take(PERIOD, 10.0), ramp(RATE // 2, PERIOD))


@pytest.mark.parametrize("quicker", [1.002, 0.998])
def test_a_device_whose_clock_is_wrong_stays_in_step_for_ten_minutes(quicker: float) -> None:
    feed, now, added = Feed(0.0, at=0.0), 0.0, 0
    errors = []
    while now < 600.0:
        while feed.ahead < 0.2:
            feed.add(added / RATE, ramp(added, PERIOD))
            added += PERIOD
        feed.take(PERIOD, now)
        errors.append(feed.error)
        now += PERIOD / RATE / quicker
    assert max(map(abs, errors)) < MOST_ERROR + 0.001
    assert np.ptp(errors) > MOST_ERROR / 2  # it did drift
