"""Reads NVIDIA's GPUs through NVML, the driver's management library. Only this module calls it.

Use it in a separate process: a crash of the driver's library ends the whole process.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from framefleet.engine.notices import DeviceError, Notice, install_extra

_THROTTLING = {
    0x2: Notice("devices.clocks_by_application"),
    0x4: Notice("devices.power_limit"),
    0x8: Notice("devices.hardware_slowdown"),
    0x10: Notice("devices.sync_boost"),
    0x20: Notice("devices.temperature"),
    0x40: Notice("devices.temperature_hardware"),
    0x80: Notice("devices.power_brake"),
    0x100: Notice("devices.clocks_of_display"),
}
"""Bits of ``nvmlClocksEventReason…``; 0x1 (idle) is left out: it is not throttling."""

ALL_LINKS = 0xFFFFFFFF
"""The key of all links together, if the driver does not count each link."""
_UP, _GPU, _UNKNOWN = 1, 0x00, 0xFF
"""Values of ``nvmlEnableState_t`` and ``nvmlIntNvLinkDeviceType_t``."""
_WORDS = 32
"""Length of the bit masks of processors and nodes, in words of 64 bits."""
_KIB = 1024


class Counter(NamedTuple):
    """Bytes received and sent since the driver was loaded; None = not counted."""

    rx: int | None
    tx: int | None


class Counters(NamedTuple):
    """The counters of PCIe and, by link number, of NVLink. The key is ``ALL_LINKS`` if links lack their own counters."""

    pcie: Counter
    nvlinks: Mapping[int, Counter]


class Gpu:
    """One GPU or MIG instance. A value is None if the driver does not report it, for any reason."""

    def __init__(self, library: Any, handle: Any) -> None:
        self._library, self._handle = library, handle
        self.uuid: str | None = self._ask("nvmlDeviceGetUUID")
        self.name: str = self._ask("nvmlDeviceGetName") or "NVIDIA GPU"

    @property
    def pci(self) -> str | None:
        """PCI address, "00000000:00:06.0"."""
        info = self._ask("nvmlDeviceGetPciInfo")
        return None if info is None else str(info.busId)

    @property
    def compute_capability(self) -> tuple[int, int] | None:
        """Major and minor."""
        capability = self._ask("nvmlDeviceGetCudaComputeCapability")
        return None if capability is None else (int(capability[0]), int(capability[1]))

    @property
    def mig_mode(self) -> bool | None:
        """Whether MIG mode is on."""
        mode = self._ask("nvmlDeviceGetMigMode")
        return None if mode is None else bool(mode[0])

    def mig_instances(self) -> tuple[Gpu, ...]:
        """The MIG instances of the GPU."""
        count = self._ask("nvmlDeviceGetMaxMigDeviceCount") or 0
        handles = (self._ask("nvmlDeviceGetMigDeviceHandleByIndex", index) for index in range(count))
        return tuple(Gpu(self._library, handle) for handle in handles if handle is not None)

    @property
    def compute_mode(self) -> str | None:
        """The compute mode: "default", "prohibited" (no process may compute) or "exclusive" (one process)."""
        mode = self._ask("nvmlDeviceGetComputeMode")
        return {0: "default", 1: "exclusive", 2: "prohibited", 3: "exclusive"}.get(mode)

    @property
    def processes(self) -> tuple[int, ...] | None:
        """Ids of the processes that compute on the GPU."""
        running = self._ask("nvmlDeviceGetComputeRunningProcesses")
        return None if running is None else tuple(int(process.pid) for process in running)

    @property
    def memory(self) -> tuple[int | None, int | None]:
        """Bytes used and in total, as nvidia-smi counts them: without the driver's own memory."""
        info = self._ask("nvmlDeviceGetMemoryInfo", self._library.nvmlMemory_v2) or self._ask("nvmlDeviceGetMemoryInfo")
        return (None, None) if info is None else (int(info.used), int(info.total))

    def telemetry(self) -> dict[str, Any]:
        """The current values by name. Names and units are those of ``Telemetry``."""
        ask, library = self._ask, self._library
        rates, reasons = ask("nvmlDeviceGetUtilizationRates"), ask("nvmlDeviceGetCurrentClocksEventReasons")
        decoder, encoder = ask("nvmlDeviceGetDecoderUtilization"), ask("nvmlDeviceGetEncoderUtilization")
        memory_used, memory_total = self.memory
        return {
            "utilization": None if rates is None else rates.gpu,
            "memory_utilization": None if rates is None else rates.memory,
            "decoder": None if decoder is None else decoder[0],
            "encoder": None if encoder is None else encoder[0],
            "memory_used": memory_used,
            "memory_total": memory_total,
            "power": _watts(ask("nvmlDeviceGetPowerUsage")),
            "power_limit": _watts(ask("nvmlDeviceGetEnforcedPowerLimit")),
            "temperature": ask("nvmlDeviceGetTemperature", library.NVML_TEMPERATURE_GPU),
            "sm_clock": ask("nvmlDeviceGetClockInfo", library.NVML_CLOCK_SM),
            "sm_clock_limit": ask("nvmlDeviceGetMaxClockInfo", library.NVML_CLOCK_SM),
            "memory_clock": ask("nvmlDeviceGetClockInfo", library.NVML_CLOCK_MEM),
            "pcie_generation": ask("nvmlDeviceGetCurrPcieLinkGeneration"),
            "pcie_width": ask("nvmlDeviceGetCurrPcieLinkWidth"),
            "throttling": None if reasons is None else tuple(why for bit, why in _THROTTLING.items() if reasons & bit),
        }

    def pcie_throughput(self) -> tuple[float | None, float | None]:
        """Bytes/s received and sent. Each of the two measurements takes 20 ms."""
        library = self._library
        answers = (
            self._ask("nvmlDeviceGetPcieThroughput", which) for which in (library.NVML_PCIE_UTIL_RX_BYTES, library.NVML_PCIE_UTIL_TX_BYTES)
        )
        rx, tx = (None if answer is None else 1000.0 * answer for answer in answers)  # the driver reports KB/s
        return rx, tx

    def nvlink_ends(self) -> dict[int, str | None] | None:
        """The active NVLinks: link number → PCI address of the GPU at the other end. None for a GPU without NVLink.

        The address is None where the other end is a switch, a processor or unknown.
        """
        states = [self._ask("nvmlDeviceGetNvLinkState", link) for link in range(self._library.NVML_NVLINK_MAX_LINKS)]
        if all(state is None for state in states):
            return None
        return {link: self._end(link) for link, state in enumerate(states) if state == _UP}

    def _end(self, link: int) -> str | None:
        values = self._nvlink(link)
        is_gpu = values["remote_type"] in (_GPU, _UNKNOWN, None)  # older drivers do not report the type
        return values["remote_pci"]["busId"] if is_gpu and values["remote_pci"] else None

    def place(self) -> dict[str, Any]:
        """The position of the GPU in the machine, in the form that ``topology_search.py`` describes."""
        library = self._library
        scope = (_WORDS, library.NVML_AFFINITY_SCOPE_NODE)
        return {
            "name": self.name,
            "uuid": self.uuid,
            "pci": {"busId": self.pci},
            "numa": self._ask("nvmlDeviceGetNumaNodeId"),
            "cpu_affinity": list(self._ask("nvmlDeviceGetCpuAffinity", _WORDS) or ()),
            "mem_affinity": list(self._ask("nvmlDeviceGetMemoryAffinity", *scope) or ()),
            "max_pcie_gen": self._ask("nvmlDeviceGetMaxPcieLinkGeneration"),
            "max_pcie_width": self._ask("nvmlDeviceGetMaxPcieLinkWidth"),
            "links": [self._nvlink(link) for link in range(library.NVML_NVLINK_MAX_LINKS)],
        }

    def _nvlink(self, link: int) -> dict[str, Any]:
        end = self._ask("nvmlDeviceGetNvLinkRemotePciInfo", link)
        return {
            "state": self._ask("nvmlDeviceGetNvLinkState", link),
            "remote_pci": None if end is None else {"busId": str(end.busId)},
            "remote_type": self._ask("nvmlDeviceGetNvLinkRemoteDeviceType", link),
        }

    def level_to(self, other: Gpu) -> int | None:
        """The distance of two GPUs over PCIe: an ``nvmlGpuTopologyLevel_t``."""
        return cast("int | None", self._ask("nvmlDeviceGetTopologyCommonAncestor", other._handle))

    def peer_status(self, other: Gpu, capability: int) -> int | None:
        """Whether this GPU can access the other's memory: an ``nvmlGpuP2PStatus_t``, 0 = yes. capability: an ``nvmlGpuP2PCapsIndex_t``."""
        return cast("int | None", self._ask("nvmlDeviceGetP2PStatus", other._handle, capability))

    def counters(self, links: Sequence[int] = ()) -> Counters:
        """The traffic counters. links: numbers of the active NVLinks."""
        library = self._library
        pcie = Counter(*self._fields([(library.NVML_FI_DEV_PCIE_COUNT_RX_BYTES, 0), (library.NVML_FI_DEV_PCIE_COUNT_TX_BYTES, 0)]))
        counted = {link: counter for link, counter in self._nvlink_counters(links).items() if None not in counter}
        if not counted or len(counted) < len(links):
            counted |= self._nvlink_counters([ALL_LINKS])
        return Counters(pcie, counted)

    def _nvlink_counters(self, links: Sequence[int]) -> dict[int, Counter]:
        library = self._library
        rx, tx = library.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, library.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX
        answers = self._fields([(field, link) for link in links for field in (rx, tx)])
        counts = [None if count is None else count * _KIB for count in answers]
        return {link: Counter(*counts[2 * place : 2 * place + 2]) for place, link in enumerate(links)}

    def _ask(self, function: str, *arguments: Any) -> Any:
        try:
            return getattr(self._library, function)(self._handle, *arguments)
        except self._library.NVMLError:
            return None

    def _fields(self, fields: Sequence[tuple[int, int]]) -> list[int | None]:
        """The values of fields, each given as (field id, scope id); a link's scope is its number."""
        answers = self._ask("nvmlDeviceGetFieldValues", fields) if fields else ()
        if answers is None:
            return [None] * len(fields)
        return [_value(answer) for answer in answers]


def _value(answer: Any) -> int | None:
    """A field's integer, by its ``nvmlValueType_t``."""
    name = {1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal"}.get(answer.valueType)
    return None if answer.nvmlReturn or name is None else int(getattr(answer.value, name))


def _watts(milliwatts: Any) -> float | None:
    return None if milliwatts is None else milliwatts / 1000


_REMEDIES = {
    "NVMLError_DriverNotLoaded": Notice("devices.driver_not_loaded"),
    "NVMLError_LibRmVersionMismatch": Notice("devices.driver_mismatch"),
    "NVMLError_NoPermission": Notice("devices.no_permission"),
}


class NoNvmlError(DeviceError):
    """The NVIDIA driver or the package nvidia-ml-py is missing."""


class Nvml:
    """The driver and its GPUs.

    Parameters
    ----------
    library
        The module ``pynvml``; None = import it.
    """

    def __init__(self, library: Any = None) -> None:
        """Start NVML.

        Raises
        ------
        NoNvmlError
            The driver or nvidia-ml-py is missing.
        DeviceError
            The driver does not answer; the message says what to do.
        """
        try:
            self._library = importlib.import_module("pynvml") if library is None else library
        except ImportError as problem:
            raise NoNvmlError(Notice("devices.no_nvidia_ml", advice=install_extra("rtx"))) from problem
        try:
            self._library.nvmlInit()
        except self._library.NVMLError as problem:
            if type(problem).__name__ == "NVMLError_LibraryNotFound":
                raise NoNvmlError(Notice("devices.no_driver")) from problem
            remedy = _REMEDIES.get(type(problem).__name__, Notice("devices.restart_or_reinstall"))
            raise DeviceError(Notice("devices.driver_silent", problem=str(problem), remedy=remedy)) from problem

    @property
    def driver(self) -> str | None:
        """The driver's version, "580.159.04"."""
        version = self._ask("nvmlSystemGetDriverVersion")
        return None if version is None else str(version)

    @property
    def cuda(self) -> tuple[int, int] | None:
        """The newest CUDA version that the driver supports, major and minor."""
        version = self._ask("nvmlSystemGetCudaDriverVersion_v2")
        return None if version is None else (version // 1000, version % 1000 // 10)

    def gpus(self) -> tuple[Gpu, ...]:
        """All GPUs that answer, in NVML's order, which differs from CUDA's."""
        handles = (self._ask("nvmlDeviceGetHandleByIndex", index) for index in range(self._ask("nvmlDeviceGetCount") or 0))
        return tuple(Gpu(self._library, handle) for handle in handles if handle is not None)

    def gpu(self, uuid: str) -> Gpu | None:
        """The GPU or MIG instance of this UUID, None if there is none."""
        handle = self._ask("nvmlDeviceGetHandleByUUID", uuid)
        return None if handle is None else Gpu(self._library, handle)

    def close(self) -> None:
        """Shut NVML down."""
        self._ask("nvmlShutdown")

    def _ask(self, function: str, *arguments: Any) -> Any:
        try:
            return getattr(self._library, function)(*arguments)
        except self._library.NVMLError:
            return None
