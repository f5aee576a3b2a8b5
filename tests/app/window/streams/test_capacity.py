"""What the window says when the devices cannot take all frames of the streams."""

from __future__ import annotations

import pytest

from framefleet.app.window.devices.bottleneck import Bottleneck, Limit, find_bottleneck
from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.streams.streams import MEASURE_TICKS, Capacity, shortage
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import Ledger
from framefleet.engine.types import DeviceId
from tests.support.window import CPU

GPU = DeviceStatus(DeviceId("cuda", "0"), phase=Phase.READY)


def test_a_shortage_says_how_many_more_gpus_would_do() -> None:
    title, details = shortage(received=100.0, analysed=64.0, streams=4, devices=[GPU])
    assert title == "The devices analyse 16.0 of 25.0 frames/s of each stream"
    assert details.startswith("1 more GPU of this kind would do.")
    assert shortage(300.0, 100.0, 12, [GPU, GPU])[1].startswith("4 more GPUs of this kind would do.")
    assert "would help" in shortage(100.0, 50.0, 4, [DeviceStatus(CPU, phase=Phase.READY)])[1]


def test_the_limit_is_named_and_decides_what_would_help() -> None:
    network = Bottleneck(Limit.NETWORK, "Limited by the model: the devices are fully used.", "")
    host = Bottleneck(Limit.HOST, "Limited by the processors, which feed the GPUs.", "")
    assert shortage(100.0, 64.0, 4, [GPU], network)[1].startswith(f"{network.text} 1 more GPU of this kind would do.")
    assert shortage(100.0, 64.0, 4, [GPU], host)[1].startswith(f"{host.text} Fewer streams")


def test_devices_that_wait_for_the_streams_have_no_limit() -> None:
    working = DeviceStatus(CPU, phase=Phase.READY, bottleneck="sources", rate=25.0)
    assert find_bottleneck([working], {}, None) is None


@pytest.mark.parametrize("analysed", [91.0, 100.0])
def test_nothing_is_said_when_the_devices_keep_up(analysed: float) -> None:
    assert not shortage(100.0, analysed, 4, [GPU])


def test_the_capacity_is_measured_over_seconds_and_again_with_other_streams() -> None:
    capacity = Capacity()

    def ledgers(received: int, inferred: int, keys: int = 2) -> dict[int, Ledger]:
        busy = {Notice("live.device_busy"): received - inferred, Notice("live.damaged"): received}
        return {key: Ledger(received, inferred, busy, received=2 * received) for key in range(keys)}

    assert capacity.look(ledgers(0, 0), [GPU]) is None
    for tick in range(1, MEASURE_TICKS):
        assert capacity.look(ledgers(6 * tick, 3 * tick), [GPU]) is None
    said = capacity.look(ledgers(6 * MEASURE_TICKS, 3 * MEASURE_TICKS), [GPU])
    assert said is not None
    assert said[0] == "The devices analyse 12.0 of 24.0 frames/s of each stream"
    assert capacity.look(ledgers(1000, 500, keys=3), [GPU]) is None
    assert capacity.look({}, [GPU]) == ()


def test_a_stream_that_connects_again_does_not_disturb_the_measurement_of_others() -> None:
    capacity = Capacity()
    busy = Notice("live.device_busy")
    for tick in range(MEASURE_TICKS + 1):
        seen = {0: Ledger(3 * tick, 3 * tick)} | ({1: Ledger(5, 5, {busy: 50 * tick})} if tick != 20 else {})
        said = capacity.look(seen, [GPU])
    assert said == ()


def test_a_lost_connection_is_no_shortage() -> None:
    capacity = Capacity()
    lost = {Notice("live.not_delivered"): 5, Notice("live.before_keyframe"): 20, Notice("live.damaged"): 9}
    assert capacity.look({0: Ledger(0, 0, received=0)}, [GPU]) is None
    said = [capacity.look({0: Ledger(30, 30, lost, received=64)}, [GPU]) for _ in range(MEASURE_TICKS)]
    assert said[-1] == ()
