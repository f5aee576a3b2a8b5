"""How fast our engine is against OpenCV's DNN module: the same network, weights, pictures and cores, in turns.

Ours is kept busy with as many pictures as it has slots; resizing, decoding of the boxes and suppression are included.
OpenCV takes one picture at a time with all cores, as it always does: ``blobFromImage`` and ``forward`` to the outputs of
its YOLO layers, without suppression. Every round measures one after the other, so that only the ratio counts. Processor
time is that of all threads; unlike images/s it hardly suffers when something else runs on the machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from benchmarks.report import table, write
from engine.backends import create_backend
from engine.backends.base import Backend
from engine.model.describe import describe
from engine.model.load import load_network
from engine.model.network import Network
from engine.model.random_weights import random_weights
from engine.model.weights import write_weights
from engine.settings import EngineSettings, ModelFiles, Precision
from engine.types import DeviceId, EngineInfo, Image

NEEDED = 2.5
"""Times OpenCV's speed, at ``auto`` precision."""

SIZE = 416
CPU = DeviceId("cpu", "0")


@dataclass(frozen=True)
class Speed:
    """images_per_s; processor_ms: processor time per image."""

    images_per_s: float
    processor_ms: float


class Stopwatch:
    """Runs from its making on."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    @property
    def elapsed(self) -> float:
        """Seconds."""
        return time.perf_counter() - self._start[0]

    def speed(self, images: int) -> Speed:
        """Of so many images until now."""
        return Speed(images / self.elapsed, 1000 * (time.process_time() - self._start[1]) / images)


def ours(backend: Backend, pictures: Sequence[Image], seconds: float) -> Speed:
    """With all slots busy."""
    waiting = deque(backend.submit([picture]) for picture in pictures[: backend.info.slots])
    done, watch = 0, Stopwatch()
    while watch.elapsed < seconds:
        waiting.popleft().result()
        waiting.append(backend.submit([pictures[done % len(pictures)]]))
        done += 1
    speed = watch.speed(done)
    for future in waiting:
        future.result()
    return speed


def theirs(opencv: cv2.dnn.Net, outputs: Sequence[str], pictures: Sequence[Image], seconds: float) -> Speed:
    """One after the other."""
    done, watch = 0, Stopwatch()
    while watch.elapsed < seconds:
        opencv.setInput(cv2.dnn.blobFromImage(pictures[done % len(pictures)], 1 / 255, (SIZE, SIZE)))
        opencv.forward(outputs)
        done += 1
    return watch.speed(done)


def measure(
    network: Network, opencv: cv2.dnn.Net, precision: Precision, rounds: int, seconds: float
) -> tuple[EngineInfo, list[Speed], list[Speed]]:
    """Our speed and OpenCV's, one of each per round."""
    pictures = list(np.random.default_rng(0).integers(0, 256, (4, SIZE, SIZE, 3), np.uint8))
    outputs = opencv.getUnconnectedOutLayersNames()
    here, there = [], []
    with create_backend(CPU) as backend:
        info = backend.activate(network, EngineSettings(precision=precision))
        ours(backend, pictures, 1)
        theirs(opencv, outputs, pictures, 1)
        for number in range(rounds):
            here.append(ours(backend, pictures, seconds))
            there.append(theirs(opencv, outputs, pictures, seconds))
            speeds = f"ours {here[-1].images_per_s:.2f}/s, OpenCV {there[-1].images_per_s:.2f}/s"
            print(f"{precision} ({info.precision}), round {number + 1}: {speeds}", file=sys.stderr)
    return info, here, there


def main() -> int:
    """0: fast enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with models/")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    options = parser.parse_args()
    cfg = options.data / "models" / "yolov4.cfg"
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "random.weights"
        write_weights(weights, random_weights(describe(cfg), "random:1"))
        network = load_network(ModelFiles(cfg, weights, size=(SIZE, SIZE)))
        opencv = cv2.dnn.readNetFromDarknet(str(cfg), str(weights))
    rows, ratio = [], 0.0
    for precision in (Precision.AUTO, Precision.FP32, Precision.BF16):
        info, here, there = measure(network, opencv, precision, options.rounds, options.seconds)
        ratios = sorted(a.images_per_s / b.images_per_s for a, b in zip(here, there, strict=True))
        if precision is Precision.AUTO:
            ratio = median(ratios)
        rows.append(
            [
                f"{precision} ({info.precision})" if precision is Precision.AUTO else precision,
                *(f"{median(speed.images_per_s for speed in side):.2f}" for side in (here, there)),
                f"**{median(ratios):.2f}** ({ratios[0]:.2f}–{ratios[-1]:.2f})",
                *(f"{median(speed.processor_ms for speed in side):.0f}" for side in (here, there)),
                f"{median(b.processor_ms / a.processor_ms for a, b in zip(here, there, strict=True)):.2f}",
                info.reason,
            ]
        )
    head = ["our precision", "ours, images/s", "OpenCV (fp32), images/s", "ours ÷ OpenCV (range)"]
    head += ["ours, processor ms/image", "OpenCV, processor ms/image", "OpenCV ÷ ours", "why this precision"]
    verdict = f"At auto precision ours has to be {NEEDED} times as fast: {'yes' if ratio >= NEEDED else 'NO'}."
    body = f"{table(head, rows)}\n\nMedians of {options.rounds} rounds. {verdict}\n\n{__doc__}"
    write("backend", f"YOLOv4-{SIZE}, random weights: our engine against OpenCV's", body, ("openvino", "opencv-python-headless", "numpy"))
    return 0 if ratio >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
