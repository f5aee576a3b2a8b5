"""The dispatcher's state of open sources and workers, and the loads of all workers."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import FramesDone
from framefleet.engine.pool.ledger import LedgerBook
from framefleet.engine.pool.position import Position
from framefleet.engine.pool.protocol import Trying
from framefleet.engine.pool.results import Frames
from framefleet.engine.pool.scheduling.strategies.source_queue import SegmentKey, Work
from framefleet.engine.pool.scheduling.throughput import Load, Remaining, Throughput
from framefleet.engine.pool.sequencer import Sequencer
from framefleet.engine.types import DeviceId

LONG_FRAMES = 1000
"""With fewer frames, another strategy saves too little time."""


@dataclass(eq=False)
class OpenSource:
    """An unfinished source.

    info: None until the source is probed. asked: when a worker was last asked to probe it. started: when its first segment was assigned.
    suspect: whether a worker crashed while it opened the source. position: where an earlier run stopped, None = the source begins at its
    start.
    """

    number: int
    path: Path
    info: SourceInfo | None = None
    asked: float = 0.0
    started: float | None = None
    error: Notice | None = None
    decoder: DecoderUse = DecoderUse()  # noqa: RUF009
    suspect: bool = False
    position: Position | None = None
    book: LedgerBook = field(default_factory=LedgerBook)
    sequencer: Sequencer = field(default_factory=lambda: Sequencer(()))

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
    decodes at once, 0 until its engine is built. begun: tasks that the worker has begun, as (source, segment). trying: the frame that
    the worker announced last, in careful mode. waits: whether it waits for the other workers in its process to be idle, before a suspect
    task. leaving: the worker gets no more work. revoked: revoked segments, each with the device that will continue it. remaining: frames
    of its works; suspect works are not included, since they are never revoked.
    """

    heard: bool = False
    decode_threads: int = 0
    begun: set[tuple[int, int | None]] = field(default_factory=set)
    probe: OpenSource | None = None
    trying: Trying | None = None
    works: dict[SegmentKey, Work] = field(default_factory=dict)
    waits: bool = False
    leaving: bool = False
    revoked: dict[SegmentKey, DeviceId] = field(default_factory=dict)
    throughput: Throughput = field(default_factory=Throughput)
    remaining: dict[SegmentKey, Remaining] = field(default_factory=dict)

    def give(self, work: Work, now: float) -> None:
        """Add assigned work."""
        self.works[work.key] = work
        self.throughput.start(now)
        if not work.suspect:
            self.remaining[work.key] = Remaining(work.frames, work.skip)

    def did(self, key: SegmentKey, frames: int, now: float) -> None:
        """Count finished frames of a work."""
        self.throughput.done(frames, now)
        if (remaining := self.remaining.get(key)) is not None:
            self.remaining[key] = Remaining(max(0, remaining.frames - frames), remaining.done + frames)

    def end(self, key: SegmentKey, now: float) -> Work:
        """Remove ended work and return it."""
        self.begun.discard(key)
        self.remaining.pop(key, None)
        work = self.works.pop(key)
        if not self.works:
            self.throughput.stop(now)
        return work

    def load(self, now: float, promised: int = 0) -> Load:
        """The worker's load. promised: see ``Load``."""
        kept = {key: remaining for key, remaining in self.remaining.items() if key not in self.revoked} if self.revoked else self.remaining
        return Load(self.throughput.rate(now), kept, promised)

    @property
    def idle(self) -> bool:
        """Whether the worker has no work."""
        return self.probe is None and not self.works

    @property
    def isolated(self) -> bool:
        """Whether the worker has a suspect task and therefore gets no other one."""
        return (self.probe is not None and self.probe.suspect) or any(work.suspect for work in self.works.values())


def uncut_sources(sources: Collection[OpenSource]) -> int | None:
    """Number of open sources if all are videos of one segment, with ``LONG_FRAMES`` or more together, else 0.

    None if a source is not probed yet, or there is no source.
    """
    infos = [source.info for source in sources if source.info is not None]
    if not infos or len(infos) < len(sources):
        return None
    uncut = all(info.kind is SourceKind.VIDEO and len(info.segments) == 1 for info in infos)
    return len(infos) if uncut and sum(info.frames for info in infos) >= LONG_FRAMES else 0
