"""Which devices this machine has. Asks a process per library, so that no driver bug takes the caller or the other's devices down."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from engine.devices.description import DeviceDescription
from engine.errors import DeviceError, UsageError
from engine.types import DeviceId

ROOT = Path(__file__).resolve().parents[2]
"""Where the programs are started: they find this very engine, installed or not, wherever the caller stands."""

_DRIVERS = (Path("/dev/dri"), Path("/dev/accel"), Path("/proc/driver/nvidia"), Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""Where Linux shows GPUs and NPUs."""

_CPU = DeviceId("cpu", "0")


@dataclass(frozen=True)
class Search:
    """A program that prints one ``DeviceDescription`` a line as JSON. library: for which. kind: of the devices it finds."""

    library: str
    kind: str
    program: Sequence[str]


SEARCHES = tuple(
    Search(library, kind, (sys.executable, "-m", "engine.backends.list_devices", kind))
    for library, kind in (("OpenVINO", "openvino"), ("CUDA", "cuda"))
)


def discover(timeout: float = 30.0, searches: Sequence[Search] = SEARCHES) -> tuple[DeviceDescription, ...]:
    """All devices, usable or not: the CPU, CUDA's, the others; takes about a second.

    A driver that crashes or hangs hides only those of its devices that come after it: an unusable entry then says so.
    timeout: seconds.

    Raises:
        DeviceError: no search found anything.
    """
    with ThreadPoolExecutor(len(searches)) as threads:
        outcomes = list(threads.map(lambda search: _run(search, timeout), searches))
    found = [device for devices, _ in outcomes for device in devices]
    if not found:
        problems = "; ".join(problem for _, problem in outcomes if problem is not None)
        raise DeviceError(f"the search for devices failed: {problems or 'it found none'}; 'framefleet doctor' says what is missing")
    for search, (devices, problem) in zip(searches, outcomes, strict=True):
        if problem is not None:
            found.append(_lost(search, devices, problem))
    order = {"cpu": 0, "cuda": 1}
    return tuple(sorted(found, key=lambda device: order.get(device.id.kind, 2)))


def default_devices(descriptions: Sequence[DeviceDescription] | None = None) -> tuple[DeviceId, ...]:
    """The best that is available: all CUDA devices, else OpenVINO's GPUs, else the CPU.

    descriptions: None = look, which takes no time where there is nothing but a CPU.

    Raises:
        DeviceError: nothing is available.
    """
    if descriptions is None:
        if sys.platform == "linux" and not any(path.exists() for path in _DRIVERS):
            return (_CPU,)
        descriptions = discover()
    usable = [description.id for description in descriptions if description.available]
    for chosen in (
        [device for device in usable if device.kind == "cuda"],
        [device for device in usable if device.kind == "openvino" and device.name.startswith("GPU")],
        [device for device in usable if device.kind == "cpu"],
    ):
        if chosen:
            return tuple(chosen)
    reasons = "; ".join(f"{description.id}: {description.problem}" for description in descriptions) or "none was found"
    raise DeviceError(f"no device can be used ({reasons}); 'framefleet doctor' says what is missing")


def _run(search: Search, timeout: float) -> tuple[list[DeviceDescription], str | None]:
    """What one search found, and why it did not come to its end (None = it did)."""
    try:
        process = subprocess.Popen(
            search.program,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=ROOT,
        )
    except OSError as error:
        return [], f"it cannot be started: {error}"
    with process:
        try:
            output, errors = process.communicate(timeout=timeout)
            problem = _verdict(process.returncode, errors)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            problem = f"it gave no answer within {timeout:g} s"
    return [description for line in output.splitlines() if (description := _read(line)) is not None], problem


def _lost(search: Search, found: Sequence[DeviceDescription], problem: str) -> DeviceDescription:
    """The entry for what a search did not come to."""
    rest = DeviceId("cuda", str(len(found))) if search.kind == "cuda" else DeviceId("openvino", "GPU") if found else _CPU
    return DeviceDescription(rest, "further devices" if found else "unknown", search.library, (), problem=f"the search failed: {problem}")


def _read(line: str) -> DeviceDescription | None:
    """The device a line tells of, None for anything else: drivers print, too, and a crash cuts lines short."""
    try:
        return DeviceDescription.from_json(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError):
        return None


def _verdict(status: int, errors: str) -> str | None:
    if status == 0:
        return None
    last = errors.strip().splitlines()[-1:] or ["it said nothing"]
    return f"it crashed (signal {-status})" if status < 0 else f"it ended with status {status}: {last[0]}"
