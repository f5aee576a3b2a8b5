"""In a worker: builds an engine, reports progress, and detects a build that hangs."""

import time
from collections.abc import Callable

from framefleet.engine.backends.base import Backend
from framefleet.engine.model.network import Network
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import EngineBuilding
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.settings import EngineSettings

BUILD_TIMES = 5
"""Factor by which a build's time without progress may exceed that of a frame or batch: libraries do not report every step."""

MIN_BUILD_SECONDS = 60.0
"""Least limit for a build without progress, since libraries have to be loaded first."""

PROGRESS_SECONDS = 0.1


def build(
    backend: Backend,
    load: Callable[[], Network],
    settings: EngineSettings,
    report: Callable[[EngineBuilding], None],
    watchdog: Watchdog,
    *,
    watched: bool,
) -> None:
    """Activate ``backend`` for the network that ``load`` returns.

    report: called with every new phase, and at most every ``PROGRESS_SECONDS`` within a phase. watched: whether the process ends if there
    is no progress for too long. Processes of members have their own watchdogs.
    """
    reported: Notice | None = None
    due = 0.0
    device = backend.device  # ``progress`` must not refer to the backend, which may keep it: the cycle would keep the engine

    def progress(phase: Notice, fraction: float) -> None:
        nonlocal reported, due
        watchdog.reset()
        now = time.monotonic()
        if phase != reported or now >= due:
            reported, due = phase, now + PROGRESS_SECONDS
            report(EngineBuilding(device, phase, fraction))

    clock = watchdog.add()
    if watched:
        clock.start(Notice("pool.building", device=str(backend.device)), max(MIN_BUILD_SECONDS, BUILD_TIMES * watchdog.seconds))
    try:
        backend.activate(load(), settings, progress)
    finally:
        watchdog.remove(clock)
