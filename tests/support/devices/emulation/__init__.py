"""Runs the kernels without a GPU: g++ compiles the same source into a library that works on host memory."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.plugins.kernels import source
from tests.support.devices.cuda import POISON

COMPILER = shutil.which("g++")

_ENTRY = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(([^)]*)\)')
_TYPES = {np.uint64: ctypes.c_uint64, np.int64: ctypes.c_int64, np.int32: ctypes.c_int32, np.float32: ctypes.c_float}
_ALIGNMENT = 256


def build(folder: Path, *names: str) -> Path:
    """Compile the library. It has a function ``run_KERNEL(grid, block, shared bytes, arguments …)`` for each kernel.

    names: as for ``source``.
    """
    assert COMPILER is not None
    preprocess = (COMPILER, "-E", "-P", "-x", "c++", f"-I{Path(__file__).parent}", "-")  # so that each kernel stands in the text
    expanded = subprocess.run(preprocess, input=source(*names), capture_output=True, text=True, check=True).stdout
    text = re.sub(r"extern __shared__ ([\w ]+) (\w+)\[\];", r"\1* \2 = reinterpret_cast<\1*>(dynamic_shared);", expanded)
    runners = []
    for name, parameters in _ENTRY.findall(text):
        arguments = ", ".join(re.split(r"[\s*]+", parameter.strip())[-1] for parameter in parameters.split(","))
        runners.append(
            f'extern "C" void run_{name}(const unsigned* grid_, const unsigned* block_, unsigned shared_, {parameters}) '
            f"{{ kernel = [=] {{ {name}({arguments}); }}; launch(grid_, block_, shared_); }}"
        )
    (folder / "kernels.cpp").write_text("\n".join(['#include "cuda.h"', text, *runners]))
    library = folder / "kernels.so"
    options = ("-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-shared", "-fPIC", f"-I{Path(__file__).parent}")
    subprocess.run([COMPILER, *options, "-o", library, folder / "kernels.cpp"], check=True)
    return library


class LaunchConfig:
    """Replaces ``cuda.core.LaunchConfig``."""

    def __init__(self, grid: int | Sequence[int], block: int | Sequence[int], shmem_size: int = 0) -> None:
        self.grid, self.block = (((each, 1, 1) if isinstance(each, int) else (*each, 1, 1))[:3] for each in (grid, block))
        self.shared = shmem_size


def launch(stream: Any, config: LaunchConfig, kernel: Any, *arguments: Any) -> None:
    """Replaces ``cuda.core.launch``."""
    sizes = ((ctypes.c_uint * 3)(*config.grid), (ctypes.c_uint * 3)(*config.block), ctypes.c_uint(config.shared))
    kernel(*sizes, *(_TYPES[type(argument)](argument.item()) for argument in arguments))


class Kernels:
    """Replaces ``plugins.kernels.Kernels``."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))

    def __getitem__(self, name: str) -> Any:
        runner = getattr(self._library, f"run_{name}")
        runner.restype = None
        return runner

    def allow_shared(self, name: str, nbytes: int) -> None:
        """The host's memory has no such limit."""


@contextmanager
def emulated_gpu(library: Path) -> Iterator[EmulatedGpu]:
    """Emulate a GPU: ``cuda.core.launch`` runs the kernels of this library, from ``build``, on the host."""
    import cuda.core

    from framefleet.engine.backends.nvidia import engine
    from framefleet.engine.cuda import graph

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda.core, "launch", launch)
        patch.setattr(cuda.core, "LaunchConfig", LaunchConfig)
        for module in (graph, engine):
            patch.setattr(module, "copy", lambda destination, source, nbytes, _stream: ctypes.memmove(destination, source, nbytes) and None)
        yield EmulatedGpu(library)


class Graph:
    """Steps that are launched together."""

    def __init__(self, steps: Sequence[Any]) -> None:
        self._steps = steps

    def launch(self, stream: Any) -> None:
        for step in self._steps:
            step.launch(stream)


class EmulatedGpu:
    """Replaces ``tests.support.devices.cuda.Gpu``. Addresses lie in the host's memory, and every call waits until its work is done."""

    def __init__(self, library: Path) -> None:
        self.kernels, self.stream = Kernels(library), SimpleNamespace(sync=lambda: None)
        self._memory: list[NDArray[np.uint8]] = []

    def upload(self, values: NDArray[Any]) -> int:
        contents = np.frombuffer(values.tobytes(), np.uint8)
        room = np.full(contents.nbytes + _ALIGNMENT, POISON, np.uint8)
        start = -room.ctypes.data % _ALIGNMENT
        room[start : start + contents.nbytes] = contents
        self._memory.append(room)
        return room.ctypes.data + start

    def overwrite(self, address: int, values: NDArray[Any]) -> None:
        ctypes.memmove(address, values.tobytes(), values.nbytes)

    def poisoned(self, nbytes: int) -> int:
        return self.upload(np.full(nbytes, POISON, np.uint8))

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        return np.zeros(nbytes, np.uint8)

    def download(self, address: int, shape: Sequence[int] | int, dtype: Any) -> NDArray[Any]:
        values = np.empty(shape, dtype)
        ctypes.memmove(values.ctypes.data, address, values.nbytes)
        return values

    def run(self, *steps: Any) -> None:
        Graph(steps).launch(self.stream)

    def record(self, *steps: Any) -> Graph:
        return Graph(steps)
