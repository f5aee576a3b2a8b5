"""Telemetry of the devices that the window shows: one monitor, restarted when the devices change."""

import time
from collections.abc import Callable, Sequence

from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.telemetry.monitor import TelemetryMonitor
from framefleet.engine.devices.telemetry.snapshot import Telemetry
from framefleet.engine.types import DeviceId

RESTART_SECONDS = 10.0
"""The shortest time between two starts of a monitor whose process has ended."""


class DeviceTelemetry:
    """Takes telemetry of devices for the window, in its thread. A process runs only while a device is watched.

    start: starts a monitor of these devices. clock: returns the monotonic time, seconds.
    """

    def __init__(
        self,
        start: Callable[[Sequence[DeviceDescription]], TelemetryMonitor] = TelemetryMonitor,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start, self._clock = start, clock
        self._started = 0.0
        self._monitor: TelemetryMonitor | None = None
        self.watched: tuple[DeviceDescription, ...] = ()

    @property
    def problem(self) -> str | None:
        """Why telemetry is missing; None without a problem."""
        return self._monitor.problem if self._monitor is not None else None

    def watch(self, devices: Sequence[DeviceDescription]) -> None:
        """Watch these devices and no others."""
        if tuple(devices) != self.watched:
            self.watched = tuple(devices)
            self._restart()

    def revive(self) -> None:
        """Start the monitor again if its process has ended unexpectedly, at most every ``RESTART_SECONDS``."""
        ended = self._monitor is not None and self._monitor.problem is not None and not self._monitor.latest
        if ended and self._clock() - self._started >= RESTART_SECONDS:
            self._restart()

    def _restart(self) -> None:
        if self._monitor is not None:
            self._monitor.close()
        self._monitor = self._start(self.watched) if self.watched else None
        self._started = self._clock()

    def of(self, device: DeviceId) -> Telemetry | None:
        """The newest snapshot of a device, None before the first. With a problem, it is a snapshot without values."""
        if self._monitor is None or all(device != description.id for description in self.watched):
            return None
        return self._monitor.latest.get(device) or (Telemetry(device) if self._monitor.problem else None)
