"""CPU fallback: the CPU works while the engines of the other devices are built for the first time, which can take minutes."""

import time
from collections.abc import Sequence
from contextlib import suppress

from framefleet.engine.errors import UsageError
from framefleet.engine.pool.events import DeviceReady, EngineBuilding, Event
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.types import DeviceId

CPU = DeviceId("cpu", "0")

PATIENCE_SECONDS = 2.0
"""Building the CPU's own engine takes about this long, so the CPU cannot help while faster builds run."""


class CpuFallback:
    """Lets the CPU join a run while engines are being built, and leave it when the first one is ready.

    If no engine becomes ready, the CPU stays and the run continues; events show the failures and the device in use. Does nothing if
    the strategy does not let devices join, or if the run's ``devices`` include a CPU.
    """

    def __init__(self, pool: EnginePool, devices: Sequence[DeviceId]) -> None:
        self._pool = pool
        self._needed = all(device.kind != "cpu" for device in devices)
        self._since: float | None = None
        self._joined = False

    def see(self, event: Event) -> None:
        """Handle an event of the pool, in the thread that iterates over the events."""
        match event:
            case EngineBuilding() if self._needed:
                now = time.monotonic()
                self._since = now if self._since is None else self._since
                if now - self._since >= PATIENCE_SECONDS:
                    self._needed = False
                    with suppress(UsageError, RuntimeError):
                        self._pool.add_device(CPU)
                        self._joined = True
            case DeviceReady(engine) if engine.device != CPU:
                self._needed = False
                if self._joined:
                    self._joined = False
                    with suppress(UsageError, RuntimeError):  # the user has removed it, or the run is over
                        self._pool.remove_device(CPU)
