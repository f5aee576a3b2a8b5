"""A worker without an engine, with invented results, to measure what many devices cost the driver.

It implements the whole protocol, in a real process that a real agent starts. Sources are empty files with an invented length.
"""

from __future__ import annotations

import time
from multiprocessing.connection import Connection

import numpy as np

from framefleet.engine.media.types import Segment, SourceInfo, SourceKind
from framefleet.engine.pool.events import DeviceReady
from framefleet.engine.pool.protocol import (
    Began,
    Detect,
    Done,
    Drop,
    Frames,
    FromWorker,
    Listening,
    Need,
    Probe,
    Probed,
    Setup,
    Stats,
    Stop,
    Stopped,
    ToWorker,
)
from framefleet.engine.types import AS_ASKED, UNNUMBERED, Detections, EngineInfo, FrameRef, FrameResult

SEGMENT_FRAMES = 128
SEGMENTS = 20_000
MESSAGE_FRAMES = 64
RATE = 30.0
STATS_SECONDS = 0.5


def main(connection: Connection[FromWorker, ToWorker], setup: Setup, *, frames_per_s: float, boxes: int) -> None:
    """Answer like a worker. frames_per_s: 0 = as fast as the driver takes results. boxes: in each frame."""
    connection.send(Listening())
    connection.send(DeviceReady(EngineInfo(setup.device, "stub", "stub", "fp32", AS_ASKED, 416, 416, 1, 1)))
    connection.send(Need())
    found = _detections(boxes)
    began, sent, latencies = time.perf_counter(), 0, np.full(MESSAGE_FRAMES, 5, np.float32)
    reported = began
    while True:
        try:
            match connection.recv():
                case Probe(source, path):
                    connection.send(Probed(source, _info(str(path))))
                case Detect() as task:
                    connection.send(Began(task.source, task.segment.number))
                    for first in range(task.skip, task.segment.frames, MESSAGE_FRAMES):
                        if frames_per_s:
                            time.sleep(max(0.0, began + sent / frames_per_s - time.perf_counter()))
                        count = min(MESSAGE_FRAMES, task.segment.frames - first)
                        start = task.segment.number * SEGMENT_FRAMES + first
                        refs = [FrameRef(task.source, UNNUMBERED, (start + at) / RATE) for at in range(count)]
                        results = [FrameResult(ref, setup.device, 1920, 1080, found) for ref in refs]
                        connection.send(Frames.pack(task.segment.number, first, results, setup.device))
                        sent += count
                        if (now := time.perf_counter()) - reported >= STATS_SECONDS:
                            connection.send(Stats(setup.device, now - reported, latencies, {"decode": 1.0, "infer": 5.0}))
                            reported = now
                    connection.send(Done(task.source, task.segment.number, task.segment.frames, True))
                    connection.send(Need())
                case Drop():
                    pass
                case Stop():
                    connection.send(Stopped())
        except (EOFError, OSError):
            return


def _detections(boxes: int) -> Detections:
    random = np.random.default_rng(1)
    corners = random.uniform(0, 900, (boxes, 2)).astype(np.float32)
    scores = np.sort(random.uniform(0.3, 1, boxes).astype(np.float32))[::-1].copy()
    return Detections(np.hstack([corners, corners + 80]), scores, random.integers(0, 80, boxes).astype(np.int32))


def _info(path: str) -> SourceInfo:
    segments = tuple(Segment(number, number * SEGMENT_FRAMES, (number + 1) * SEGMENT_FRAMES, SEGMENT_FRAMES) for number in range(SEGMENTS))
    frames = SEGMENT_FRAMES * SEGMENTS
    return SourceInfo(path, SourceKind.VIDEO, "h264", 1920, 1080, frames, frames / RATE, RATE, segments)
