"""The tests of ``tests/gpu/test_bandwidth.py`` without a device, as ``test_emulated`` runs those of the layers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("cuda.core")

from plugins.bandwidth import SOURCES
from tests.gpu.test_bandwidth import *  # noqa: F403
from tests.support.devices import emulation

if emulation.COMPILER is None:
    pytest.skip("there is no g++", allow_module_level=True)


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[emulation.EmulatedGpu]:
    with emulation.emulated_gpu(tmp_path_factory.mktemp("emulated"), *SOURCES) as gpu:
        yield gpu
