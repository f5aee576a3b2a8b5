"""Assigns segments to the decode threads that ask for work."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from framefleet.engine.pool.protocol import Detect
from framefleet.engine.pool.scheduling.state import OpenSource, WorkerState
from framefleet.engine.pool.scheduling.strategies.base import Strategy
from framefleet.engine.pool.scheduling.strategies.source_queue import ChunkSize, whole, window_segments
from framefleet.engine.pool.scheduling.throughput import Load, chunk_size
from framefleet.engine.pool.scheduling.workers import Workers
from framefleet.engine.types import DeviceId


def assign_segments(
    workers: Workers, strategy: Strategy, sources: Mapping[int, OpenSource], clock: Callable[[], float]
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
        size = _chunk_size_for(device, workers, loads, unassigned) if shared else whole
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
            loads[device] = worker.load(now, loads[device].promised)
        source = sources[work.source]
        assert source.info is not None
        source.started = source.started or now
        info = replace(source.info, segments=(), number=work.source)  # a source may have thousands of segments, and the worker needs one
        yield device, Detect(work.source, info, work.segment, work.skip, work.limit, work.suspect)


def _chunk_size_for(
    device: DeviceId, workers: Mapping[DeviceId, WorkerState], loads: Mapping[DeviceId, Load], unassigned: float
) -> ChunkSize:
    """The ``ChunkSize`` for one device. loads: of all workers. unassigned: number of frames that no device has."""
    able = {other for other, worker in workers.items() if worker.decode_threads and not (worker.leaving or worker.isolated)} - {device}
    return partial(
        chunk_size,
        own=loads[device],
        decode_threads=workers[device].decode_threads,
        others=[loads[other] for other in able],
        window=window_segments(*(worker.decode_threads for worker in workers.values())),
        unassigned=unassigned,
        slow_kind=device.kind != "cuda" and any(other.kind == "cuda" for other in able),
    )


def _unassigned_frames(sources: Iterable[OpenSource], loads: Iterable[Load]) -> float:
    """Number of frames that no device has, by the containers' frame counts; infinite while a source is not probed."""
    announced = sum(math.inf if source.info is None else source.info.to_do - source.book.arrived for source in sources)
    return max(0.0, announced - sum(load.frames for load in loads))
