"""Telemetry of whatever devices are looked at: one monitor, which is started anew when they change."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engine.devices.description import DeviceDescription
from engine.devices.telemetry.monitor import TelemetryMonitor
from engine.devices.telemetry.snapshot import Telemetry
from engine.types import DeviceId

AGAIN_SECONDS = 10.0
"""Time after which a monitor whose process has ended is started again."""


class DeviceTelemetry:
    """Belongs to the window's thread. Nothing runs while no device is watched. start: makes monitors; clock: monotonic seconds."""

    def __init__(
        self,
        start: Callable[[Sequence[DeviceDescription]], TelemetryMonitor] = TelemetryMonitor,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start, self._clock = start, clock
        self._started = 0.0
        self._watched: tuple[DeviceDescription, ...] = ()
        self._monitor: TelemetryMonitor | None = None

    @property
    def watched(self) -> tuple[DeviceDescription, ...]:
        """The devices that are watched."""
        return self._watched

    @property
    def problem(self) -> str | None:
        """Why nothing, or little, is known; None if nothing is wrong."""
        return self._monitor.problem if self._monitor is not None else None

    def watch(self, devices: Sequence[DeviceDescription]) -> None:
        """Watch these and no others."""
        if tuple(devices) == self._watched:
            return
        self._watched = tuple(devices)
        self._begin()

    def revive(self) -> None:
        """Start a monitor again that has ended unasked, now and then. To be called while devices are watched."""
        ended = self._monitor is not None and self._monitor.problem is not None and not self._monitor.latest
        if ended and self._clock() - self._started >= AGAIN_SECONDS:
            self._begin()

    def _begin(self) -> None:
        if self._monitor is not None:
            self._monitor.close()
        self._monitor = self._start(self._watched) if self._watched else None
        self._started = self._clock()

    def of(self, device: DeviceId) -> Telemetry | None:
        """The newest snapshot; None before the first. If something is wrong, one in which nothing is known."""
        if self._monitor is None or all(device != description.id for description in self._watched):
            return None
        return self._monitor.latest.get(device) or (Telemetry(device) if self._monitor.problem else None)
