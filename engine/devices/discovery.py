"""Finds and describes the devices of this machine.

Each library runs in a separate process, so that a driver's crash hides only its devices.
"""

import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.notices import DeviceError, Notice, UsageError
from framefleet.engine.processes.program import run_program
from framefleet.engine.types import DeviceId, of_device


@dataclass(frozen=True)
class DeviceDescription:
    """One device.

    Attributes
    ----------
    backend
        The library that runs it, with its version.
    precisions
        The supported ones, fp32 first.
    cores
        Usable CPU cores, or multiprocessors.
    memory
        Bytes.
    problem
        Why the device cannot be used; None = it can.
    uuid, compute_capability, pci
        Of NVIDIA's devices: "GPU-…" or "MIG-…", "9.0", the PCI address; None = unknown.
    driver, cuda
        Of NVIDIA's devices: the driver's version, and the newest version of CUDA that it supports ("13.0"); None = unknown.
    """

    id: DeviceId
    name: str
    backend: str
    precisions: tuple[str, ...]
    cores: int | None = None
    memory: int | None = None
    problem: Notice | None = None
    uuid: str | None = None
    compute_capability: str | None = None
    driver: str | None = None
    cuda: str | None = None
    pci: str | None = None

    @property
    def available(self) -> bool:
        """Whether the device can be used."""
        return self.problem is None

    def __str__(self) -> str:
        state = ", ".join(self.precisions) if self.problem is None else f"not available: {self.problem}"
        return f"{self.id}  {self.name} ({self.backend}; {state})"

    def as_json(self) -> dict[str, Any]:
        """The description as a JSON object for scripts: the problem is English text."""
        problem = None if self.problem is None else str(self.problem)
        shown = {"id": str(self.id), "precisions": list(self.precisions), "problem": problem, "available": self.available}
        return {**vars(self), **shown}

    def to_message(self) -> dict[str, Any]:
        """The description as a JSON object from which ``from_message`` restores it."""
        return {**self.as_json(), "problem": None if self.problem is None else self.problem.as_json()}

    @classmethod
    def from_message(cls, values: Mapping[str, Any]) -> Self:
        """Restore what ``to_message`` returned.

        Raises
        ------
        KeyError, TypeError, ValueError, UsageError
            The values do not describe a device.
        """
        fields = {name: values[name] for name in cls.__dataclass_fields__}
        problem = None if values["problem"] is None else Notice.from_json(values["problem"])
        restored = {"id": DeviceId.parse(values["id"]), "precisions": tuple(values["precisions"]), "problem": problem}
        return cls(**{**fields, **restored})


_NVIDIA = (Path("/proc/driver/nvidia"), Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""Linux creates one of these where there is an NVIDIA GPU."""
_DRIVERS = (Path("/dev/dri"), Path("/dev/accel"), *_NVIDIA)
"""Linux creates one of these where there is a GPU or NPU."""

_CPU = DeviceId("cpu", "0")


@dataclass(frozen=True)
class Search:
    """A program that prints one ``DeviceDescription`` a line as JSON. library: the name of the searched library. kind: of the devices."""

    library: str
    kind: str
    program: Sequence[str]


SEARCHES = tuple(
    Search(library, kind, (sys.executable, "-m", "framefleet.engine.backends.list_devices", kind))
    for library, kind in (("OpenVINO", "openvino"), ("CUDA", "cuda"))
)


def discover(timeout: float = 30.0, searches: Sequence[Search] | None = None) -> tuple[DeviceDescription, ...]:
    """Find all devices, usable or not: the CPU, then CUDA's, then the others.

    Takes about a second.

    If a driver crashes or hangs, one unusable entry replaces the devices that the search did not reach.

    Parameters
    ----------
    timeout
        Seconds.
    searches
        None = ``SEARCHES``, but that of CUDA only where there may be an NVIDIA GPU.

    Raises
    ------
    DeviceError
        No search found anything.
    """
    if searches is None:
        searches = [search for search in SEARCHES if search.kind != "cuda" or not _lacks(_NVIDIA)]
    with ThreadPoolExecutor(len(searches)) as threads:
        outcomes = list(threads.map(lambda search: _run(search, timeout), searches))
    found = [device for devices, _ in outcomes for device in devices]
    if not found:
        problems = tuple(problem for _, problem in outcomes if problem is not None)
        raise DeviceError(Notice("devices.search_failed", problems=problems) if problems else Notice("devices.none_found"))
    for search, (devices, problem) in zip(searches, outcomes, strict=True):
        if problem is not None:
            found.append(_missing(search, devices, problem))
    order = {"cpu": 0, "cuda": 1}
    return tuple(sorted(found, key=lambda device: order.get(device.id.kind, 2)))


_early: list[Future[tuple[DeviceDescription, ...]]] = []


def search_early() -> None:
    """Begin to search for devices in a thread. The next ``default_devices`` takes the result."""
    if _lacks(_DRIVERS):
        return
    found: Future[tuple[DeviceDescription, ...]] = Future()

    def search() -> None:
        try:
            found.set_result(discover())
        except Exception as problem:
            found.set_exception(problem)

    _early[:] = [found]
    threading.Thread(target=search, name="search devices", daemon=True).start()


def _lacks(drivers: Sequence[Path]) -> bool:
    """Whether this machine has none of these, as far as that can be told without a library."""
    return sys.platform == "linux" and not any(path.exists() for path in drivers)


def default_devices(descriptions: Sequence[DeviceDescription] | None = None) -> tuple[DeviceId, ...]:
    """The best devices: all usable CUDA devices, else OpenVINO's GPUs, else the CPU.

    Parameters
    ----------
    descriptions
        None = search, which takes no time on a machine without a GPU.

    Raises
    ------
    DeviceError
        No device is usable.
    """
    if descriptions is None:
        if _lacks(_DRIVERS):
            return (_CPU,)
        descriptions = _early.pop().result() if _early else discover()
    usable = [description.id for description in descriptions if description.available]
    for chosen in (
        [device for device in usable if device.kind == "cuda"],
        [device for device in usable if device.kind == "openvino" and device.name.startswith("GPU")],
        [device for device in usable if device.kind == "cpu"],
    ):
        if chosen:
            return tuple(chosen)
    reasons = tuple(of_device(description.id, description.problem) for description in descriptions if description.problem is not None)
    raise DeviceError(Notice("devices.none_usable", reasons=reasons) if reasons else Notice("devices.none_found"))


def chosen_devices(asked: Sequence[DeviceId] = ()) -> tuple[DeviceId, ...]:
    """Return the devices that the user named, or the best ones.

    Parameters
    ----------
    asked : sequence of DeviceId
        Devices of this machine. None: see ``default_devices``.

    Raises
    ------
    DeviceError
        There are fewer cores than the number of a CPU device needs, or no device is usable.
    """
    cores = usable_cores()
    for device in asked:
        if any(member.kind == "cpu" and not member.node and int(member.name) >= cores for member in device.members):
            raise DeviceError(Notice("devices.no_such_cpu", device=str(device), devices=_existing(cores), count=cores))
    return tuple(asked) or default_devices()


def _existing(cores: int) -> tuple[str, ...]:
    """The names of the usable devices. A CPU device needs a core of its own at least."""
    found = [str(each.id) for each in discover() if each.available and each.id != _CPU]
    return (str(_CPU) if cores == 1 else f"{_CPU} to cpu:{cores - 1}", *found)


def _run(search: Search, timeout: float) -> tuple[list[DeviceDescription], Notice | None]:
    """The devices that one search found, and why it failed (None = it succeeded)."""
    values, problem = run_program(search.program, timeout)
    found = []
    for value in values:
        with suppress(LookupError, TypeError, ValueError, AttributeError, UsageError):  # some drivers print JSON of their own
            found.append(DeviceDescription.from_message(value))
    return found, problem


def _missing(search: Search, found: Sequence[DeviceDescription], problem: Notice) -> DeviceDescription:
    """The entry for the devices that a failed search did not reach."""
    rest = DeviceId("cuda", str(len(found))) if search.kind == "cuda" else DeviceId("openvino", "GPU") if found else _CPU
    why = Notice("devices.search_ended", problem=problem)
    return DeviceDescription(rest, "further devices" if found else "unknown", search.library, (), problem=why)
