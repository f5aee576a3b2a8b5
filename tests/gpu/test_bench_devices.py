"""The device benchmarks on as many GPUs as there are."""

from __future__ import annotations

from collections import Counter

import pytest

from framefleet.engine.bench.devices_run import DeviceBench, Measurement, Test, speedup
from framefleet.engine.types import DeviceId

pytest.importorskip("cuda.core")


@pytest.fixture(scope="module")
def measurements() -> list[Measurement]:
    from cuda.core import Device

    cards = [DeviceId("cuda", str(number)) for number in range(len(Device.get_all_devices()))]
    return list(DeviceBench(cards, repetitions=5, largest=1 << 30).measure())


def test_everything_can_be_measured(measurements: list[Measurement]) -> None:
    assert [one.problem for one in measurements if one.problem is not None] == []
    cards = len({device for one in measurements for device in one.devices})
    tests = Counter(one.test for one in measurements)
    assert tests[Test.MEMORY] == cards
    assert tests[Test.PEER] == tests[Test.PEER_LATENCY] == cards * (cards - 1)
    assert tests[Test.PRODUCT] >= cards + (cards > 1)
    assert all(one.time is not None and one.time.median > 0 for one in measurements)


def test_bandwidths_are_possible(measurements: list[Measurement]) -> None:
    (memory,) = {one.rate for one in measurements if one.test is Test.MEMORY and one.devices[0].name == "0"}
    assert memory is not None
    assert 50 < memory < 20_000  # GB/s
    for one in measurements:
        if one.test is Test.PRODUCT and len(one.devices) == 1 and one.rate is not None:
            assert 0.3 * memory < one.rate < 1.5 * memory


@pytest.mark.usefixtures("several")
def test_several_work_at_once(measurements: list[Measurement]) -> None:
    together = [one for one in measurements if one.test is Test.PRODUCT and len(one.devices) > 1]
    for one in together:
        gain = speedup(one, measurements)
        assert gain is not None
        assert gain > 1.2  # a matrix of 1 GiB only: launching counts
        assert one.note.startswith(("one graph", "step by step"))


@pytest.mark.usefixtures("several")
def test_a_sum_needs_no_device_to_wait_for_another(measurements: list[Measurement]) -> None:
    together = [one for one in measurements if one.test is Test.SUM and len(one.devices) > 1]
    assert len({one.nbytes for one in together}) > 1
    assert all(one.note in ("a graph each", "one graph", "step by step") for one in together)
