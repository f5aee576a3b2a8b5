"""What a worker is started with, given the settings and who else takes part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.devices.affinity import usable_cores
from engine.pool.protocol import Setup
from engine.settings import EngineSettings, RunSettings
from engine.types import DeviceId

CORES_BESIDE = 2
"""Cores that CPU devices leave to each other device at least: an H200 that detects in 2,330 frames/s of 1080p keeps 1.4 of them busy.

And half of all: beside a CPU's engine on 14 of 16 cores an H200 did half as many frames with YOLOv4-tiny as alone, beside one on 8 of them
0.87, and with YOLOv4 as many as alone (benchmarks/results/unequal-h200.md).
"""


def setup_for(device: DeviceId, settings: RunSettings, devices: Sequence[DeviceId], stall_seconds: float) -> Setup:
    """For the worker of one of these devices. stall_seconds: see ``Setup``."""
    engine = _sharing_cores(settings.engine, [member for each in devices for member in each.members])
    return Setup(device, settings.model, engine, stall_seconds, settings.parallel, settings.isolation, settings.tiles)


def _sharing_cores(settings: EngineSettings, devices: Sequence[DeviceId]) -> EngineSettings:
    """The same, with the cores shared evenly where several CPU devices would each take all of them, or others need some to be fed."""
    sharing = sum(device.kind == "cpu" for device in devices)
    others = len(devices) - sharing
    if not sharing or len(devices) == 1 or settings.threads is not None:
        return settings
    cores = usable_cores()
    free = min(cores // 2, cores - CORES_BESIDE * others) if others else cores
    return replace(settings, threads=max(1, free // sharing))
