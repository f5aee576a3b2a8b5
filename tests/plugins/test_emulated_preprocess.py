"""The tests of ``tests/gpu/test_preprocess.py`` without a device: the kernel's code runs on the CPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("cuda.core")

from tests.gpu.test_preprocess import *  # noqa: F403
from tests.support.devices import emulation

if emulation.COMPILER is None:
    pytest.skip("there is no g++", allow_module_level=True)


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[emulation.EmulatedGpu]:
    with emulation.emulated_gpu(tmp_path_factory.mktemp("emulated"), "half.cuh", "preprocess.cu") as gpu:
        yield gpu
