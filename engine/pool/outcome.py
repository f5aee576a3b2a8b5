"""How a worker's process ended, and whether it may be tried again: plain data, no processes."""

from __future__ import annotations

import signal
from collections import deque
from dataclasses import dataclass

RESTARTS = 5
RESTART_SECONDS = 60.0


@dataclass(frozen=True)
class WorkerOutcome:
    """A process that is over. exit_code: its status, negative for a signal's number. message, retry: its own exit message, if any."""

    exit_code: int | None
    message: str | None = None
    retry: bool = True

    @property
    def crashed(self) -> bool:
        """Whether it ended without saying why."""
        return self.message is None

    @property
    def words(self) -> str:
        """Why it ended, for the user."""
        if self.message is not None:
            return self.message
        if self.exit_code is None:
            return "the worker did not end"
        if self.exit_code >= 0:
            return f"the worker ended unexpectedly with status {self.exit_code}"
        try:
            name = signal.Signals(-self.exit_code).name
        except ValueError:
            name = f"signal {-self.exit_code}"
        if name == "SIGKILL":
            return "the worker was killed (SIGKILL), by somebody or by the system for want of memory"
        return f"the worker crashed ({name})" if name != "SIGTERM" else "the worker was terminated (SIGTERM)"


class RestartBudget:
    """Allows ``RESTARTS`` restarts within any ``RESTART_SECONDS``."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def spend(self, now: float) -> bool:
        """Whether a restart at this time (seconds, monotonic) is within the budget; if so it counts."""
        while self._times and now - self._times[0] > RESTART_SECONDS:
            self._times.popleft()
        if len(self._times) == RESTARTS:
            return False
        self._times.append(now)
        return True
