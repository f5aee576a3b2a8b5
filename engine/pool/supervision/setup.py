"""Makes the ``Setup`` of a worker from the settings and the devices of the run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from framefleet.engine.media.sampling import Sampling
from framefleet.engine.pool.protocol import Setup
from framefleet.engine.settings import EngineSettings, RunSettings
from framefleet.engine.types import DeviceId

CORES_BESIDE = 2
"""Cores that CPU devices leave free for each other device: an H200 at 2,330 frames/s of 1080p keeps 1.4 cores busy.

CPU devices also leave half of all cores free. With YOLOv4-tiny, an H200 reached half of its throughput beside a CPU engine on 14 of 16
cores, and 87 % beside one on 8 cores. With YOLOv4 it lost nothing (benchmarks/results/unequal.md).
"""


def setup_for(
    device: DeviceId, settings: RunSettings, devices: Sequence[DeviceId], stall_seconds: float, cores: int, examples: tuple[Path, ...] = ()
) -> Setup:
    """The setup for the worker of one of these devices. stall_seconds, examples: see ``Setup``. cores: that its machine may use."""
    neighbours = [member for each in devices if each.node == device.node for member in each.members]
    engine = _sharing_cores(settings.engine, neighbours, cores)
    part = Sampling(settings.begin, settings.end, settings.every)
    sampling = None if part == Sampling() else part
    together = settings.parallel, settings.isolation, settings.tiles
    return Setup(device, settings.model, engine, stall_seconds, *together, sampling=sampling, examples=examples)


def _sharing_cores(settings: EngineSettings, devices: Sequence[DeviceId], cores: int) -> EngineSettings:
    """The settings, with a limited number of threads if a CPU device shares the cores with other devices."""
    sharing = sum(device.kind == "cpu" for device in devices)
    others = len(devices) - sharing
    if not sharing or len(devices) == 1 or settings.threads is not None:
        return settings
    free = min(cores // 2, cores - CORES_BESIDE * others) if others else cores
    return replace(settings, threads=max(1, free // sharing))
