"""From a device's name to its backend. Each library is imported only when a device of its kind is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from engine.backends.base import Backend
from engine.backends.depth import depth_members
from engine.devices.description import DeviceDescription
from engine.errors import DeviceError
from engine.types import DeviceId


def create_backend(device: DeviceId) -> Backend:
    """A backend for this device, not yet activated.

    Raises:
        DeviceError: no backend of this version runs on it, or its library cannot be loaded.
    """
    if device.kind == "cuda":
        try:
            from engine.backends.tensorrt.backend import TensorRtBackend
        except ImportError as problem:
            raise DeviceError(
                f"{device}: NVIDIA's libraries are not installed ({problem}): pip install 'framefleet[tensorrt]' or 'framefleet[rtx]'"
            ) from problem
        return TensorRtBackend(device)
    try:
        from engine.backends.openvino.backend import OpenVinoBackend
    except ImportError as problem:
        raise DeviceError(f"{device}: OpenVINO cannot be loaded ({problem}); 'framefleet doctor' says what is missing") from problem
    return OpenVinoBackend(device)


def create_depth_backend(group: DeviceId) -> Backend:
    """A backend that cuts the network into stages, one for each device of the group; not yet activated.

    Raises:
        UsageError: these devices cannot share a network; says what to do.
        DeviceError: a library cannot be loaded.
    """
    cuda = depth_members(group)[0].kind == "cuda"
    try:
        if cuda:
            from engine.backends.tensorrt.depth import TensorRtDepthBackend

            return TensorRtDepthBackend(group)
        from engine.backends.openvino.depth import OpenVinoDepthBackend
    except ImportError as problem:
        needed = "NVIDIA's libraries cannot be" if cuda else "OpenVINO cannot be"
        raise DeviceError(f"{group}: {needed} loaded ({problem}); 'framefleet doctor' says what is missing") from problem
    return OpenVinoDepthBackend(group)


def describe_devices(kind: str) -> Iterator[DeviceDescription]:
    """The devices of this machine that a library runs, each as soon as it is known. Loads that library: for a process of its own.

    kind: "cuda", or "openvino", which also runs the CPU.
    """
    if kind == "cuda":
        from engine.backends.tensorrt.library import find_library
        from engine.devices.cuda import describe_devices as describe_cuda_devices

        yield from describe_cuda_devices(find_library)
        return
    try:
        from engine.backends.openvino.devices import describe_devices as describe_openvino_devices
    except ImportError as error:
        yield DeviceDescription(DeviceId("cpu", "0"), "CPU", "OpenVINO", (), problem=f"OpenVINO cannot be loaded: {error}")
        return
    yield from describe_openvino_devices()
