"""What flows between two GPUs, by the counters of both."""

from __future__ import annotations

import pytest

from framefleet.app.window.topology.text import about_rail, between, nvlink_share, nvlink_share_between
from framefleet.engine.devices.telemetry import LinkTraffic, Telemetry
from framefleet.engine.devices.topology import Gpu
from framefleet.engine.types import DeviceId
from tests.support.devices.machines import gpu

ONE, OTHER, THIRD = (gpu(number, f"pci{number}/0000:0{number}:00.0", 0) for number in range(3))
SWITCH = None


def snapshot(of: Gpu, *links: tuple[Gpu | None, float | None, float | None]) -> dict[DeviceId, Telemetry]:
    """links: where each leads, what the GPU receives, and what it sends."""
    assert of.device is not None
    traffic = tuple(LinkTraffic(number, end.pci if end else None, rx, tx) for number, (end, rx, tx) in enumerate(links))
    rx, tx = (sum(rates) for rates in zip(*((link.rx or 0.0, link.tx or 0.0) for link in traffic), strict=True))
    return {of.device: Telemetry(of.device, nvlink_rx=rx, nvlink_tx=tx, nvlink_traffic=traffic)}


def test_links_to_the_same_gpu_are_one_way() -> None:
    telemetry = snapshot(ONE, (OTHER, 1e9, 4e9), (THIRD, 7e9, 8e9), (OTHER, 2e9, 6e9))
    assert between(ONE, OTHER, telemetry) == (10e9, 3e9)
    assert between(OTHER, ONE, telemetry) == (3e9, 10e9)
    assert between(ONE, THIRD, telemetry) == (8e9, 7e9)
    assert between(OTHER, THIRD, telemetry) is None
    assert nvlink_share_between(ONE, OTHER, 2, telemetry) == pytest.approx(0.13)


def test_of_what_both_ends_count_the_greater_counts() -> None:
    telemetry = snapshot(ONE, (OTHER, 1e9, 5e9)) | snapshot(OTHER, (ONE, 6e9, 0.5e9))
    assert between(ONE, OTHER, telemetry) == (6e9, 1e9)


def test_a_part_does_not_pass_for_the_whole() -> None:
    unknown = snapshot(ONE, (OTHER, 1e9, 1e9), (OTHER, None, 1e9))
    assert between(ONE, OTHER, unknown) is None
    assert between(ONE, OTHER, unknown | snapshot(OTHER, (ONE, 2e9, 3e9), (ONE, 2e9, 3e9))) == (4e9, 6e9)


def test_through_a_switch_the_traffic_between_two_gpus_is_unknown() -> None:
    telemetry = snapshot(ONE, (SWITCH, 1e9, 4e9)) | snapshot(OTHER, (SWITCH, 4e9, 1e9))
    assert between(ONE, OTHER, telemetry) is None
    assert nvlink_share_between(ONE, OTHER, 1, telemetry) is None
    assert nvlink_share(ONE, telemetry) == pytest.approx(0.1)


def test_a_pair_in_words() -> None:
    telemetry = snapshot(ONE, (OTHER, 0.0, 18e9), (OTHER, 2e6, 18e9))
    assert about_rail([ONE, OTHER], 2, telemetry).splitlines() == [
        "NVLink",
        "cuda:0 and cuda:1: 2 links",
        "cuda:0 → cuda:1: 36.0 GB/s",
        "cuda:1 → cuda:0: 2.0 MB/s",
    ]
    assert about_rail([ONE, OTHER], 1, {}) == "NVLink\ncuda:0 and cuda:1: 1 link"


def test_a_fabric_in_words_names_a_link_that_stands_out() -> None:
    even = snapshot(ONE, *[(SWITCH, 10e9, 1e9)] * 4)
    uneven = snapshot(OTHER, *[(SWITCH, 1e9, 1e9)] * 3, (SWITCH, 20e9, 1e9))
    idle = snapshot(THIRD, *[(SWITCH, 0.0, 0.0)] * 3, (SWITCH, 1e3, 0.0))
    assert about_rail([ONE, OTHER, THIRD], 4, even | uneven | idle).splitlines() == [
        "NVLink",
        "cuda:0, cuda:1, cuda:2: each pair by 4 links",
        "cuda:0: ↓ 40  ↑ 4.0 GB/s",
        "cuda:1: ↓ 23  ↑ 4.0 GB/s; the most on link 3: ↓ 20  ↑ 1.0 GB/s",
        "cuda:2: ↓ 1.0  ↑ 0 kB/s",
    ]
