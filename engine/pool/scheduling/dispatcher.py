"""The state of a run, without processes: assigns work to workers and creates the events.

The pool reports changes of workers (``started``, ``ready``, ``lost``), their messages (``receive``), and devices that ``join`` or
``leave``. These methods return events. ``assignments`` returns the messages to send to the workers.

When a worker crashes, all tasks that it had begun are suspect (see ``CrashCount``). A suspect task runs alone in its process, in careful
mode.
"""

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from framefleet.engine.media.types import SourceInfo
from framefleet.engine.notices import Notice, Option
from framefleet.engine.pool.events import Event, Position, SourceFinished, SourceOpened
from framefleet.engine.pool.protocol import Began, Detect, Done, Drop, Frames, Listening, Need, Probe, Probed, ProbeFailed, Revoke, Trying
from framefleet.engine.pool.scheduling.strategies import DIED_TWICE, MAX_KILLS, CrashCount, Strategy, Work
from framefleet.engine.pool.scheduling.workers import OpenSource, Workers, WorkerState, assign_segments, uncut_sources
from framefleet.engine.types import UNNUMBERED, DeviceId, FrameRef, FrameResult


def failures_after_crash(
    work: Work, crashes: CrashCount, done: int, begun: bool, trying: Trying | None, info: SourceInfo, device: DeviceId
) -> tuple[list[FrameResult], Work | None]:
    """The frames that fail after a worker's crash during this work, and the remaining work (None: the segment ends after them).

    crashes: including this one. done: number of frames of the segment that have arrived. begun: whether the worker had begun the work.
    trying: the frame that the worker announced last, in careful mode.
    """
    if not begun:
        return [], replace(work, skip=done)
    if not crashes.proven:
        return [], replace(work, skip=done, crashes=crashes)
    if trying is not None and (trying.ref.source, trying.segment, trying.position) == (*work.key, done):
        result = FrameResult(trying.ref, device, trying.width, trying.height, DIED_TWICE)
        return [result], replace(work, skip=done + 1, crashes=CrashCount())
    # The decoder crashed, and it has to decode this frame again to reach the next ones. After one more try, the rest of the segment fails.
    last = work.crashes.proven and done == work.skip
    rest = max(0, work.segment.frames - done)
    lost = rest if last else min(1, rest)
    unknown = FrameRef(work.source, UNNUMBERED, math.nan)
    results = [FrameResult(unknown, device, info.width, info.height, DIED_TWICE)] * lost
    return results, None if last else replace(work, skip=done + lost, crashes=crashes)


PROBE_SECONDS = 10.0
"""After this time without an answer, another worker opens the source, too: the first one may hang."""


class Probes:
    """The sources that are not open yet. clock: returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waiting: dict[int, OpenSource] = {}

    def __len__(self) -> int:
        """Number of sources that no worker opens."""
        return len(self._waiting)

    def add(self, source: OpenSource) -> None:
        """Add a source at the end of the queue."""
        self._waiting[source.number] = source

    def remove(self, source: OpenSource) -> None:
        """Remove a source that is finished."""
        self._waiting.pop(source.number, None)

    def assign(self, workers: Workers, room: int) -> Iterator[tuple[DeviceId, Probe]]:
        """Yield the messages to send to workers now. room: most sources to open."""
        late = self._clock() - PROBE_SECONDS
        held = {number: source for worker in workers.values() for number, source in worker.probes.items()}
        overdue = [source for source in held.values() if source.info is None and not source.opens_alone and source.asked < late]
        for source in [*overdue, *islice(self._waiting.values(), max(0, room))]:
            able = [
                (len(worker.works), device)
                for device, worker in workers.items()
                if worker.heard and worker.may_probe and source.number not in worker.probes and workers.can_open(worker, source)
            ]
            if able:
                _, device = min(able)
                workers[device].probes[source.number] = source
                source.asked = self._clock()
                self.remove(source)
                yield device, Probe(source.number, source.path)

    def lost(self, source: OpenSource, worker: WorkerState, others: Mapping[DeviceId, WorkerState]) -> bool:
        """Take back the source that a worker was opening when it ended. Returns whether opening it has ended a worker twice."""
        begun = (source.number, None) in worker.begun
        if begun and source.suspect:
            return True
        source.suspect |= begun
        if source.info is not None or any(source.number in other.probes for other in others.values()):
            return False
        if begun:
            self.add(source)
        else:
            self._waiting = {source.number: source} | self._waiting
        return False


LEFT_UNFINISHED = "pool.left_unfinished"
"""The code of the error of a source at which the system killed several workers."""

MESSAGE_FRAMES = 64
"""Most frames in one event when a crash costs many."""


class Dispatcher:
    """The state of a run.

    devices: the devices whose workers will be started. together: whether all workers share one process, and so end together.
    """

    def __init__(
        self, strategy: Strategy, devices: Sequence[DeviceId], clock: Callable[[], float] = time.monotonic, *, together: bool = False
    ) -> None:
        self._strategy = strategy
        self._devices = set(devices)
        self._clock = clock
        self._workers = Workers(clock, together)
        self._sources: dict[int, OpenSource] = {}
        self._probes = Probes(clock)
        self._drops: list[tuple[DeviceId, Drop | Revoke]] = []
        self._why_no_device: Notice | None = None

    @property
    def finished(self) -> bool:
        """Whether every source that was added is finished."""
        return not self._sources

    @property
    def uncut(self) -> int | None:
        """Number of open sources if all are long videos that cannot be cut, else 0; None if that is not known."""
        return uncut_sources(self._sources.values())

    def add(self, number: int, path: Path, position: Position | None = None) -> list[Event]:
        """Add a source at the end of the queue. position: where an earlier run stopped."""
        source = self._sources[number] = OpenSource(number, path, position=position)
        if not self._devices:
            return self._cut_short(source, self._why_no_device)
        self._probes.add(source)
        return []

    def cancel(self, number: int | None) -> list[Event]:
        """Cancel a source, or all (None), unless it is finished. Results that wait for earlier ones are handed on."""
        if number is None:
            return [event for open_number in list(self._sources) for event in self.cancel(open_number)]
        source = self._sources.get(number)
        return [] if source is None else self._stop(source, source.error)

    def seek(self, number: int, seconds: float) -> list[Event]:
        """Detect the segment with this time next; ``FramesAhead`` follows. Does nothing if the source is not open or not cut.

        seconds: as in ``FrameRef.pts``.
        """
        source = self._sources.get(number)
        if source is None or source.info is None or len(source.info.segments) < 2:
            return []
        starts = [-math.inf if segment.start is None else segment.start * source.info.unit for segment in source.info.segments]
        given_back = self._strategy.seek(number, max(0, bisect_right(starts, seconds) - 1))
        source.sought = True
        for device, worker in self._workers.items():
            ends = [key for key in given_back if key in worker.works and not worker.works[key].suspect]
            self._drops += [(device, Revoke(*key)) for key in ends if not worker.leaving]
        return []

    def _stop(self, source: OpenSource, error: Notice | None) -> list[Event]:
        """Finish a source before its end, and tell the workers that have work of it."""
        for device, worker in self._workers.items():
            if any(number == source.number for number, _ in worker.works):
                self._drops.append((device, Drop(source.number)))
            worker.remaining = {key: remaining for key, remaining in worker.remaining.items() if key[0] != source.number}
        return self._cut_short(source, error)

    def started(self, device: DeviceId) -> None:
        """Note that a device's worker was started. It gets work when it has sent its first message."""
        self._workers[device] = WorkerState()

    def ready(self, device: DeviceId, decode_threads: int) -> None:
        """Note that a device's engine is built. decode_threads: number of segments that its worker decodes at once."""
        worker = self._workers[device]
        worker.heard, worker.decode_threads = True, decode_threads

    def join(self, devices: Iterable[DeviceId]) -> None:
        """Note devices whose workers run or will be started. A device that was lost or has left may join again."""
        self._devices.update(devices)

    def leave(self, device: DeviceId) -> list[Event]:
        """Assign no more work to a device. If its worker was started, the pool calls ``lost`` when the worker has ended."""
        worker = self._workers.get(device)
        if worker is None:
            return self._gone(device, Notice("pool.removed"))
        worker.leaving, worker.waits = True, False
        self._devices.discard(device)
        self._workers.ask_no_more(device)
        return []

    def lost(self, device: DeviceId, *, gone: bool, why: Notice, suspect: bool = True, external: bool = False) -> list[Event]:
        """Note that a worker ended and all its messages have been received.

        gone: whether the worker is not restarted. why: the reason. suspect: whether a task that it had begun may have ended it. external:
        whether something outside ended it. No frame is then at fault; but a source that is always in hand at such an end is set aside.
        """
        worker = self._workers.pop(device)
        killed = worker.begun if suspect and external else set()
        if external or not suspect:
            worker.begun = set()
        self._workers.ask_no_more(device)
        self._drops = [drop for drop in self._drops if drop[0] != device]
        events: list[Event] = []
        for source in worker.probes.values():
            if source.number not in self._sources:
                continue
            source.kills += (source.number, None) in killed
            if self._probes.lost(source, worker, self._workers):
                events.append(self._finish(source, error=Notice("pool.opening_ended_worker", path=source.path, why=why)))
            elif source.kills == MAX_KILLS:
                events += self._leave_unfinished(source, why)
        for work in worker.works.values():
            if work.source not in self._sources:
                continue
            source = self._sources[work.source]
            if work.key in killed:
                work = work.after_kill(source.sequencer.received(work.segment.number))
            events += self._lost_work(device, source, work, worker)
            if work.kills == MAX_KILLS:
                events += self._leave_unfinished(source, why)
        return events + self._gone(device, why) if gone else events

    def receive(self, device: DeviceId, message: Listening | Need | Began | Trying | Probed | ProbeFailed | Frames | Done) -> list[Event]:
        """Handle a worker's message. Messages must come in the order in which the worker sent them."""
        worker = self._workers[device]
        worker.heard = True
        match message:
            case Need():
                if not worker.leaving:
                    self._workers.asking.append(device)
            case Began():
                worker.begun.add((message.source, message.segment))
            case Trying():
                worker.trying = message
            case Probed() | ProbeFailed():
                worker.probes.pop(message.source, None)
                worker.begun.discard((message.source, None))
                return self._probed(message)
            case Frames():
                return self._frames(device, message)
            case Done():
                return self._done(worker, message)
        return []

    def assignments(self) -> Iterator[tuple[DeviceId, Probe | Detect | Drop | Revoke]]:
        """Yield the messages that the caller has to send to workers now, each once."""
        yield from self._drops
        self._drops = []
        yield from self._probes.assign(self._workers, self._room())
        yield from assign_segments(self._workers, self._strategy, self._sources, self._clock)
        if self._strategy.steals and len(self._workers) > 1:
            yield from self._workers.revokes()

    def _room(self) -> int:
        """Number of sources that may be opened now. They take memory, so only a few of a long queue are opened ahead of the work."""
        decode_threads = sum(max(1, self._workers[device].decode_threads) if device in self._workers else 1 for device in self._devices)
        return 2 * decode_threads + 2 - (len(self._sources) - len(self._probes))

    def _probed(self, message: Probed | ProbeFailed) -> list[Event]:
        source = self._sources.get(message.source)
        if source is None or source.info is not None:  # another worker may have answered before
            return []
        if isinstance(message, ProbeFailed):
            return [self._finish(source, error=message.error)]
        if source.position is not None and not source.position.fits(message.info.segments):
            return [self._finish(source, error=Notice("pool.cut_differently", path=source.path, option=Option("restart")))]
        source.open(message.info)
        self._strategy.open(source.number, message.info.segments, source.position)
        return [SourceOpened(source.number, message.info), *self._advance(source)]

    def _frames(self, device: DeviceId, frames: Frames) -> list[Event]:
        source = self._sources.get(frames.source)
        if source is None:
            return []
        source.add(device, frames)
        ahead = list(source.ahead(device, frames))
        if (worker := self._workers.get(device)) is not None:
            worker.did((frames.source, frames.segment), len(frames), self._clock())
        return [*ahead, *self._advance(source)]

    def _done(self, worker: WorkerState, message: Done) -> list[Event]:
        key = message.source, message.segment
        work = worker.end(key, self._clock())
        taker = worker.revoked.pop(key, None)
        if taker is not None:  # the segment was revoked for this device, so it comes first
            self._workers.ask_first(taker)
        source = self._sources.get(message.source)
        if source is None:
            return []
        source.error = source.error or message.error
        source.decoder += message.decoder
        if not message.complete:
            self._strategy.give_back(replace(work, skip=source.sequencer.received(message.segment), crashes=CrashCount(), kills=0))
            return self._advance(source)
        return self._segment_done(source, work, message.frames)

    def _segment_done(self, source: OpenSource, work: Work, frames: int) -> list[Event]:
        source.sequencer.finish(work.segment.number, frames)
        self._strategy.done(work)
        return self._advance(source)

    def _advance(self, source: OpenSource) -> list[Event]:
        """Hand on the results that are next in display order."""
        events: list[Event] = list(source.due())
        if source.sequencer.complete:
            events.append(self._finish(source, error=source.error))
        return events

    def _leave_unfinished(self, source: OpenSource, why: Notice) -> list[Event]:
        """End a source at which the system kills workers. It stays unfinished, and the device goes on with the others."""
        return self._stop(source, Notice(LEFT_UNFINISHED, path=source.path, kills=MAX_KILLS, why=why))

    def _lost_work(self, device: DeviceId, source: OpenSource, work: Work, worker: WorkerState) -> list[Event]:
        assert source.info is not None
        done = source.sequencer.received(work.segment.number)
        # devices of one process end together, so that each further trial would cost all of them a restart
        crashes = work.crashes.after_crash(device, others=not self._workers.together and self._workers.others_work(device))
        failed, rest = failures_after_crash(work, crashes, done, work.key in worker.begun, worker.trying, source.info, device)
        parts = [(done + first, failed[first : first + MESSAGE_FRAMES]) for first in range(0, len(failed), MESSAGE_FRAMES)]
        events = [event for part in parts for event in self._frames(device, Frames.pack(work.segment.number, *part, device))]
        if rest is None:
            return events + self._segment_done(source, work, done + len(failed))
        self._strategy.give_back(rest)
        return events

    def _gone(self, device: DeviceId, why: Notice) -> list[Event]:
        self._devices.discard(device)
        self._strategy.lose(device)
        if self._devices:
            return []
        self._why_no_device = Notice("pool.no_device_left", device=str(device), why=why)
        return [event for source in list(self._sources.values()) for event in self._cut_short(source, self._why_no_device)]

    def _cut_short(self, source: OpenSource, error: Notice | None) -> list[Event]:
        """Finish a source before its end. Hands on what was received, with gaps."""
        return [*source.due(ends=True), self._finish(source, error=error, cancelled=True)]

    def _finish(self, source: OpenSource, *, error: Notice | None, cancelled: bool = False) -> SourceFinished:
        del self._sources[source.number]
        self._probes.remove(source)
        self._strategy.close(source.number)
        seconds = 0.0 if source.started is None else self._clock() - source.started
        sampled = source.info is not None and source.info.wanted is not None and not cancelled
        ledger = source.book.close(source.info.frames if source.info and sampled else None)
        return SourceFinished(source.number, ledger, seconds, error, cancelled, source.decoder)
