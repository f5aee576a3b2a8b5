"""Compiles the custom layers' CUDA code with NVRTC for one device, caches the cubins, and launches kernels."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from framefleet.engine.notices import Notice, install_extra
from framefleet.plugins.cache import FileCache

SOURCES = ("half.cuh", "mish.cu", "preprocess.cu", "yolo_layer.cu", "rows.cu", "nms.cu")
"""The files of one program, in this order: later files use what earlier ones declare."""

TOOLKIT = "/usr/local/cuda/include"
"""The folder in which CUDA's installer puts the headers."""

_OPTIONS = {"std": "c++17", "fma": False}  # fused multiply-adds would round differently from NumPy


def source(*names: str) -> str:
    """The source of the program of these files, by default of SOURCES."""
    return "\n".join(f'#line 1 "{name}"\n{(files(__name__) / name).read_text("utf-8")}' for name in names or SOURCES)


def compile_kernels(arch: str, cache: FileCache, names: Sequence[str] = ()) -> bytes:
    """Compile a cubin for an architecture such as "sm_90"; needs no device. names: see ``source``.

    PTX would not do: a driver refuses the PTX of an NVRTC that is newer than the driver.

    Raises KernelError if NVRTC or CUDA's headers are missing, or the compiler refuses the architecture.
    """
    text = source(*names)
    key = f"kernels {arch} {_compiler()} {sorted(_OPTIONS.items())} {hashlib.sha256(text.encode()).hexdigest()}"
    return cache.get(key, lambda: compile_source(text, arch))


def compile_source(text: str, arch: str) -> bytes:
    """Compile a CUDA C++ source to a cubin, with the headers and options of the kernels, without the cache.

    Raises KernelError: see ``compile_kernels``, or the text has an error. The message has that of the compiler.
    """
    _compiler()
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(arch=arch, include_path=_headers(), **_OPTIONS)
    try:
        return bytes(Program(text, "c++", options=options).compile("cubin").code)
    except Exception as problem:
        raise KernelError(Notice("plugins.not_compiled", arch=arch, problem=str(problem))) from problem


class KernelError(Exception):
    """The kernels cannot be compiled or loaded. The notice says what is missing, or has the compiler's message."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice)
        self.notice = notice


class Kernels:
    """The loaded kernels of the current device."""

    def __init__(self, arch: str, cache: FileCache | None = None, names: Sequence[str] = ()) -> None:
        """Compile the kernels or read them from the cache, and load them. cache: None = the usual one. Others: see ``compile_kernels``."""
        from cuda.core import ObjectCode

        self._module = ObjectCode.from_cubin(compile_kernels(arch, cache or FileCache(), names))
        self._kernels: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """A kernel by name, a ``cuda.core.Kernel``."""
        if name not in self._kernels:
            self._kernels[name] = self._module.get_kernel(name)
        return self._kernels[name]

    def allow_shared(self, name: str, nbytes: int) -> None:
        """Let a kernel use this much dynamic shared memory. Raises RuntimeError if the device has less."""
        from cuda.bindings import driver
        from cuda.core import Device

        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        (status,) = driver.cuKernelSetAttribute(attribute, nbytes, self[name].handle, Device().device_id)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"{name} cannot have {nbytes} bytes of shared memory: {status.name}")


@cache
def _compiler() -> str:
    try:
        from cuda.bindings import nvrtc
    except ImportError as problem:
        advice = install_extra("rtx")
        raise KernelError(Notice("plugins.no_cuda_python", problem=str(problem), advice=advice)) from problem
    try:
        _, major, minor = nvrtc.nvrtcVersion()
    except Exception as problem:
        raise KernelError(Notice("plugins.no_nvrtc", problem=str(problem))) from problem
    return f"NVRTC {major}.{minor} cuda-core {version('cuda-core')}"


def _headers() -> str:
    from cuda.pathfinder import find_nvidia_header_directory

    found = find_nvidia_header_directory("cudart")  # pip's or conda's, else that of CUDA_HOME or CUDA_PATH
    for folder in (found, TOOLKIT):
        if folder is not None and (Path(folder) / "cuda_fp16.h").is_file():
            return folder
    raise KernelError(Notice("plugins.no_headers"))


Number = type[np.float16] | type[np.float32]
"""The type of an engine's numbers."""


def kernel_name(name: str, number: Number) -> str:
    """The name of a kernel's variant for a type of numbers."""
    return f"{name}_fp{8 * np.dtype(number).itemsize}"


_SHARED_BYTES = 48 << 10
"""Dynamic shared memory that a kernel has without ``allow_shared``."""


class Launch:
    """One launch of a kernel. name: of the kernel. grid, block: blocks and threads. arguments: NumPy scalars. shared: bytes."""

    def __init__(
        self, kernels: Kernels, name: str, grid: int | Sequence[int], block: int | Sequence[int], *arguments: Any, shared: int = 0
    ) -> None:
        from cuda.core import LaunchConfig

        self._kernel, self.arguments = kernels[name], arguments
        if shared > _SHARED_BYTES:
            kernels.allow_shared(name, shared)
        self._config = LaunchConfig(grid=grid, block=block, shmem_size=shared)

    def launch(self, stream: Any) -> None:
        """Put the kernel on a stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self.arguments)
