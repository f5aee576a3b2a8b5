"""Turns workers' messages about devices into events. A worker's device may be a group; events name its members."""

from dataclasses import replace

from engine.pool.device_statistics import DeviceStatistics
from engine.pool.events import DeviceFailed, DeviceLeft, DeviceReady, DeviceStarting, Event
from engine.pool.protocol import DeviceEvent, Stats
from engine.pool.results import Frames
from engine.pool.scheduling.strategies.base import Strategy
from engine.settings import Precision
from engine.types import AS_ASKED, DeviceId, EngineInfo


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

    def failed(self, device: DeviceId, why: str, restarting: bool) -> list[Event]:
        """Events for a worker that ended unexpectedly. Members that were given up before are not reported again."""
        return [DeviceFailed(shown, why, restarting) for shown in self._shown(device) if restarting or shown not in self._given_up]

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
