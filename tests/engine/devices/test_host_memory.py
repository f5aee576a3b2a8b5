"""One figure for the memory of this machine, wherever it is shown."""

import re
from pathlib import Path

import pytest

from framefleet.app.cli.doctor import check_system
from framefleet.engine.devices.discovery import discover
from framefleet.engine.devices.host_memory import HostMemory, free_host_memory, read_host_memory
from framefleet.engine.devices.telemetry import ProcessorSampler
from framefleet.engine.types import DeviceId

GIB = 1 << 30


def files(root: Path, **contents: str) -> Path:
    for name, text in contents.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_memory_is_that_of_the_machine_or_of_the_container(tmp_path: Path) -> None:
    machine = files(tmp_path, proc__meminfo="MemTotal: 9000 kB\nMemAvailable:    8000 kB\nHugePages: 0\n")
    whole = HostMemory(9000 * 1024, 8000 * 1024, 9000 * 1024)
    assert read_host_memory(machine) == whole
    group = {"sys__fs__cgroup__memory_dot_current": "3000", "sys__fs__cgroup__memory_dot_stat": "anon 1\ninactive_file 500\n"}
    files(tmp_path, **group, sys__fs__cgroup__memory_dot_max="max")
    assert read_host_memory(machine) == whole
    files(tmp_path, sys__fs__cgroup__memory_dot_max="5000")
    assert read_host_memory(machine) == HostMemory(5000, 2500, 9000 * 1024)
    files(tmp_path, sys__fs__cgroup__memory_dot_max="1000")
    assert read_host_memory(machine) == HostMemory(1000, 0, 9000 * 1024)
    assert read_host_memory(tmp_path / "elsewhere") is None
    assert free_host_memory(tmp_path / "elsewhere") is None


def test_devices_doctor_and_telemetry_name_the_same_memory() -> None:
    memory = read_host_memory()
    if memory is None:
        pytest.skip("needs Linux")
    (described,) = [device.memory for device in discover() if device.id == DeviceId("cpu", "0")]
    (detail,) = [check.detail for check in check_system() if check.name == "memory"]
    shown = re.search(r"of ([\d.]+) GiB", detail)
    assert shown is not None
    assert ProcessorSampler(DeviceId("cpu", "0")).sample().memory_total == described == memory.total
    assert shown[1] == f"{memory.total / GIB:.1f}"
