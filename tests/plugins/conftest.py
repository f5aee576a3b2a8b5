from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.devices import emulation


@pytest.fixture(scope="module")
def gpu(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[emulation.EmulatedGpu]:
    """As the fixture of ``tests/gpu``: the CPU runs the kernels of the module's SOURCES, by default all kernels."""
    if emulation.COMPILER is None:
        pytest.skip("there is no g++")
    with emulation.emulated_gpu(tmp_path_factory.mktemp("emulated"), *getattr(request.module, "SOURCES", ())) as gpu:
        yield gpu
