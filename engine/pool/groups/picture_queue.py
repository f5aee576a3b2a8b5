"""The queue of pictures that the members of a group share: which pictures a member takes next."""

import time
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import islice, takewhile

from framefleet.engine.backends.base import Backend
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.errors import FramefleetError
from framefleet.engine.notices import Notice
from framefleet.engine.pool.groups.shared_batch import SharedBatch
from framefleet.engine.pool.scheduling.crash_count import CrashCount
from framefleet.engine.processes.restart_budget import RestartBudget
from framefleet.engine.types import DeviceId

_SMOOTHING = 0.3


@dataclass(eq=False, slots=True)
class QueuedPicture:
    """A picture for any member. crashes: of members during its inference."""

    image: HostImage
    still: bool
    shared: SharedBatch
    position: int
    crashes: CrashCount = CrashCount()  # noqa: RUF009


@dataclass(eq=False)
class MemberState:
    """One device. backend: None while it has no engine. batches, pictures: numbers under way. seconds: recent time per picture.

    alone: it has a suspect picture and gets no other one. doubtful: why a batch failed, until a test shows whether the engine works.
    lost: why the engine does not work any more. out: why the member has left the group. without_picture: number of its processes in a row
    that something outside ended before a batch was done.
    """

    device: DeviceId
    backend: Backend | None = None
    batches: int = 0
    pictures: int = 0
    seconds: float | None = None
    free_since: float = 0.0
    alone: bool = False
    doubtful: Notice | None = None
    lost: FramefleetError | None = None
    out: Notice | None = None
    attempt: int = 0
    without_picture: int = 0
    budget: RestartBudget = field(default_factory=RestartBudget)


class PictureQueue:
    """Pictures that wait for a member with a free slot. Not thread-safe.

    members: all of the group. spread_evenly: see ``MemberPool``.
    """

    def __init__(self, members: Collection[MemberState], spread_evenly: bool) -> None:
        self._members, self._spread_evenly = members, spread_evenly
        self._waiting: deque[QueuedPicture] = deque()

    @property
    def waiting(self) -> int:
        """Number of pictures that wait for a member."""
        return len(self._waiting)

    def put(self, pictures: Iterable[QueuedPicture]) -> None:
        """Append pictures."""
        self._waiting.extend(pictures)

    def take(self, member: MemberState) -> list[QueuedPicture]:
        """Take the pictures of the member's next batch. Empty: none now."""
        count = self._share(member)
        pictures = [self._waiting.popleft() for _ in range(count)]
        if pictures:
            member.alone = pictures[0].crashes.suspect
            member.batches += 1
            member.pictures += count
        return pictures

    def end(self, member: MemberState, pictures: Collection[QueuedPicture], again: list[QueuedPicture], started: float | None) -> None:
        """Note that a batch has ended. again: pictures to infer again, before all others. started: monotonic time, None = it failed."""
        member.batches -= 1
        member.pictures -= len(pictures)
        member.alone = False
        if started is not None:
            self._time(member, started, len(pictures))
        self._waiting.extendleft(reversed(again))

    def _share(self, member: MemberState) -> int:
        """Number of queued pictures that this member should take now."""
        assert member.backend is not None
        engine = member.backend.info
        if not self._waiting or member.batches == engine.slots or member.alone:
            return 0
        first = self._waiting[0]
        if first.crashes.suspect:
            return int(member.batches == 0)
        alike = takewhile(lambda picture: picture.still == first.still and not picture.crashes.suspect, self._waiting)
        count = sum(1 for _ in islice(alike, engine.batch))
        if count < engine.batch and member.batches:  # the member is busy, and later pictures may fill the batch
            return 0
        return count if not self._spread_evenly or self._pays(member, count) else 0

    def _pays(self, member: MemberState, count: int) -> bool:
        """Whether this member finishes ``count`` pictures before another member could finish the whole queue."""
        if member.seconds is None:
            return True
        own = (member.pictures + count) * member.seconds
        others = [
            (other.pictures + len(self._waiting)) * other.seconds
            for other in self._members
            if other is not member and other.backend is not None and other.seconds is not None
        ]
        return own <= min(others, default=own)

    def _time(self, member: MemberState, started: float, count: int) -> None:
        now = time.monotonic()
        seconds = (now - max(started, member.free_since)) / count
        member.free_since = now
        member.seconds = seconds if member.seconds is None else member.seconds + _SMOOTHING * (seconds - member.seconds)
