import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from framefleet.app.window.devices.telemetry import RESTART_SECONDS, DeviceTelemetry
from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.telemetry.monitor import TelemetryMonitor
from framefleet.engine.devices.telemetry.snapshot import Telemetry
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
    assert telemetry.problem == "telemetry is not available: the process that reads it ended unexpectedly with status 3"
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
