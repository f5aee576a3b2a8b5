"""The tests of ``tests/gpu/test_channels_last.py`` without a device: the kernels' code run by the CPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("cuda.core")

from engine.backends.cudnn.engine import KERNELS
from tests.gpu.test_channels_last import *  # noqa: F403
from tests.support.devices import emulation

if emulation.COMPILER is None:
    pytest.skip("there is no g++", allow_module_level=True)


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[emulation.EmulatedGpu]:
    with emulation.emulated_gpu(tmp_path_factory.mktemp("emulated"), *KERNELS) as gpu:
        yield gpu
