"""Describes the devices of TensorRT for ``framefleet devices``."""

from collections.abc import Iterator

from framefleet.engine.backends.tensorrt.library import find_library
from framefleet.engine.devices import cuda
from framefleet.engine.devices.discovery import DeviceDescription


def describe_devices() -> Iterator[DeviceDescription]:
    """All NVIDIA GPUs, usable or not."""
    return cuda.describe_devices(find_library)
