"""Telemetry of whatever devices are looked at: one monitor, which is started anew when they change."""

from __future__ import annotations

from collections.abc import Sequence

from engine.devices.description import DeviceDescription
from engine.devices.monitor import TelemetryMonitor
from engine.devices.telemetry import Telemetry
from engine.types import DeviceId


class DeviceTelemetry:
    """Belongs to the window's thread. Nothing runs while no device is watched."""

    def __init__(self) -> None:
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
        if self._monitor is not None:
            self._monitor.close()
        self._monitor = TelemetryMonitor(self._watched) if self._watched else None

    def of(self, device: DeviceId) -> Telemetry | None:
        """The newest snapshot; None before the first. If something is wrong, one in which nothing is known."""
        if self._monitor is None or all(device != description.id for description in self._watched):
            return None
        return self._monitor.latest.get(device) or (Telemetry(device) if self._monitor.problem else None)
