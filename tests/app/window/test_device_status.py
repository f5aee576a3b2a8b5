from app.window.chart import ceiling
from app.window.device_status import DeviceStatus, Phase, fold
from engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, DeviceStats
from tests.support.window import CPU, engine_info


def test_a_device_lives_through_its_phases() -> None:
    status = fold(DeviceStatus(CPU), DeviceStarting(CPU, 1), 0.0)
    assert status.phase is Phase.STARTING
    status = fold(status, DeviceReady(engine_info()), 1.0)
    assert (status.phase, status.engine) == (Phase.READY, engine_info())
    status = fold(status, DeviceFailed(CPU, "it crashed", True), 2.0)
    assert (status.phase, status.message) == (Phase.RESTARTING, "it crashed")
    status = fold(status, DeviceStarting(CPU, 2), 2.0)
    assert (status.phase, status.attempt) == (Phase.RESTARTING, 2)
    status = fold(status, DeviceReady(engine_info()), 3.0)
    assert (status.phase, status.message) == (Phase.READY, "")
    assert fold(status, DeviceFailed(CPU, "again", False), 4.0).phase is Phase.FAILED


def test_it_remembers_a_minute_and_the_last_real_figures() -> None:
    status = DeviceStatus(CPU, Phase.READY)
    for tick in range(200):
        status = fold(status, DeviceStats(CPU, 10 * tick, 20.0, 5.0, 9.0, {"infer": 4.0}), tick * 0.5)
    assert 120 <= len(status.samples) <= 122
    assert status.working
    status = fold(status, DeviceStats(CPU, 2000, 0.0, None, None), 100.0)
    assert not status.working
    assert status.latest is not None
    assert status.latest.latency_p50 == 5.0
    assert status.stages == {"infer": 4.0}


def test_the_scale_of_a_chart_is_round_and_just_large_enough() -> None:
    assert [ceiling(value) for value in (0.0, 0.012, 0.9, 1.0, 1.2, 34, 71, 282, 701)] == [1.0, 0.015, 1.0, 1.0, 1.5, 50, 100, 300, 1000]
