"""Measures how fast NVDEC decodes 1080p H.264, by the number of decode threads and processes, and the host's time for a frame.

Every decode thread decodes segment after segment with ``NvdecDecoder.decode``, all checks included, and releases each surface at once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from cuda.core import Device

from benchmarks.report import table, write
from engine.bench.clips import Clips
from engine.media.nvdec.decoder import NvdecDecoder, device_surfaces
from engine.media.probe import probe
from engine.media.types import DecodedOnDevice, SourceInfo

DECODE_THREADS = (1, 2, 4, 6, 8, 12, 16)
PROCESSES = ((2, 4), (2, 8))
FRAMES = 900  # for each decode thread


def decode_some(decoder: NvdecDecoder, info: SourceInfo, number: int, frames: int) -> int:
    """Decode at least this many frames; decode thread ``number`` begins at its own segment. Returns the number of frames."""
    done, position = 0, number * 3
    while done < frames:
        for frame in decoder.decode(info, info.segments[position % len(info.segments)]):
            assert isinstance(frame, DecodedOnDevice)
            frame.image.release()
            done += 1
        position += 1
    return done


def in_threads(decoder: NvdecDecoder, info: SourceInfo, count: int, least: int = FRAMES) -> tuple[float, float]:
    """Frames/s of several decode threads together, and µs of processor time for a frame."""
    frames, used = [0] * count, [0.0] * count
    barrier = threading.Barrier(count + 1)

    def run(number: int) -> None:
        Device(0).set_current()
        barrier.wait()
        began = time.thread_time()
        frames[number] = decode_some(decoder, info, number, least)
        used[number] = time.thread_time() - began

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    barrier.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    assert all(frames), "a decode thread failed"
    return sum(frames) / took, 1e6 * sum(used) / sum(frames)


def measure(path: Path, decode_threads: int, barrier: Any = None, results: Any = None) -> tuple[float, float]:
    """``in_threads`` after a warm-up. barrier: processes that wait there start together."""
    info, decoder = probe(path), NvdecDecoder(0, device_surfaces(0, 64, 1 << 30))
    in_threads(decoder, info, decode_threads, 60)
    if barrier is not None:
        barrier.wait()
    found = in_threads(decoder, info, decode_threads, FRAMES if barrier is None else 3 * FRAMES)
    decoder.close()
    if results is not None:
        results.put(found)
    return found


def processes(path: Path, count: int, decode_threads: int) -> float:
    """Frames/s of several processes together."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(count), context.Queue()
    running = [context.Process(target=measure, args=(path, decode_threads, barrier, results)) for _ in range(count)]
    for process in running:
        process.start()
    rates = [results.get(timeout=120)[0] for _ in running]
    for process in running:
        process.join()
    return float(sum(rates))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=1200, help="length of the clip")
    options = parser.parse_args()
    device = Device(0)
    device.set_current()
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        clips = Clips(Path(folder))
        path = clips.of(options.frames)
        for decode_threads in DECODE_THREADS:
            rate, cost = measure(path, decode_threads)
            rows.append([1, decode_threads, f"{rate:.0f}", f"{cost:.0f}"])
        for count, decode_threads in PROCESSES:
            rows.append([count, decode_threads, f"{processes(path, count, decode_threads):.0f}", ""])
    head = ("processes", "decode threads each", "frames/s", "CPU µs a frame")
    body = f"{device.name}, {clips.name}, {options.frames} frames.\n\n{table(head, rows)}\n\n{__doc__}"
    write("nvdec", "Decoding with NVDEC", body, ("av", "PyNvVideoCodec", "cuda-core"))


if __name__ == "__main__":
    main()
