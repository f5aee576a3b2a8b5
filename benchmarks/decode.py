"""How fast videos become RGB pictures, against OpenCV's VideoCapture on the same files in the same run, and how long probing takes.

Both decode every frame with the same number of threads and hand out RGB. OpenCV gives BGR, so its time includes turning the
channels round, as every user of it here would have to; without that step it is given as well. The 1080p clip is made
on the spot: H.264 with B-frames, moving noise and a still background.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import av
import cv2
import numpy as np

from benchmarks.report import table, write
from engine.media.decode import decode
from engine.media.probe import probe

THREADS = 2


def make_clip(path: Path, frames: int) -> Path:
    """A 1920×1080 H.264 clip."""
    rng = np.random.default_rng(1)
    background = np.asarray(cv2.GaussianBlur(rng.integers(0, 255, (1080, 1920, 3), dtype=np.uint8), (0, 0), 9), np.uint8)
    sprite = rng.integers(0, 255, (240, 240, 3), dtype=np.uint8)
    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=30, options={"preset": "veryfast", "crf": "23", "g": "60", "bf": "2"})
        stream.width, stream.height, stream.pix_fmt = 1920, 1080, "yuv420p"
        for number in range(frames):
            image = background.copy()
            left, top = number * 11 % 1600, number * 5 % 800
            image[top : top + 240, left : left + 240] = sprite
            output.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        output.mux(stream.encode(None))
    return path


def ours(path: Path) -> int:
    """Decode with the project's own code, segment by segment as a worker does."""
    info = probe(path)
    return sum(1 for segment in info.segments for _ in decode(info, segment, threads=THREADS))


def opencv(path: Path, rgb: bool = True) -> int:
    """Decode with OpenCV."""
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, THREADS])
    frames = 0
    while True:
        found, image = capture.read()
        if not found:
            return frames
        if rgb:
            cv2.cvtColor(image, cv2.COLOR_BGR2RGB, dst=image)
        frames += 1


def measured(run: Callable[[Path], int], path: Path) -> float:
    """Frames/s."""
    began = time.perf_counter()
    frames = run(path)
    return frames / (time.perf_counter() - began)


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("videos", nargs="*", type=Path, help="more videos to measure with")
    parser.add_argument("--rounds", type=int, default=5, help="each way so often, in turn; medians count")
    arguments = parser.parse_args()
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for path in [*arguments.videos, make_clip(Path(folder) / "generated 1080p.mp4", 300)]:
            ways = (ours, opencv, lambda video: opencv(video, rgb=False))
            rates = [[measured(way, path) for way in ways] for _ in range(arguments.rounds)]
            own, rgb, bgr = (statistics.median(column) for column in zip(*rates, strict=True))
            began = time.perf_counter()
            info = probe(path)
            milliseconds = (time.perf_counter() - began) * 1e3
            ratios = [statistics.median(row[0] / row[other] for row in rates) for other in (1, 2)]
            names = (path.name, f"{info.width}×{info.height}", info.frames)
            rows.append([*names, f"{own:.0f}", f"{rgb:.0f}", f"{bgr:.0f}", *(f"{ratio:.2f}" for ratio in ratios), f"{milliseconds:.1f}"])
    head = ("video", "size", "frames", "Framefleet/s", "OpenCV RGB/s", "OpenCV BGR/s", "ratio to RGB", "ratio to BGR", "probe, ms")
    note = f"{THREADS} decoder threads each, load {os.getloadavg()[0]:.1f} when done, medians of {arguments.rounds} rounds."
    write("decode", "Decoding to RGB, against OpenCV", f"{table(head, rows)}\n\n{note}", ("av", "opencv-python-headless"))


if __name__ == "__main__":
    main()
