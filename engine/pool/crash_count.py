"""Which work is to blame when workers crash."""

from __future__ import annotations

from dataclasses import dataclass

from engine.types import InferenceFailure

DIED_TWICE = InferenceFailure("the worker died on this frame twice")


@dataclass(frozen=True)
class CrashCount:
    """Counts the crashes of workers during one piece of work. Progress starts a new count.

    The first crash makes all work of the worker suspect. Suspect work runs alone, so that the second crash shows the cause.
    """

    crashes: int = 0

    @property
    def suspect(self) -> bool:
        """Whether the work may have crashed a worker."""
        return self.crashes > 0

    @property
    def proven(self) -> bool:
        """Whether a worker crashed while it did this work alone."""
        return self.crashes > 1

    def after_crash(self) -> CrashCount:
        """The count after one more crash."""
        return CrashCount(self.crashes + 1)
