"""Which strategy a run has, and why; with ``auto``, what has to be known before it may change, once. Pure bookkeeping, no processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

from engine.backends.base import EngineInfo
from engine.errors import UsageError
from engine.media.types import SourceInfo
from engine.pool.events import StrategyChosen
from engine.pool.protocol import Survey, Surveyed
from engine.pool.scheduling.strategies import choose, may_deal
from engine.pool.scheduling.strategies.base import Strategy
from engine.pool.scheduling.strategies.estimate import Decoding, estimate, explain
from engine.pool.scheduling.strategies.frames import Frames
from engine.settings import Parallel, RunSettings
from engine.settings.checks import decode_problem
from engine.types import DeviceId


class Choice:
    """The choice for a run that begins with these devices.

    settled: whether the strategy stays. pending: whether no work may be given out until it does, since that might be in vain.

    Raises:
        UsageError: the devices do not suit the strategy, or the decoder, that the settings ask for.
    """

    def __init__(self, settings: RunSettings, devices: Sequence[DeviceId], clock: Callable[[], float] = time.monotonic) -> None:
        if problem := decode_problem(settings.engine.decode, devices):
            raise UsageError(problem)
        self._settings = settings
        self.strategy: Strategy
        self.strategy, self.reason = choose(settings, devices)
        self.settled = settings.parallel is not Parallel.AUTO
        self.pending = False
        self._explained = tuple(self.strategy.workers(devices))
        self._engines: dict[DeviceId, EngineInfo] = {}
        self._clock = clock
        self._started: dict[DeviceId, float] = {}
        self._starting = math.inf
        self._surveyor: DeviceId | None = None
        self._answer: Surveyed | None = None

    @property
    def current(self) -> StrategyChosen:
        """What the pool's owner is told."""
        return StrategyChosen(self.strategy.name, self.reason)

    def started(self, device: DeviceId) -> None:
        """A device's worker is being started."""
        self._started[device] = self._clock()

    def ready(self, device: DeviceId, engine: EngineInfo) -> None:
        """A device's engine is built."""
        self._engines[device] = engine
        if device in self._started:
            self._starting = min(self._clock() - self._started.pop(device), self._starting)

    def lost(self, device: DeviceId) -> None:
        """A device's worker has ended. If it was asked, nobody else is: what ended it may do so again."""
        self._engines.pop(device, None)
        if device == self._surveyor:
            self.settle()

    def surveyed(self, device: DeviceId, answer: Surveyed) -> None:
        """What the device that was asked has measured."""
        if device == self._surveyor:
            self._answer = answer

    def settle(self) -> None:
        """Let the strategy stay as it is."""
        self.settled, self.pending = True, False

    def survey(self, known: Mapping[int, SourceInfo] | None, devices: Sequence[DeviceId]) -> tuple[DeviceId, Survey] | None:
        """Whom to ask for what, once. To be called before work is given out.

        known: the sources that are not finished, None as long as one of them is not probed. devices: those that take part.
        """
        if self.settled or self._surveyor is not None:
            return None
        self.pending = bool(known) and may_deal(self._settings, devices, list((known or {}).values()))
        first = next((device for device in _counting(devices) if device in self._engines), None)
        if not known or not self.pending or first is None:
            return None
        self._surveyor = first
        return first, Survey(*next(iter(known.items())))

    def conclude(self, known: Mapping[int, SourceInfo] | None, devices: Sequence[DeviceId]) -> StrategyChosen | None:
        """What follows from the answer, when it is there. If ``strategy`` is another one then, the workers have to start anew."""
        if self.settled or self._answer is None or self._surveyor is None:
            return None
        self.settle()
        answer, sources = self._answer, list((known or {}).values())
        if answer.source not in (known or {}) or not may_deal(self._settings, devices, sources):
            return None  # others have come, or it is no longer wanted
        if not (answer.own and answer.shared):
            self.reason = explain(None, sources, len(devices))
            return self.current
        others = [self._engines.get(device) for device in _counting(devices) if device != self._surveyor]
        decoding = Decoding(answer.own, answer.shared, answer.on_device)
        expected = estimate(sources, self._engines[self._surveyor], others, decoding, self._starting)
        self.reason = explain(expected, sources, len(devices))
        if expected.pays:
            self.strategy = Frames(Frames.workers(devices))
        return self.current

    def of_devices(self, devices: Sequence[DeviceId]) -> StrategyChosen | None:
        """Why the work is shared as it is, if that has changed with the devices that take part."""
        if not devices or not self.strategy.elastic or tuple(devices) == self._explained:
            return None
        self._explained = tuple(devices)
        strategy, reason = choose(self._settings, devices, self.settled)
        if strategy.name != self.strategy.name or reason == self.reason:
            return None
        self.reason = reason
        return self.current


def _counting(devices: Sequence[DeviceId]) -> Sequence[DeviceId]:
    """Those that have processors of their own: the others would take them from those who decode, with either strategy."""
    return [device for device in devices if device.kind != "cpu"] or devices
