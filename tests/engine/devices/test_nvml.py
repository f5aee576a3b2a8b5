from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from framefleet.engine.devices.nvml import ALL_LINKS, Counter, Counters, NoNvmlError, Nvml
from framefleet.engine.notices import DeviceError, Notice
from tests.support.devices.nvml import H200, Library, NVMLError_LibraryNotFound, NVMLError_LibRmVersionMismatch, with_nvlinks


def test_a_gpu_tells_what_it_has_and_nothing_of_what_it_has_not() -> None:
    nvml = Nvml(Library(H200))
    (gpu,) = nvml.gpus()
    assert (nvml.driver, nvml.cuda) == ("580.1", (13, 0))
    assert (gpu.name, gpu.uuid, gpu.pci, gpu.compute_capability) == ("NVIDIA H200", "GPU-a", "00000000:00:06.0", (9, 0))
    assert (gpu.memory, gpu.pcie_throughput()) == ((2**30, 141 * 2**30), (1.5e6, 1.5e6))
    assert (gpu.compute_mode, gpu.processes, gpu.mig_mode, gpu.nvlink_ends()) == ("default", (), False, None)
    assert gpu.telemetry() == {
        "utilization": 97,
        "memory_utilization": 41,
        "decoder": 83,
        "encoder": None,
        "memory_used": 2**30,
        "memory_total": 141 * 2**30,
        "power": 612.345,
        "power_limit": 700.0,
        "temperature": 63,
        "sm_clock": None,
        "sm_clock_limit": None,
        "memory_clock": None,
        "pcie_generation": 5,
        "pcie_width": 16,
        "throttling": (Notice("devices.power_limit"), Notice("devices.temperature")),
    }
    assert gpu.counters() == Counters(Counter(None, None), {ALL_LINKS: Counter(None, None)})


def test_a_gpu_that_tells_nothing_is_no_error() -> None:
    nvml = Nvml(Library({"nvmlDeviceGetUUID": "GPU-b"}))
    gpu = nvml.gpu("GPU-b")
    assert gpu is not None
    assert gpu.name == "NVIDIA GPU"
    assert gpu.memory == gpu.pcie_throughput() == (None, None)
    assert [gpu.pci, gpu.compute_capability, gpu.compute_mode, gpu.mig_mode, gpu.processes] == [None] * 5
    assert set(gpu.telemetry().values()) == {None}
    assert gpu.mig_instances() == ()
    assert nvml.gpu("GPU-c") is None


def test_after_it_is_closed_nothing_is_told() -> None:
    library = Library(H200)
    Nvml(library).close()
    with pytest.raises(DeviceError):
        Nvml(library)


def test_memory_of_an_older_driver_comes_in_the_first_form() -> None:
    def memory(version: int | None = None) -> Any:
        if version is not None:
            raise Library.NVMLError("too new")
        return SimpleNamespace(used=1, total=2)

    (gpu,) = Nvml(Library({**H200, "nvmlDeviceGetMemoryInfo": memory})).gpus()
    assert gpu.memory == (1, 2)


def test_counters_are_read_by_their_type_in_bytes() -> None:
    def fields(asked: list[tuple[int, int]]) -> list[Any]:
        answers = {
            (198, 0): SimpleNamespace(nvmlReturn=0, valueType=3, value=SimpleNamespace(ullVal=2**40)),
            (197, 0): SimpleNamespace(nvmlReturn=0, valueType=1, value=SimpleNamespace(uiVal=7)),
            (139, 0xFFFFFFFF): SimpleNamespace(nvmlReturn=0, valueType=3, value=SimpleNamespace(ullVal=3)),
            (138, 0xFFFFFFFF): SimpleNamespace(nvmlReturn=3, valueType=3, value=SimpleNamespace(ullVal=0)),
        }
        return [answers[field] for field in asked]

    (gpu,) = Nvml(Library({**H200, "nvmlDeviceGetFieldValues": fields})).gpus()
    assert gpu.counters() == Counters(Counter(2**40, 7), {ALL_LINKS: Counter(3 * 1024, None)})


def test_links_that_are_down_do_not_count() -> None:
    (gpu,) = Nvml(Library({**H200, "nvmlDeviceGetNvLinkState": lambda link: int(link == 1)})).gpus()
    assert gpu.nvlink_ends() == {1: None}


def test_links_end_at_gpus_or_elsewhere() -> None:
    ends = [("00000000:07:00.0", 0), (None, 2), ("00000004:04:00.0", 1), ("00000000:08:00.0", 0xFF)]
    (gpu,) = Nvml(Library({**H200, **with_nvlinks(ends, {})})).gpus()
    assert gpu.nvlink_ends() == {0: "00000000:07:00.0", 1: None, 2: None, 3: "00000000:08:00.0"}


def test_links_are_counted_each_by_itself_in_one_question() -> None:
    counts = {(138, 0): 1, (139, 0): 2, (138, 3): 3, (139, 3): 2**50, (138, ALL_LINKS): 99, (139, ALL_LINKS): 99}
    answers, asked = with_nvlinks([], counts), []

    def fields(questions: list[tuple[int, int]]) -> Any:
        asked.append(questions)
        return answers["nvmlDeviceGetFieldValues"](questions)

    (gpu,) = Nvml(Library({**H200, "nvmlDeviceGetFieldValues": fields})).gpus()
    assert gpu.counters([0, 3]).nvlinks == {0: Counter(2048, 1024), 3: Counter(2**60, 3072)}
    assert [len(questions) for questions in asked] == [2, 4]  # PCIe, then all links


def test_links_that_are_not_counted_by_themselves_are_counted_together() -> None:
    counts = {(138, 0): 1, (139, 0): 2, (138, 1): 3, (138, ALL_LINKS): 5, (139, ALL_LINKS): 6}
    (gpu,) = Nvml(Library({**H200, **with_nvlinks([], counts)})).gpus()
    assert gpu.counters([0, 1]).nvlinks == {0: Counter(2048, 1024), ALL_LINKS: Counter(6 * 1024, 5 * 1024)}
    assert gpu.counters([2]).nvlinks == {ALL_LINKS: Counter(6 * 1024, 5 * 1024)}


def test_without_a_driver_there_are_no_gpus() -> None:
    with pytest.raises(NoNvmlError, match="no NVIDIA driver"):
        Nvml(Library(refusing=NVMLError_LibraryNotFound))


def test_a_driver_that_does_not_answer_says_what_to_do() -> None:
    with pytest.raises(DeviceError, match="different versions: restart the machine") as caught:
        Nvml(Library(refusing=NVMLError_LibRmVersionMismatch))
    assert not isinstance(caught.value, NoNvmlError)


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(NoNvmlError, match=r"nvidia-ml-py.*install .*\[rtx\]'"):
        Nvml()
