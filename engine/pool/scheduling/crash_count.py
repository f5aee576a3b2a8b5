"""Which work is to blame when workers crash, and when the device is."""

from dataclasses import dataclass, replace
from typing import Self

from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId, InferenceFailure

DIED_TWICE = InferenceFailure(Notice("pool.died_twice"))


@dataclass(frozen=True)
class CrashCount:
    """Counts the crashes of workers during one piece of work. Progress starts a new count.

    The first crash makes all work of the worker suspect. Suspect work runs alone, so that the second crash shows the cause: the work, if
    another device crashed, too. After two crashes of one device, this device is ``refused``, since the device itself may be the cause.
    device: of the first crash.
    """

    crashes: int = 0
    device: DeviceId | None = None
    refused: DeviceId | None = None

    @property
    def suspect(self) -> bool:
        """Whether the work may have crashed a worker."""
        return self.crashes > 0

    @property
    def proven(self) -> bool:
        """Whether a worker crashed while it did this work alone."""
        return self.crashes > 1

    def after_crash(self, device: DeviceId, others: bool) -> Self:
        """The count after one more crash. others: whether other devices can do the work."""
        if others and self.device == device:
            return replace(self, refused=device)
        return replace(self, crashes=self.crashes + 1, device=device)
