"""A machine that was recorded: what NVML said there, for looking at machines that are elsewhere.

The file is JSON: ``driver``, ``cuda`` (13000 = 13.0) and ``gpus``, a list of what was read of each, with the units in the names.
What could not be read holds the error's text, or is missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from engine.devices.cuda import BACKEND, PRECISIONS
from engine.devices.description import DeviceDescription
from engine.devices.telemetry import Telemetry
from engine.errors import UsageError
from engine.types import DeviceId

T = TypeVar("T")


@dataclass(frozen=True)
class Recording:
    """Its devices, and what each was doing."""

    devices: tuple[DeviceDescription, ...]
    telemetry: Mapping[DeviceId, Telemetry]


def read_recording(path: Path) -> Recording:
    """Read one.

    Raises:
        UsageError: it cannot be read, or is something else.
    """
    try:
        values = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"the recording {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no recording of a machine: {error}") from error
    gpus = values.get("gpus") if isinstance(values, dict) else None
    if not isinstance(gpus, list) or not all(isinstance(gpu, dict) for gpu in gpus):
        raise UsageError(f"{path} is no recording of a machine: it has no list of GPUs")
    cuda = _at(values, int, "cuda")
    spoken = None if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}"
    devices, telemetry = [], {}
    for position, gpu in enumerate(gpus):
        device = DeviceId("cuda", str(position))
        capability = _at(gpu, list, "cc")
        devices.append(
            DeviceDescription(
                device,
                _at(gpu, str, "name") or "NVIDIA GPU",
                BACKEND,
                tuple(map(str, PRECISIONS)),
                memory=_at(gpu, int, "mem", "total"),
                uuid=_at(gpu, str, "uuid"),
                compute_capability=".".join(map(str, capability)) if capability else None,
                driver=_at(values, str, "driver"),
                cuda=spoken,
                pci=_at(gpu, str, "pci", "busId"),
            )
        )
        telemetry[device] = _telemetry(device, gpu)
    return Recording(tuple(devices), telemetry)


def _telemetry(device: DeviceId, gpu: Mapping[str, Any]) -> Telemetry:
    links = _at(gpu, list, "links")
    return Telemetry(
        device,
        utilization=_at(gpu, int, "util", "gpu"),
        memory_utilization=_at(gpu, int, "util", "memory"),
        decoder=_at(gpu, int, "dec", 0),
        encoder=_at(gpu, int, "enc", 0),
        memory_used=_at(gpu, int, "mem", "used"),
        memory_total=_at(gpu, int, "mem", "total"),
        power=_scaled(gpu, "power_mw", 1e-3),
        power_limit=_scaled(gpu, "power_limit_mw", 1e-3),
        temperature=_at(gpu, int, "temp"),
        sm_clock=_at(gpu, int, "sm_clock"),
        pcie_rx=_scaled(gpu, "pcie_rx_kbs", 1e3),
        pcie_tx=_scaled(gpu, "pcie_tx_kbs", 1e3),
        pcie_generation=_at(gpu, int, "pcie_gen"),
        pcie_width=_at(gpu, int, "pcie_width"),
        nvlinks=sum(isinstance(link, dict) and link.get("state") == 1 for link in links) if links else None,
    )


def _at(values: Any, kind: type[T], *path: str | int) -> T | None:
    """What is at the end of a path of keys and positions; None where there is nothing, or something of another type."""
    for step in path:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):
            return None
    return values if isinstance(values, kind) else None


def _scaled(values: Any, key: str, factor: float) -> float | None:
    number = _at(values, int, key)
    return None if number is None else number * factor
