"""The tests of ``tests/gpu/test_plugins.py`` without a device: the kernels' code run by the CPU, slowly, some cases of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("cuda.core")

from tests.gpu.test_plugins import *  # noqa: F403
from tests.support.devices import emulation

if emulation.COMPILER is None:
    pytest.skip("there is no g++", allow_module_level=True)

for name in ("test_mish_of_any_count", "test_the_same_heads_leave_the_same_bytes"):
    del globals()[name]  # many cases of what others show, too


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[emulation.EmulatedGpu]:
    with emulation.emulated_gpu(tmp_path_factory.mktemp("emulated")) as gpu:
        yield gpu
