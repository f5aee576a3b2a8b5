"""Compares two ways from a decoded frame to the network's input on the CPU: RGB by libswscale alone, and RGB as a GPU computes it, too.

Both take the same decoded frames in turn, on one thread. The time is processor time, from the decoder's frame to the float32 input.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from benchmarks.report import spread, table, write
from framefleet.engine.detection.preprocess import fit
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.picture import Converter
from framefleet.engine.types import Image
from tests.support.devices.surfaces import picture
from tests.support.media import make_video

MAX_RATIO = 1.02
"""Largest ratio of the times."""

SOURCES = {
    "1920×1080, 8 bits": ((1920, 1080), "yuv420p"),
    "1920×1080, 10 bits": ((1920, 1080), "yuv420p10le"),
    "768×432, 8 bits": ((768, 432), "yuv420p"),
    "480×270, 8 bits": ((480, 270), "yuv420p"),
}
NETWORKS = (288, 416, 608)


def milliseconds(convert: Callable[[VideoFrame], Image], frames: list[VideoFrame], out: NDArray[np.float32]) -> float:
    """Processor time of a frame."""
    began = time.thread_time()
    for frame in frames:
        fit(convert(frame), out, letterbox=False)
    return 1000 * (time.thread_time() - began) / len(frames)


def make(folder: Path, size: tuple[int, int], pix_fmt: str, frames: int) -> Path:
    """Make a video of pictures with edges and noise."""
    options = {"preset": "ultrafast", "x265-params": "log-level=none:info=0"} if "10" in pix_fmt else {}
    codec = "libx265" if "10" in pix_fmt else "libx264"
    path = folder / f"{pix_fmt}-{size[0]}.mp4"
    return make_video(path, frames, size, codec=codec, options=options, pix_fmt=pix_fmt, colorspace=1, picture=_draw)


class Before(Converter):
    """Converts every frame by libswscale's choice of converter."""

    def _rgb(self, frame: VideoFrame, width: int, height: int) -> Image:
        return np.asarray(self._reformatter.reformat(frame, width, height, "rgb24", threads=1).to_ndarray(), np.uint8)


def _draw(number: int, size: tuple[int, int]) -> Image:
    return picture(*size, number)


def main() -> int:
    """Measure and write the result. Returns 1 if a ratio is too large."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--frames", type=int, default=16, help="in each round (16)")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    rows: list[list[object]] = []
    worst = 0.0
    with TemporaryDirectory() as folder:
        for name, (size, pix_fmt) in SOURCES.items():
            with VideoFile(make(Path(folder), size, pix_fmt, options.frames)) as file:
                frames = [frame for packet in (*file.packets(), None) for frame in file.decode(packet)]
                ways = Before(None), Converter(None)
                for network in NETWORKS:
                    out = np.empty((network, network, 3), np.float32)
                    pairs = []
                    for number in range(options.rounds + 2):
                        times = [milliseconds(way, frames, out) for way in (ways if number % 2 else ways[::-1])]
                        pairs.append(times if number % 2 else times[::-1])
                    pairs = pairs[2:]
                    before, after = zip(*pairs, strict=True)
                    ratios = [later / earlier for earlier, later in pairs]
                    worst = max(worst, median(ratios))
                    rows.append([name, f"{network}×{network}", spread(before), spread(after), spread(ratios, 2)])
    head = ["frame", "input", "libswscale alone, ms", "defined input, ms", "defined ÷ libswscale"]
    body = f"Target for all medians: ≤ {MAX_RATIO}, {'reached' if worst <= MAX_RATIO else '**missed**'}.\n\n{table(head, rows)}\n\n"
    body += f"Medians of {options.rounds} rounds, ranges in brackets.\n\n{__doc__}"
    libraries = ("opencv-python-headless", "av", "numpy")
    write("detection.input_speed", "From a decoded frame to the network's input", body, libraries, "decoding")
    return 0 if worst <= MAX_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
