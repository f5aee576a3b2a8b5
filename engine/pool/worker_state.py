"""What the dispatcher knows of a source that is open and of a worker, and how much each has to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from engine.media.types import SourceInfo
from engine.pool.ledger import LedgerBook
from engine.pool.pace import Left, Load, Pace, Place, piece
from engine.pool.protocol import Trying
from engine.pool.sequencer import Sequencer
from engine.pool.strategies.base import Piece, Work
from engine.pool.strategies.source_queue import ahead
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
    """What one worker process holds. lanes: segments that it works on at once, 0 until its engine is built.

    begun: tasks it said it began, as (source, segment). trying: the frame it said it would try, if it is careful. waits: for the
    others in its process to be idle, so that it can do a suspect task. leaving: it gets nothing any more. recalled: works that it is
    to give back, and for which device.
    """

    lanes: int = 0
    begun: set[tuple[int, int | None]] = field(default_factory=set)
    probe: OpenSource | None = None
    trying: Trying | None = None
    works: dict[Place, Work] = field(default_factory=dict)
    waits: bool = False
    leaving: bool = False
    recalled: dict[Place, DeviceId] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)

    @property
    def idle(self) -> bool:
        """Whether it has nothing to do."""
        return self.probe is None and not self.works

    @property
    def isolated(self) -> bool:
        """Whether it has something suspect, and must get nothing else."""
        return (self.probe is not None and self.probe.suspect) or any(work.suspect for work in self.works.values())


def piece_for(device: DeviceId, workers: Mapping[DeviceId, WorkerState], sources: Mapping[int, OpenSource], now: float) -> Piece:
    """How much of a segment a device should get at once, given all workers and their pace until now."""
    worker = workers[device]
    others = [other.pace.rate(now) for other in workers.values() if other is not worker and not other.leaving]
    window = ahead(*(other.lanes for other in workers.values()))
    under_way = sum(left.frames for left in _left(worker, sources).values())
    return partial(piece, rate=worker.pace.rate(now), lanes=worker.lanes, under_way=under_way, ahead=window, others=others)


def loads_of(workers: Mapping[DeviceId, WorkerState], sources: Mapping[int, OpenSource], now: float) -> dict[DeviceId, Load]:
    """What each has to do. What is suspect is not among it: that stays where it is."""
    kept: dict[DeviceId, dict[Place, Left]] = {}
    promised = dict.fromkeys(workers, 0)
    for device, worker in workers.items():
        left = _left(worker, sources)
        kept[device] = {place: left[place] for place in left if place not in worker.recalled}
        for place, taker in worker.recalled.items():
            if taker in promised and place in left:
                promised[taker] += left[place].frames
    return {device: Load(worker.pace.rate(now), kept[device], promised[device]) for device, worker in workers.items()}


def _left(worker: WorkerState, sources: Mapping[int, OpenSource]) -> dict[Place, Left]:
    """What it was given and has not done, but for what is suspect."""
    left = {}
    for place, work in worker.works.items():
        source = sources.get(work.source)
        if source is None or source.sequencer is None or work.suspect:
            continue
        done = source.sequencer.received(work.segment.number)
        end = work.segment.frames if work.limit is None else min(work.segment.frames, work.skip + work.limit)
        left[place] = Left(max(0, end - done), done)
    return left
