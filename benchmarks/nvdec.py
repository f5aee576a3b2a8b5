"""How fast NVDEC decodes 1080p H.264 into surfaces, by the number of decode threads and processes, and what a frame costs the host.

"Alone" feeds packets that lie ready in memory to PyNvVideoCodec and looks at nothing: what the hardware and its library can do. The
other figures are ``NvdecDecoder.decode`` over the segments of the file, all checks included, each surface released at once.
The clip is made on the spot: a camera pans over a textured ground with moving objects, about 8 Mbit/s, a keyframe every 2 s.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from cuda.core import Device

from benchmarks.report import table, write
from engine.media.container.video_file import VideoFile
from engine.media.nvdec.bitstream import Bitstream
from engine.media.nvdec.decoder import NvdecDecoder, device_surfaces
from engine.media.nvdec.expected_frames import AwaitedFrames
from engine.media.nvdec.session import Session
from engine.media.probe import probe
from engine.media.segment import packets_of
from engine.media.types import DecodedOnDevice, Segment, SourceInfo

DECODE_THREADS = (1, 2, 4, 6, 8, 12, 16)
FRAMES = 900  # for each decode thread


def make_clip(path: Path, frames: int) -> Path:
    """A 1920×1080 H.264 clip."""
    rng = np.random.default_rng(1)
    ground = cv2.GaussianBlur(rng.integers(0, 255, (2200, 3900, 3), dtype=np.uint8), (0, 0), 3)
    cv2.normalize(ground, ground, 0, 255, cv2.NORM_MINMAX)
    sprites = [rng.integers(0, 255, (120, 80, 3), dtype=np.uint8) for _ in range(8)]
    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=30, options={"preset": "veryfast", "g": "60", "bf": "2"})
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 1920, 1080, "yuv420p", 8_000_000
        for number in range(frames):
            left, top = int(950 + 900 * np.sin(number / 97)), int(500 + 450 * np.cos(number / 71))
            image = np.array(ground[top : top + 1080, left : left + 1920], np.uint8)
            for turn, sprite in enumerate(sprites):
                x, y = (number * (3 + turn) + 200 * turn) % 1800, (number * (1 + turn) + 90 * turn) % 900
                image[y : y + 120, x : x + 80] = sprite
            output.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        output.mux(stream.encode(None))
    return path


def in_threads(count: int, work: Callable[[int], int]) -> tuple[float, float]:
    """Frames/s of ``work`` in so many threads at once, and µs of processor time a frame cost."""
    frames, used = [0] * count, [0.0] * count
    barrier = threading.Barrier(count + 1)

    def run(number: int) -> None:
        Device(0).set_current()
        barrier.wait()
        began = time.thread_time()
        frames[number] = work(number)
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


def decode_some(decoder: NvdecDecoder, info: SourceInfo, number: int, frames: int = FRAMES) -> int:
    """Decode segment after segment, every decode thread from one of its own on."""
    done, position = 0, number * 3
    while done < frames:
        for frame in decoder.decode(info, info.segments[position % len(info.segments)]):
            assert isinstance(frame, DecodedOnDevice)
            frame.image.release()
            done += 1
        position += 1
    return done


def new_decoder() -> NvdecDecoder:
    """With room for what waits in a worker."""
    return NvdecDecoder(0, device_surfaces(0, 64, 1 << 30))


def prepared(info: SourceInfo) -> list[bytearray]:
    """All packets, as the hardware wants them."""
    with VideoFile(Path(info.path)) as file:
        bitstream = Bitstream(file.codec.name, file.codec.extradata)
        found: list[bytearray] = []
        for packet in packets_of(file, Segment(0, None, None, 0)):
            found.append(bytearray(bitstream.convert(bytearray(packet)) if found else bitstream.first(bytearray(packet))))
        return found


def alone(sessions: list[Any], packets: list[bytearray], number: int) -> int:
    """Feed packets, count frames."""
    done = 0
    while done < FRAMES:
        done += sum(len(sessions[number].decode(packet, 0)) for packet in packets) + len(sessions[number].finish())
    return done


def read_only(info: SourceInfo) -> float:
    """µs for all that happens to a packet before the hardware sees it."""
    took = []
    for segment in info.segments:
        with VideoFile(Path(info.path)) as file:
            awaited, bitstream = AwaitedFrames(file, segment), Bitstream(file.codec.name, file.codec.extradata)
            packets = awaited.packets()
            bitstream.first(bytearray(next(packets)))
            began, count = time.perf_counter(), 0
            for packet in packets:
                bitstream.convert(memoryview(packet))
                count += 1
            took.append(1e6 * (time.perf_counter() - began) / count)
    return statistics.median(took)


def in_process(path: Path, decode_threads: int, barrier: Any, results: Any) -> None:
    """One of several processes."""
    info, decoder = probe(path), new_decoder()
    in_threads(decode_threads, lambda number: decode_some(decoder, info, number, 100))
    barrier.wait()
    rate, _ = in_threads(decode_threads, lambda number: decode_some(decoder, info, number, 3 * FRAMES))
    results.put(rate)


def processes(path: Path, count: int, decode_threads: int) -> float:
    """Frames/s of all processes together."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(count), context.Queue()
    workers = [context.Process(target=in_process, args=(path, decode_threads, barrier, results)) for _ in range(count)]
    for worker in workers:
        worker.start()
    rates = [results.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    return float(sum(rates))


def opening(decoder: NvdecDecoder, info: SourceInfo, packets: list[bytearray]) -> tuple[float, float]:
    """ms until a new session has given its first frame, and until one that is used again has."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(5):
        session = None
        for kind in times:
            began = time.perf_counter()
            if session is None:
                session = Session(decoder._library, 0, info.codec)
            for packet in packets:
                if session.decode(packet, 0):
                    break
            session.stream.sync()
            kind.append(1e3 * (time.perf_counter() - began))
            session.finish()
    return statistics.median(times[0]), statistics.median(times[1])


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1200, help="length of the clip")
    arguments = parser.parse_args()
    device = Device(0)
    device.set_current()
    with tempfile.TemporaryDirectory() as folder:
        path = make_clip(Path(folder) / "1080p.mp4", arguments.frames)
        info = probe(path)
        megabits = 8e-6 * path.stat().st_size / (info.duration or 1)
        decoder = new_decoder()
        began = time.perf_counter()
        assert decoder.supports(info) is None
        first_look = 1e3 * (time.perf_counter() - began)
        path.with_name("other.mp4").symlink_to(path)
        other = probe(path.with_name("other.mp4"))
        began = time.perf_counter()
        assert decoder.supports(other) is None
        next_look = 1e3 * (time.perf_counter() - began)
        packets = prepared(info)
        cold, warm = opening(decoder, info, packets)
        sessions = [Session(decoder._library, 0, info.codec) for _ in range(max(DECODE_THREADS))]
        rows: list[list[object]] = []
        for decode_threads in DECODE_THREADS:
            in_threads(decode_threads, lambda number: decode_some(decoder, info, number, 60))
            ours, cost = in_threads(decode_threads, lambda number: decode_some(decoder, info, number))
            bound, least = in_threads(decode_threads, lambda number: alone(sessions, packets, number))
            rows.append([1, decode_threads, f"{ours:.0f}", f"{cost:.0f}", f"{bound:.0f}", f"{least:.0f}", f"{ours / bound:.2f}"])
        sessions.clear()
        decoder.close()
        for count, decode_threads in ((2, 4), (2, 8)):
            rows.append([count, decode_threads, f"{processes(path, count, decode_threads):.0f}", "", "", "", ""])
        size = f"{info.frames} frames of 1920×1080 at {megabits:.1f} Mbit/s in {len(info.segments)} segments"
        facts = (
            f"{device.name}, {size}. Reading and converting a packet takes {read_only(info):.0f} µs. A new session gives its first frame "
            f"after {cold:.0f} ms, one that is used again after {warm:.0f} ms. Looking at the first source took {first_look:.0f} ms, "
            f"at the next {next_look:.0f} ms."
        )
    head = ("processes", "decode threads each", "frames/s", "CPU µs a frame", "alone, frames/s", "CPU µs a frame", "of it")
    write("nvdec", "Decoding with NVDEC", f"{facts}\n\n{table(head, rows)}", ("av", "PyNvVideoCodec", "cuda-core"))


if __name__ == "__main__":
    main()
