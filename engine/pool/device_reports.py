"""In the pool: what its owner is told of the devices, where a worker's device may be a group of several."""

from __future__ import annotations

from engine.pool.device_statistics import DeviceStatistics
from engine.pool.events import DeviceFailed, DeviceLeft, DeviceReady, DeviceStarting, EngineBuilding, Event
from engine.pool.protocol import Building, Failed, Frames, Member, Ready, Starting, Stats
from engine.pool.scheduling.strategies.base import Strategy
from engine.types import DeviceId


class DeviceReports:
    """Events from what the workers say of their devices. strategy: the one that they work for now."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self._statistics: dict[DeviceId, DeviceStatistics] = {}
        self._working: set[DeviceId] = set()  # those started that have not left
        self._out: set[DeviceId] = set()  # members of a group that will not come back

    def starting(self, device: DeviceId, attempt: int) -> list[Event]:
        """A worker is started."""
        for shown in self._shown(device):
            self._statistics.setdefault(shown, DeviceStatistics(shown))
            self._working.add(shown)
        return [] if self.strategy.grouped else [DeviceStarting(device, attempt)]  # a group tells of each member

    def said(self, device: DeviceId, message: Building | Ready | Stats | Member) -> list[Event]:
        """A worker tells about its device."""
        match message:
            case Building():
                return [EngineBuilding(device, message.phase, message.fraction)]
            case Ready():
                return [] if self.strategy.grouped else [DeviceReady(message.engine)]
            case Stats():
                return [self._statistics[device].interval(message)]
            case Member():
                return [self._said_of(message)]

    def frames(self, device: DeviceId, frames: Frames) -> None:
        """Results have arrived."""
        for shown in () if self.strategy.splits_frames else self._shown(device):
            self._statistics[shown].frames(frames)

    def failed(self, device: DeviceId, why: str, restarting: bool) -> list[Event]:
        """A worker has ended unasked. Members that have been out for long are no news."""
        return [DeviceFailed(shown, why, restarting) for shown in self._shown(device) if restarting or shown not in self._out]

    def left(self, device: DeviceId) -> list[Event]:
        """A device that was removed has ended."""
        final: list[Event] = [self._statistics[device].final()] if device in self._working else []
        self._working.discard(device)
        return [*final, DeviceLeft(device)]

    def finals(self) -> list[Event]:
        """The last statistics of those that have not left."""
        return [statistics.final() for device, statistics in self._statistics.items() if device in self._working]

    def _said_of(self, about: Member) -> Event:
        device = about.device
        match about.message:
            case Starting(attempt):
                return DeviceStarting(device, attempt)
            case Building(phase, fraction):
                return EngineBuilding(device, phase, fraction)
            case Ready(engine):
                return DeviceReady(engine)
            case Failed(why, restarting):
                if not restarting:
                    self._out.add(device)
                return DeviceFailed(device, why, restarting)
            case Stats() as stats:
                return self._statistics[device].interval(stats)

    def _shown(self, device: DeviceId) -> tuple[DeviceId, ...]:
        """Whom the owner is told of where a worker's device is meant: the members of a group, unless they share one engine."""
        return device.members if self.strategy.grouped else (device,)
