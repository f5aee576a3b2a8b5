"""Measures file → boxes for the kinds of sources that people have, beside what the hardware decoder alone reaches.

Videos: 720p, 1080p and 4K in H.264, 1080p in HEVC with 8 and 10 bits. Many short clips: one file of two seconds under many names. Pictures:
JPEGs of 2 megapixels. All contents are generated. ``framefleet bench pipeline`` measures each; a device without NVDEC decodes with FFmpeg.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.gpu.nvdec import nvdec_alone
from benchmarks.report import spread, table, write
from framefleet.engine.bench.pool_run import Clips
from framefleet.engine.media.decoder import GPU_THREADS
from framefleet.engine.types import DeviceId

KEYFRAMES, CLIP_FRAMES = 60, 60
"""Frames from one keyframe to the next, and of a short clip."""

PICTURES = 50
"""Different pictures."""


@dataclass(frozen=True)
class Shape:
    """A kind of video. codec: FFmpeg's encoder."""

    name: str
    width: int
    height: int
    codec: str = "libx264"
    pixels: str = "yuv420p"


SHAPES = (
    Shape("720p H.264", 1280, 720),
    Shape("1080p H.264", 1920, 1080),
    Shape("4K H.264", 3840, 2160),
    Shape("1080p HEVC", 1920, 1080, "libx265"),
    Shape("1080p HEVC, 10 bits", 1920, 1080, "libx265", "yuv420p10le"),
)


@dataclass(frozen=True)
class Row:
    """One kind of source.

    whole, steady: frames/s in each round, since the engines were ready, and without the first tenth of the frames. limits: what ``bench
    pipeline`` names in each round. alone: frames/s of NVDEC alone, None = not measured.
    """

    name: str
    whole: tuple[float, ...]
    steady: tuple[float, ...]
    limits: tuple[str, ...]
    alone: float | None = None

    @property
    def cells(self) -> list[object]:
        """For the table."""
        share = "" if self.alone is None else f"{median(self.steady) / self.alone:.2f}"
        alone = "" if self.alone is None else f"{self.alone:.0f}"
        return [self.name, spread(self.whole, 0), spread(self.steady, 0), alone, share, ", ".join(dict.fromkeys(self.limits))]


def convert(source: Path, target: Path, shape: Shape, frames: int) -> None:
    """Encode the first frames of a video as another kind."""
    import av

    with av.open(str(source)) as container, av.open(str(target), "w") as output:
        quiet = {"x265-params": "log-level=none:keyint=60:min-keyint=60"} if shape.codec == "libx265" else {}
        stream: Any = output.add_stream(shape.codec, 30, options={"preset": "ultrafast", "g": str(KEYFRAMES), **quiet})
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = (
            shape.width,
            shape.height,
            shape.pixels,
            shape.width * shape.height * 3,
        )
        for frame in islice(container.decode(video=0), frames):
            output.mux(stream.encode(frame.reformat(shape.width, shape.height, shape.pixels)))
        output.mux(stream.encode(None))


def save_pictures(source: Path, folder: Path, count: int) -> None:
    """Write pictures of a video as JPEGs: ``PICTURES`` different ones, under ``count`` names."""
    import av
    import cv2

    folder.mkdir()
    with av.open(str(source)) as container:
        for number, frame in enumerate(islice(container.decode(video=0), PICTURES)):
            cv2.imwrite(str(folder / f"{number:06}.jpg"), frame.to_ndarray(format="bgr24"), [cv2.IMWRITE_JPEG_QUALITY, 90])
    for number in range(PICTURES, count):
        os.link(folder / f"{number % PICTURES:06}.jpg", folder / f"{number:06}.jpg")


def pipeline(source: Path, options: Sequence[str]) -> tuple[float, float, str]:
    """Frames/s since the engines were ready, and in steady state, and the bottleneck."""
    command = [sys.executable, "-m", "framefleet.app", "bench", "pipeline", str(source), *options, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found = json.loads(done.stdout.splitlines()[-1])
    return found["whole_frames_per_s"], found["frames_per_s"], found["bottleneck"]


def main() -> None:
    """Run the benchmark and write its result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", default="random:2020")
    parser.add_argument("--devices", default="cuda:0")
    parser.add_argument("--frames", type=int, default=12000, help="of each video; a quarter of it in 4K (12000)")
    parser.add_argument("--clips", type=int, default=1000)
    parser.add_argument("--pictures", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--options", default="", help="more options of bench pipeline, in one word")
    arguments = parser.parse_args()
    options = ["--model", str(arguments.cfg), "--weights", arguments.weights, "--devices", arguments.devices, *arguments.options.split()]
    first = DeviceId.parse(arguments.devices.split(",")[0])
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        clips = Clips(folder)
        base = clips.of(4 * KEYFRAMES)

        def measure(name: str, source: Path, alone: Callable[[], float] | None = None) -> None:
            whole, steady, limits = zip(*(pipeline(source, options) for _ in range(arguments.rounds)), strict=True)
            rows.append(Row(name, whole, steady, limits, alone() if alone is not None else None))
            print(*rows[-1].cells, sep="  ", file=sys.stderr, flush=True)

        for number, shape in enumerate(SHAPES):
            seed = folder / f"seed{number}.mp4"
            convert(base, seed, shape, 4 * KEYFRAMES)
            own = folder / str(number)
            own.mkdir()
            video = Clips(own, seed).of(arguments.frames // (4 if shape.height > 2000 else 1))

            def alone(video: Path = video) -> float:
                with get_context("spawn").Pool(1) as process:
                    return float(process.apply(nvdec_alone, (video, int(first.name), GPU_THREADS, 2.0)).frames_per_s)

            measure(shape.name, video, alone=alone if first.kind == "cuda" else None)
            video.unlink()
        many = folder / "clips"
        many.mkdir()
        convert(base, many / "000000.mp4", SHAPES[1], CLIP_FRAMES)
        for number in range(1, arguments.clips):
            os.link(many / "000000.mp4", many / f"{number:06}.mp4")
        measure(f"{arguments.clips:,} clips of {CLIP_FRAMES} frames, 1080p H.264", many)
        save_pictures(base, folder / "pictures", arguments.pictures)
        measure(f"{arguments.pictures:,} JPEGs of 1920 × 1080", folder / "pictures")
    head = ("source", "whole, frames/s", "steady state, frames/s", "NVDEC alone", "share", "limited by")
    per_clip = [f"{1000 * CLIP_FRAMES / rate:.1f}" for rate in rows[-2].whole]
    body = (
        f"{arguments.rounds} rounds, medians and ranges. Whole: from the moment when the engines are ready to the last frame, so that"
        " opening decoders counts. Steady state: without the first tenth of the frames; the share of NVDEC alone is that of this rate.\n\n"
        f"{table(head, [row.cells for row in rows])}\n\nTime for a clip, ms: {', '.join(per_clip)}."
    )
    write("gpu.shapes", "Kinds of sources on a GPU", body, ("tensorrt-rtx", "nvidia-cudnn-frontend", "av", "PyNvVideoCodec"), page="shapes")


if __name__ == "__main__":
    main()
