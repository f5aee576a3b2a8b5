"""Emulates ``pynvml``, its errors included, on machines without an NVIDIA driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

H200: Mapping[str, Any] = {
    "nvmlDeviceGetName": "NVIDIA H200",
    "nvmlDeviceGetUUID": "GPU-a",
    "nvmlDeviceGetPciInfo": SimpleNamespace(busId="00000000:00:06.0"),
    "nvmlDeviceGetCudaComputeCapability": (9, 0),
    "nvmlDeviceGetMigMode": [0, 0],
    "nvmlDeviceGetComputeMode": 0,
    "nvmlDeviceGetComputeRunningProcesses": [],
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=2**30, total=141 * 2**30),
    "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=97, memory=41),
    "nvmlDeviceGetDecoderUtilization": [83, 100000],
    "nvmlDeviceGetPowerUsage": 612_345,
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetTemperature": 63,
    "nvmlDeviceGetCurrentClocksEventReasons": 0x1 | 0x4 | 0x20,
    "nvmlDeviceGetCurrPcieLinkGeneration": 5,
    "nvmlDeviceGetCurrPcieLinkWidth": 16,
    "nvmlDeviceGetPcieThroughput": 1500,
}
"""A busy GPU without encoder, clocks, NVLink and counters. A callable value is called with the arguments after the handle."""


def with_nvlinks(ends: Sequence[tuple[str | None, int]], counts: Mapping[tuple[int, int], int]) -> dict[str, Any]:
    """The answers of a GPU about its NVLinks.

    ends: for each active link, the PCI address (None = hidden) and type of the device at its other end. counts: KiB by field and link,
    read at each call; a missing entry is an error of the driver.
    """

    def values(asked: Sequence[tuple[int, int]]) -> list[Any]:
        return [
            SimpleNamespace(nvmlReturn=0 if field in counts else 3, valueType=3, value=SimpleNamespace(ullVal=counts.get(field, 0)))
            for field in asked
        ]

    return {
        "nvmlDeviceGetNvLinkState": lambda link: int(link < len(ends)),
        "nvmlDeviceGetNvLinkRemotePciInfo": lambda link: SimpleNamespace(busId=ends[link][0] or "FFFFFFFF:FF:FF.0"),
        "nvmlDeviceGetNvLinkRemoteDeviceType": lambda link: ends[link][1],
        "nvmlDeviceGetFieldValues": values,
    }


class NVMLError(Exception):
    """Base of the library's errors."""


class NVMLError_NotSupported(NVMLError):  # noqa: N801, N818 - its real name
    """The GPU does not support the function."""


class NVMLError_LibraryNotFound(NVMLError):  # noqa: N801, N818
    """The driver is not installed."""


class NVMLError_LibRmVersionMismatch(NVMLError):  # noqa: N801, N818
    """The driver was updated while it was loaded."""


class Library:
    """Replaces the module ``pynvml``. gpus: mappings from function names to answers; a missing function is not supported.

    cuda: the driver's CUDA version, 13000 = 13.0. refusing: the error of ``nvmlInit``, None = it succeeds.
    """

    NVMLError = NVMLError
    NVML_NVLINK_MAX_LINKS = 4
    NVML_TEMPERATURE_GPU = NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2
    NVML_AFFINITY_SCOPE_NODE = 0
    NVML_PCIE_UTIL_TX_BYTES, NVML_PCIE_UTIL_RX_BYTES = 0, 1
    NVML_FI_DEV_PCIE_COUNT_TX_BYTES, NVML_FI_DEV_PCIE_COUNT_RX_BYTES = 197, 198
    NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 138, 139
    nvmlMemory_v2 = 2  # noqa: N815

    def __init__(self, *gpus: Mapping[str, Any], cuda: int = 13000, refusing: type[NVMLError] | None = None) -> None:
        self._gpus, self._cuda, self._refusing = gpus, cuda, refusing

    def nvmlInit(self) -> None:  # noqa: N802
        if self._refusing is not None:
            raise self._refusing("no")

    def nvmlShutdown(self) -> None:  # noqa: N802
        self._refusing = NVMLError

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        return "580.1"

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:  # noqa: N802
        return self._cuda

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self._gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Mapping[str, Any]:  # noqa: N802
        return self._gpus[index]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> Mapping[str, Any]:  # noqa: N802
        instances = [instance for gpu in self._gpus for instance in gpu.get("instances", ())]
        for gpu in (*self._gpus, *instances):
            if gpu["nvmlDeviceGetUUID"] == uuid:
                return gpu
        raise NVMLError("not found")

    def nvmlDeviceGetMaxMigDeviceCount(self, gpu: Mapping[str, Any]) -> int:  # noqa: N802
        return 7 if gpu.get("nvmlDeviceGetMigMode") == [1, 1] else 0

    def nvmlDeviceGetMigDeviceHandleByIndex(self, gpu: Mapping[str, Any], index: int) -> Mapping[str, Any]:  # noqa: N802
        instances: Sequence[Mapping[str, Any]] = gpu.get("instances", ())
        if index >= len(instances):
            raise NVMLError("not found")
        return instances[index]

    def __getattr__(self, function: str) -> Callable[..., Any]:
        def ask(gpu: Mapping[str, Any], *arguments: Any) -> Any:
            if function not in gpu:
                raise NVMLError_NotSupported(function)
            answer = gpu[function]
            return answer(*arguments) if callable(answer) else answer

        return ask
