"""The tests of ``tests/gpu/test_bandwidth.py`` without a device, as ``test_emulated`` runs those of the layers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

cuda_core = pytest.importorskip("cuda.core")

from plugins.bandwidth import SOURCES  # noqa: E402
from tests.gpu.test_bandwidth import *  # noqa: E402, F403
from tests.support import emulation  # noqa: E402

if emulation.COMPILER is None:
    pytest.skip("there is no g++", allow_module_level=True)


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[emulation.EmulatedGpu]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_core, "launch", emulation.launch)
        patch.setattr(cuda_core, "LaunchConfig", emulation.LaunchConfig)
        yield emulation.EmulatedGpu(emulation.build(tmp_path_factory.mktemp("emulated"), *SOURCES))
