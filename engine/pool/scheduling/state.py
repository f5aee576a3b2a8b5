"""What the dispatcher knows of a source that is open and of a worker, and how much each has to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from engine.media.types import SourceInfo
from engine.pool.ledger import LedgerBook
from engine.pool.protocol import Trying
from engine.pool.scheduling.strategies.base import Piece, Work
from engine.pool.scheduling.strategies.source_queue import ahead
from engine.pool.scheduling.throughput import Left, Load, Pace, Place, piece
from engine.pool.sequencer import Sequencer
from engine.types import DeviceId


@dataclass(eq=False)
class OpenSource:
    """One open source. info, sequencer: None until it is probed. started: when its first segment was given out. suspect: probing it
    killed a worker."""

    number: int
    path: Path
    book: LedgerBook = field(default_factory=LedgerBook)
    info: SourceInfo | None = None
    sequencer: Sequencer | None = None
    started: float | None = None
    error: str | None = None
    suspect: bool = False


@dataclass
class WorkerState:
    """What one worker process holds. decode_threads: segments that it works on at once, 0 until its engine is built.

    begun: tasks it said it began, as (source, segment). trying: the frame it said it would try, if it is careful. waits: for the
    others in its process to be idle, so that it can do a suspect task. leaving: it gets nothing any more. revoked: works that it is
    to give back, and for which device. left: what it has not done of its works, but for what is suspect: that stays where it is.
    """

    decode_threads: int = 0
    begun: set[tuple[int, int | None]] = field(default_factory=set)
    probe: OpenSource | None = None
    trying: Trying | None = None
    works: dict[Place, Work] = field(default_factory=dict)
    waits: bool = False
    leaving: bool = False
    revoked: dict[Place, DeviceId] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)
    left: dict[Place, Left] = field(default_factory=dict)

    def give(self, work: Work) -> None:
        """It has something more to do."""
        place = work.source, work.segment.number
        self.works[place] = work
        if not work.suspect:
            end = work.segment.frames if work.limit is None else min(work.segment.frames, work.skip + work.limit)
            self.left[place] = Left(max(0, end - work.skip), work.skip)

    def did(self, place: Place, frames: int) -> None:
        """So many frames more of a work are done."""
        if (left := self.left.get(place)) is not None:
            self.left[place] = Left(max(0, left.frames - frames), left.done + frames)

    def end(self, place: Place) -> Work:
        """A work is over. Gives what it was."""
        self.begun.discard(place)
        self.left.pop(place, None)
        return self.works.pop(place)

    def load(self, now: float, promised: int = 0) -> Load:
        """What it has to do. promised: see ``Load``."""
        kept = {place: left for place, left in self.left.items() if place not in self.revoked} if self.revoked else self.left
        return Load(self.pace.rate(now), kept, promised)

    @property
    def idle(self) -> bool:
        """Whether it has nothing to do."""
        return self.probe is None and not self.works

    @property
    def isolated(self) -> bool:
        """Whether it has something suspect, and must get nothing else."""
        return (self.probe is not None and self.probe.suspect) or any(work.suspect for work in self.works.values())


def piece_for(device: DeviceId, workers: Mapping[DeviceId, WorkerState], loads: Mapping[DeviceId, Load], left: float) -> Piece:
    """How much of a segment a device should get at once. loads: of all workers. left: frames that nobody has yet."""
    able = {other for other, worker in workers.items() if worker.decode_threads and not (worker.leaving or worker.isolated)} - {device}
    window = ahead(*(other.decode_threads for other in workers.values()))
    lesser = device.kind != "cuda" and any(other.kind == "cuda" for other in able)
    others = [loads[other] for other in able]
    return partial(
        piece, own=loads[device], decode_threads=workers[device].decode_threads, others=others, ahead=window, left=left, lesser=lesser
    )


def frames_left(sources: Iterable[OpenSource], loads: Iterable[Load]) -> float:
    """Frames, as the sources announce them, that no device has yet; infinitely many as long as a source is not probed."""
    announced = sum(math.inf if source.info is None else source.info.frames - source.book.arrived for source in sources)
    return max(0.0, announced - sum(load.frames for load in loads))


def loads_of(workers: Mapping[DeviceId, WorkerState], now: float) -> dict[DeviceId, Load]:
    """What each has to do."""
    promised = dict.fromkeys(workers, 0)
    for worker in workers.values():
        for place, taker in worker.revoked.items():
            if taker in promised and place in worker.left:
                promised[taker] += worker.left[place].frames
    return {device: worker.load(now, promised[device]) for device, worker in workers.items()}
