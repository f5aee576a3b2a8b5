"""Decides which frames of a segment fail after a worker's crash."""

import math
from dataclasses import replace

from framefleet.engine.media.types import SourceInfo
from framefleet.engine.pool.protocol import Trying
from framefleet.engine.pool.scheduling.crash_count import DIED_TWICE, CrashCount
from framefleet.engine.pool.scheduling.strategies.source_queue import Work
from framefleet.engine.types import UNNUMBERED, DeviceId, FrameRef, FrameResult


def cost_of_crash(
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
