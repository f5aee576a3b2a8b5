"""From a device's name to its backend. Each library is imported only when a device of its kind is asked for."""

from __future__ import annotations

from engine.backends.base import Backend
from engine.errors import DeviceError
from engine.types import DeviceId


def create_backend(device: DeviceId) -> Backend:
    """A backend for this device, not yet activated.

    Raises:
        DeviceError: no backend of this version runs on it, or its library cannot be loaded.
    """
    if device.kind not in ("cpu", "openvino"):
        raise DeviceError(f"{device}: this version has engines for cpu:N and openvino:NAME ('framefleet devices' lists yours)")
    try:
        from engine.backends.openvino import OpenVinoBackend
    except ImportError as problem:
        raise DeviceError(f"{device}: OpenVINO cannot be loaded ({problem}); './run doctor' tells what is missing") from problem
    return OpenVinoBackend(device)
