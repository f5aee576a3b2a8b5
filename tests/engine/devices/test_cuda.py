from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from framefleet.engine import cuda as cuda_package
from framefleet.engine.backends.tensorrt import library as tensorrt_library
from framefleet.engine.cuda import only_gpu
from framefleet.engine.devices import cuda
from framefleet.engine.devices.cuda import CudaDevice, FindLibrary, describe, describe_devices
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.nvml import Nvml
from tests.support.devices.nvml import H200, Library, NVMLError_LibraryNotFound, NVMLError_LibRmVersionMismatch
from tests.support.notices import words

FIRST = CudaDevice(0, "a", "by CUDA", (9, 0), 132, "0000:00:06.0")
SECOND = replace(FIRST, number=1, uuid="b")
OTHER = {**H200, "nvmlDeviceGetUUID": "GPU-b", "nvmlDeviceGetName": "NVIDIA A100"}


@pytest.fixture(autouse=True)
def _all_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def tensorrt_rtx(_compute_capability: tuple[int, int]) -> tensorrt_library.Library:
    """TensorRT of a version that takes an H200, whatever is installed."""
    return tensorrt_library.Library(None, "TensorRT-RTX", (1, 6, 1, 120))


def described(
    *devices: CudaDevice, library: Library | None = None, reason: str | None = None, find_library: FindLibrary = tensorrt_rtx
) -> list[DeviceDescription]:
    return list(describe(Nvml(library or Library(H200)), devices, reason, find_library))


def test_what_cuda_and_the_driver_tell_is_put_together() -> None:
    (device,) = described(FIRST)
    assert device.available
    assert (str(device.id), device.name, device.backend, device.precisions) == (
        "cuda:0",
        "NVIDIA H200",
        "TensorRT-RTX 1.6.1.120",
        ("fp32", "fp16"),
    )
    assert (device.cores, device.memory, device.uuid, device.compute_capability) == (132, 141 * 2**30, "GPU-a", "9.0")
    assert (device.driver, device.cuda, device.pci) == ("580.1", "13.0", "00000000:00:06.0")


def test_they_meet_by_uuid_whatever_their_order() -> None:
    found = described(replace(SECOND, number=0), replace(FIRST, number=1), library=Library(H200, OTHER))
    assert [(str(device.id), device.name, device.uuid) for device in found] == [
        ("cuda:0", "NVIDIA A100", "GPU-b"),
        ("cuda:1", "NVIDIA H200", "GPU-a"),
    ]


def test_hidden_devices_are_listed_last_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    found = described(replace(SECOND, number=0), library=Library(H200, OTHER))
    assert [(str(device.id), device.uuid, device.problem and str(device.problem)) for device in found] == [
        ("cuda:0", "GPU-b", None),
        ("cuda:1", "GPU-a", "hidden by CUDA_VISIBLE_DEVICES=1"),
    ]


def test_without_cuda_all_devices_say_why() -> None:
    found = described(library=Library(H200, OTHER), reason=words("cuda-python is not installed"))
    assert [(str(device.id), str(device.problem)) for device in found] == [
        ("cuda:0", "cuda-python is not installed"),
        ("cuda:1", "cuda-python is not installed"),
    ]


def test_an_instance_of_a_cut_gpu_is_a_device_and_its_gpu_is_not_hidden() -> None:
    instance = {**H200, "nvmlDeviceGetUUID": "MIG-m", "nvmlDeviceGetName": "NVIDIA H200 MIG 1g.18gb"}
    whole = {**H200, "nvmlDeviceGetMigMode": [1, 1], "instances": [instance]}
    (device,) = described(replace(FIRST, uuid="m"), library=Library(whole))
    assert (device.name, device.uuid, device.problem) == ("NVIDIA H200 MIG 1g.18gb", "MIG-m", None)
    (empty,) = described(library=Library({**whole, "instances": []}))
    assert "MIG mode is on" in str(empty.problem)
    assert "nvidia-smi -i GPU-a -mig 0" in str(empty.problem)


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({"nvmlDeviceGetComputeMode": 2}, "compute mode is Prohibited: 'nvidia-smi -i GPU-a -c DEFAULT'"),
        ({"nvmlDeviceGetComputeMode": 3, "nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=1)]}, "process 1 uses it"),
        ({"nvmlDeviceGetComputeMode": 3, "nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=os.getpid())]}, None),
        ({"nvmlDeviceGetComputeMode": 3}, None),
        ({"nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=1)]}, None),
    ],
)
def test_who_may_compute_on_it(answers: dict[str, object], problem: str | None) -> None:
    (device,) = described(FIRST, library=Library({**H200, **answers}))
    assert device.available == (problem is None)
    assert (problem or "None") in str(device.problem)
    assert device.precisions == (("fp32", "fp16") if problem is None else ())


def test_an_old_driver() -> None:
    (device,) = described(FIRST, library=Library(H200, cuda=12040))
    assert str(device.problem) == "its driver 580.1 supports CUDA 12.4, 13.0 is needed: install driver 580 or newer"


@pytest.mark.parametrize(
    ("installed", "problem"),
    [
        ({"tensorrt_rtx": "1.7.0.5"}, r"TensorRT-RTX 1\.7\.0\.5 refuses compute capability 9\.0: pip install tensorrt-rtx==1\.6\.1\.120"),
        ({}, r"tensorrt is not installed; tensorrt_rtx is not installed.* install .*\[rtx\]'"),
        ({"tensorrt": "10.2.0"}, r"TensorRT 10\.2\.0 is too old: version 10\.8"),
    ],
)
def test_without_a_tensorrt_that_takes_it(installed: dict[str, str], problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("tensorrt", "tensorrt_rtx"):
        version = installed.get(module)
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(Builder=None, __version__=version) if version else None)  # type: ignore[arg-type]
    monkeypatch.setattr(tensorrt_library, "_load", tensorrt_library._load.__wrapped__)  # nothing is cached
    (device,) = described(FIRST, find_library=tensorrt_library.find_library)
    assert not device.available
    assert re.search(problem, str(device.problem)), device.problem


def test_a_machine_without_a_driver_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Library(refusing=NVMLError_LibraryNotFound))  # type: ignore[arg-type]
    monkeypatch.setattr(cuda, "DRIVER", tmp_path / "version")
    assert list(describe_devices(tensorrt_rtx)) == []


def test_a_driver_without_our_libraries_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(cuda, "DRIVER", tmp_path)
    (device,) = describe_devices(tensorrt_rtx)
    assert (str(device.id), device.available) == ("cuda:0", False)
    assert re.search(r"install .*\[rtx\]'", str(device.problem))


def test_a_driver_that_does_not_answer_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Library(refusing=NVMLError_LibRmVersionMismatch))  # type: ignore[arg-type]
    (device,) = describe_devices(tensorrt_rtx)
    assert "restart the machine" in str(device.problem)


@pytest.mark.parametrize("module", [None, SimpleNamespace(Device=SimpleNamespace(get_all_devices=lambda: 1 / 0))])
def test_cuda_that_does_not_start_says_what_to_do(monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", Library(H200))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "cuda.core", module)  # type: ignore[arg-type]
    (device,) = describe_devices(tensorrt_rtx)
    assert device.name == "NVIDIA H200"
    assert ("pip install" if module is None else "CUDA cannot be started") in str(device.problem)


def test_the_only_gpu_is_known_without_a_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cuda_package, "DRIVER", tmp_path / "version")
    assert only_gpu() is None
    (tmp_path / "gpus" / "0000:01:00.0").mkdir(parents=True)
    assert only_gpu() == 0
    (tmp_path / "gpus" / "0000:02:00.0").mkdir()
    assert only_gpu() is None
