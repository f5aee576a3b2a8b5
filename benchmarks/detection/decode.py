"""Compares the speed of decoding to RGB with OpenCV's VideoCapture on the same files, or measures how long probing a long video takes.

Both decode every frame with the same number of threads. OpenCV returns BGR. One column includes its conversion to RGB, the other does not.
Files are read before they are measured, so that the time of the disk does not count.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import av
import cv2

from benchmarks.report import spread, table, write
from framefleet.engine.bench.pool_run import Clips
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe

THREADS = 2


def ours(path: Path) -> int:
    """Decode segment by segment, as a worker does. Returns the number of frames."""
    info = probe(path)
    return sum(1 for segment in info.segments for _ in decode(info, segment, threads=THREADS))


def opencv(path: Path, rgb: bool = True) -> int:
    """Decode with OpenCV. Returns the number of frames."""
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, THREADS])
    frames = 0
    while True:
        found, image = capture.read()
        if not found:
            return frames
        if rgb:
            cv2.cvtColor(image, cv2.COLOR_BGR2RGB, dst=image)
        frames += 1


def rate(run: Callable[[Path], int], path: Path) -> float:
    """Decode a video once. Returns frames/s."""
    began = time.perf_counter()
    frames = run(path)
    return frames / (time.perf_counter() - began)


def rewrapped(source: Path, suffix: str) -> Path:
    """The packets of a video's picture track in another container."""
    target = source.with_suffix(suffix)
    with av.open(str(source)) as container, av.open(str(target), "w") as output:
        track = container.streams.video[0]
        copy = output.add_stream_from_template(track)
        for packet in container.demux(track):
            if packet.dts is not None:
                packet.stream = copy
                output.mux(packet)
    return target


def measure_probing(frames: int, rounds: int) -> None:
    """Probe the same packets in several containers, and write the result. frames: at least."""
    seconds: dict[Path, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        video = Clips(Path(folder)).of(frames)
        files = [video, *(rewrapped(video, suffix) for suffix in (".mkv", ".ts"))]
        found = {path: probe(path) for path in files}
        for _ in range(rounds):
            for path in files:
                began = time.perf_counter()
                probe(path)
                seconds.setdefault(path, []).append(time.perf_counter() - began)
        rows = [
            [path.suffix[1:], f"{path.stat().st_size / 1e6:.0f}", found[path].frames, len(found[path].segments), spread(seconds[path], 2)]
            for path in files
        ]
    head = ("container", "MB", "frames", "segments", "seconds")
    write("detection.decode", "Probing a long video", f"{table(head, rows)}\n\nMedians of {rounds} rounds.", ("av",), "decoding")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("videos", nargs="*", type=Path, help="videos to measure beside the generated 1080p clip")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--probe", type=int, metavar="FRAMES", help="measure probing only, of a video of this length")
    options = parser.parse_args()
    if options.probe:
        measure_probing(options.probe, options.rounds)
        return
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for path in [*options.videos, Clips(Path(folder)).of(300)]:
            rounds = [[rate(run, path) for run in (ours, opencv, lambda video: opencv(video, rgb=False))] for _ in range(options.rounds)]
            began = time.perf_counter()
            info = probe(path)
            milliseconds = 1000 * (time.perf_counter() - began)
            rates = (spread(column, 0) for column in zip(*rounds, strict=True))
            ratios = (spread([row[0] / row[other] for row in rounds], 2) for other in (1, 2))
            rows.append([path.name, f"{info.width}×{info.height}", info.frames, *rates, *ratios, f"{milliseconds:.1f}"])
    head = ("video", "size", "frames", "Framefleet/s", "OpenCV RGB/s", "OpenCV BGR/s", "ratio to RGB", "ratio to BGR", "probe, ms")
    note = f"{THREADS} decoder threads each. Medians of {options.rounds} rounds, ranges in brackets."
    write(
        "detection.decode",
        "Decoding to RGB, against OpenCV",
        f"{table(head, rows)}\n\n{note}",
        ("av", "opencv-python-headless"),
        "decoding",
    )


if __name__ == "__main__":
    main()
