"""How a child process ended, as data: whether it crashed, why it ended, and whether another try may succeed."""

import signal
from dataclasses import dataclass


@dataclass(frozen=True)
class Failed:
    """A child's exit message: why it ends. retry: whether another try may succeed. waited: seconds until a hang was noticed, else 0."""

    message: str
    retry: bool
    waited: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """A child process that has ended.

    exit_code: its status, a signal's number as a negative value, or None if it did not end. exit_message: what it sent before, if
    anything. name: the process in words, as in "the worker".
    """

    exit_code: int | None
    exit_message: Failed | None = None
    name: str = "the worker"

    @property
    def crashed(self) -> bool:
        """Whether the process ended without an exit message."""
        return self.exit_message is None

    @property
    def retry(self) -> bool:
        """Whether another try may succeed."""
        return self.exit_message is None or self.exit_message.retry

    @property
    def waited(self) -> float:
        """Seconds until a hang was noticed; 0 if the process did not hang."""
        return 0.0 if self.exit_message is None else self.exit_message.waited

    @property
    def reason(self) -> str:
        """Why the process ended, for the user."""
        if self.exit_message is not None:
            return self.exit_message.message
        if self.exit_code is None:
            return f"{self.name} did not end"
        if self.exit_code >= 0:
            return f"{self.name} ended unexpectedly with status {self.exit_code}"
        try:
            signal_name = signal.Signals(-self.exit_code).name
        except ValueError:
            signal_name = f"signal {-self.exit_code}"
        if signal_name == "SIGKILL":
            return f"{self.name} was killed (SIGKILL), by a user or by the system because memory ran out"
        return f"{self.name} {'was terminated' if signal_name == 'SIGTERM' else 'crashed'} ({signal_name})"
