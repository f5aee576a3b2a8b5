"""What limits a run, by the figures of real runs in tests/fixtures/bottlenecks.json.gz."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from framefleet.app.window.bars import StatusLine
from framefleet.app.window.devices.bottleneck import SLOW, Limit, find_bottleneck, pace_of
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.devices.status import DeviceStatus, fold
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceReady, DeviceStats
from framefleet.engine.types import DeviceId
from tests.support.window import CPU, engine_info

RECORDED: dict[str, Any] = json.loads(gzip.decompress((Path(__file__).parents[3] / "fixtures" / "bottlenecks.json.gz").read_bytes()))


def replayed(name: str) -> tuple[list[DeviceStatus], Telemetry | None]:
    """The statuses at the end of a recorded run, and the processors."""
    run = RECORDED[name]
    statuses = []
    for text, reports in run["devices"].items():
        device = DeviceId.parse(text)
        status = fold(DeviceStatus(device), DeviceReady(engine_info(device)), 0.0)
        for number, report in enumerate(reports, 1):
            report = {**report, "latency_p50": 5.0, "latency_p99": 9.0}
            status = fold(status, DeviceStats(device, number, **report), 0.5 * number)
        statuses.append(status)
    return statuses, None if run["host"] is None else Telemetry(CPU, utilization=run["host"])


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("one CPU device", Limit.NETWORK),
        ("two CPU devices", Limit.NETWORK),
        ("large video, tiny model", Limit.PROCESSOR),
        ("four H200, YOLOv4-608", Limit.NETWORK),
        ("one H200, YOLOv4-416", Limit.DECODE),
        ("one H200 slowed to a third", Limit.DEVICE),
    ],
)
def test_recorded_runs(name: str, limit: Limit) -> None:
    statuses, host = replayed(name)
    found = find_bottleneck(statuses, {}, host)
    assert found is not None
    assert found.limit is limit
    assert found.text.endswith(".")
    assert found.advice.endswith(".")


def test_a_disk_is_the_limit_where_decoding_waits_and_the_processors_do_not_work() -> None:
    statuses, host = replayed("slow disk")
    assert host is not None
    found = find_bottleneck(statuses, {}, host)
    assert found is not None
    assert found.limit is Limit.PROCESSOR  # other programs used all processors then, which hides the disk
    found = find_bottleneck(statuses, {}, replace(host, utilization=20.0))
    assert found is not None
    assert found.limit is Limit.DISK
    found = find_bottleneck(statuses, {}, replace(host, utilization=70.0))
    assert found is not None
    assert found.limit is Limit.DECODE


def test_the_telemetry_of_gpus_tells_their_decoders_from_the_host() -> None:
    statuses, _ = replayed("one H200, YOLOv4-416")
    gpu = statuses[0].device
    found = find_bottleneck(statuses, {gpu: Telemetry(gpu, utilization=74.0, decoder=97.0)}, None)
    assert found is not None
    assert found.limit is Limit.VIDEO_DECODER
    statuses, host = replayed("four H200, YOLOv4-608")
    idle = {status.device: Telemetry(status.device, utilization=41.0) for status in statuses}
    found = find_bottleneck(statuses, idle, host)
    assert found is not None
    assert found.limit is Limit.HOST


def test_a_slow_device_names_itself_and_why_its_clocks_are_low() -> None:
    statuses, _ = replayed("one H200 slowed to a third")
    slow = statuses[1].device
    found = find_bottleneck(statuses, {slow: Telemetry(slow, throttling=(Notice("devices.temperature"),))}, None)
    assert found is not None
    assert found.text == "cuda:1 is slower than the others: 412 instead of 1,185 frames/s."
    assert found.advice == "Its clock rates are reduced: temperature. Check the device."
    other = replace(statuses[0], engine=replace(engine_info(statuses[0].device), device_name="A faster kind"))
    assert find_bottleneck([other, statuses[1]], {}, None) != found  # devices of other kinds are not compared


@pytest.mark.parametrize("count", range(1, 8))
def test_slow_devices_are_those_far_below_the_median_of_the_others_of_their_kind(count: int) -> None:
    random = np.random.default_rng(count)
    for _ in range(20):
        rates, kinds = random.integers(0, 6, count) * 500.0, random.integers(0, 2, count).tolist()
        statuses, expected = [], set()
        for number in range(count):
            device = DeviceId("cuda", str(number))
            engine = replace(engine_info(device), device_name=f"kind {kinds[number]}")
            status = fold(DeviceStatus(device), DeviceReady(engine), 0.0)
            for time in (0.0, 10.0):
                status = fold(status, DeviceStats(device, 100, float(rates[number]), 5.0, 9.0), time)
            statuses.append(status)
            others = [rates[other] for other in range(count) if other != number and kinds[other] == kinds[number] and rates[other]]
            if rates[number] and others and rates[number] < SLOW * median(others):
                expected.add(device)
        pace = pace_of(statuses)
        assert (pace.fastest, set(pace.slow)) == (max(rates), expected)


def test_one_report_that_differs_does_not_change_the_words() -> None:
    statuses, host = replayed("one CPU device")
    (status,) = statuses
    later = fold(status, DeviceStats(status.device, 99, 6.0, 5.0, 9.0, bottleneck="preprocess"), status.samples[-1].time + 0.5)
    assert find_bottleneck([later], {}, host) == find_bottleneck(statuses, {}, host)


def test_nothing_is_said_while_no_device_works() -> None:
    assert find_bottleneck([], {}, None) is None
    assert find_bottleneck([DeviceStatus(CPU)], {}, None) is None


def test_the_panel_and_the_status_line_show_it_and_take_it_back(qtbot: QtBot) -> None:
    panel, line = DevicePanel(), StatusLine()
    qtbot.addWidget(panel)
    qtbot.addWidget(line)
    panel.bottleneck_changed.connect(line.show_bottleneck)
    statuses, _ = replayed("one CPU device")
    panel.show_devices(statuses)
    assert panel.run.title.text() == line.bottleneck.text() == "Limited by the model: the devices are fully used."
    assert panel.run.text.text() == line.bottleneck.toolTip() == "Choose a smaller model, or more devices."
    assert panel.run.title.property("role") == "small", "nothing is wrong, so nothing warns"
    panel.show_devices([replace(status, rate=0.0) for status in statuses])
    assert line.bottleneck.text() == ""


def test_what_limited_a_run_stays_while_it_rests_but_not_while_devices_wait_for_streams(qtbot: QtBot) -> None:
    panel, line = DevicePanel(), StatusLine()
    qtbot.addWidget(panel)
    qtbot.addWidget(line)
    panel.bottleneck_changed.connect(line.show_bottleneck)
    statuses = [replace(status, run=replace(status.run, frames=9)) for status in replayed("one CPU device")[0]]
    panel.show_devices(statuses)
    limited = line.bottleneck.text()
    panel.show_devices([replace(status, rate=0.0) for status in statuses])
    assert line.bottleneck.text() == limited != ""
    panel.show_devices([replace(status, bottleneck="sources") for status in statuses])
    assert line.bottleneck.text() == ""
