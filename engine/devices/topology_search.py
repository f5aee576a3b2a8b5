"""Finds the topology of this machine: from NVIDIA's driver, which a separate process asks, and from /sys.

``python -m framefleet.engine.devices.topology_search`` is that process. It prints the driver's values of GPU places as one line of JSON, in
the form of recordings (``engine/devices/recording.py``). Fields for each GPU in ``gpus``: ``name``, ``uuid``, ``pci``, ``numa``,
``cpu_affinity`` and ``mem_affinity`` (words of 64 bits), ``max_pcie_gen``, ``max_pcie_width``, ``links`` (each NVLink: ``state``,
``remote_pci``, ``remote_type``). Fields for each pair: ``topology`` (``nvmlGpuTopologyLevel_t``), ``p2p_read`` and ``p2p_nvlink``
(``nvmlGpuP2PStatus_t``). ``problem``: why there are no values; null without an NVIDIA driver.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from framefleet.engine.cuda import DRIVER
from framefleet.engine.devices import topology
from framefleet.engine.devices.cuda import cuda_devices, describe
from framefleet.engine.devices.nvml import Gpu as NvmlGpu
from framefleet.engine.devices.nvml import NoNvmlError, Nvml
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.processes.program import run_program
from framefleet.engine.types import DeviceId

T = TypeVar("T")


def at(values: Any, kind: type[T], *path: str | int) -> T | None:
    """The value at the end of a path of keys and positions; None if it is missing or not of type ``kind``."""
    for step in path:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return None
    return values if isinstance(values, kind) else None


_LEVELS = {
    0: topology.Level.PIX,
    10: topology.Level.PIX,
    20: topology.Level.PXB,
    30: topology.Level.PHB,
    40: topology.Level.NODE,
    50: topology.Level.SYS,
}
_READ, _NVLINK = 0, 2
"""Of ``nvmlGpuP2PCapsIndex_t``."""
_OK, _UP = 0, 1
_TO_PROCESSOR = 1
"""An NVLink's remote end is a POWER processor."""


def ask_driver(nvml: Nvml, devices: Mapping[str, DeviceId]) -> dict[str, Any]:
    """The driver's current values in that form. devices: ids by UUID, which become the field ``device``."""
    gpus = nvml.gpus()

    def each_pair(ask: Any) -> list[list[Any]]:
        return [["SELF" if one is other else ask(one, other) for other in gpus] for one in gpus]

    return {
        "gpus": [{**gpu.place(), "device": _device(gpu, devices)} for gpu in gpus],
        "topology": each_pair(NvmlGpu.level_to),
        "p2p_read": each_pair(lambda one, other: one.peer_status(other, _READ)),
        "p2p_nvlink": each_pair(lambda one, other: one.peer_status(other, _NVLINK)),
    }


def _device(gpu: NvmlGpu, devices: Mapping[str, DeviceId]) -> str | None:
    uuids = (gpu.uuid, *(instance.uuid for instance in gpu.mig_instances()))
    return next((str(devices[uuid]) for uuid in uuids if uuid is not None and uuid in devices), None)


def read_gpus(values: Mapping[str, Any]) -> tuple[topology.Gpu, ...]:
    """The GPUs in values of that form, with their positions in the machine."""
    return tuple(_gpu(number, gpu) for number, gpu in enumerate(at(values, list, "gpus") or ()))


def join(gpus: Sequence[topology.Gpu], values: Mapping[str, Any]) -> tuple[tuple[topology.Link | None, ...], ...]:
    """The links between GPUs. If the driver reports no level, it follows from the PCI bridges above the GPUs."""
    ends = [_ends(at(values, list, "gpus", place, "links") or ()) for place in range(len(gpus))]

    def link(row: int, column: int) -> topology.Link | None:
        if row == column:
            return None
        one, other = gpus[row], gpus[column]
        level = at(values, int, "topology", row, column)
        read = at(values, int, "p2p_read", row, column)
        direct = sum(end is not None and end == other.pci for end in ends[row])
        peers = at(values, int, "p2p_nvlink", row, column) == _OK
        return topology.Link(
            topology.level_between(one.bridges, other.bridges, one.node == other.node) if level is None else _LEVELS.get(level),
            direct or (_through_switches(ends[row], ends[column], gpus) if peers else 0),
            None if read is None else read == _OK,
            direct > 0,
        )

    return tuple(tuple(link(row, column) for column in range(len(gpus))) for row in range(len(gpus)))


def _through_switches(ends: Sequence[str | None], others: Sequence[str | None], gpus: Sequence[topology.Gpu]) -> int:
    """NVLinks between two GPUs over switches: the smaller number of links that end elsewhere than at a GPU of this machine.

    A virtual machine hides the other ends.
    """
    known = {gpu.pci for gpu in gpus}
    return min(sum(end not in known for end in side) for side in (ends, others))


def _ends(links: Sequence[Any]) -> list[str | None]:
    """The PCI address at the other end of each active NVLink, None = unknown."""
    up = [link for link in links if at(link, int, "state") == _UP and at(link, int, "remote_type") != _TO_PROCESSOR]
    return [_pci(link, "remote_pci") for link in up]


def _gpu(number: int, values: Mapping[str, Any]) -> topology.Gpu:
    device = at(values, str, "device")
    nodes = _bits(at(values, list, "mem_affinity"))
    return topology.Gpu(
        number,
        at(values, str, "name") or "NVIDIA GPU",
        DeviceId.parse(device) if device else None,
        at(values, str, "uuid"),
        _pci(values, "pci"),
        node=min(nodes) if len(nodes) == 1 else None,
        cpus=_bits(at(values, list, "cpu_affinity")),
        nodes=nodes,
        own_node=at(values, int, "numa"),
        generation=at(values, int, "max_pcie_gen"),
        width=at(values, int, "max_pcie_width") or at(values, int, "pcie_width"),
        nvlinks=len(_ends(at(values, list, "links") or ())),
    )


def _pci(values: Any, key: str) -> str | None:
    try:
        return topology.pci_address(at(values, str, key, "busId") or "")
    except ValueError:
        return None


def _bits(words: Sequence[Any] | None) -> frozenset[int]:
    whole = [word if isinstance(word, int) else 0 for word in words or ()]
    return frozenset(64 * place + bit for place, word in enumerate(whole) for bit in range(64) if word >> bit & 1)


_PROGRAM = (sys.executable, "-m", "framefleet.engine.devices.topology_search")


def find_topology(timeout: float = 30.0, program: Sequence[str] = _PROGRAM, system: Path = topology.SYS) -> topology.Topology:
    """Find the topology.

    Never raises: ``Topology.problem`` says why GPUs are missing.

    Parameters
    ----------
    timeout
        Seconds for the driver.
    program
        Prints the output of ``probe_process``.
    system
        Linux's /sys.
    """
    values, problem = _ask(program, timeout)
    gpus = [topology.place(gpu, system) for gpu in read_gpus(values)]
    if not gpus:
        gpus = list(topology.find_gpus(system))
        if gpus and problem is None:
            problem = Notice("devices.driver_not_installed")
    nodes = topology.numa_nodes(system) or (topology.NumaNode(0, frozenset(range(os.cpu_count() or 1))),)
    return topology.Topology(nodes, tuple(gpus), join(gpus, values), problem)


def _ask(program: Sequence[str], timeout: float) -> tuple[Mapping[str, Any], Notice | None]:
    """The driver's values, and why they are missing or incomplete."""
    values, problem = run_program(program, timeout)
    found = next((value for value in reversed(values) if at(value, list, "gpus") is not None), None)
    if found is None:
        return {}, Notice("devices.driver_not_asked", problem=problem or Notice("devices.no_answer"))
    told = at(found, list, "problem")
    return found, None if told is None else Notice.from_json(told)


def probe() -> dict[str, Any]:
    """The object to print."""
    try:
        nvml = Nvml()
    except NoNvmlError as problem:
        return {"gpus": [], "problem": problem.notice.as_json() if DRIVER.exists() else None}
    except DeviceError as problem:
        return {"gpus": [], "problem": problem.notice.as_json()}
    try:
        visible, reason = cuda_devices(), None
    except DeviceError as problem:
        visible, reason = (), problem.notice
    names = {device.uuid: device.id for device in describe(nvml, visible, reason) if device.uuid is not None}
    values = {**ask_driver(nvml, names), "problem": None}
    nvml.close()
    return values


if __name__ == "__main__":
    print(json.dumps(probe()))
