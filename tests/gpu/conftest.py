"""These tests need an NVIDIA GPU: they are skipped, with the reason, where there is none."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framefleet.engine.types import DeviceId
from framefleet.plugins.cache import FileCache

if TYPE_CHECKING:
    from tests.support.devices.cuda import Gpu


def _missing() -> str | None:
    if not Path("/proc/driver/nvidia/version").exists():
        return "no NVIDIA driver"
    try:
        from cuda.core import Device
    except ImportError as problem:
        return f"cuda-python is not installed: {problem}"
    return None if Device.get_all_devices() else "no CUDA device"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason, folder = _missing(), f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker("gpu")
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tests marked ``alone`` run while no other process of this test run uses a GPU: they measure its free memory, take all of it, or count
    frames in real time.

    The fixtures belong to a test's turn: those of a module make engines.
    """
    if item.get_closest_marker("gpu") is None or item.get_closest_marker("skip") is not None:
        return (yield)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())  # the same for all processes of a run
    alone = fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH
    folder = Path(tempfile.gettempdir())
    with (folder / f"framefleet-gpu-gate-{run}").open("w") as gate, (folder / f"framefleet-gpu-turn-{run}").open("w") as turn:
        fcntl.flock(gate, alone)  # who waits for the turn lets no other process pass
        fcntl.flock(turn, alone)
        if alone == fcntl.LOCK_SH:
            fcntl.flock(gate, fcntl.LOCK_UN)
        return (yield)


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Plans of this module's engines, and nobody else's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def gpu(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gpu]:
    """The device with the kernels of the module's SOURCES, by default with all kernels."""
    from tests.support.devices.cuda import Gpu

    gpu = Gpu(FileCache(tmp_path_factory.mktemp("kernels")), *getattr(request.module, "SOURCES", ()))
    yield gpu
    gpu.close()


@pytest.fixture(scope="module")
def several() -> list[DeviceId]:
    """All of the machine's GPUs, of which there have to be two."""
    from cuda.core import Device

    found = [DeviceId("cuda", str(number)) for number in range(len(Device.get_all_devices()))]
    if len(found) < 2:
        pytest.skip("there is one CUDA device only")
    return found
