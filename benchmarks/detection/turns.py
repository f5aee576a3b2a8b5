"""Measures what it costs that the decode threads of a worker take turns while the engine is slower than they are.

Each thread puts groups of frames, as NVDEC (8) and the JPEG engines (32) hand them over. ``FrameBuffer``: into the worker's buffer, from
which another thread takes batches of 32. ``SurfaceRing``: surfaces for them, which are released by batches of 32. Both are those of a
worker; the frames have no pixels. Changes of threads are the voluntary context switches of the process.
"""

from __future__ import annotations

import argparse
import queue
import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.report import spread, table, write
from framefleet.engine.detection.frame_format import FrameFormat
from framefleet.engine.media.nvdec.surfaces import SurfaceRing
from framefleet.engine.media.types import DeviceFrame, Segment, SourceInfo, SourceKind
from framefleet.engine.pool.protocol import Detect
from framefleet.engine.pool.worker.message_buffer import FrameBuffer, Picture
from framefleet.engine.types import UNNUMBERED, FrameRef

THREADS, BATCH, SLOTS = 21, 32, 3
PAUSE = 0.002
"""Seconds that the engine works on a batch."""


class NoMemory:
    """An ``Allocation`` of none."""

    address = 0

    def __init__(self, nbytes: int) -> None:
        pass

    def close(self) -> None:
        """Do nothing."""


def in_threads(frames: int, group: int, put: Callable[[int], None], work: Callable[[], None]) -> tuple[float, float, float]:
    """Call ``put`` for all groups in ``THREADS`` threads, and ``work`` in another one. Returns frames/s, switches and µs of a frame."""
    groups = iter(range(frames // group))
    lock = threading.Lock()

    def run() -> None:
        while True:
            with lock:
                if next(groups, None) is None:
                    return
            put(group)

    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    threads = [threading.Thread(target=run) for _ in range(THREADS)] + [threading.Thread(target=work)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return frames / took, (after.ru_nvcsw - before.ru_nvcsw) / frames, 1e6 * used / frames


def buffer_turns(frames: int, group: int) -> tuple[float, float, float]:
    """See ``in_threads``, for ``FrameBuffer``."""
    buffer = FrameBuffer(2 * BATCH)
    segment = Segment(0, None, None, frames)
    info = SourceInfo(str(Path("video.mp4")), SourceKind.VIDEO, "h264", 1920, 1080, frames, None, None, (segment,))
    task = Detect(0, info, segment)
    image = DeviceFrame(FrameFormat.rgb(1920, 1080), 0, None, lambda: None)

    def put(count: int) -> None:
        buffer.put_all([Picture(task, FrameRef(0, UNNUMBERED, 0.0), image, 1920, 1080, 1.0, 0.0) for _ in range(count)])

    def work() -> None:
        taken = 0
        while taken < frames:
            taken += len(buffer.take(BATCH) or ())
            time.sleep(PAUSE)

    return in_threads(frames, group, put, work)


def surface_turns(frames: int, group: int) -> tuple[float, float, float]:
    """See ``in_threads``, for ``SurfaceRing``."""
    surfaces = SurfaceRing(THREADS + (2 + SLOTS) * BATCH, 1 << 30, NoMemory)
    ready: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def put(count: int) -> None:
        while count:
            taken = surfaces.acquire_several(1, count)
            count -= len(taken)
            for _, release in taken:
                ready.put(release)

    def work() -> None:
        for _ in range(frames // BATCH):
            batch = [ready.get() for _ in range(BATCH)]
            time.sleep(PAUSE)
            for release in batch:
                release()

    found = in_threads(frames, group, put, work)
    surfaces.close()
    return found


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows: list[list[object]] = []
    for name, measure in (("FrameBuffer", buffer_turns), ("SurfaceRing", surface_turns)):
        for group in (8, 32):
            rounds = [measure(options.frames, group) for _ in range(options.rounds)]
            rows.append(
                [name, group, *(spread(column, digits) for column, digits in zip(zip(*rounds, strict=True), (0, 2, 1), strict=True))]
            )
    head = ("", "frames a group", "frames/s", "changes of threads a frame", "processor time, µs a frame")
    note = f"{THREADS} threads, batches of {BATCH}, {1000 * PAUSE:.0f} ms each. Medians of {options.rounds} rounds, ranges in brackets."
    write("detection.turns", "Turns of a worker's threads", f"{table(head, rows)}\n\n{note}", (), "gpu-host")


if __name__ == "__main__":
    main()
