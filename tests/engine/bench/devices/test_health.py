from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from framefleet.engine.bench.devices_run import Measurement, Spread, Test, findings, ideal, of_copy, pays_from, speedup, verdict
from framefleet.engine.types import DeviceId

CARDS = tuple(DeviceId("cuda", str(number)) for number in range(4))
NAMES = dict.fromkeys(CARDS, "NVIDIA H200")


def took(test: Test, devices: tuple[DeviceId, ...], nbytes: int, ms: float, note: str = "") -> Measurement:
    return Measurement(test, devices, nbytes, Spread.of([ms, ms]), note=note)


def healthy() -> list[Measurement]:
    found = [took(Test.MEMORY, (card,), 4_000_000_000, 1.0) for card in CARDS]
    found += [took(test, (card,), 1_000_000_000, 20.0) for test in (Test.UPLOAD, Test.DOWNLOAD) for card in CARDS]
    found += [took(Test.PEER, pair, 1_000_000_000, 2.6, "direct") for pair in permutations(CARDS, 2)]
    found += [took(Test.PEER_LATENCY, pair, 16, 0.002, "direct") for pair in permutations(CARDS, 2)]
    found += [took(Test.PRODUCT, (card,), 8_000_000_000, 2.0) for card in CARDS]
    found.append(took(Test.PRODUCT, CARDS, 8_000_000_000, 0.52))
    return found


def slowed(test: Test, devices: tuple[DeviceId, ...], times: float) -> list[Measurement]:
    return [
        took(one.test, one.devices, one.nbytes, times * one.time.median, one.note)
        if (one.test, one.devices) == (test, devices) and one.time
        else one
        for one in healthy()
    ]


def test_all_well() -> None:
    assert findings(healthy(), NAMES) == []
    assert verdict(healthy(), NAMES) == "no problem: none of 4 devices and 12 links is below 80% of the median of its peers"


@pytest.mark.parametrize("times", [1.2, 0.5])
def test_a_little_slower_or_faster_is_no_finding(times: float) -> None:
    assert findings(slowed(Test.MEMORY, CARDS[:1], times), NAMES) == []


@pytest.mark.parametrize(
    ("test", "devices", "words"),
    [
        (Test.MEMORY, CARDS[2:3], "cuda:2 copies within its memory at 50% of its peers' median speed"),
        (Test.UPLOAD, CARDS[:1], "cuda:0 takes from the host at 50% of"),
        (Test.PEER, CARDS[1:3], "cuda:1 → cuda:2 copies at 50% of"),
        (Test.PEER_LATENCY, CARDS[2:4], "cuda:2 → cuda:3 makes small copies at 50% of"),
        (Test.PRODUCT, CARDS[3:], "cuda:3 multiplies at 50% of"),
    ],
)
def test_what_is_slow_is_named(test: Test, devices: tuple[DeviceId, ...], words: str) -> None:
    (finding,) = findings(slowed(test, devices, 2), NAMES)
    assert finding.startswith(words)
    assert verdict(slowed(test, devices, 2), NAMES).startswith("1 finding: cuda:")


def test_small_copies_beside_other_work_of_the_host_are_no_finding() -> None:
    """As on two H200s: one link's copies took 5.5 to 13.9 µs, with a median of 8.8, those of the other link 5.4."""
    times = Spread(30, 0.0088, 0.0055, 0.0139, 8.6e-6), Spread.of([0.0054, 0.0054])
    links = zip((CARDS[:2], CARDS[1::-1]), times, strict=True)
    assert findings([Measurement(Test.PEER_LATENCY, pair, 16, time, note="direct") for pair, time in links], NAMES) == []


def test_another_kind_of_device_or_link_is_no_peer() -> None:
    other = NAMES | {CARDS[0]: "a smaller card"}
    assert findings(slowed(Test.MEMORY, CARDS[:1], 5), other) == []
    through_host = [
        replace(one, note="through host memory") if one.devices == CARDS[:2] else one for one in slowed(Test.PEER, CARDS[:2], 9)
    ]
    assert findings(through_host, NAMES) == []


def test_what_failed_is_a_finding() -> None:
    failed = [*healthy(), Measurement(Test.SUM, CARDS[:2], 4096, problem="its result is off by 1")]
    assert findings(failed, NAMES) == ["sum by 2 devices: its result is off by 1"]


def test_only_the_largest_sums_are_compared() -> None:
    sums = [took(Test.SUM, (card,), 1 << 20, 1.0 + 3 * number) for number, card in enumerate(CARDS)]
    sums += [took(Test.SUM, (card,), 1 << 30, 1.0) for card in CARDS]
    assert findings(sums, NAMES) == []


def test_speedup_is_over_the_fastest_alone() -> None:
    measurements = slowed(Test.PRODUCT, CARDS[:1], 2)
    assert speedup(measurements[-1], measurements) == pytest.approx(2.0 / 0.52)
    assert speedup(measurements[0], measurements) is None
    assert of_copy(measurements[-1], measurements) == pytest.approx(8 / 0.52 / 16)


def test_unequal_devices_and_those_that_share_one_memory() -> None:
    measurements = slowed(Test.MEMORY, CARDS[:1], 2)
    assert ideal(measurements[-1], measurements) == pytest.approx(3.5)
    cpus = (DeviceId("cpu", "0"), DeviceId("cpu", "1"))
    shared = [took(Test.MEMORY, cpus[:1], 2_000_000_000, 100), took(Test.SUM, cpus, 1_000_000_000, 100)]
    assert ideal(shared[1], shared) == 1
    assert of_copy(shared[1], shared) == pytest.approx(0.5)


def test_from_which_size_on_several_devices_pay() -> None:
    pair = CARDS[:2]
    sums = [took(Test.SUM, (card,), nbytes, ms) for nbytes, ms in ((1 << 20, 0.02), (1 << 28, 0.08), (1 << 30, 0.25)) for card in pair]
    assert pays_from(sums) is None
    assert pays_from([*sums, took(Test.SUM, pair, 1 << 20, 0.01), took(Test.SUM, pair, 1 << 28, 0.09)]) is None
    shared = [took(Test.SUM, pair, nbytes, ms) for nbytes, ms in ((1 << 20, 0.04), (1 << 28, 0.07), (1 << 30, 0.15))]
    assert pays_from(sums + shared) == 1 << 28
