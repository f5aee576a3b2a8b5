"""In a worker: how fast a source is decoded, as its device does it and by one decoder for all devices."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from engine.backends.base import Backend
from engine.media.types import DecodedFrame, DecodedOnDevice, DecodeFailure, SourceInfo
from engine.pool.protocol import Survey, Surveyed

SECONDS = 0.3
"""How long frames are counted."""

PATIENCE_SECONDS = 3.0
"""When to give up a decoder whose frames do not get going: the run waits."""

_log = logging.getLogger(__name__)


@dataclass
class _Pace:
    """What one decoder did. rate: frames/s, None = not known. on_device: whether a frame lay in the device's memory."""

    rate: float | None = None
    on_device: bool = False


def survey(task: Survey, backend: Backend, stopped: Callable[[], bool]) -> Surveyed:
    """Decode the source's beginning in both ways, one after the other. stopped: whether nobody waits for the answer any more.

    A file that cannot be decoded gives no rate: who does its work finds out what is wrong with it. The calling thread should be free
    to use all processors that a group's front may use.
    """
    from engine.pool.groups.decoding import decode_shared, threads_for
    from engine.pool.groups.shared_pictures import CHUNK_BYTES, SharedPictures

    (segment,) = task.info.segments
    # a decoder of several threads begins with as many frames at once, which tell nothing about its pace
    burst = threads_for(segment, decode_threads=1)
    own = _measure(lambda: backend.decode(task.info, segment), task.info, burst, stopped)
    pictures = SharedPictures(CHUNK_BYTES)
    try:
        shared = _measure(lambda: decode_shared(task.info, segment, 0, pictures, decode_threads=1), task.info, burst, stopped)
    finally:
        pictures.close()
    return Surveyed(task.source, own.rate, shared.rate, own.on_device)


def _measure(
    decode: Callable[[], Iterator[DecodedFrame | DecodedOnDevice | DecodeFailure]],
    info: SourceInfo,
    burst: int,
    stopped: Callable[[], bool],
) -> _Pace:
    """Count frames after the first ``burst``, failed ones included: for ``SECONDS``, or to the source's end."""
    pace, count, counted = _Pace(), 0, 0
    begun = since = now = time.perf_counter()
    try:
        with closing(decode()) as frames:  # type: ignore[type-var]  # all of them are generators
            for frame in frames:
                now = time.perf_counter()
                if isinstance(frame, DecodedOnDevice):
                    frame.image.release()
                    pace.on_device = True
                count += frame.count if isinstance(frame, DecodeFailure) else 1
                del frame  # its place in shared memory is for the next one
                if count <= burst:
                    since, counted = now, count
                if stopped() or (count > burst and now - since >= SECONDS) or now - begun >= PATIENCE_SECONDS:
                    break
    except Exception as problem:
        _log.warning("%s: how fast it is decoded cannot be measured: %s", info.path, problem)
        return _Pace()
    if count > counted and now > since:
        pace.rate = (count - counted) / (now - since)
    return pace
