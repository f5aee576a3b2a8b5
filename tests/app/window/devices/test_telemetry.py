"""Telemetry of the window: one monitor, and the values as text."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from framefleet.app.window.devices.telemetry import RESTART_SECONDS, DeviceTelemetry, Metric, details, metrics
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.telemetry import Telemetry, TelemetryMonitor
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId
from tests.support.window import CPU

DESCRIBED = DeviceDescription(CPU, "Some Processor", "OpenVINO", ("fp32",))


def crashes_once(connection: Any, wanted: Any, *, first: Path) -> None:
    """The sampler's process: ends at once when it is started for the first time."""
    if not first.exists():
        first.touch()
        os._exit(3)
    connection.send((None, (Telemetry(CPU, utilization=42.0),)))
    connection.poll(None)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def telemetry(tmp_path: Path, clock: Clock) -> Iterator[DeviceTelemetry]:
    main = partial(crashes_once, first=tmp_path / "first")
    telemetry = DeviceTelemetry(partial(TelemetryMonitor, main=main), clock)
    yield telemetry
    telemetry.watch(())


def test_a_monitor_that_ended_is_started_again_after_a_while(telemetry: DeviceTelemetry, clock: Clock) -> None:
    telemetry.watch([DESCRIBED])
    until(lambda: telemetry.problem is not None)
    assert str(telemetry.problem) == "telemetry is not available: the process that reads it ended unexpectedly with status 3"
    assert telemetry.of(CPU) == Telemetry(CPU)  # shown, with nothing known
    clock.now = RESTART_SECONDS - 0.1
    telemetry.revive()
    assert telemetry.problem is not None
    clock.now = RESTART_SECONDS
    telemetry.revive()
    until(lambda: telemetry.of(CPU) == Telemetry(CPU, utilization=42.0))
    assert telemetry.problem is None
    clock.now *= 10
    telemetry.revive()
    assert telemetry.of(CPU) == Telemetry(CPU, utilization=42.0)  # it works, and goes on


def test_only_what_is_watched_is_known(telemetry: DeviceTelemetry) -> None:
    assert telemetry.of(CPU) is None
    telemetry.watch([DESCRIBED])
    assert telemetry.of(DeviceId("cuda", "0")) is None
    telemetry.watch(())
    assert (telemetry.of(CPU), telemetry.problem) == (None, None)


GPU = DeviceId("cuda", "0")
GIB = 1 << 30
BUSY = Telemetry(
    GPU,
    utilization=97.0,
    memory_utilization=41.0,
    decoder=83.0,
    memory_used=70 * GIB,
    memory_total=140 * GIB,
    power=612.3,
    power_limit=700.0,
    temperature=63.0,
    sm_clock=1785,
    sm_clock_limit=1980,
    pcie_rx=2.5e9,
    pcie_tx=1.5e6,
    pcie_generation=5,
    pcie_width=16,
    throttling=(Notice("devices.power_limit"),),
)


def by_name(telemetry: Telemetry) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics(telemetry)}


def test_a_gpu_has_six_metrics_with_their_maxima() -> None:
    shown = by_name(BUSY)
    assert {name: metric.text for name, metric in shown.items()} == {
        "GPU": "97 %",
        "Memory": "70.0 GiB",
        "Decoder": "83 %",
        "Power": "612 W",
        "Temperature": "63 °C",
        "Clock": "1,785 MHz",
    }
    assert (shown["Memory"].brief, shown["Memory"].fraction) == ("50 %", 0.5)
    assert shown["Power"].fraction == 612.3 / 700
    assert not any(metric.alarm for metric in shown.values())  # a GPU at full load runs into its power limit


def test_what_is_not_available_says_so_and_has_an_empty_bar() -> None:
    shown = metrics(Telemetry(GPU))
    assert {metric.text for metric in shown} == {"not available"}
    assert {(metric.brief, metric.fraction, metric.known) for metric in shown} == {("–", None, False)}


def test_heat_full_memory_and_throttling_stand_out() -> None:
    assert by_name(replace(BUSY, temperature=88.0))["Temperature"].alarm
    assert by_name(replace(BUSY, memory_used=139 * GIB))["Memory"].alarm
    assert by_name(replace(BUSY, throttling=(Notice("devices.power_limit"), Notice("devices.temperature"))))["Clock"].alarm


def test_of_a_processor_there_is_its_own_load_and_memory() -> None:
    shown = metrics(Telemetry(CPU, utilization=51.0, memory_used=4 * GIB, memory_total=16 * GIB))
    assert [(metric.name, metric.text, metric.fraction) for metric in shown] == [("CPU", "51 %", 0.51), ("Memory", "4.0 GiB", 0.25)]
    assert details(Telemetry(CPU)) == "Utilization: not available\nMemory: not available"


def test_the_details_have_everything_with_units() -> None:
    lines = dict(line.split(": ", 1) for line in details(BUSY).splitlines())
    assert lines["Power"] == "612 of 700 W"
    assert lines["Clock"] == "1,785 of 1,980 MHz"
    assert lines["Throttled by"] == "power limit"
    assert lines["PCIe"] == "generation 5, 16 lanes, receives 2.5 GB/s, sends 1.5 MB/s"
    assert lines["NVLink"] == "not available, receives not available, sends not available"
    assert dict(line.split(": ", 1) for line in details(replace(BUSY, throttling=())).splitlines())["Throttled by"] == "nothing"
