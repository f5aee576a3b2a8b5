"""What a way of sharing the work decides: which device does which segment next. Pure bookkeeping, no processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from engine.media.types import Segment
from engine.types import DeviceId


@dataclass(frozen=True)
class Work:
    """A segment, or what is left of it, for one device.

    skip: frames of it that are done already. limit: the most frames to do now, None = to its end. crash_count: how often a
    worker died over it without getting further.
    """

    source: int
    segment: Segment
    skip: int = 0
    limit: int | None = None
    crash_count: int = 0

    @property
    def suspect(self) -> bool:
        """Whether it is to be done alone and carefully, since it may be what a worker died of."""
        return self.crash_count > 0


Piece: TypeAlias = Callable[[int], int | None]
"""How many of so many frames of a segment a device should do now; None = all, 0 = none."""


def whole(_: int) -> None:
    """The ``Piece`` of a device that need not mind others."""


class Strategy(ABC):
    """Hands out work on demand. Every ``next`` is answered by exactly one ``done`` or ``give_back``, unless its source is closed."""

    name: ClassVar[str]
    elastic: ClassVar[bool] = True
    """Whether devices may join and leave while it is at work."""
    dealt: ClassVar[bool] = False
    """Whether a worker's device is a group whose members have an engine each."""
    together: ClassVar[bool] = False
    """Whether those do each frame together."""
    lends: ClassVar[bool] = False
    """Whether a device may go on with what another one has begun."""

    @classmethod
    def workers(cls, devices: Sequence[DeviceId]) -> Sequence[DeviceId]:
        """The devices of the workers that it wants: these, or groups of them."""
        return devices

    @abstractmethod
    def open(self, source: int, segments: Sequence[Segment]) -> None:
        """A source was probed. Sources are opened in the order in which they should be done."""

    @abstractmethod
    def next(self, device: DeviceId, decode_threads: int, piece: Piece) -> Work | None:
        """Work for a device that asks, None if it has to wait.

        decode_threads: segments that it works on at once. piece: for a strategy that lends.
        """

    @abstractmethod
    def give_back(self, work: Work) -> None:
        """Not done, or not to the end: somebody has to go on after ``work.skip`` frames."""

    @abstractmethod
    def done(self, work: Work) -> None:
        """The segment is done to its end."""

    @abstractmethod
    def close(self, source: int) -> None:
        """The source is finished or cancelled; its work is forgotten."""

    @abstractmethod
    def lose(self, device: DeviceId) -> None:
        """The device will not ask again. What it had has been given back."""
