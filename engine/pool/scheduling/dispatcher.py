"""Who does what next, and what the pool's owner is told: all of the pool's bookkeeping, without a process in it.

Messages of the workers go in (``receive``), as do births and deaths (``started``, ``lost``) and devices that ``join`` or ``leave``;
events come out. What has to be sent to the workers is asked for with ``assignments``: also to give back what others would do sooner
(see ``engine.pool.scheduling.throughput``). Suspicion: when a worker dies, everything it
had begun is suspect. A suspect task runs alone in its process, and detection carefully, so that a second death tells the cause.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from engine.media.types import SourceInfo, SourceKind
from engine.pool.events import Event, FramesDone, SourceFinished, SourceOpened
from engine.pool.protocol import Began, Detect, Done, Drop, FrameEntry, Frames, Need, Probe, Probed, ProbeFailed, Revoke, Trying
from engine.pool.scheduling.state import OpenSource, WorkerState, frames_left, loads_of, piece_for
from engine.pool.scheduling.strategies.base import Strategy, Work, whole
from engine.pool.scheduling.throughput import relief
from engine.pool.sequencer import Sequencer
from engine.types import DeviceId

DIED_TWICE = "the worker died on this frame twice"

MESSAGE_FRAMES = 64

LONG_FRAMES = 1000
"""With fewer frames another strategy saves no time worth mentioning."""


class Dispatcher:
    """The state of a run. devices: those that will be started. together: whether their workers share a process, and so its end."""

    def __init__(
        self, strategy: Strategy, devices: Sequence[DeviceId], clock: Callable[[], float] = time.monotonic, *, together: bool = False
    ) -> None:
        self._strategy = strategy
        self._devices = set(devices)
        self._together = together
        self._clock = clock
        self._workers: dict[DeviceId, WorkerState] = {}
        self._asking: deque[DeviceId] = deque()
        self._sources: dict[int, OpenSource] = {}
        self._unprobed: dict[int, OpenSource] = {}
        self._drops: list[tuple[DeviceId, Drop]] = []
        self._why_no_device = ""

    @property
    def finished(self) -> bool:
        """Whether every source that was added is finished."""
        return not self._sources

    @property
    def waiting(self) -> int:
        """Frames that are done and wait for an earlier one of their source."""
        return sum(source.sequencer.waiting for source in self._sources.values() if source.sequencer is not None)

    @property
    def uncut(self) -> int | None:
        """Number of open sources if all are videos of one segment, with ``LONG_FRAMES`` or more together, else 0.

        None: a source is not probed yet.
        """
        infos = [source.info for source in self._sources.values() if source.info is not None]
        if not infos or len(infos) < len(self._sources):
            return None
        uncut = all(info.kind is SourceKind.VIDEO and len(info.segments) == 1 for info in infos)
        return len(infos) if uncut and sum(info.frames for info in infos) >= LONG_FRAMES else 0

    def add(self, number: int, path: Path) -> list[Event]:
        """A new source, the last in the queue."""
        source = self._sources[number] = OpenSource(number, path)
        if not self._devices:
            return [self._finish(source, error=self._why_no_device, cancelled=True)]
        self._unprobed[number] = source
        return []

    def cancel(self, number: int | None) -> list[Event]:
        """A source, or all of them, is no longer wanted; one that is finished already is none."""
        if number is None:
            return [event for open_number in list(self._sources) for event in self.cancel(open_number)]
        source = self._sources.get(number)
        if source is None:
            return []
        for device, worker in self._workers.items():
            if any(held == number for held, _ in worker.works):
                self._drops.append((device, Drop(number)))
            worker.left = {place: left for place, left in worker.left.items() if place[0] != number}
        return [self._finish(source, error=source.error, dropped="cancelled", cancelled=True)]

    def started(self, device: DeviceId) -> None:
        """A worker process runs: it can probe."""
        self._workers[device] = WorkerState()

    def ready(self, device: DeviceId, decode_threads: int) -> None:
        """Its engine is built: it can detect, in so many segments at once."""
        self._workers[device].decode_threads = decode_threads

    def join(self, devices: Iterable[DeviceId]) -> None:
        """These will be started, unless they are already. One that is lost for good, or has left, may join again."""
        self._devices.update(devices)

    def leave(self, device: DeviceId) -> list[Event]:
        """A device gets no more work. If it was started, ``lost`` follows when its worker has ended."""
        worker = self._workers.get(device)
        if worker is None:
            return self._gone(device, "it was removed")
        worker.leaving, worker.waits = True, False
        self._devices.discard(device)
        self._asking = deque(other for other in self._asking if other != device)
        return []

    def lost(self, device: DeviceId, *, gone: bool, why: str, innocent: bool = False) -> list[Event]:
        """A worker ended, and everything it sent before has been received. gone: it is not started again. innocent: it was not what
        it worked on that ended it."""
        worker = self._workers.pop(device)
        if innocent:
            worker.begun.clear()
        self._asking = deque(other for other in self._asking if other != device)
        self._drops = [drop for drop in self._drops if drop[0] != device]
        events: list[Event] = []
        if worker.probe is not None:
            events += self._lost_probe(worker.probe, worker, why)
        for work in worker.works.values():
            events += self._lost_work(device, work, worker)
        return events + self._gone(device, why) if gone else events

    def receive(self, device: DeviceId, message: Need | Began | Trying | Probed | ProbeFailed | Frames | Done) -> list[Event]:
        """What a worker says, in the order in which it said it."""
        match message:
            case Need():
                if not self._workers[device].leaving:
                    self._asking.append(device)
                return []
            case Began():
                self._workers[device].begun.add((message.source, message.segment))
                return []
            case Trying():
                self._workers[device].trying = message
                return []
            case Probed() | ProbeFailed():
                self._workers[device].probe = None
                self._workers[device].begun.discard((message.source, None))
                source = self._sources.get(message.source)
                if source is None:
                    return []
                if isinstance(message, ProbeFailed):
                    return [self._finish(source, error=message.error)]
                return self._opened(source, message.info)
            case Frames():
                return self._frames(device, message)
            case Done():
                worker, place = self._workers[device], (message.source, message.segment)
                work = worker.end(place)
                thief = worker.revoked.pop(place, None)
                if thief is not None and thief in self._asking:  # it was promised this, so it is the first to get something
                    self._asking.remove(thief)
                    self._asking.appendleft(thief)
                if not worker.works:
                    worker.pace.rest(self._clock())
                return self._done(work, message)

    def assignments(self) -> Iterator[tuple[DeviceId, Probe | Detect | Drop | Revoke]]:
        """What can be given out now, each once. Whoever asks for this has to send it."""
        yield from self._drops
        self._drops = []
        yield from self._probes()
        yield from self._detects()
        if self._strategy.lends and len(self._workers) > 1:
            yield from self._revokes()

    def _probes(self) -> Iterator[tuple[DeviceId, Probe]]:
        # opened sources cost memory, so a long queue is opened only a little ahead of the work
        decode_threads = sum(max(1, self._workers[device].decode_threads) if device in self._workers else 1 for device in self._devices)
        room = 2 * decode_threads + 2 - (len(self._sources) - len(self._unprobed))
        for source in list(islice(self._unprobed.values(), max(0, room))):
            able = [
                (len(worker.works), device)
                for device, worker in self._workers.items()
                if worker.probe is None
                and not worker.leaving
                and not self._isolated(worker)
                and (not source.suspect or (self._idle(worker) and worker.decode_threads))
            ]
            if able:
                _, device = min(able)
                self._workers[device].probe = self._unprobed.pop(source.number)
                yield device, Probe(source.number, source.path)

    def _detects(self) -> Iterator[tuple[DeviceId, Detect]]:
        # those that wait first: before they have asked, the others do not know whether they still have to make room
        self._asking = deque(sorted(self._asking, key=lambda device: not self._workers[device].waits))
        shared = bool(self._asking) and self._strategy.lends and len(self._workers) > 1
        loads = loads_of(self._workers, self._clock()) if shared else {}
        for _ in range(len(self._asking)):
            device = self._asking.popleft()
            worker = self._workers[device]
            piece = piece_for(device, self._workers, loads, frames_left(self._sources.values(), loads.values())) if shared else whole
            work = None if self._isolated(worker) else self._strategy.next(device, worker.decode_threads, piece)
            worker.waits = work is not None and work.suspect and not self._idle(worker)
            if work is not None and worker.waits:
                self._strategy.give_back(work)
                work = None
            if work is None:
                self._asking.append(device)
                continue
            worker.give(work)
            worker.pace.work(self._clock())
            if shared:
                loads[device] = worker.load(self._clock(), loads[device].promised)
            source = self._sources[work.source]
            assert source.info is not None
            source.started = source.started or self._clock()
            info = replace(source.info, segments=())  # there may be thousands, and the worker needs one
            yield device, Detect(work.source, info, work.segment, work.skip, work.limit, work.suspect)

    def _revokes(self) -> Iterator[tuple[DeviceId, Revoke]]:
        """For each decode thread that waits for work, what a slower device has not got to."""
        loads = loads_of(self._workers, self._clock()) if self._asking else {}
        for device in dict.fromkeys(self._asking):
            worker = self._workers[device]
            if self._isolated(worker) or worker.waits:
                continue
            promised = sum(other == device for holder in self._workers.values() for other in holder.revoked.values())
            for _ in range(self._asking.count(device) - promised):
                others = {other: load for other, load in loads.items() if other != device and not self._workers[other].leaving}
                choice = relief(loads[device], others)
                if choice is None:
                    break
                holder, place = choice
                self._workers[holder].revoked[place] = device
                loads = loads_of(self._workers, self._clock())
                yield holder, Revoke(*place)

    def _fellows(self, worker: WorkerState) -> Iterable[WorkerState]:
        """Those whose process is the same."""
        return self._workers.values() if self._together else (worker,)

    def _idle(self, worker: WorkerState) -> bool:
        return all(fellow.idle for fellow in self._fellows(worker))

    def _isolated(self, worker: WorkerState) -> bool:
        """Whether it must get nothing else now."""
        return any(fellow.isolated or (fellow.waits and fellow is not worker) for fellow in self._fellows(worker))

    def _opened(self, source: OpenSource, info: SourceInfo) -> list[Event]:
        source.info = info
        step = 1.0 if info.kind is SourceKind.IMAGES else 1 / info.rate if info.rate else 0.0
        source.sequencer = Sequencer(len(info.segments), step)
        self._strategy.open(source.number, info.segments)
        return [SourceOpened(source.number, info), *self._advance(source)]

    def _frames(self, device: DeviceId, frames: Frames) -> list[Event]:
        source = self._sources.get(frames.source)
        if source is None:
            return []
        assert source.sequencer is not None
        source.sequencer.add(device, frames)
        source.book.decoded(len(frames))
        if (worker := self._workers.get(device)) is not None:
            worker.pace.done(len(frames), self._clock())
            worker.did((frames.source, frames.segment), len(frames))
        return self._advance(source)

    def _done(self, work: Work, message: Done) -> list[Event]:
        source = self._sources.get(message.source)
        if source is None:
            return []
        assert source.sequencer is not None
        source.error = source.error or message.error
        if message.complete:
            source.sequencer.finish(message.segment, message.frames)
            self._strategy.done(work)
        else:
            self._strategy.give_back(replace(work, skip=source.sequencer.received(message.segment), crash_count=0))
        return self._advance(source)

    def _advance(self, source: OpenSource) -> list[Event]:
        """Hand on whatever is due."""
        assert source.sequencer is not None
        events: list[Event] = []
        for results in source.sequencer.pop():
            source.book.handed_on(results)
            events.append(FramesDone(source.number, results))
        if source.sequencer.complete:
            events.append(self._finish(source, error=source.error))
        return events

    def _lost_probe(self, source: OpenSource, worker: WorkerState, why: str) -> list[Event]:
        if source.number not in self._sources:
            return []
        if (source.number, None) in worker.begun:
            if source.suspect:
                return [self._finish(source, error=f"{source.path}: opening it ended the worker twice: {why}")]
            source.suspect = True
            self._unprobed[source.number] = source
        else:
            self._unprobed = {source.number: source} | self._unprobed
        return []

    def _lost_work(self, device: DeviceId, work: Work, worker: WorkerState) -> list[Event]:
        source = self._sources.get(work.source)
        if source is None:
            return []
        assert source.sequencer is not None
        assert source.info is not None
        at = source.sequencer.received(work.segment.number)
        begun = (work.source, work.segment.number) in worker.begun
        if not begun or not work.suspect:
            self._strategy.give_back(replace(work, skip=at, crash_count=max(work.crash_count, int(begun))))
            return []
        here = (work.source, work.segment.number, at)
        trying = worker.trying
        if trying is not None and (trying.source, trying.segment, trying.position) == here:
            victim = FrameEntry(trying.pts, trying.width, trying.height, None, DIED_TWICE, trying.name)
            self._strategy.give_back(replace(work, skip=at + 1, crash_count=0))
            return self._frames(device, Frames.pack(*here, [victim]))
        # it died in the decoder, which has to pass this frame again to get to the next ones: a last try, then the rest is lost
        left = max(0, work.segment.frames - at)
        last = work.crash_count > 1 and at == work.skip
        lost = left if last else min(1, left)
        events: list[Event] = []
        victim = FrameEntry(math.nan, source.info.width, source.info.height, None, DIED_TWICE)
        for first in range(at, at + lost, MESSAGE_FRAMES):
            entries = [victim] * min(MESSAGE_FRAMES, at + lost - first)
            events += self._frames(device, Frames.pack(work.source, work.segment.number, first, entries))
        if last:
            return events + self._done(work, Done(work.source, work.segment.number, at + lost, complete=True))
        self._strategy.give_back(replace(work, skip=at + lost, crash_count=2))
        return events

    def _gone(self, device: DeviceId, why: str) -> list[Event]:
        self._devices.discard(device)
        self._strategy.lose(device)
        if self._devices:
            return []
        self._why_no_device = f"no device is left: {device}: {why}"
        sources = list(self._sources.values())
        return [self._finish(source, error=self._why_no_device, dropped="no device left", cancelled=True) for source in sources]

    def _finish(self, source: OpenSource, *, error: str | None, dropped: str = "", cancelled: bool = False) -> SourceFinished:
        del self._sources[source.number]
        self._unprobed.pop(source.number, None)
        if source.sequencer is not None:
            source.book.dropped(source.sequencer.waiting, dropped)
            self._strategy.close(source.number)
        seconds = 0.0 if source.started is None else self._clock() - source.started
        return SourceFinished(source.number, source.book.close(), seconds, error, cancelled)
