"""The kernels of a full TensorRT's plugins on the device, from the very PTX that goes into a plan; the tests are those without a device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.core import LaunchConfig, ObjectCode, launch

from tests.plugins.test_tensorrt_plugins_detection import *  # noqa: F403
from tests.support.cuda import Gpu
from tests.support.tensorrt_runner import Runner

del globals()["test_the_demo_from_surfaces_to_detections"]  # needs a backend of the CPU, too


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    gpu = Gpu()
    loaded = cache(ObjectCode.from_ptx)

    def run(ptx: bytes, kernel: str, sizes: Any, arguments: list[Any]) -> None:
        grid, block, shared = sizes
        launch(gpu.stream, LaunchConfig(grid=grid, block=block, shmem_size=shared), loaded(ptx).get_kernel(kernel), *arguments)
        gpu.stream.sync()

    yield Runner(gpu, run, f"sm_{gpu.device.arch}")
    gpu.close()
