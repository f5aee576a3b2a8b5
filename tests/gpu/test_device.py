"""Threads that wait for a device sleep, or use a processor, as asked."""

from __future__ import annotations

import pytest

from framefleet.engine.types import DeviceId

try:
    from cuda.bindings import driver

    from framefleet.engine.cuda.device import open_device
except ImportError:
    pytest.skip("cuda-python is not installed", allow_module_level=True)


@pytest.mark.parametrize(("sleep", "way"), [(True, "CU_CTX_SCHED_BLOCKING_SYNC"), (False, "CU_CTX_SCHED_AUTO")])
def test_a_device_is_waited_for_as_asked(sleep: bool, way: str) -> None:
    device = open_device(DeviceId("cuda", "0"), sleep)
    status, flags, is_active = driver.cuDevicePrimaryCtxGetState(device.device_id)
    assert (status, is_active) == (driver.CUresult.CUDA_SUCCESS, 1)
    assert flags & driver.CUctx_flags.CU_CTX_SCHED_MASK == getattr(driver.CUctx_flags, way)
