"""How often a child process that ended is started again."""

from __future__ import annotations

from collections import deque

RESTARTS = 5
RESTART_SECONDS = 60.0


class RestartBudget:
    """Allows a number of restarts within any period of so many seconds."""

    def __init__(self, restarts: int = RESTARTS, seconds: float = RESTART_SECONDS) -> None:
        self.restarts = restarts
        self.seconds = seconds
        self._times: deque[float] = deque()

    def spend(self, now: float) -> bool:
        """Whether a restart at this time (seconds, monotonic) is within the budget. If it is, it counts."""
        while self._times and now - self._times[0] > self.seconds:
            self._times.popleft()
        if len(self._times) == self.restarts:
            return False
        self._times.append(now)
        return True
