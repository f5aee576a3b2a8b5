"""Measures the speed of NVDEC for 1080p H.264 by the number of decode threads and processes, and the host's processor time per frame.

``NVDEC alone`` feeds packets from memory into one session per thread and ignores the frames: the limit of the hardware and its library.
``NvdecDecoder`` is the project's decoder on the same video, with file reading and all checks; it releases each surface at once. The
measurement starts when every session is open and has returned frames, and ends while all of them still decode.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import count, cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.meters import in_new_process
from benchmarks.report import spread, table, write
from framefleet.engine.bench.pool_run import Clips
from framefleet.engine.media.decoder import GPU_THREADS, Decoder, FfmpegDecoder, release_all
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.types import DeviceId

DECODE_THREADS = (1, 2, 4, 6, 8, 12, 16)
PROCESSES = ((2, 4), (2, 8))
WAYS = {
    "a packet a call": (1, True),
    "a packet a call, waiting threads use a processor": (1, False),
    "4 packets a call": (4, True),
    "16 packets a call": (16, True),
}

WARM_UP = 30
"""Frames that each thread decodes before the clock starts: fewer than a segment has, so that all threads hold a session at that time."""


@dataclass(frozen=True)
class Decoding:
    """frames_per_s: of all threads together. microseconds: their processor time for a frame."""

    frames_per_s: float
    microseconds: float


def together(sources: Sequence[Generator[None, None, None]], seconds: float, start: Any = None) -> Decoding:
    """Take frames from endless iterators, each in its own thread. start: a barrier at which several processes begin together."""
    frames, used = [0] * len(sources), [0.0] * len(sources)
    barrier, over = threading.Barrier(len(sources) + 1), threading.Event()

    def run(number: int) -> None:
        with closing(sources[number]) as source:
            try:
                for _ in islice(source, WARM_UP):
                    pass
                barrier.wait()
            except BaseException:
                barrier.abort()
                raise
            began = time.thread_time()
            for _ in source:
                frames[number] += 1
                if over.is_set():
                    break
            used[number] = time.thread_time() - began

    with ThreadPoolExecutor(len(sources)) as threads:
        running = [threads.submit(run, number) for number in range(len(sources))]
        try:
            barrier.wait()
            if start is not None:
                start.wait()
            before, began = sum(frames), time.perf_counter()
            time.sleep(seconds)
            done, took = sum(frames) - before, time.perf_counter() - began
        except threading.BrokenBarrierError:
            done, took = 0, 1.0
        over.set()
        for one in running:
            problem = one.exception()
            if problem is not None and not isinstance(problem, threading.BrokenBarrierError):
                raise problem
    return Decoding(done / took, 1e6 * sum(used) / sum(frames))


def from_memory(path: Path, info: SourceInfo, stream: Any, number: int, packets_a_call: int) -> Generator[None, None, None]:
    """The frames of one session that decodes the packets of one segment from memory, again and again.

    stream: one of ``session_streams``.
    """
    import PyNvVideoCodec

    from framefleet.engine.media.container.video_file import VideoFile
    from framefleet.engine.media.nvdec.bitstream import Bitstream
    from framefleet.engine.media.nvdec.library import Session
    from framefleet.engine.media.segment import packets_of

    stream.device.set_current()
    with VideoFile(path) as file:
        segment, codec = info.segments[number % (len(info.segments) - 1)], file.codec.name  # the last one may be short
        bitstream = Bitstream(codec, file.codec.extradata)
        raw = [bytearray(packet) for packet in packets_of(file, segment)]
    packets = [bytes(bitstream.first(raw[0])), *(bytes(bitstream.convert(packet)) for packet in raw[1:])]
    calls = [bytearray(b"".join(packets[first : first + packets_a_call])) for first in range(0, len(packets), packets_a_call)]
    session = Session(PyNvVideoCodec, stream, codec)
    for data, stamp in zip(cycle(calls), count(1), strict=False):
        for _ in session.decode(data, stamp):
            yield


def from_decoder(decoder: Decoder, info: SourceInfo, number: int) -> Generator[None, None, None]:
    """The frames of segment after segment by a decoder of the project. Decode thread ``number`` begins at its own segment."""
    for position in count(3 * number):
        for group in decoder.groups(info, info.segments[position % len(info.segments)]):
            release_all(group)
            yield from [None] * len(group)


def nvdec_alone(
    path: Path, index: int, sessions: int, seconds: float, start: Any = None, packets_a_call: int = 1, blocking: bool = True
) -> Decoding:
    """Measure ``from_memory`` in this process. blocking: threads that wait for the device sleep instead of asking again and again."""
    from framefleet.engine.cuda.device import open_device
    from framefleet.engine.media.nvdec.library import session_streams

    open_device(DeviceId("cuda", str(index)), sleep=blocking)
    info, streams = probe(path), cycle(session_streams(index))
    return together([from_memory(path, info, next(streams), number, packets_a_call) for number in range(sessions)], seconds, start)


def decoder_alone(path: Path, device: DeviceId, threads: int, seconds: float) -> Decoding:
    """Measure ``from_decoder`` in this process: NVDEC on a GPU, else FFmpeg."""
    info = probe(path)
    with closing(open_alone(device, threads)) as decoder:
        return together([from_decoder(decoder, info, number) for number in range(threads)], seconds)


def open_alone(device: DeviceId, threads: int) -> Decoder:
    """The decoder that a worker of this device uses, with enough surfaces for all threads."""
    if device.kind != "cuda":
        return FfmpegDecoder(threads)
    from framefleet.engine.media.nvdec.decoder import open_nvdec

    decoder = open_nvdec(int(device.name), threads, required=True)
    decoder.make_room(64)
    return decoder


def processes(path: Path, number: int, sessions: int, seconds: float) -> float:
    """Frames/s of several processes together, ``nvdec_alone`` in each."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(number) as pool:
        start = manager.Barrier(number)
        return sum(one.frames_per_s for one in pool.starmap(nvdec_alone, [(path, 0, sessions, seconds, start)] * number, 1))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=2400, help="length of the clip")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=DECODE_THREADS, help="numbers of decode threads to measure")
    options = parser.parse_args()
    from cuda.core import Device

    gpu, seconds = DeviceId("cuda", "0"), options.seconds
    bare: dict[tuple[int, int], list[Decoding]] = {}
    ours: dict[int, list[Decoding]] = {}
    several: dict[tuple[int, int], list[float]] = {}
    ways: dict[str, list[Decoding]] = {}
    with tempfile.TemporaryDirectory() as folder:
        clips = Clips(Path(folder))
        path = clips.of(options.frames)
        for turn in range(options.rounds):
            for threads in options.threads:
                bare.setdefault((1, threads), []).append(in_new_process(nvdec_alone, path, 0, threads, seconds))
                ours.setdefault(threads, []).append(in_new_process(decoder_alone, path, gpu, threads, seconds))
            for name, way in WAYS.items():
                ways.setdefault(name, []).append(in_new_process(nvdec_alone, path, 0, GPU_THREADS, seconds, None, *way))
            for case in PROCESSES:
                several.setdefault(case, []).append(processes(path, *case, seconds))
            print(f"round {turn + 1} of {options.rounds}", flush=True)
    rows: list[list[object]] = []
    for threads in options.threads:
        alone, decoder = bare[1, threads], ours[threads]
        cells: list[object] = [1, threads]
        for side in (alone, decoder):
            cells += [spread([one.frames_per_s for one in side], 0), f"{median(one.microseconds for one in side):.0f}"]
        ratios = [one.frames_per_s / limit.frames_per_s for one, limit in zip(decoder, alone, strict=True)]
        rows.append([*cells, spread(ratios)])
    table_of_ways = table(
        (f"{GPU_THREADS} sessions, NVDEC alone", "frames/s", "µs a frame"),
        [
            (name, spread([one.frames_per_s for one in each], 0), spread([one.microseconds for one in each], 0))
            for name, each in ways.items()
        ],
    )
    rows += [[number, threads, spread(rates, 0), "", "", "", ""] for (number, threads), rates in several.items()]
    head = (
        "processes",
        "decode threads each",
        "NVDEC alone, frames/s",
        "µs a frame",
        "NvdecDecoder, frames/s",
        "µs a frame",
        "÷ NVDEC alone",
    )
    about = f"{Device(0).name}, {clips.name}, {options.frames} frames. Medians of {options.rounds} rounds, ranges in brackets."
    write(
        "gpu.nvdec",
        "Decoding with NVDEC",
        f"{about}\n\n{table(head, rows)}\n\n{table_of_ways}\n\n{__doc__}",
        ("av", "PyNvVideoCodec", "cuda-core"),
        "gpu-host",
    )


if __name__ == "__main__":
    main()
