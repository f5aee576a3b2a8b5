"""Creates the backend for a device. A library is imported only when a device of its kind is requested."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from framefleet.engine.backends.base import Backend
from framefleet.engine.cuda import has_driver
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.notices import DeviceError, Notice, Option, install_extra
from framefleet.engine.settings import check_depth
from framefleet.engine.types import DeviceId, of_device, without_device


@dataclass(frozen=True)
class Library:
    """The classes and functions for a library, each as "module:name".

    name: as shown to users. backend: the ``Backend`` for one device. extra: to install if the library cannot be imported. depth: the
    ``Backend`` that cuts the network into stages for several devices. devices: a function that describes the devices it finds.
    """

    name: str
    backend: str
    extra: str = ""
    depth: str | None = None
    devices: str | None = None


_OPENVINO = Library(
    "OpenVINO",
    "framefleet.engine.backends.openvino.backend:OpenVinoBackend",
    "",
    "framefleet.engine.backends.openvino.depth:OpenVinoDepthBackend",
    "framefleet.engine.backends.openvino.library:describe_devices",
)
_TENSORRT = Library(
    "TensorRT",
    "framefleet.engine.backends.nvidia.backend:NvidiaBackend",
    "rtx",
    "framefleet.engine.backends.tensorrt.depth:TensorRtDepthBackend",
    "framefleet.engine.backends.tensorrt.library:describe_devices",
)

LIBRARIES = {"cpu": _OPENVINO, "openvino": _OPENVINO, "cuda": _TENSORRT}
"""The library for each kind of device. A new backend is one entry here, and its kind in ``DeviceId.KINDS``."""


def create_backend(device: DeviceId) -> Backend:
    """A backend for this device, not yet activated.

    Raises DeviceError if the library for this kind of device cannot be imported. The message says what to do.
    """
    library = LIBRARIES[device.kind]
    backend: Backend = _load(library, library.backend, device)(device)
    return backend


def create_depth_backend(group: DeviceId) -> Backend:
    """A backend that cuts the network into stages, one for each device of the group; not yet activated.

    Raises
    ------
    UsageError
        These devices cannot share a network. The message says what to do.
    DeviceError
        See ``create_backend``, or the library does not support stages.
    """
    check_depth(group.members)
    library = LIBRARIES[group.members[0].kind]
    if library.depth is None:
        problem = Notice("backends.no_stages", library=library.name, option=Option("parallel", "segments"))
        raise DeviceError(of_device(group, problem))
    backend: Backend = _load(library, library.depth, group)(group)
    return backend


def describe_devices(kind: str) -> Iterator[DeviceDescription]:
    """Yield the devices of this machine that a library supports, each as soon as it is known. Call this in a separate process.

    kind: "cuda", or "openvino", which also runs the CPU.
    """
    library = LIBRARIES[kind]
    if library.devices is None:
        return
    first = DeviceId("cpu" if kind == "openvino" else kind, "0")
    try:
        describe = _load(library, library.devices, first)
    except DeviceError as problem:
        yield DeviceDescription(first, first.kind.upper(), library.name, (), problem=without_device(problem.notice))
        return
    yield from describe()


def _load(library: Library, path: str, device: DeviceId) -> Any:
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except ImportError as problem:
        advice = install_extra(library.extra) if library.extra else Notice("backends.ask_doctor")
        why = Notice("backends.library_not_loaded", name=library.name, problem=str(problem), advice=advice)
        if device.kind == "cuda" and not has_driver():
            why = Notice("cuda.no_gpu")
        raise DeviceError(of_device(device, why)) from problem
