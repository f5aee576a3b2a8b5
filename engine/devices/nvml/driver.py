"""NVIDIA's driver, asked through NVML."""

import importlib
from typing import Any

from framefleet.engine.devices.nvml.gpu import Gpu
from framefleet.engine.errors import DeviceError
from framefleet.engine.notices import Notice, install_extra

_REMEDIES = {
    "NVMLError_DriverNotLoaded": Notice("devices.driver_not_loaded"),
    "NVMLError_LibRmVersionMismatch": Notice("devices.driver_mismatch"),
    "NVMLError_NoPermission": Notice("devices.no_permission"),
}


class NoNvmlError(DeviceError):
    """The NVIDIA driver or the package nvidia-ml-py is missing."""


class Nvml:
    """The driver and its GPUs. library: the module ``pynvml``; None = import it."""

    def __init__(self, library: Any = None) -> None:
        """Start NVML.

        Raises:
            NoNvmlError: the driver or nvidia-ml-py is missing.
            DeviceError: the driver does not answer; says what to do.
        """
        try:
            self._library = importlib.import_module("pynvml") if library is None else library
        except ImportError as problem:
            raise NoNvmlError(Notice("devices.no_nvidia_ml", advice=install_extra("rtx"))) from problem
        try:
            self._library.nvmlInit()
        except self._library.NVMLError as problem:
            if type(problem).__name__ == "NVMLError_LibraryNotFound":
                raise NoNvmlError(Notice("devices.no_driver")) from problem
            remedy = _REMEDIES.get(type(problem).__name__, Notice("devices.restart_or_reinstall"))
            raise DeviceError(Notice("devices.driver_silent", problem=str(problem), remedy=remedy)) from problem

    @property
    def driver(self) -> str | None:
        """The driver's version, "580.159.04"."""
        version = self._ask("nvmlSystemGetDriverVersion")
        return None if version is None else str(version)

    @property
    def cuda(self) -> tuple[int, int] | None:
        """The newest CUDA version that the driver supports, major and minor."""
        version = self._ask("nvmlSystemGetCudaDriverVersion_v2")
        return None if version is None else (version // 1000, version % 1000 // 10)

    def gpus(self) -> tuple[Gpu, ...]:
        """All GPUs that answer, in NVML's order, which differs from CUDA's."""
        handles = (self._ask("nvmlDeviceGetHandleByIndex", index) for index in range(self._ask("nvmlDeviceGetCount") or 0))
        return tuple(Gpu(self._library, handle) for handle in handles if handle is not None)

    def gpu(self, uuid: str) -> Gpu | None:
        """The GPU or MIG instance of this UUID, None if there is none."""
        handle = self._ask("nvmlDeviceGetHandleByUUID", uuid)
        return None if handle is None else Gpu(self._library, handle)

    def close(self) -> None:
        """Shut NVML down."""
        self._ask("nvmlShutdown")

    def _ask(self, function: str, *arguments: Any) -> Any:
        try:
            return getattr(self._library, function)(*arguments)
        except self._library.NVMLError:
            return None
