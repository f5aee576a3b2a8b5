"""Reads a recorded machine: the values that NVML reported on another machine.

The file is JSON: ``driver``, ``cuda`` (13000 = 13.0) and ``gpus``, a list with the values of each GPU, units in the names.
A value that could not be read is the error's text, or is missing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from framefleet.engine.devices import discovery
from framefleet.engine.devices.cuda import BACKEND, PRECISIONS
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.devices.topology import NumaNode, Topology
from framefleet.engine.devices.topology_search import at, join, read_gpus
from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.types import DeviceId


@dataclass(frozen=True)
class Recording:
    """A recorded machine: its devices, their telemetry, and the topology."""

    devices: tuple[discovery.DeviceDescription, ...]
    telemetry: Mapping[DeviceId, Telemetry]
    topology: Topology = field(default_factory=Topology)


def read_recording(path: Path) -> Recording:
    """Read a recording.

    Raises
    ------
    UsageError
        The file cannot be read, or is not a recording.
    """
    values = _json(path)
    gpus = values.get("gpus") if isinstance(values, dict) else None
    if not isinstance(gpus, list) or not all(isinstance(gpu, dict) for gpu in gpus):
        raise UsageError(_no_recording(path, Notice("devices.recording_without_gpus")))
    if "matrix" in values:
        raise UsageError(_no_recording(path, Notice("devices.recording_is_topology")))
    cuda = at(values, int, "cuda")
    supported = None if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}"
    devices, telemetry = [], {}
    for position, gpu in enumerate(gpus):
        device = DeviceId("cuda", str(position))
        capability = at(gpu, list, "cc")
        devices.append(
            discovery.DeviceDescription(
                device,
                at(gpu, str, "name") or "NVIDIA GPU",
                BACKEND,
                tuple(map(str, PRECISIONS)),
                memory=at(gpu, int, "mem", "total"),
                uuid=at(gpu, str, "uuid"),
                compute_capability=".".join(map(str, capability)) if capability else None,
                driver=at(values, str, "driver"),
                cuda=supported,
                pci=at(gpu, str, "pci", "busId"),
            )
        )
        telemetry[device] = _telemetry(device, gpu)
    return Recording(tuple(devices), telemetry, _topology(values))


def _json(path: Path) -> Any:
    try:
        text = path.read_text("utf-8-sig")
        if not text.strip():
            raise UsageError(_no_recording(path, Notice("devices.recording_empty")))
        return json.loads(text)
    except IsADirectoryError as error:
        raise UsageError(Notice("devices.recording_is_folder", path=path)) from error
    except OSError as error:
        raise UsageError(Notice("devices.recording_unreadable", path=path, reason=error.strerror)) from error
    except UnicodeDecodeError as error:
        raise UsageError(_no_recording(path, Notice("devices.recording_no_text"))) from error
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip())
        fault = Notice("devices.recording_cut_off") if cut else Notice("devices.recording_wrong_json", line=error.lineno)
        raise UsageError(_no_recording(path, fault)) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or too many nested lists
        raise UsageError(_no_recording(path, Notice("devices.recording_no_json"))) from error


def _no_recording(path: Path, fault: Notice) -> Notice:
    return Notice("devices.no_recording", path=path, fault=fault)


def _topology(values: Mapping[str, Any]) -> Topology:
    gpus = [replace(gpu, device=DeviceId("cuda", str(gpu.number))) for gpu in read_gpus(values)]
    numbers = {number for gpu in gpus for number in gpu.nodes}
    cpus = {number: frozenset[int]().union(*(gpu.cpus for gpu in gpus if gpu.nodes == {number})) for number in numbers}
    return Topology(tuple(NumaNode(number, cpus[number]) for number in sorted(numbers)), tuple(gpus), join(gpus, values))


def _telemetry(device: DeviceId, gpu: Mapping[str, Any]) -> Telemetry:
    links = at(gpu, list, "links")
    return Telemetry(
        device,
        utilization=at(gpu, int, "util", "gpu"),
        memory_utilization=at(gpu, int, "util", "memory"),
        decoder=at(gpu, int, "dec", 0),
        encoder=at(gpu, int, "enc", 0),
        memory_used=at(gpu, int, "mem", "used"),
        memory_total=at(gpu, int, "mem", "total"),
        power=_scaled(gpu, "power_mw", 1e-3),
        power_limit=_scaled(gpu, "power_limit_mw", 1e-3),
        temperature=at(gpu, int, "temp"),
        sm_clock=at(gpu, int, "sm_clock"),
        pcie_rx=_scaled(gpu, "pcie_rx_kbs", 1e3),
        pcie_tx=_scaled(gpu, "pcie_tx_kbs", 1e3),
        pcie_generation=at(gpu, int, "pcie_gen"),
        pcie_width=at(gpu, int, "pcie_width"),
        nvlinks=sum(isinstance(link, dict) and link.get("state") == 1 for link in links) if links else None,
    )


def _scaled(values: Any, key: str, factor: float) -> float | None:
    number = at(values, int, key)
    return None if number is None else number * factor
