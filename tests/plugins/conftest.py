from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.devices import emulation


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Gives the library of kernels, which is compiled once. Its arguments are names, as for ``emulation.build``."""
    return cache(lambda *names: emulation.build(tmp_path_factory.mktemp("emulated"), *names))


@pytest.fixture(scope="module")
def gpu(request: pytest.FixtureRequest, library: Callable[..., Path]) -> Iterator[emulation.EmulatedGpu]:
    """As the fixture of ``tests/gpu``: the CPU runs the kernels of the module's SOURCES, by default all kernels."""
    if emulation.COMPILER is None:
        pytest.skip("there is no g++")
    with emulation.emulated_gpu(library(*getattr(request.module, "SOURCES", ()))) as gpu:
        yield gpu
