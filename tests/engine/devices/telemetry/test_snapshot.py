"""From the driver's answers to snapshots, by the sampler's process and its owner."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.nvml import ALL_LINKS, Nvml
from framefleet.engine.devices.telemetry import GpuSampler, ProcessorSampler, Telemetry, TelemetryMonitor, make_samplers, rate
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId
from tests.support.devices.nvml import H200, Library, NVMLError_LibRmVersionMismatch, with_nvlinks

CPU, GPU = DeviceId("cpu", "0"), DeviceId("cuda", "3")


def description(device: DeviceId, uuid: str | None = None) -> DeviceDescription:
    return DeviceDescription(device, "a device", "a library", ("fp32",), uuid=uuid)


def wait(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Clock:
    """Stands for the module ``time``."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("framefleet.engine.devices.telemetry.time", clock)
    return clock


def test_a_snapshot_of_a_gpu(clock: Clock) -> None:
    counts = iter([0, 10_000, 20_000])

    def fields(asked: list[tuple[int, int]]) -> list[Any]:
        if asked[0][0] == 198:
            raise Library.NVMLError("PCIe is not counted")
        count = next(counts)
        return [SimpleNamespace(nvmlReturn=0, valueType=3, value=SimpleNamespace(ullVal=count)) for _ in asked]

    (gpu,) = Nvml(Library({**H200, "nvmlDeviceGetFieldValues": fields})).gpus()
    sampler = GpuSampler(GPU, gpu)
    clock.now = 0.5
    snapshot = sampler.sample()
    assert snapshot.device == GPU
    assert (snapshot.utilization, snapshot.decoder, snapshot.encoder, snapshot.power) == (97, 83, None, 612.345)
    assert (snapshot.pcie_rx, snapshot.pcie_tx) == (1.5e6, 1.5e6)
    assert snapshot.nvlink_rx == snapshot.nvlink_tx == 10_000 * 1024 / 0.5
    assert snapshot.throttling == (Notice("devices.power_limit"), Notice("devices.temperature"))


def linked(counts: dict[tuple[int, int], int]) -> GpuSampler:
    """Of a GPU with two links to one, one to another, and one to a switch."""
    ends = [("00000000:07:00.0", 0), ("00000000:0B:00.0", 0), ("00000000:07:00.0", 0), (None, 2)]
    (gpu,) = Nvml(Library({**H200, **with_nvlinks(ends, counts)})).gpus()
    return GpuSampler(GPU, gpu)


def test_traffic_of_each_link_with_where_it_leads(clock: Clock) -> None:
    counts = {(field, link): 1_000 for field in (138, 139) for link in range(4)}
    sampler = linked(counts)
    counts |= {(138, 0): 11_000, (138, 2): 21_000, (139, 1): 6_000}
    clock.now = 0.5
    snapshot = sampler.sample()
    assert [(link.number, link.end) for link in snapshot.nvlink_traffic] == [
        (0, "0000:07:00.0"),
        (1, "0000:0b:00.0"),
        (2, "0000:07:00.0"),
        (3, None),
    ]
    unit = 1_000 * 1024 / 0.5
    assert [link.tx for link in snapshot.nvlink_traffic] == [10 * unit, 0, 20 * unit, 0]
    assert [link.rx for link in snapshot.nvlink_traffic] == [0, 5 * unit, 0, 0]
    assert snapshot.nvlinks == 4
    assert (snapshot.nvlink_rx, snapshot.nvlink_tx) == tuple(
        sum(rates) for rates in zip(*((link.rx, link.tx) for link in snapshot.nvlink_traffic), strict=True)
    )


def test_a_counter_that_began_anew_is_unknown_once_and_so_is_the_sum() -> None:
    counts = {(field, link): 1_000 for field in (138, 139) for link in range(4)}
    sampler = linked(counts)
    counts |= {(138, 1): 10, (138, 2): 1_000_000}
    snapshot = sampler.sample()
    assert [link.tx is None for link in snapshot.nvlink_traffic] == [False, True, False, False]
    assert (snapshot.nvlink_rx, snapshot.nvlink_tx) == (0.0, None)
    snapshot = sampler.sample()
    assert [link.tx for link in snapshot.nvlink_traffic] == [0.0] * 4
    assert snapshot.nvlink_tx == 0.0


def test_where_links_are_not_counted_by_themselves_there_is_a_total() -> None:
    counts = {(138, ALL_LINKS): 0, (139, ALL_LINKS): 0}
    sampler = linked(counts)
    counts[138, ALL_LINKS] = 1_000
    snapshot = sampler.sample()
    assert snapshot.nvlink_traffic == ()
    assert snapshot.nvlink_rx == 0.0
    assert (snapshot.nvlink_tx or 0.0) > 0.0


def test_a_link_that_falls_silent_takes_nothing_from_the_others() -> None:
    counts = {(field, link): 0 for field in (138, 139) for link in (*range(4), ALL_LINKS)}
    sampler = linked(counts)
    del counts[138, 3]
    sampler.sample()
    counts |= {(138, 0): 1_000, (138, ALL_LINKS): 3_000}
    snapshot = sampler.sample()
    assert [link.number for link in snapshot.nvlink_traffic] == [0, 1, 2]
    assert (snapshot.nvlink_tx or 0.0) == pytest.approx(3 * (snapshot.nvlink_traffic[0].tx or 0.0))


@pytest.mark.parametrize(("before", "now", "expected"), [(None, 5, None), (5, None, None), (9, 5, None), (5, 5, 0.0), (0, 2**40, 2**41)])
def test_rates_of_counters(before: int | None, now: int | None, expected: float | None) -> None:
    assert rate(before, now, 0.5) == expected


def test_the_processors_utilization_is_that_of_the_processors_that_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    usable = min(os.sched_getaffinity(0))
    (tmp_path / "proc/meminfo").write_text("MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\n")

    def stat(working: int, idle: int) -> None:
        rows = ["cpu 9 9 9 9 9 9 9 9 0 0", f"cpu{usable} {working} 0 0 {idle} 0 0 0 0 0 0", "cpu9999 5 5 5 5 5 5 5 5 0 0", "intr 7"]
        (tmp_path / "proc/stat").write_text("\n".join(rows))

    stat(100, 1000)
    sampler = ProcessorSampler(CPU, tmp_path)
    assert sampler.sample().utilization is None  # no time has passed
    stat(130, 1010)
    assert sampler.sample() == Telemetry(CPU, utilization=75.0, memory_used=600 * 1024, memory_total=1000 * 1024)
    (tmp_path / "proc/stat").unlink()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 1000 kB\n")
    assert sampler.sample() == Telemetry(CPU)


def test_devices_that_nothing_is_known_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Library(refusing=NVMLError_LibRmVersionMismatch))  # type: ignore[arg-type]
    samplers, problem = make_samplers([(GPU, "GPU-a"), (CPU, "")])
    assert samplers[0]() == Telemetry(GPU)
    assert samplers[1]().memory_total
    assert "restart the machine" in str(problem)
    monkeypatch.setitem(sys.modules, "pynvml", Library(H200))  # type: ignore[arg-type]
    samplers, problem = make_samplers([(GPU, "GPU-a"), (DeviceId("cuda", "0"), "GPU-gone")])
    assert problem is None
    assert [sample().utilization for sample in samplers] == [97, None]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of its processors")
def test_the_cpu_is_sampled_twice_a_second() -> None:
    monitor = TelemetryMonitor([description(CPU)])
    try:
        wait(lambda: monitor.latest)
        first, begin = monitor.latest, time.monotonic()
        wait(lambda: monitor.latest is not first)
        second = monitor.latest
        wait(lambda: monitor.latest is not second)
        assert time.monotonic() - begin > 0.6  # two periods, the first of which had begun
        snapshot = monitor.latest[CPU]
        assert snapshot.memory_total is not None
        assert 0 < (snapshot.memory_used or 0) < snapshot.memory_total
        assert 0 <= (snapshot.utilization or 0) <= 100
        assert monitor.problem is None
    finally:
        monitor.close()
    assert monitor.latest == {}
    assert monitor.problem is None
    monitor.close()


def test_the_sampler_ends_with_the_process_that_started_it() -> None:
    code = """
import multiprocessing, time
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.telemetry import TelemetryMonitor
from framefleet.engine.types import DeviceId
monitor = TelemetryMonitor([DeviceDescription(DeviceId("cpu", "0"), "a device", "a library", ("fp32",))])
while not monitor.latest:
    time.sleep(0.02)
print(multiprocessing.active_children()[0].pid, flush=True)
time.sleep(60)
"""
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with owner:
        assert owner.stdout is not None
        sampler = int(owner.stdout.readline())
        owner.kill()
    wait(lambda: not Path(f"/proc/{sampler}").exists() or "Z" in Path(f"/proc/{sampler}/stat").read_text().split())


def failing_main(connection: Any, wanted: Any, *, how: str) -> None:
    print("the driver says hello")
    connection.send((None, (Telemetry(GPU, 5.0),)))
    if how == "abort":
        os.abort()
    os._exit(3)


@pytest.mark.parametrize(("how", "problem"), [("abort", "the process that reads it crashed (SIGABRT)"), ("exit", "status 3")])
def test_a_sampler_that_ends_says_so(how: str, problem: str) -> None:
    monitor = TelemetryMonitor([description(GPU, "GPU-a")], partial(failing_main, how=how))
    try:
        wait(lambda: monitor.problem)
        assert monitor.latest == {}
        assert problem in str(monitor.problem)
    finally:
        monitor.close()


def hanging_main(connection: Any, wanted: Any) -> None:
    from framefleet.engine.devices import telemetry as sampler

    def hang() -> Telemetry:
        time.sleep(3600)
        return Telemetry(GPU)

    sampler.STALL_SECONDS = 1.0
    sampler.make_samplers = lambda _: ([hang], None)
    sampler.main(connection, wanted)


def test_a_driver_that_hangs_is_noticed() -> None:
    monitor = TelemetryMonitor([description(GPU, "GPU-a")], hanging_main)
    try:
        wait(lambda: monitor.problem)
        assert "asking the driver did not come to an end within 1 s" in str(monitor.problem)
    finally:
        monitor.close()


def test_a_sampler_that_cannot_be_started() -> None:
    """No further file can be opened."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        monitor = TelemetryMonitor([description(CPU)])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert "cannot be started" in str(monitor.problem)
    assert monitor.latest == {}
    monitor.close()


def test_watching_loads_no_driver_into_the_caller() -> None:
    code = """
import sys
from framefleet.engine.devices.telemetry import TelemetryMonitor
from framefleet.engine.devices.discovery import discover
monitor = TelemetryMonitor(discover())
monitor.close()
print({"openvino", "cv2", "av", "cuda", "pynvml", "tensorrt_rtx"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
