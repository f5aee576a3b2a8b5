"""Limits how often a child process is restarted."""

from collections import deque

RESTARTS = 5
RESTART_SECONDS = 60.0


class RestartBudget:
    """Allows a limited number of restarts within any period of ``seconds``.

    The time that passes until a hang is noticed does not count: else a process that always hangs would be restarted for ever.
    """

    def __init__(self, restarts: int = RESTARTS, seconds: float = RESTART_SECONDS) -> None:
        self.restarts = restarts
        self.seconds = seconds
        self._times: deque[float] = deque()

    def spend(self, now: float, waited: float = 0.0) -> bool:
        """Whether a restart is within the budget; if so, counts it. now: monotonic time. waited: for a hang. Both in seconds."""
        self._times = deque(time + waited for time in self._times)
        while self._times and now - self._times[0] > self.seconds:
            self._times.popleft()
        if len(self._times) == self.restarts:
            return False
        self._times.append(now)
        return True
