"""Makes results of measurements with given figures."""

from __future__ import annotations

from framefleet.engine.bench.pool_run import DeviceRun, PoolRun
from framefleet.engine.types import AS_ASKED, DeviceId, EngineInfo


def pool_run(devices: int, rate: float, *, pool_load: float = 0.1, host_load: float | None = 0.3, kind: str = "cuda") -> PoolRun:
    """A run whose bottleneck is the network. rate: frames/s of all devices."""
    runs = tuple(
        DeviceRun(
            EngineInfo(DeviceId(kind, str(number)), "NVIDIA H200", "TensorRT-RTX 1.6", "fp16", AS_ASKED, 608, 608, 16, 3, 12),
            1000,
            rate / devices,
            20.0,
            30.0,
            {"decode": 3.0, "infer": 8.0},
            {"network": 0.45},
            "network",
        )
        for number in range(devices)
    )
    return PoolRun("segments", "as asked", 1000 * devices, 1000 * devices, 10, 9.0, rate, 0.99 * rate, pool_load, host_load, 1.01, runs)
