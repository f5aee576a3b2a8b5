"""In the pool: what the workers measured, per device and over its whole run, whichever of its processes it came from."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from engine.pool.events import DeviceStats
from engine.pool.protocol import Frames, Stats
from engine.types import DeviceId

_FLOOR = 1e-2
_RATIO = 1.02
_BUCKETS = 1000
"""Latencies over a whole run are kept in buckets 2 % wide, from 0.01 ms: memory must not grow with the video."""


class DeviceStatistics:
    """One device's figures since the start."""

    def __init__(self, device: DeviceId) -> None:
        self._device = device
        self._frames = 0
        self._measured = 0
        self._seconds = 0.0
        self._stages: Counter[str] = Counter()
        self._latencies = np.zeros(_BUCKETS, np.int64)

    def frames(self, frames: Frames) -> None:
        """Results arrived: those with detections count."""
        self._frames += len(frames) - len(frames.failures)

    def interval(self, stats: Stats) -> DeviceStats:
        """A worker's report: what its owner is told about it."""
        count = len(stats.latencies)
        if count:
            self._measured += count
            self._seconds += stats.seconds
            self._stages.update(stats.stages)
            buckets = np.log(np.maximum(stats.latencies, _FLOOR) / _FLOOR) / math.log(_RATIO)
            self._latencies += np.bincount(np.minimum(buckets.astype(np.int64), _BUCKETS - 1), minlength=_BUCKETS)
        p50, p99 = (float(np.percentile(stats.latencies, share)) if count else None for share in (50, 99))
        stages = {stage: total / count for stage, total in stats.stages.items()} if count else {}
        return DeviceStats(self._device, self._frames, count / max(stats.seconds, 1e-9), p50, p99, stages)

    def final(self) -> DeviceStats:
        """The last word on this device: latencies within 1 %."""
        p50, p99 = (_percentile(self._latencies, share) for share in (0.5, 0.99))
        stages = {stage: total / self._measured for stage, total in self._stages.items()}
        rate = self._measured / self._seconds if self._seconds else 0.0
        return DeviceStats(self._device, self._frames, rate, p50, p99, stages, final=True)


def _percentile(buckets: NDArray[np.int64], share: float) -> float | None:
    sums = np.cumsum(buckets)
    if not sums[-1]:
        return None
    return float(_FLOOR * _RATIO ** (np.searchsorted(sums, share * sums[-1]) + 0.5))
