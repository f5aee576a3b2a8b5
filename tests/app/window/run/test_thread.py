from pathlib import Path

import pytest

from framefleet.app.window.devices.status import Phase
from framefleet.app.window.run.thread import Feed
from framefleet.engine.pool.events import (
    DeviceFailed,
    DeviceLeft,
    DeviceReady,
    DeviceStats,
    FramesDone,
    Ledger,
    SourceEvent,
    SourceFinished,
    SourceOpened,
    SourceProgress,
    StrategyChosen,
)
from framefleet.engine.types import DeviceId
from tests.support.notices import words
from tests.support.store import make_frame, video_info
from tests.support.window import CPU, engine_info


def frames(source: int, first: int, count: int) -> FramesDone:
    return FramesDone(source, tuple(make_frame(source, index) for index in range(first, first + count)))


def apply(feed: Feed, event: SourceEvent, sources: dict[int, SourceProgress]) -> bool:
    """Fold an event into the progress of its source, as a session does, and give both to the feed."""
    progress = sources[event.source] = sources.get(event.source, SourceProgress(Path("a.mp4"))).after(event)
    return feed.apply(event, progress)


def test_however_many_events_the_reader_is_told_once_and_takes_the_sum() -> None:
    feed, sources = Feed(), dict[int, SourceProgress]()
    assert feed.apply(StrategyChosen("segments", words("one file, two devices")))
    assert not apply(feed, SourceOpened(0, video_info("a.mp4", 50)), sources)
    for first in range(0, 50, 5):
        assert not apply(feed, frames(0, first, 5), sources)
    snapshot = feed.take()
    progress = snapshot.sources[0]
    assert (progress.frames, progress.failed, progress.head) == (50, 0, 49 / 25)
    assert progress.info == video_info("a.mp4", 50)
    assert snapshot.strategy == StrategyChosen("segments", words("one file, two devices"))
    assert feed.tally(0).counts(0.0) == {0: 50, 1: 50}
    assert apply(feed, SourceFinished(0, Ledger(50, 50), 2.0, None), sources)
    assert feed.take().sources[0].finished is not None
    assert not feed.take().sources


def test_frames_without_detections_are_counted_as_failed() -> None:
    feed = Feed()
    apply(feed, FramesDone(3, (make_frame(3, 0), make_frame(3, 1, failure="damaged"))), {})
    progress = feed.take().sources[3]
    assert (progress.frames, progress.failed) == (2, 1)


def test_the_rate_comes_from_the_clock() -> None:
    now = 0.0
    feed, sources = Feed(lambda: now), dict[int, SourceProgress]()
    apply(feed, frames(0, 0, 1), sources)
    assert feed.take().rates.total == 0
    now = 0.5
    apply(feed, frames(0, 1, 10), sources)
    assert (feed.take().rates.sources, feed.take().rates.total) == ({0: 20.0}, 20.0)


def test_files_and_devices_show_rates_with_the_same_sum() -> None:
    now = 0.0
    feed, sources = Feed(lambda: now), dict[int, SourceProgress]()
    feed.apply(DeviceReady(engine_info()))
    for step in range(12):
        now = 0.5 * step
        for source, count in ((0, 10), (1, 5)):
            apply(feed, frames(source, step * count, count), sources)
        feed.apply(DeviceStats(CPU, 15 * (step + 1), 20.0 + step, 5.0, 6.0))
    snapshot = feed.take()
    (device,) = snapshot.devices
    assert device.rate == (23.5 + 30.5) / 2 + 0.5  # the mean of the last eight intervals, which are four seconds
    assert snapshot.rates.total == device.rate
    assert sum(snapshot.rates.sources.values()) == pytest.approx(device.rate)
    assert snapshot.rates.sources[0] == pytest.approx(2 * snapshot.rates.sources[1])
    apply(feed, SourceFinished(1, Ledger(60, 60), 6.0, None), sources)
    assert feed.take().rates.sources == {0: pytest.approx(device.rate)}
    apply(feed, SourceFinished(0, Ledger(120, 120), 6.0, None), sources)
    snapshot = feed.take()  # the device reports nothing more while it has no work
    assert (snapshot.rates.total, [status.rate for status in snapshot.devices]) == (0, [0])


def test_a_stream_whose_frames_stay_away_has_no_throughput() -> None:
    now = 0.0
    feed, sources = Feed(lambda: now), dict[int, SourceProgress]()
    feed.apply(DeviceReady(engine_info()))
    for step in range(20):
        now = 0.5 * step
        if step < 8:
            apply(feed, frames(0, 5 * step, 5), sources)
        feed.apply(DeviceStats(CPU, 5 * min(step + 1, 8), 10.0 if step < 8 else 0.0, *((5.0, 6.0) if step < 8 else (None, None))))
    assert (feed.take().rates.total, feed.take().rates.sources) == (0.0, {0: 0.0})


def test_rates_stay_for_half_a_second_unless_other_devices_work() -> None:
    now, other = 0.0, DeviceId("cpu", "1")
    feed, sources = Feed(lambda: now), dict[int, SourceProgress]()
    apply(feed, SourceOpened(0, video_info("a.mp4", 900)), sources)
    feed.apply(DeviceReady(engine_info()))
    feed.apply(DeviceStats(CPU, 10, 20.0, 5.0, 6.0))
    assert feed.take().rates.total == 20.0
    now = 0.4
    feed.apply(DeviceStats(CPU, 20, 40.0, 5.0, 6.0))
    snapshot = feed.take()
    assert (snapshot.rates.total, snapshot.devices[0].rate) == (20.0, 20.0)
    feed.apply(DeviceReady(engine_info(other)))
    feed.apply(DeviceStats(other, 10, 25.0, 5.0, 6.0))
    assert feed.take().rates.devices == {CPU: 30.0, other: 25.0}


def test_device_failures_are_handed_over_once_and_the_end_leaves_devices_idle() -> None:
    feed = Feed()
    feed.apply(DeviceReady(engine_info()))
    feed.apply(DeviceFailed(CPU, words("it crashed"), True))
    assert feed.take().problems == (DeviceFailed(CPU, words("it crashed"), True),)
    assert feed.take().problems == ()
    assert feed.end("no more")
    snapshot = feed.take()
    assert (snapshot.ended, snapshot.error) == (True, "no more")
    assert [status.phase for status in snapshot.devices] == [Phase.IDLE]


def test_a_device_leaves_only_if_it_took_part_and_ends_as_having_left() -> None:
    feed = Feed()
    feed.leaving(CPU)  # nothing is known of it
    feed.apply(DeviceReady(engine_info()))
    feed.leaving(CPU)
    assert [status.phase for status in feed.take().devices] == [Phase.LEAVING]
    feed.apply(DeviceLeft(CPU))
    feed.leaving(CPU)  # the news came first
    assert [status.phase for status in feed.take().devices] == [Phase.LEFT]
    feed.end(None)
    assert [status.phase for status in feed.take().devices] == [Phase.LEFT]
