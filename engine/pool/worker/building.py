"""In a worker: builds an engine, reports how far it is, and notices a build that hangs."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.backends.base import Backend
from engine.model.network import Network
from engine.pool.protocol import Building
from engine.processes.watchdog import Watchdog
from engine.settings import EngineSettings

BUILD_TIMES = 5
"""A build may be silent this many times as long as one frame or batch may take: libraries do not report every step."""

LEAST_BUILD_SECONDS = 60.0
"""But at least so long: libraries have to be loaded first."""

PROGRESS_SECONDS = 0.1


def build(
    backend: Backend,
    load: Callable[[], Network],
    settings: EngineSettings,
    tell: Callable[[Building], None],
    watchdog: Watchdog,
    *,
    watched: bool,
) -> None:
    """Activate ``backend`` for the network that ``load`` gives.

    tell: gets every new phase, and of each phase no more than a person can see. watched: whether the process ends if there is no progress
    for too long; not where other processes do the work, which watch themselves.
    """
    told, due = "", 0.0

    def progress(phase: str, fraction: float) -> None:
        nonlocal told, due
        watchdog.reset()
        now = time.monotonic()
        if phase != told or now >= due:
            told, due = phase, now + PROGRESS_SECONDS
            tell(Building(phase, fraction))

    clock = watchdog.add()
    if watched:
        clock.start(f"a step in building the engine for {backend.device}", max(LEAST_BUILD_SECONDS, BUILD_TIMES * watchdog.seconds))
    try:
        backend.activate(load(), settings, progress)
    finally:
        watchdog.remove(clock)
