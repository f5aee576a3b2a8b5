"""Turns workers' messages about devices into events, with each device's statistics over the whole run.

A worker's device may be a group; events name its members.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed, DeviceLeft, DeviceReady, DeviceStarting, DeviceStats, Event
from framefleet.engine.pool.protocol import DeviceEvent, Stats
from framefleet.engine.pool.results import Frames
from framefleet.engine.pool.scheduling.strategies.base import Strategy
from framefleet.engine.settings import Precision
from framefleet.engine.types import AS_ASKED, DeviceId, EngineInfo, without_device

_FLOOR = 1e-2
_RATIO = 1.02
_BUCKETS = 1000
"""Latencies of a run are counted in buckets 2 % wide, from 0.01 ms, so that memory does not grow with the video."""


class DeviceStatistics:
    """Frames, throughput and latencies of one device since the start of the run."""

    def __init__(self, device: DeviceId) -> None:
        self._device = device
        self._frames = 0.0
        self._measured = 0
        self._worth = 0.0
        self._seconds = 0.0
        self._stages: Counter[str] = Counter()
        self._busy: Counter[str] = Counter()
        self._feeding: Counter[str] = Counter()
        self._latencies = np.zeros(_BUCKETS, np.int64)

    def frames(self, frames: Frames) -> None:
        """Count the frames with detections from this device."""
        if frames.devices:
            self._frames += sum(device == self._device and at not in frames.results.failures for at, device in frames.devices.items())
        else:
            self._frames += len(frames) - len(frames.results.failures)

    def interval(self, stats: Stats) -> DeviceStats:
        """The event for a worker's report."""
        count = len(stats.latencies)
        worth = count if stats.worth is None else stats.worth
        if count:
            self._frames += stats.worth or 0.0
            self._worth += worth
            self._measured += count
            self._seconds += stats.seconds
            self._stages.update(stats.stages)
            self._busy.update(stats.busy)
            self._feeding.update(stats.feeding)
            buckets = np.log(np.maximum(stats.latencies, _FLOOR) / _FLOOR) / math.log(_RATIO)
            self._latencies += np.bincount(np.minimum(buckets.astype(np.int64), _BUCKETS - 1), minlength=_BUCKETS)
        p50, p99 = (float(np.percentile(stats.latencies, share)) if count else None for share in (50, 99))
        return self._event(count, worth / max(stats.seconds, 1e-9), p50, p99, stats.stages, stats.busy, stats.feeding)

    def final(self) -> DeviceStats:
        """The event with the statistics of the whole run. Latencies are exact within 1 %."""
        p50, p99 = (_percentile(self._latencies, share) for share in (0.5, 0.99))
        rate = self._worth / self._seconds if self._seconds else 0.0
        return self._event(self._measured, rate, p50, p99, self._stages, self._busy, self._feeding, final=True)

    def _event(
        self, count: int, rate: float, p50: float | None, p99: float | None, *sums: Mapping[str, float], final: bool = False
    ) -> DeviceStats:
        """The event. count: number of frames measured. sums: over them, ``stages``, ``busy`` and ``feeding`` as in ``Stats``."""
        stages, busy, feeding = ({stage: total / count for stage, total in each.items()} if count else {} for each in sums)
        bottleneck = max(feeding, key=lambda name: feeding[name]) if any(feeding.values()) else None
        if bottleneck == "infer" and busy:  # the engine does not wait for the device's decoder
            bottleneck = max(busy, key=lambda name: busy[name] * (name != "decode"))
        return DeviceStats(self._device, round(self._frames), rate, p50, p99, stages, final, busy, bottleneck)


def _percentile(buckets: NDArray[np.int64], share: float) -> float | None:
    sums = np.cumsum(buckets)
    if not sums[-1]:
        return None
    return float(_FLOOR * _RATIO ** (np.searchsorted(sums, share * sums[-1]) + 0.5))


def _beside(device: DeviceId, why: Notice) -> Notice:
    """Why a device failed, without its name, which is shown beside it."""
    return without_device(why) if why.fields.get("device") == str(device) else why


class DeviceReports:
    """Creates the device events of one run."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._statistics: dict[DeviceId, DeviceStatistics] = {}
        self._working: set[DeviceId] = set()  # devices that were started and have not left
        self._given_up: set[DeviceId] = set()  # members of a group that are not restarted
        self._first: dict[DeviceId, EngineInfo] = {}  # the engine of each device's first worker

    def precision(self, device: DeviceId) -> Precision | None:
        """The precision that a worker's engines had before it was replaced. None: it had no engine, or its members differ."""
        before = {self._first[shown].precision for shown in self._shown(device) if shown in self._first}
        return Precision(before.pop()) if len(before) == 1 else None

    def starting(self, device: DeviceId, attempt: int) -> list[Event]:
        """Events for a worker that is started."""
        for shown in self._shown(device):
            self._statistics.setdefault(shown, DeviceStatistics(shown))
            self._working.add(shown)
        return [] if self._strategy.grouped else [DeviceStarting(device, attempt)]  # a group reports each member

    def reported(self, device: DeviceId, message: DeviceEvent) -> list[Event]:
        """Events for a worker's message about its device, or about a member of its group."""
        match message:
            case Stats():
                return [self._statistics[message.device].interval(message)]
            case DeviceReady(engine):
                if self._strategy.grouped and engine.device == device:  # each member reports its own engine
                    return []
                first = self._first.setdefault(engine.device, engine)
                return [DeviceReady(replace(engine, reason=first.reason)) if engine.reason == AS_ASKED else message]
            case DeviceFailed(member, _, restarting) if not restarting:
                self._given_up.add(member)
        return [message]

    def frames(self, device: DeviceId, frames: Frames) -> None:
        """Count results that have arrived."""
        for shown in () if self._strategy.splits_frames else self._shown(device):
            self._statistics[shown].frames(frames)

    def failed(self, device: DeviceId, why: Notice, restarting: bool) -> list[Event]:
        """Events for a worker that ended unexpectedly. Members that were given up before are not reported again."""
        shown = [each for each in self._shown(device) if restarting or each not in self._given_up]
        return [DeviceFailed(each, _beside(each, why), restarting) for each in shown]

    def left(self, device: DeviceId) -> list[Event]:
        """Events for a removed device whose worker has ended."""
        final: list[Event] = [self._statistics[device].final()] if device in self._working else []
        self._working.discard(device)
        return [*final, DeviceLeft(device)]

    def finals(self) -> list[Event]:
        """Final statistics of the devices that have not left."""
        return [statistics.final() for device, statistics in self._statistics.items() if device in self._working]

    def _shown(self, device: DeviceId) -> tuple[DeviceId, ...]:
        """The devices that events name for a worker's device: the members of a group, unless they share one engine."""
        return device.members if self._strategy.grouped else (device,)
