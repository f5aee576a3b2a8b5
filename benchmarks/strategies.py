"""Sharing one video, or one large picture, between devices: ``frames`` and ``tiles`` on one device and on several, in one run.

``frames``: a 1080p H.264 clip, made on the spot and repeated by copying its packets, is decoded once and dealt to the devices; the
rate is taken between the first tenth of the frames and the last. "Decoding alone" is the same decoding, by as many threads, into the
same shared memory, with nothing behind it: what the host can give. ``tiles``: one 8K picture lies in shared memory; the latency is
that from there to its detections, network, transfers and merging included, of one picture at a time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NoReturn

import numpy as np

from benchmarks.memory import looped
from benchmarks.nvdec import make_clip
from benchmarks.report import table, write
from engine.media.decode import decode
from engine.media.probe import probe
from engine.media.types import DecodedFrame, Segment
from engine.model.load import load_network
from engine.pool.events import DeviceFailed, DeviceStats, FramesDone, SourceFinished
from engine.pool.groups.create import create_group
from engine.pool.groups.group import DECODE_THREADS, Group
from engine.pool.groups.shared_pictures import SharedPictures
from engine.pool.pool import EnginePool
from engine.pool.protocol import Failed, Setup
from engine.settings import EngineSettings, Hint, ModelFiles, Parallel, Precision, RunSettings, Tiles
from engine.types import Detections, DeviceId, Image

ROUNDS = 50


def run_frames(
    settings: RunSettings, devices: list[DeviceId], video: Path, total: int
) -> tuple[float, dict[DeviceId, DeviceStats], list[Detections]]:
    """Frames/s, the last figures of each device, and the detections of the first hundred frames."""
    frames, first, start, took = 0, 0, 0.0, 0.0
    stats: dict[DeviceId, DeviceStats] = {}
    found: list[Detections] = []
    with EnginePool(settings, devices) as pool:
        pool.add(video)
        pool.finish()
        for event in pool.events():
            match event:
                case FramesDone():
                    frames += len(event.frames)
                    found += [frame.detections for frame in event.frames if len(found) < 100 and frame.detections is not None]
                    if not start and frames >= total / 10:
                        start, first = time.perf_counter(), frames
                    took = time.perf_counter() - start
                case DeviceStats() if event.final:
                    stats[event.device] = event
                case DeviceFailed():
                    print(event, flush=True)
                case SourceFinished():
                    assert event.ledger.inferred == total, event
    return (frames - first) / took, stats, found[:100]


def decode_alone(video: Path, decode_threads: int, seconds: float = 5.0) -> float:
    """Frames/s into shared memory, in a process of its own."""
    info, pictures = probe(video), SharedPictures(2**32)
    segments: SimpleQueue[Segment] = SimpleQueue()
    for segment in info.segments:
        segments.put(segment)
    counts, stop = [0] * decode_threads, threading.Event()

    def work(number: int) -> None:
        try:
            while True:
                for frame in decode(info, segments.get_nowait(), 0, max(1, (os.cpu_count() or 1) // decode_threads)):
                    if isinstance(frame, DecodedFrame):
                        pictures.put(frame.image)
                        counts[number] += 1
                    if stop.is_set():
                        return
        except Empty:
            return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(decode_threads)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    while time.perf_counter() - started < seconds and any(thread.is_alive() for thread in threads):
        time.sleep(0.01)
    rate = sum(counts) / (time.perf_counter() - started)
    stop.set()
    for thread in threads:
        thread.join()
    pictures.close()
    return rate


def apart(function: object, *arguments: object) -> float:
    """Call in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as fresh:
        return fresh.apply(function, arguments)  # type: ignore[arg-type]


def run_tiles(settings: RunSettings, devices: list[DeviceId], picture: Image) -> tuple[list[float], Detections]:
    """ms of each of ``ROUNDS`` pictures, and what was found."""

    def ignore(*_: object) -> None:
        pass

    def die(failed: Failed) -> NoReturn:
        raise RuntimeError(failed)

    setup = Setup(DeviceId.group(*devices), settings.model, settings.engine, 60.0, Parallel.TILES, settings.isolation, settings.tiles)
    with create_group(setup, ignore, die, ignore) as backend:
        assert isinstance(backend, Group)
        backend.activate(load_network(settings.model), settings.engine)
        image = backend._pictures.put(picture)
        for _ in range(5):
            found = backend.infer([image])
        times = []
        for member in devices:
            backend.member_timings[member]()
        for _ in range(ROUNDS):
            started = time.perf_counter()
            found = backend.infer([image])
            times.append(1000 * (time.perf_counter() - started))
        for member in devices:
            print(member, {stage: round(ms / ROUNDS, 2) for stage, ms in backend.member_timings[member]().items()}, flush=True)
        del image
    return times, found[0]


def differences(a: list[Detections], b: list[Detections]) -> str:
    """How two runs' detections differ, in words."""
    alone = boxes = 0
    worst = 0.0
    for one, other in zip(a, b, strict=True):
        boxes += len(one)
        left, right = (each.select(np.lexsort((each.boxes[:, 1], each.boxes[:, 0], each.class_ids))) for each in (one, other))
        if len(left) != len(right) or (left.class_ids != right.class_ids).any():
            alone += abs(len(left) - len(right)) or 1
            continue
        worst = max(worst, float(np.abs(left.boxes - right.boxes).max(initial=0)))
    return f"{boxes} boxes, {alone} without a partner, the others within {worst:.3f} pixels"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True, help="yolov4.cfg")
    parser.add_argument("--devices", default="cuda:0,cuda:1,cuda:2,cuda:3")
    parser.add_argument("--size", type=int, default=608)
    parser.add_argument("--frames", type=int, default=600, help="of the clip")
    parser.add_argument("--times", type=int, default=20, help="the clip is repeated")
    parser.add_argument("--batch", type=int, default=32, help="for frames")
    parser.add_argument("--tile-batches", default="8", help="for tiles")
    parser.add_argument("--grid", default="", help="columns x rows instead of the automatic one")
    parser.add_argument("--precision", default="fp16")
    parser.add_argument("--confidence", type=float, default=0.5, help="random weights see much")
    arguments = parser.parse_args()
    devices = [DeviceId.parse(name) for name in arguments.devices.split(",")]
    counts = [count for count in (1, 2, 4, 8) if count <= len(devices)]
    engine = EngineSettings(precision=Precision(arguments.precision), confidence=arguments.confidence, batch=arguments.batch)
    files = ModelFiles(arguments.cfg, "random:1", size=(arguments.size, arguments.size))
    settings = RunSettings(files, parallel=Parallel.FRAMES, engine=engine)
    total = arguments.frames * arguments.times
    rows, tile_rows, notes = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        clip = make_clip(Path(folder) / "clip.mp4", arguments.frames)
        video = looped(clip, arguments.times, Path(folder) / "video.mp4")
        print("clip made", flush=True)
        reference: list[Detections] = []
        base = 0.0
        for count in counts:
            rate, stats, found = run_frames(settings, devices[:count], video, total)
            base, reference = base or rate, reference or found
            one = next(iter(stats.values()))
            busy = {stage: round(ms, 3) for stage, ms in one.busy.items()}
            rows.append(
                [count, f"{rate:.0f}", f"{rate / base:.2f}", one.bottleneck, " / ".join(str(each.frames) for each in stats.values())]
            )
            print(rows[-1], busy, {stage: round(ms, 2) for stage, ms in one.stages.items()}, flush=True)
            notes.append(f"frames, {count} devices: {differences(reference, found)} of the first {len(found)} frames, against one device.")
            decode_threads = max(1, min(DECODE_THREADS, (os.cpu_count() or 1) // 2)) if devices[0].kind == "cuda" else 1
            if count in (counts[0], counts[-1]):
                alone = apart(decode_alone, video, decode_threads)
                notes.append(f"decoding alone, {decode_threads} threads on {os.cpu_count()} cores: {alone:.0f} frames/s.")
                print(notes[-1], flush=True)
        info = probe(clip)
        picture = next(frame.image for frame in islice(decode(info, info.segments[0]), 1) if isinstance(frame, DecodedFrame))
        large = np.tile(picture, (4, 4, 1))
        grid = [int(part) for part in arguments.grid.split("x")] if arguments.grid else [None, None]
        tiles = Tiles(grid[0], grid[1])
        for batch in map(int, arguments.tile_batches.split(",")):
            latency = replace(settings, engine=replace(engine, batch=batch, hint=Hint.LATENCY), parallel=Parallel.TILES, tiles=tiles)
            first, reference = 0.0, []
            for count in counts:
                times, seen = run_tiles(latency, devices[:count], large)
                p50, p90 = np.percentile(times, [50, 90])
                first, reference = first or p50, reference or [seen]
                tile_rows.append([count, batch, f"{p50:.1f}", f"{p90:.1f}", f"{p50 / first:.3f}"])
                print(tile_rows[-1], flush=True)
                notes.append(f"tiles, batch {batch}, {count} devices: {differences(reference, [seen])}, against one device.")
    head = ["devices", "frames/s", "× one", "bottleneck", "frames of each"]
    tile_head = ["devices", "tiles a batch", "latency p50, ms", "p90, ms", "of one device's"]
    body = [f"``frames``, 1080p, {arguments.cfg.stem}-{arguments.size}, {arguments.precision}, batch {arguments.batch}", table(head, rows)]
    body += [f"``tiles``, one picture of 7680×4320, {ROUNDS} times", table(tile_head, tile_rows), *notes, __doc__ or ""]
    write("strategies", "Frames and tiles on several devices", "\n\n".join(body), ["numpy", "av"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
