from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from framefleet.engine.bench import devices_run as module
from framefleet.engine.bench.devices_cpu import CpuDevices
from framefleet.engine.bench.devices_run import DeviceBench, Test
from framefleet.engine.notices import UsageError
from framefleet.engine.types import DeviceId

CPUS = (DeviceId("cpu", "0"), DeviceId("cpu", "1"))


def test_cpu_devices_share_the_product_and_the_sum() -> None:
    bench = DeviceBench(CPUS, repetitions=3, largest=4 << 20)
    found = list(bench.measure())
    assert set(bench.names) == set(CPUS)
    assert [(one.test, len(one.devices), one.nbytes >> 20) for one in found] == [
        (Test.MEMORY, 1, 4),
        (Test.PRODUCT, 1, 4),
        (Test.PRODUCT, 2, 4),
        (Test.SUM, 1, 1),
        (Test.SUM, 2, 1),
    ]
    for one in found:
        assert one.problem is None
        assert one.time is not None
        assert one.time.repetitions == 3
        assert 0 < one.time.p5 <= one.time.median <= one.time.p95
        assert one.note.endswith("each")


@pytest.mark.parametrize(
    ("devices", "options", "message"),
    [
        ((DeviceId("openvino", "GPU.0"),), {}, "no device benchmarks for openvino:GPU.0"),
        ((), {}, "no device to measure"),
        (CPUS, {"repetitions": 1}, "a variance needs at least 2"),
    ],
)
def test_what_cannot_be_measured(devices: tuple[DeviceId, ...], options: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        DeviceBench(devices, **options)


def test_arrays_larger_than_the_memory_of_a_container_are_not_even_tried(tmp_path: Path) -> None:
    meminfo, group = tmp_path / "proc" / "meminfo", tmp_path / "sys" / "fs" / "cgroup"
    for folder in (meminfo.parent, group):
        folder.mkdir(parents=True)
    meminfo.write_text("MemTotal: 8388608 kB\nMemAvailable: 8388608 kB\n")
    for name, text in {"memory.max": str(1 << 20), "memory.current": "0", "memory.stat": "inactive_file 0"}.items():
        (group / name).write_text(text)
    found = [*CpuDevices(CPUS[:1], 4 << 20, tmp_path).measure(2)]
    assert {one.problem for one in found if one.nbytes > 1 << 20} == {"not enough memory for 0.0 GB"}


def test_a_process_that_dies_is_a_finding_with_its_last_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho \'{"names": {"cpu:0": "one"}}\'\necho \'the driver is gone\' >&2\nkill -SEGV $$\n')
    program.chmod(0o755)
    monkeypatch.setattr(module.sys, "executable", str(program))
    bench = DeviceBench(CPUS[:1])
    (found,) = bench.measure()
    assert found.devices == CPUS[:1]
    assert found.problem == f"the benchmark did not reach its end: it crashed (signal {int(signal.SIGSEGV)}): the driver is gone"
    assert bench.names == {CPUS[0]: "one"}


def test_who_looks_away_leaves_no_process() -> None:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = set(children.read_text().split()) if children.exists() else set()
    measuring = DeviceBench(CPUS[:1], repetitions=10_000, largest=64 << 20).measure()
    del measuring
    stopped = DeviceBench(CPUS[:1], repetitions=2, largest=64 << 20).measure()
    next(stopped)
    stopped.close()  # type: ignore[attr-defined]
    assert not children.exists() or set(children.read_text().split()) <= before


def test_nothing_heavy_is_imported() -> None:
    heavy = "{'cuda', 'cv2', 'av', 'openvino', 'PySide6'}"
    code = f"import sys; from framefleet.app.cli.bench import devices, pipeline, scaling; print({heavy} & sys.modules.keys())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
