from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framefleet.app.window.devices.figures import ceiling, connected, smoothed
from framefleet.app.window.devices.status import DeviceStatus, Phase, fold
from framefleet.app.window.run.thread import Feed
from framefleet.engine.backends.base import reasons
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import (
    DeviceFailed,
    DeviceLeft,
    DeviceReady,
    DeviceStarting,
    DeviceStats,
    EngineBuilding,
    Ledger,
    RunFigures,
    SourceFinished,
    SourceOpened,
    SourceProgress,
)
from framefleet.engine.types import AS_ASKED
from tests.support.notices import words
from tests.support.store import video_info
from tests.support.window import CPU, engine_info


def test_a_device_lives_through_its_phases() -> None:
    status = fold(DeviceStatus(CPU), DeviceStarting(CPU, 1), 0.0)
    assert status.phase is Phase.STARTING
    status = fold(status, DeviceReady(engine_info()), 1.0)
    assert (status.phase, status.engine) == (Phase.READY, engine_info())
    status = fold(status, DeviceFailed(CPU, words("it crashed"), True), 2.0)
    assert (status.phase, status.message) == (Phase.RESTARTING, "it crashed")
    status = fold(status, DeviceStarting(CPU, 2), 2.0)
    assert (status.phase, status.attempt) == (Phase.RESTARTING, 2)
    status = fold(status, DeviceReady(engine_info()), 3.0)
    assert (status.phase, status.message) == (Phase.READY, "")
    assert fold(status, DeviceFailed(CPU, words("again"), False), 4.0).phase is Phase.FAILED


def test_it_remembers_a_minute_and_the_last_real_figures() -> None:
    status = DeviceStatus(CPU, Phase.READY)
    for tick in range(200):
        status = fold(status, DeviceStats(CPU, 10 * tick, 20.0, 5.0, 9.0, {"infer": 4.0}), tick * 0.5)
    assert 120 <= len(status.samples) <= 122
    assert status.working
    status = fold(status, DeviceStats(CPU, 2000, 0.0, None, None), 100.0)
    assert status.working  # a slow model completes no frame in some intervals
    for tick in range(1, 9):
        status = fold(status, DeviceStats(CPU, 2000, 0.0, None, None), 100.0 + 0.5 * tick)
    assert not status.working
    assert status.shown.frames_per_second == 0.0
    assert status.stages == {"infer": 4.0}


def test_the_mean_over_the_whole_run_is_no_point_of_the_charts() -> None:
    last = DeviceStats(CPU, 30, 25.0, 6.0, 9.0, final=True)
    status = fold(fold(DeviceStatus(CPU, Phase.READY), DeviceStats(CPU, 20, 20.0, 5.0, 9.0), 1.0), last, 60.0)
    assert [sample.time for sample in status.samples] == [1.0]
    assert status.frames == 30
    assert len(fold(DeviceStatus(CPU, Phase.READY), last, 1.0).samples) == 1  # of a run that was too short there is nothing else


def test_the_scale_of_a_chart_is_round_and_just_large_enough() -> None:
    assert [ceiling(value) for value in (0.0, 0.012, 0.9, 1.0, 1.2, 34, 71, 282, 701)] == [1.0, 0.015, 1.0, 1.0, 1.5, 50, 100, 300, 1000]


def test_a_device_that_was_taken_out_is_leaving_until_it_has_left() -> None:
    leaving = replace(fold(DeviceStatus(CPU), DeviceReady(engine_info()), 0.0), phase=Phase.LEAVING)
    leaving = fold(leaving, DeviceStats(CPU, 10, 20.0, 5.0, 9.0), 1.0)
    assert (leaving.phase, leaving.working, leaving.takes_part) == (Phase.LEAVING, True, False)
    assert fold(leaving, DeviceReady(engine_info()), 1.0).phase is Phase.LEAVING  # its batch became smaller
    left = fold(leaving, DeviceLeft(CPU), 2.0)
    assert (left.phase, left.working, left.frames) == (Phase.LEFT, False, 10)
    assert fold(left, DeviceStarting(CPU, 1), 3.0).takes_part


def test_a_device_does_nothing_while_it_is_away() -> None:
    working = fold(fold(DeviceStatus(CPU), DeviceReady(engine_info()), 0.0), DeviceStats(CPU, 10, 20.0, 5.0, 9.0), 1.0)
    assert len(fold(working, DeviceReady(engine_info()), 1.5).samples) == 1  # a new batch is no absence
    for gone in (DeviceLeft(CPU), DeviceFailed(CPU, words("it crashed"), True)):
        back = fold(fold(fold(working, gone, 2.0), DeviceStarting(CPU, 1), 19.0), DeviceReady(engine_info()), 20.0)
        assert [(sample.time, sample.frames_per_second, sample.latency_p50) for sample in back.samples] == [
            (1.0, 20.0, 5.0),
            (1.0, 0.0, None),
            (2.0, 0.0, None),
            (20.0, 0.0, None),
        ]
    assert fold(DeviceStatus(CPU), DeviceLeft(CPU), 1.0).samples == ()
    later = fold(working, DeviceStats(CPU, 10, 30.0, 5.0, 9.0), 20.0)  # there was no file in between
    rates = [(sample.time, sample.frames_per_second) for sample in later.samples]
    assert rates == [(1.0, 20.0), (1.0, 0.0), (20.0, 0.0), (20.0, 30.0)], "the chart has no line across the time without work"


def test_building_ends_with_the_engine_or_with_the_device() -> None:
    building = fold(DeviceStatus(CPU), EngineBuilding(CPU, words("trying tactics"), 0.5), 0.0)
    assert building.building == (words("trying tactics"), 0.5)
    for event in (DeviceReady(engine_info()), DeviceFailed(CPU, words("no memory"), True), DeviceStarting(CPU, 2), DeviceLeft(CPU)):
        assert fold(building, event, 1.0).building is None


def test_a_new_batch_is_explained_once_it_differs() -> None:
    engine = replace(engine_info(), batch=32)
    status = fold(fold(DeviceStatus(CPU), DeviceReady(engine), 0.0), DeviceReady(engine), 1.0)
    assert status.note == ""
    why = Notice("backends.memory_shrank", batch=32)
    smaller = replace(engine, batch=16, reason=reasons(AS_ASKED, Notice("backends.batch", batch=16, why=why)))
    note = fold(status, DeviceReady(smaller), 2.0).note
    assert note == "The batch size changed from 32 to 16: the device's memory became too small for 32"


def measured(seconds: float, latencies: list[float], frames: int) -> DeviceStats:
    """A report of a device that did so many frames in a run of this length."""
    run = RunFigures().with_interval(frames, seconds, np.array(latencies, np.float32))
    return DeviceStats(CPU, frames, 80.0, 5.0, 9.0, run=run)


def test_after_a_run_its_averages_stay_and_so_do_its_charts() -> None:
    now = 0.0
    feed, source = Feed(lambda: now), SourceProgress(Path("a.mp4"))
    opened = SourceOpened(0, video_info("a.mp4", 100))
    feed.apply(opened, source := source.after(opened))
    feed.apply(DeviceReady(engine_info()))
    feed.apply(measured(2.0, [10.0] * 98 + [200.0] * 2, 100))
    (status,) = feed.take().devices
    assert status.shown.frames_per_second == 80.0
    assert status.shown.latency_p50 == pytest.approx(10.0, rel=0.02)  # of the frames of the last seconds, not of one interval
    finished = SourceFinished(0, Ledger(100, 100), 2.0, None)
    feed.apply(finished, source.after(finished))
    now = 90.0
    feed.apply(DeviceStats(CPU, 100, 0.0, None, None, run=measured(2.0, [10.0] * 98 + [200.0] * 2, 100).run))
    (status,) = feed.take().devices
    assert status.at_rest
    assert status.shown.frames_per_second == 50.0
    assert status.shown.latency_p50 == pytest.approx(10.0, rel=0.02)
    assert status.shown.latency_p99 == pytest.approx(200.0, rel=0.02)
    assert [sample.time for sample in status.samples] == [0.0]
    feed.end(None)
    (status,) = feed.take().devices
    assert (status.phase, status.shown.frames_per_second) == (Phase.IDLE, 50.0)


def test_latencies_are_those_of_the_last_seconds() -> None:
    run, status = RunFigures(), fold(DeviceStatus(CPU), DeviceReady(engine_info()), 0.0)
    for half_seconds, latency in enumerate([900.0] * 20 + [10.0] * 8):
        run = run.with_interval(10, 0.5, np.full(10, latency, np.float32))
        status = fold(status, DeviceStats(CPU, 10 * half_seconds, 20.0, latency, latency, run=run), half_seconds / 2)
    assert (status.recent.frames, status.recent.seconds) == (80, 4.0)
    assert status.shown.latency_p50 == status.shown.latency_p99 == pytest.approx(10.0, rel=0.02)
    assert status.run.latency(0.5) == pytest.approx(900.0, rel=0.02)
    again = fold(status, measured(0.5, [30.0] * 10, 10), 14.0)  # a run that counts from its start
    assert again.recent.latency(0.99) == pytest.approx(30.0, rel=0.02)


def test_the_chart_of_the_throughput_has_the_figure_beside_it() -> None:
    status = fold(DeviceStatus(CPU), DeviceReady(engine_info()), 0.0)
    for number in range(16):  # a device that answers once in two seconds
        rate = 8.0 if number % 4 == 0 else 0.0
        status = fold(status, DeviceStats(CPU, number, rate, 400.0 if rate else None, 500.0 if rate else None), number / 2)
    assert smoothed(status.samples)[-8:] == pytest.approx([2.0] * 8)
    assert smoothed(status.samples)[-1] == pytest.approx(status.shown.frames_per_second)
    assert connected(status.samples, "latency_p50")[-8:] == [400.0] * 8
    gone = fold(status, DeviceLeft(CPU), 30.0)
    assert np.isnan(connected(gone.samples, "latency_p99")[-2:]).all()
    assert smoothed(gone.samples)[-2:] == [0.0, 0.0]
    assert [sample.time for sample in gone.samples[-2:]] == [7.5, 30.0]  # no line falls slowly across the time without work


def test_a_paused_run_goes_on_counting() -> None:
    before = fold(fold(DeviceStatus(CPU), DeviceReady(engine_info()), 0.0), measured(2.0, [10.0] * 100, 100), 0.0)
    feed = Feed(devices=(before,))
    (status,) = feed.take().devices
    assert (status.frames, status.shown.frames_per_second) == (100, 50.0)
    feed.apply(DeviceStarting(CPU, 1))
    feed.apply(DeviceReady(engine_info()))
    feed.apply(measured(6.0, [10.0] * 100, 100))
    feed.end(None)
    (status,) = feed.take().devices
    assert (status.frames, status.shown.frames_per_second) == (200, 25.0)
