"""The state of open sources and workers: which workers ask for work, which segments they get, and what an idle one takes over.

Results of a source are handed on in order, and only a limited number of them may wait for earlier ones. A much slower device therefore
gets a chunk of a segment that it can finish before the others reach that limit. An idle device takes over queued frames from a slower one
if it can finish them earlier.
"""

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import FramesAhead, FramesDone, Position
from framefleet.engine.pool.protocol import PROBE_THREADS, Detect, Frames, Revoke, Trying
from framefleet.engine.pool.scheduling import strategies
from framefleet.engine.pool.sequencer import LedgerBook, Sequencer
from framefleet.engine.types import DeviceId

RECENT_SECONDS = 4.0

MAX_DELAY_SECONDS = 2.0
"""Longest time that a slow device may spend on the oldest frames: later results appear only after them."""

MIN_CHUNK = 4
"""Fewest frames for which opening a segment is worthwhile."""

TAKEOVER_SECONDS = 0.5
"""Approximate time to end a segment on one device and open it on another."""


class Throughput:
    """Throughput of a device while it has work, frames/s. Older frames have less weight. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._frames = 0.0
        self._seconds = 0.0
        self._since: float | None = None

    def start(self, now: float) -> None:
        """Note that the device has work."""
        self._since = now if self._since is None else self._since

    def done(self, frames: int, now: float) -> None:
        """Count finished frames."""
        self._pass(now)
        self._frames += frames

    def stop(self, now: float) -> None:
        """Note that the device has no work."""
        self._pass(now)
        self._since = None

    def rate(self, now: float) -> float | None:
        """The throughput, frames/s; None until the first frame is done."""
        self._pass(now)
        return self._frames / self._seconds if self._frames and self._seconds else None

    def _pass(self, now: float) -> None:
        if self._since is None:
            return
        self._seconds += now - self._since
        self._since = now
        if self._seconds > RECENT_SECONDS:
            self._frames *= RECENT_SECONDS / self._seconds
            self._seconds = RECENT_SECONDS


class Remaining(NamedTuple):
    """The number of remaining frames of a segment. done: number of earlier frames, which another device has to decode again."""

    frames: int
    done: int


@dataclass(frozen=True)
class Load:
    """The work of one device.

    rate: its throughput in frames/s, None = not known. remaining: the device's segments that are not revoked. taken_over: number of frames
    that the device will take over.
    """

    rate: float | None
    remaining: Mapping[strategies.SegmentKey, Remaining]
    taken_over: int = 0

    @property
    def frames(self) -> int:
        """Number of frames that the device has to do."""
        return self.taken_over + sum(remaining.frames for remaining in self.remaining.values())


def chunk_size(
    frames: int, load: Load, decode_threads: int, others: Collection[Load], window: int, unassigned: float, slow_kind: bool
) -> int | None:
    """The number of frames of a segment that a device should do before its next request. None = all, 0 = none now.

    frames: number of remaining frames of the segment; later segments are assumed to be as long. load: of the device; its decode
    threads share the rate. others: those of the other devices. window: number of segments that may be under way at once. unassigned:
    number of frames that no device has, including these. slow_kind: whether another device is of a kind that is usually much faster.
    """
    together = sum(other.rate or 0.0 for other in others)
    if load.rate is None:
        return None if not slow_kind else 0 if load.frames else 1  # one frame shows how slow it is
    if not together and not slow_kind:
        return None
    seconds_allowed = min(strategies.WINDOW_FRAMES / together, MAX_DELAY_SECONDS) if together else MAX_DELAY_SECONDS
    if not slow_kind or load.rate > together > 0:
        seconds_allowed = max(seconds_allowed, window * frames / together)
    size, most = frames, seconds_allowed * load.rate
    if frames * decode_threads > most:
        # an engine with many slots has a high latency: allow half of the time for the frames, half until their results have arrived
        size, most = min(frames, max(MIN_CHUNK, int(most / 4 / decode_threads))), most / 2
    if load.frames and load.frames + size > most:
        return 0
    seconds = (load.frames + size) / load.rate
    if any(other.rate and (other.frames + max(unassigned, frames)) / other.rate < seconds for other in others):
        return 0  # another device finishes everything earlier
    return size if size < frames else None


def choose_revoke(idle: Load, others: Mapping[DeviceId, Load]) -> tuple[DeviceId, strategies.SegmentKey] | None:
    """The segment that an idle device should take over, and its device: the longest one of the device that needs the most time.

    None if the idle device would finish no segment earlier. An unknown rate is assumed to equal the other device's.
    """
    best, longest = None, 0.0
    for device, load in others.items():
        key = max(load.remaining, key=lambda key: load.remaining[key].frames, default=None)
        if key is None:
            continue
        theirs = load.rate or idle.rate or 1.0
        ours = idle.rate or theirs
        seconds = load.frames / theirs
        taken = load.remaining[key]
        if TAKEOVER_SECONDS + (idle.frames + taken.frames + taken.done) / ours < seconds and seconds > longest:
            best, longest = (device, key), seconds
    return best


LONG_FRAMES = 1000
"""With fewer frames, another strategy saves too little time."""


@dataclass(eq=False)
class OpenSource:
    """An unfinished source.

    info: None until the source is probed. asked: when a worker was last asked to probe it. started: when its first segment was assigned.
    suspect: whether a worker crashed while it opened the source. kills: number of workers that something outside ended meanwhile.
    position: where an earlier run stopped, None = the source begins at its start. sought: whether the user has sought a place in it.
    """

    number: int
    path: Path
    info: SourceInfo | None = None
    asked: float = 0.0
    started: float | None = None
    error: Notice | None = None
    decoder: DecoderUse = DecoderUse()  # noqa: RUF009
    suspect: bool = False
    kills: int = 0
    position: Position | None = None
    sought: bool = False
    book: LedgerBook = field(default_factory=LedgerBook)
    sequencer: Sequencer = field(default_factory=lambda: Sequencer(()))

    @property
    def opens_alone(self) -> bool:
        """Whether the source may end a worker that opens it, so that the worker must have no other work."""
        return self.suspect or self.kills >= strategies.KILLS_TOGETHER

    def open(self, info: SourceInfo) -> None:
        """Store the result of probing."""
        step = 1.0 if info.kind is SourceKind.IMAGES else 1 / info.rate if info.rate else 0.0
        self.info, self.sequencer = info, Sequencer([segment.frames for segment in info.segments], step, self.position)
        if self.position is not None:
            self.book.resume(self.position)

    def add(self, device: DeviceId, frames: Frames) -> None:
        """Add results."""
        self.sequencer.add(device, frames)
        self.book.arrived += len(frames)

    def ahead(self, device: DeviceId, frames: Frames) -> Iterator[FramesAhead]:
        """Yield results that wait for earlier ones, if the user has sought a place. Frames are numbered by the container's frame counts."""
        if self.sought and self.info is not None and frames.segment > self.sequencer.segment:
            first = sum(segment.frames for segment in self.info.segments[: frames.segment]) + frames.first
            yield FramesAhead(self.number, tuple(frames.unpack(device, first, math.nan, math.nan)), frames.segment)

    def due(self, ends: bool = False) -> Iterator[FramesDone]:
        """Yield the results that are next in display order. ends: the source ends now, so results that wait for earlier ones follow."""
        for results in self.sequencer.pop():
            self.book.handed_on(results)
            yield FramesDone(self.number, results, self.sequencer.segment)
        for results in self.sequencer.rest() if ends else ():
            self.book.handed_on(results)
            yield FramesDone(self.number, results, None)


@dataclass
class WorkerState:
    """The state and the work of one worker.

    heard: whether it has sent a message: a worker that was started may never run. decode_threads: number of segments that the worker
    decodes at once, 0 until its engine is built. probes: the sources that it opens, by number. begun: tasks that the worker has begun, as
    (source, segment). trying: the frame that the worker announced last, in careful mode. waits: whether it waits for the other workers in
    its process to be idle, before a suspect task. leaving: the worker gets no more work. revoked: revoked segments, each with the device
    that will continue it. remaining: frames of its works; suspect works are not included, since they are never revoked.
    """

    heard: bool = False
    decode_threads: int = 0
    begun: set[tuple[int, int | None]] = field(default_factory=set)
    probes: dict[int, OpenSource] = field(default_factory=dict)
    trying: Trying | None = None
    works: dict[strategies.SegmentKey, strategies.Work] = field(default_factory=dict)
    waits: bool = False
    leaving: bool = False
    revoked: dict[strategies.SegmentKey, DeviceId] = field(default_factory=dict)
    throughput: Throughput = field(default_factory=Throughput)
    remaining: dict[strategies.SegmentKey, Remaining] = field(default_factory=dict)

    def give(self, work: strategies.Work, now: float) -> None:
        """Add assigned work."""
        self.works[work.key] = work
        self.throughput.start(now)
        if not work.suspect:
            self.remaining[work.key] = Remaining(work.frames, work.skip)

    def did(self, key: strategies.SegmentKey, frames: int, now: float) -> None:
        """Count finished frames of a work."""
        self.throughput.done(frames, now)
        if (remaining := self.remaining.get(key)) is not None:
            self.remaining[key] = Remaining(max(0, remaining.frames - frames), remaining.done + frames)

    def end(self, key: strategies.SegmentKey, now: float) -> strategies.Work:
        """Remove ended work and return it."""
        self.begun.discard(key)
        self.remaining.pop(key, None)
        work = self.works.pop(key)
        if not self.works:
            self.throughput.stop(now)
        return work

    def load(self, now: float, taken_over: int = 0) -> Load:
        """The worker's load. taken_over: see ``Load``."""
        kept = {key: remaining for key, remaining in self.remaining.items() if key not in self.revoked} if self.revoked else self.remaining
        return Load(self.throughput.rate(now), kept, taken_over)

    @property
    def idle(self) -> bool:
        """Whether the worker has no work."""
        return not self.probes and not self.works

    @property
    def may_probe(self) -> bool:
        """Whether the worker can open one more source. With few decode threads, opening several would delay the first one."""
        return len(self.probes) < min(PROBE_THREADS, max(1, self.decode_threads // 4))

    @property
    def isolated(self) -> bool:
        """Whether the worker has a suspect task and therefore gets no other one."""
        return any(source.opens_alone for source in self.probes.values()) or any(work.suspect for work in self.works.values())


def uncut_sources(sources: Collection[OpenSource]) -> int | None:
    """Number of open sources if all are videos of one segment, with ``LONG_FRAMES`` or more together, else 0.

    None if a source is not probed yet, or there is no source.
    """
    infos = [source.info for source in sources if source.info is not None]
    if not infos or len(infos) < len(sources):
        return None
    uncut = all(info.kind is SourceKind.VIDEO and len(info.segments) == 1 for info in infos)
    return len(infos) if uncut and sum(info.frames for info in infos) >= LONG_FRAMES else 0


class Workers(dict[DeviceId, WorkerState]):
    """The state of each started worker.

    clock: returns seconds. together: whether all workers share one process, and so end together.

    Attributes: asking: devices that ask for work, one entry for each idle decode thread, in order.
    """

    def __init__(self, clock: Callable[[], float], together: bool) -> None:
        super().__init__()
        self._clock = clock
        self.together = together
        self.asking: deque[DeviceId] = deque()

    def loads(self) -> dict[DeviceId, Load]:
        """The loads of all workers now."""
        now, taken_over = self._clock(), dict.fromkeys(self, 0)
        for worker in self.values():
            for key, taker in worker.revoked.items():
                if taker in taken_over and key in worker.remaining:
                    taken_over[taker] += worker.remaining[key].frames
        return {device: worker.load(now, taken_over[device]) for device, worker in self.items()}

    def ask_no_more(self, device: DeviceId) -> None:
        """Remove a device from those that ask for work."""
        self.asking = deque(other for other in self.asking if other != device)

    def ask_first(self, device: DeviceId) -> None:
        """Put a device that asks for work before the others."""
        if device in self.asking:
            self.asking.remove(device)
            self.asking.appendleft(device)

    def others_work(self, device: DeviceId) -> bool:
        """Whether other devices have an engine now."""
        return any(worker.decode_threads and not worker.leaving for other, worker in self.items() if other != device)

    def idle(self, worker: WorkerState) -> bool:
        """Whether no worker in the process has work."""
        return all(other.idle for other in self._same_process(worker))

    def isolated(self, worker: WorkerState) -> bool:
        """Whether the worker gets no work because of a suspect task in its process."""
        return any(other.isolated or (other.waits and other is not worker) for other in self._same_process(worker))

    def can_open(self, worker: WorkerState, source: OpenSource) -> bool:
        """Whether the worker may open the source: a suspect one only while no other work would end with its process."""
        able = not worker.leaving and not self.isolated(worker)
        return able and (not source.opens_alone or (self.idle(worker) and worker.decode_threads > 0))

    def revokes(self) -> Iterator[tuple[DeviceId, Revoke]]:
        """For each idle decode thread, revoke a queued segment of a slower device."""
        loads = self.loads() if self.asking else {}
        for device in dict.fromkeys(self.asking):
            worker = self[device]
            if self.isolated(worker) or worker.waits:
                continue
            revoked = sum(other == device for holder in self.values() for other in holder.revoked.values())
            for _ in range(self.asking.count(device) - revoked):
                others = {other: load for other, load in loads.items() if other != device and not self[other].leaving}
                choice = choose_revoke(loads[device], others)
                if choice is None:
                    break
                holder, key = choice
                self[holder].revoked[key] = device
                loads = self.loads()
                yield holder, Revoke(*key)

    def _same_process(self, worker: WorkerState) -> Iterable[WorkerState]:
        """All workers in the process of this one."""
        return self.values() if self.together else (worker,)


def assign_segments(
    workers: Workers, strategy: strategies.Strategy, sources: Mapping[int, OpenSource], clock: Callable[[], float]
) -> Iterator[tuple[DeviceId, Detect]]:
    """Yield the message for each decode thread that asks for work and gets some. sources: that are not finished, by number."""
    # devices that wait for a suspect task come first: they decide whether the other workers in their process stay idle
    workers.asking = deque(sorted(workers.asking, key=lambda device: not workers[device].waits))
    shared = bool(workers.asking) and strategy.steals and len(workers) > 1
    loads = workers.loads() if shared else {}
    for _ in range(len(workers.asking)):
        device = workers.asking.popleft()
        worker, now = workers[device], clock()
        unassigned = _unassigned_frames(sources.values(), loads.values()) if shared else 0.0
        size = _chunk_size_for(device, workers, loads, unassigned) if shared else strategies.whole
        work = None if workers.isolated(worker) else strategy.next(device, worker.decode_threads, size)
        refused = work is not None and work.crashes.refused == device and workers.others_work(device)
        worker.waits = work is not None and work.suspect and not refused and not workers.idle(worker)
        if work is not None and (worker.waits or refused):
            strategy.give_back(work)
            work = None
        if work is None:
            workers.asking.append(device)
            continue
        worker.give(work, now)
        if shared:
            loads[device] = worker.load(now, loads[device].taken_over)
        source = sources[work.source]
        assert source.info is not None
        source.started = source.started or now
        info = replace(source.info, segments=(), number=work.source)  # a source may have thousands of segments, and the worker needs one
        yield device, Detect(work.source, info, work.segment, work.skip, work.limit, work.suspect)


def _chunk_size_for(
    device: DeviceId, workers: Mapping[DeviceId, WorkerState], loads: Mapping[DeviceId, Load], unassigned: float
) -> strategies.ChunkSize:
    """The ``ChunkSize`` for one device. loads: of all workers. unassigned: number of frames that no device has."""
    able = {other for other, worker in workers.items() if worker.decode_threads and not (worker.leaving or worker.isolated)} - {device}
    return partial(
        chunk_size,
        load=loads[device],
        decode_threads=workers[device].decode_threads,
        others=[loads[other] for other in able],
        window=strategies.window_segments(*(worker.decode_threads for worker in workers.values())),
        unassigned=unassigned,
        slow_kind=device.kind != "cuda" and any(other.kind == "cuda" for other in able),
    )


def _unassigned_frames(sources: Iterable[OpenSource], loads: Iterable[Load]) -> float:
    """Number of frames that no device has, by the containers' frame counts; infinite while a source is not probed."""
    announced = sum(math.inf if source.info is None else source.info.to_do - source.book.arrived for source in sources)
    return max(0.0, announced - sum(load.frames for load in loads))
