"""Folds a session's events in the session's thread into a snapshot, which the window's thread takes.

The window gets a few small values a few times a second, for any number of frames.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock

from app.window.devices.status import DeviceEvent, DeviceStatus, Phase, fold
from app.window.queue.item import RateMeter
from app.window.timeline.class_counts import Tally, length_of
from engine.media.types import SourceInfo
from engine.pool.events import DeviceFailed, DeviceReady, Event, FramesDone, SourceFinished, SourceOpened, StrategyChosen
from engine.types import DeviceId


@dataclass(frozen=True)
class SourceProgress:
    """The progress of one source. frames: finished. failed: finished without detections. head: pts of the last frame, seconds.

    rate: frames/s over the last seconds.
    """

    info: SourceInfo | None = None
    frames: int = 0
    failed: int = 0
    head: float | None = None
    rate: float | None = None
    finished: SourceFinished | None = None


@dataclass(frozen=True)
class Snapshot:
    """A session at one moment. problems: device failures since the last snapshot. ended: there are no more events. error: why."""

    sources: Mapping[int, SourceProgress]
    devices: tuple[DeviceStatus, ...]
    strategy: StrategyChosen | None
    problems: tuple[DeviceFailed, ...]
    ended: bool
    error: str | None


class Feed:
    """Folds a session's events into small values. One thread writes it, another reads it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._sources: dict[int, SourceProgress] = {}
        self._changed: set[int] = set()
        self._meters: dict[int, RateMeter] = {}
        self._tallies: dict[int, Tally] = {}
        self._devices: dict[DeviceId, DeviceStatus] = {}
        self._strategy: StrategyChosen | None = None
        self._problems: list[DeviceFailed] = []
        self._ended = False
        self._error: str | None = None
        self._announced = False

    def apply(self, event: Event) -> bool:
        """Fold one event; return True if the reader must be woken to take a snapshot."""
        now = time.monotonic()
        with self._lock:
            match event:
                case FramesDone():
                    self._frames(event, now)
                case SourceOpened(source, info):
                    self._set(source, replace(self._source(source), info=info))
                case SourceFinished(source):
                    self._set(source, replace(self._source(source), finished=event))
                case StrategyChosen():
                    self._strategy = event
                case _ if isinstance(event, DeviceEvent):
                    self._device(event, now)
            return self._announce()

    def leaving(self, device: DeviceId) -> None:
        """Mark a device that the user took out of the run. It does not wake the reader."""
        with self._lock:
            status = self._devices.get(device)
            if status is not None and status.takes_part:
                self._devices[device] = replace(status, phase=Phase.LEAVING)

    def end(self, error: str | None) -> bool:
        """Mark the end of the session; return True as ``apply`` does."""
        with self._lock:
            self._ended, self._error = True, error
            self._devices = {device: _at_the_end(status) for device, status in self._devices.items()}
            return self._announce()

    def take(self) -> Snapshot:
        """The sources that have changed since the last snapshot, and all devices."""
        with self._lock:
            self._announced = False
            changed, self._changed = self._changed, set()
            problems, self._problems = tuple(self._problems), []
            sources = {number: self._sources[number] for number in changed}
            return Snapshot(sources, tuple(self._devices.values()), self._strategy, problems, self._ended, self._error)

    def tally(self, source: int) -> Tally:
        """The counts of one source, which change as frames arrive."""
        with self._lock:
            return self._tallies.setdefault(source, Tally())

    def _announce(self) -> bool:
        first, self._announced = not self._announced, True
        return first

    def _source(self, number: int) -> SourceProgress:
        return self._sources.get(number, SourceProgress())

    def _set(self, number: int, progress: SourceProgress) -> None:
        self._sources[number] = progress
        self._changed.add(number)

    def _frames(self, event: FramesDone, now: float) -> None:
        before = self._source(event.source)
        tally = self._tallies.setdefault(event.source, Tally())
        failed = tally.add_frames(event.frames, length_of(before.info))
        frames = before.frames + len(event.frames)
        meter = self._meters.setdefault(event.source, RateMeter())
        rate = meter.mark(now, frames)
        head = event.frames[-1].ref.pts if event.frames else before.head
        self._set(event.source, replace(before, frames=frames, failed=before.failed + failed, head=head, rate=rate or before.rate))

    def _device(self, event: DeviceEvent, now: float) -> None:
        device = event.engine.device if isinstance(event, DeviceReady) else event.device
        self._devices[device] = fold(self._devices.get(device, DeviceStatus(device)), event, now)
        if isinstance(event, DeviceFailed):
            self._problems.append(event)


def _at_the_end(status: DeviceStatus) -> DeviceStatus:
    if status.phase in (Phase.FAILED, Phase.LEFT):
        return status
    return replace(status, phase=Phase.LEFT if status.phase is Phase.LEAVING else Phase.IDLE, building=None)
