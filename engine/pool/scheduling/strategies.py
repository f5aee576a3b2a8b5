"""The strategies, which choose the next segment for a device, and the choice of a run's strategy. No processes are involved.

``auto`` is always ``segments``. ``frames``, ``tiles`` and ``depth`` make groups of all devices, which are workers of the pool.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar, Self, TypeAlias

from framefleet.engine.media.types import Segment
from framefleet.engine.notices import Notice, Option
from framefleet.engine.pool.events import Position
from framefleet.engine.settings import Isolation, Parallel, RunSettings, check_depth
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


KILLS_TOGETHER = 2
"""After this many kills without progress, work runs alone, to show whether the system kills its worker for it: it may need all memory."""

MAX_KILLS = 3
"""After this many kills, the last of them while it was alone, a source is set aside."""

AHEAD_FRAMES = 1024
"""Most frames of a segment to do while an earlier one is under way on another device: their results wait in memory."""

WINDOW_FRAMES = 16_384
"""Any number of segments that start within this many frames of the oldest unfinished segment may be under way. A fast GPU does these
frames in a few seconds. The result of a frame takes a few hundred bytes, 7 KB at most."""

CAREFUL_FRAMES = 256
"""Most frames per task in careful mode: more than a worker has under way, so that they include the frame that crashed it."""

SegmentKey: TypeAlias = tuple[int, int]
"""A source's number and a segment's number."""

ChunkSize: TypeAlias = Callable[[int], int | None]
"""Takes the number of frames that remain of a segment. Returns how many of them a device should do now: None = all, 0 = none."""


def whole(_: int) -> None:
    """The ``ChunkSize`` of a device that takes whole segments."""


@dataclass(frozen=True)
class Work:
    """A segment, or the rest of one, for one device.

    skip: number of frames at the segment's start that are done. limit: most frames to do now, None = all. crashes: of
    workers during this work without progress. kills: number of workers in a row that something outside ended during it, without progress.
    """

    source: int
    segment: Segment
    skip: int = 0
    limit: int | None = None
    crashes: CrashCount = CrashCount()
    kills: int = 0

    @property
    def key(self) -> SegmentKey:
        """The numbers of the source and the segment."""
        return self.source, self.segment.number

    @property
    def suspect(self) -> bool:
        """Whether this work may have ended a worker and therefore runs alone, in careful mode."""
        return self.crashes.suspect or self.kills >= KILLS_TOGETHER

    def after_kill(self, done: int) -> Self:
        """The work after something outside ended its worker. done: number of frames of the segment that have arrived."""
        return replace(self, kills=self.kills + 1 if done == self.skip or self.suspect else 1)

    @property
    def frames(self) -> int:
        """Number of frames to do now, by the container's frame counts."""
        rest = max(0, self.segment.frames - self.skip)
        return rest if self.limit is None else min(rest, self.limit)


def window_segments(*decode_threads: int) -> int:
    """Number of segments that may be under way with these decode threads: two per thread, and two more for a slow first segment."""
    return 2 * sum(decode_threads) + 2


class SourceQueue:
    """Assigns the segments of one source, oldest first. position: where an earlier run stopped, so that work begins there.

    After ``seek``, the segments from a place on come first, until ``WINDOW_FRAMES`` frames are done there: their results wait in memory.
    """

    def __init__(self, source: int, segments: Sequence[Segment], position: Position | None) -> None:
        self._source = source
        self._segments = segments
        self._starts = list(accumulate((segment.frames for segment in segments), initial=0))
        self._next_segment = 0
        self._returned: dict[int, Work] = {}
        self._under_way: dict[int, tuple[DeviceId, Work]] = {}
        self._sought: int | None = None
        self._ahead: dict[int, int] = {}  # segments assigned behind ``_next_segment``, and the number of their frames done or under way
        if position is not None:
            self._next_segment = position.segment + 1
            self._returned[position.segment] = Work(source, segments[position.segment], position.skip)

    @property
    def head(self) -> int:
        """Number of the oldest unfinished segment."""
        return min((*self._under_way, *self._returned, self._next_segment))

    @property
    def seeking(self) -> bool:
        """Whether work at a place that ``seek`` named comes first."""
        return self._sought is not None

    def seek(self, segment: int) -> list[SegmentKey]:
        """Assign this segment next, and those behind it. Returns the segments under way that are to be given back for that."""
        self._sought = segment if segment >= self._next_segment and self._room > 0 else None
        if self._sought is None or segment in self._under_way:
            return []
        last = segment + len(self._under_way)
        return [(self._source, number) for number in self._under_way if not segment < number <= last]

    @property
    def exhausted(self) -> bool:
        """Whether all work is assigned."""
        return not self._returned and self._next_segment == len(self._segments)

    def take(self, device: DeviceId, decode_threads: int, window: int, chunk_size: ChunkSize = whole) -> Work | None:
        """The next work for this device, None if there is none now.

        decode_threads: number of segments that the device decodes at once. window: number of segments, from the oldest unfinished one,
        that may be under way (more if they are short: see ``WINDOW_FRAMES``). The window limits the number of results that wait for
        earlier ones, independently of the video's length.
        """
        for number in self._order(chunk_size):
            work = self._returned.get(number) or Work(self._source, self._segments[number])
            limit = self._limit(work, device if decode_threads == 1 else None, window)
            # suspect work is not cut, so that its frames in careful mode include the one that crashed a worker
            chunk = None if work.suspect else chunk_size(work.frames)
            if chunk is not None:
                limit = chunk if limit is None else min(limit, chunk)
            if limit == 0:
                continue
            new = self._returned.pop(number, None) is None
            work = replace(work, limit=limit)
            if number > self._next_segment:
                self._ahead[number] = work.skip + work.frames
            elif new:
                self._next_segment += 1
                while self._ahead.pop(self._next_segment, None) is not None:
                    self._next_segment += 1
            self._under_way[number] = device, work
            return work
        return None

    def give_back(self, work: Work) -> None:
        """Take back unfinished work. Another device continues after the first ``skip`` frames."""
        del self._under_way[work.segment.number]
        self._returned[work.segment.number] = replace(work, limit=None)
        if work.segment.number in self._ahead:
            self._ahead[work.segment.number] = work.skip

    def done(self, work: Work) -> None:
        """Forget work that is done."""
        del self._under_way[work.segment.number]

    def _order(self, chunk_size: ChunkSize) -> list[int]:
        """Numbers of the segments that a device should try, in order.

        The oldest comes first. For a slow device, which gets chunks, returned work comes last, since later results wait for it.
        """
        new = [self._next_segment] if self._next_segment < len(self._segments) else []
        slow = any(chunk_size(self._segments[number].frames) is not None for number in new)
        usual = new + sorted(self._returned) if slow else sorted(self._returned) + new
        return [*self._sought_segments(), *usual]

    @property
    def _room(self) -> int:
        """Number of further frames that may be done behind a gap."""
        behind_head = self._starts[self._next_segment] - self._starts[min(self.head + 1, self._next_segment)]
        return WINDOW_FRAMES - behind_head - sum(self._ahead.values())

    def _sought_segments(self) -> list[int]:
        """The segments to try first, because ``seek`` named their place."""
        if self._sought is None:
            return []
        if self.head >= self._sought or self._room <= 0:
            self._sought = None
            return []
        begin = max(self._sought, self._next_segment)
        new = [number for number in range(begin, len(self._segments)) if number not in self._ahead][:1]
        return sorted([number for number in self._returned if number >= self._sought] + new)

    def _limit(self, work: Work, in_order: DeviceId | None, window: int) -> int | None:
        """Number of frames that may be done now, None = all. in_order: the device, if it does one segment after the other."""
        number = work.segment.number
        # a device with one decode thread does its tasks in order, so that its results do not wait for its own earlier segments, unless
        # a limit leaves a rest of them
        waits = any(before < number for before in self._returned) or any(
            before < number and (other != in_order or earlier.limit is not None) for before, (other, earlier) in self._under_way.items()
        )
        limits = [CAREFUL_FRAMES] if work.suspect else []
        if self._sought is not None and number >= self._sought:
            limits += [max(0, self._room)] if self._room < work.frames else []
        elif waits or number > self._next_segment:
            limits.append(max(0, AHEAD_FRAMES - work.skip) if self._near(number, window) else 0)
        return min(limits, default=None)

    def _near(self, number: int, window: int) -> bool:
        head = self.head
        return number < head + window or self._starts[number] - self._starts[head] < WINDOW_FRAMES


class Strategy(ABC):
    """Assigns work on request. The caller returns each work once, to ``done`` or ``give_back``, unless its source is closed.

    workers: the devices that get a worker: the devices of the run, or one group of them.
    """

    name: ClassVar[str]
    """As events and reports show it."""
    elastic: ClassVar[bool] = True
    """Whether devices can join and leave a run."""
    grouped: ClassVar[bool] = False
    """Whether the worker's device is a group whose members each have an engine."""
    splits_frames: ClassVar[bool] = False
    """Whether the members of the group share each frame."""
    steals: ClassVar[bool] = False
    """Whether an idle device may take over queued frames from a slower one."""

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        self.workers = tuple(devices)
        self._queues: dict[int, SourceQueue] = {}  # of the open sources, by number, in the order in which they are done

    def open(self, source: int, segments: Sequence[Segment], position: Position | None = None) -> None:
        """Add a probed source. Sources are done in the order of their numbers. position: where an earlier run stopped."""
        self._queues = dict(sorted({**self._queues, source: SourceQueue(source, segments, position)}.items()))

    @abstractmethod
    def next(self, device: DeviceId, decode_threads: int, chunk_size: ChunkSize) -> Work | None:
        """The next work for a device, None if the device has to wait.

        decode_threads: number of segments that the device decodes at once. chunk_size: used by a strategy that steals.
        """

    def give_back(self, work: Work) -> None:
        """Take back unfinished work. Another device continues after the first ``skip`` frames."""
        self._queues[work.source].give_back(work)

    def done(self, work: Work) -> None:
        """Note that a segment is done to its end."""
        self._queues[work.source].done(work)

    def seek(self, source: int, segment: int) -> list[SegmentKey]:
        """Assign this segment of an open source next. Returns the segments under way that are to be given back for that."""
        return self._queues[source].seek(segment)

    def close(self, source: int) -> None:
        """Remove the work of a source that is finished or cancelled."""
        self._queues.pop(source, None)

    @abstractmethod
    def lose(self, device: DeviceId) -> None:
        """Remove a device that makes no more requests. Its work has been given back before."""


class Segments(Strategy):
    """A device gets the next segment of the oldest source that has one; first of one in which the user has sought a place."""

    name = "segments"
    steals = True

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__(devices)
        self._decode_threads = dict.fromkeys(self.workers, 1)

    def next(self, device: DeviceId, decode_threads: int, chunk_size: ChunkSize) -> Work | None:
        """The next work for a device, None if the device has to wait."""
        self._decode_threads[device] = decode_threads
        window = window_segments(*self._decode_threads.values())
        queues = sorted(self._queues.values(), key=lambda queue: not queue.seeking)
        taken = (queue.take(device, decode_threads, window, chunk_size) for queue in queues)
        return next((work for work in taken if work is not None), None)

    def lose(self, device: DeviceId) -> None:
        """Do nothing: no segment belongs to a device."""
        self._decode_threads.pop(device, None)


class Streams(Strategy):
    """A device without unassigned segments in its own sources takes the oldest source that no device has."""

    name = "streams"

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__(devices)
        self._owners: dict[int, DeviceId] = {}

    def next(self, device: DeviceId, decode_threads: int, chunk_size: ChunkSize) -> Work | None:  # noqa: ARG002
        """The next work for a device, None if the device has to wait."""
        window = window_segments(decode_threads)
        for source, queue in self._queues.items():
            if self._owners.get(source) == device and not queue.exhausted:
                # even if this is None and the device has to wait: a second source would delay the first one
                return queue.take(device, decode_threads, window)
        for source, queue in self._queues.items():
            if source not in self._owners and (work := queue.take(device, decode_threads, window)) is not None:
                self._owners[source] = device
                return work
        return None

    def give_back(self, work: Work) -> None:
        """Take back unfinished work. A source whose device is refused is free for other devices."""
        super().give_back(work)
        if work.crashes.refused is not None:
            self._owners.pop(work.source, None)

    def close(self, source: int) -> None:
        """Remove the work of a source that is finished or cancelled."""
        super().close(source)
        self._owners.pop(source, None)

    def lose(self, device: DeviceId) -> None:
        """Remove a device that makes no more requests. Its work has been given back before. Its sources are free for other devices."""
        self._owners = {source: owner for source, owner in self._owners.items() if owner != device}


class Frames(Segments):
    """The devices share the frames, also of files that cannot be cut. Members take segments, or batches when they have a free slot."""

    name = "frames"
    elastic = False
    grouped = True

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__([DeviceId.group(*devices)])


class Tiles(Frames):
    """The members take tiles of a frame, for frames much larger than the network's input."""

    name = "tiles"
    splits_frames = True


class Depth(Segments):
    """One engine spans all devices, each with a stage of the network. For networks too large for one device.

    On GPUs there are as many such engines as devices. Each begins on another device, in a process of its own, so that all devices decode,
    and all compute the same amount. single: make one engine only, because all would share one process.

    Raises UsageError if the devices cannot share a network.
    """

    name = "depth"
    elastic = False

    def __init__(self, devices: Sequence[DeviceId], single: bool = False) -> None:
        check_depth(devices)
        starts = range(len(devices) if devices[0].kind == "cuda" and not single else 1)
        super().__init__([DeviceId.group(*devices[start:], *devices[:start]) for start in starts])


STRATEGIES: dict[Parallel, type[Strategy]] = {
    Parallel.AUTO: Segments,
    Parallel.SEGMENTS: Segments,
    Parallel.STREAMS: Streams,
    Parallel.FRAMES: Frames,
    Parallel.TILES: Tiles,
    Parallel.DEPTH: Depth,
}


def create_strategy(run: RunSettings, devices: Sequence[DeviceId]) -> Strategy:
    """The strategy of a run. Raises UsageError if the devices cannot work together in this way."""
    if run.parallel is Parallel.DEPTH:
        return Depth(devices, single=run.isolation is Isolation.THREAD)
    return STRATEGIES[run.parallel](devices)


def explain(run: RunSettings, devices: Sequence[DeviceId], uncut: int = 0) -> Notice:
    """The reason for a run's strategy. uncut: number of sources if all are long videos that cannot be cut at keyframes, else 0."""
    if run.parallel is Parallel.TILES:
        return Notice("pool.tiles_as_settings_say", tiles=run.tiles.notice)
    if run.parallel is not Parallel.AUTO:
        return Notice("pool.as_settings_say")
    if len(devices) == 1:
        return Notice("pool.only_device", device=str(devices[0]))
    together = Notice("pool.at_keyframes", devices=len(devices))
    if not _leaves_idle(devices, uncut):
        return Notice("pool.uncut_stay", together=together)
    return Notice("pool.devices_idle", together=together, count=uncut, option=Option("parallel", "frames"))


def _leaves_idle(devices: Sequence[DeviceId], uncut: int) -> bool:
    """Whether uncut videos leave a device idle that ``frames`` could use."""
    able = [device for device in devices if device.kind != "cpu"] or devices  # beside GPUs, a CPU is busy with decoding
    return 0 < uncut < len(able)
