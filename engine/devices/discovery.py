"""Which devices this machine has. Asks a process of its own, so that no driver bug takes the caller down."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.devices.description import DeviceDescription
from engine.errors import DeviceError, UsageError
from engine.types import DeviceId

_PROGRAM = (sys.executable, "-P", "-m", "engine.devices")

_DRIVER_FOLDERS = (Path("/dev/dri"), Path("/dev/accel"))
"""Where Linux shows the GPUs and NPUs that OpenVINO could use."""

_CPU = DeviceId("cpu", "0")


def discover(timeout: float = 30.0, program: Sequence[str] = _PROGRAM) -> tuple[DeviceDescription, ...]:
    """All devices, usable or not, CPU first; takes about a second.

    A driver that crashes or hangs hides only the devices that come after it: an unusable entry then says so.
    program: prints one ``DeviceDescription`` a line as JSON. timeout: seconds.

    Raises:
        DeviceError: not even the CPU could be examined.
    """
    try:
        process = subprocess.Popen(
            program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise DeviceError(f"the search for devices cannot be started: {error}") from error
    with process:
        try:
            output, errors = process.communicate(timeout=timeout)
            problem = _verdict(process.returncode, errors)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            problem = f"it gave no answer within {timeout:g} s"
    found = tuple(description for line in output.splitlines() if (description := _read(line)) is not None)
    if not found:
        raise DeviceError(f"the search for devices failed: {problem or 'it found none'}; './run doctor' tells what is missing")
    if problem is not None:
        found += (
            DeviceDescription(DeviceId("openvino", "GPU"), "further devices", "OpenVINO", (), problem=f"the search failed: {problem}"),
        )
    return found


def default_devices(descriptions: Sequence[DeviceDescription] | None = None) -> tuple[DeviceId, ...]:
    """The best that is available: all CUDA devices, else OpenVINO's GPUs, else the CPU.

    descriptions: None = look, which takes no time where there is nothing but a CPU.

    Raises:
        DeviceError: nothing is available.
    """
    if descriptions is None:
        if sys.platform == "linux" and not any(folder.is_dir() for folder in _DRIVER_FOLDERS):
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
    raise DeviceError(f"no device can be used ({reasons}); './run doctor' tells what is missing")


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
