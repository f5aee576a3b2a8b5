"""The CPU works while the engines of the chosen devices are built for the first time, which can take minutes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from engine.errors import UsageError
from engine.pool.events import DeviceReady, EngineBuilding, Event
from engine.pool.pool import EnginePool
from engine.types import DeviceId

CPU = DeviceId("cpu", "0")

PATIENCE_SECONDS = 2.0
"""Engines that are built sooner need nobody to stand in for them: the CPU's own takes about that long."""


class CpuFallback:
    """Lets the CPU join a run when building takes long, and leave it when the first engine is ready.

    It stays if no engine gets ready: the run goes on, and the failures and the device in use are seen. devices: those chosen; with
    a CPU among them there is nothing to do. A strategy whose devices cannot change waits instead.
    """

    def __init__(self, pool: EnginePool, devices: Sequence[DeviceId], clock: Callable[[], float] = time.monotonic) -> None:
        self._pool = pool
        self._clock = clock
        self._needed = all(device.kind != "cpu" for device in devices)
        self._since: float | None = None
        self._joined = False

    def see(self, event: Event) -> None:
        """Every event of the pool, by the thread that takes them."""
        match event:
            case EngineBuilding() if self._needed:
                self._since = self._clock() if self._since is None else self._since
                if self._clock() - self._since >= PATIENCE_SECONDS:
                    self._needed = False
                    with suppress(UsageError, RuntimeError):
                        self._pool.add_device(CPU)
                        self._joined = True
            case DeviceReady(engine) if engine.device != CPU:
                self._needed = False
                if self._joined:
                    self._joined = False
                    with suppress(UsageError, RuntimeError):  # the user, or the end of the run, was quicker
                        self._pool.remove_device(CPU)
