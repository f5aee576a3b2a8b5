"""How fast our engine is against OpenCV's DNN module: the same network, weights, pictures and cores, in turns.

Ours is kept busy with as many pictures as it has slots; resizing, decoding of the boxes and suppression are included.
OpenCV takes one picture at a time with all cores, as it always does: ``blobFromImage`` and ``forward`` to the outputs of
its YOLO layers, without suppression. Every round measures one after the other, so that only the ratio counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from benchmarks.report import table, write
from engine.backends import create_backend
from engine.backends.base import Backend, EngineInfo
from engine.model.describe import describe
from engine.model.load import load_network
from engine.model.network import Network
from engine.model.random_weights import random_weights
from engine.model.weights import write_weights
from engine.settings import EngineSettings, ModelFiles, Precision
from engine.types import DeviceId, Image

NEEDED = 2.5
"""Times OpenCV's speed, at ``auto`` precision."""

SIZE = 416
CPU = DeviceId("cpu", "0")


def ours(backend: Backend, pictures: Sequence[Image], seconds: float) -> float:
    """Images/s with all slots busy."""
    waiting = deque(backend.submit([picture]) for picture in pictures[: backend.info.slots])
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        waiting.popleft().result()
        waiting.append(backend.submit([pictures[done % len(pictures)]]))
        done += 1
    elapsed = time.perf_counter() - started
    for future in waiting:
        future.result()
    return done / elapsed


def theirs(opencv: cv2.dnn.Net, outputs: Sequence[str], pictures: Sequence[Image], seconds: float) -> float:
    """Images/s, one after the other."""
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        opencv.setInput(cv2.dnn.blobFromImage(pictures[done % len(pictures)], 1 / 255, (SIZE, SIZE)))
        opencv.forward(outputs)
        done += 1
    return done / (time.perf_counter() - started)


def measure(
    network: Network, opencv: cv2.dnn.Net, precision: Precision, rounds: int, seconds: float
) -> tuple[EngineInfo, list[float], list[float]]:
    """Our images/s and OpenCV's, one of each per round."""
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
            print(f"{precision} ({info.precision}), round {number + 1}: ours {here[-1]:.2f}/s, OpenCV {there[-1]:.2f}/s", file=sys.stderr)
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
    for precision in (Precision.AUTO, Precision.BF16):
        info, here, there = measure(network, opencv, precision, options.rounds, options.seconds)
        ratios = sorted(a / b for a, b in zip(here, there, strict=True))
        if precision is Precision.AUTO:
            ratio = median(ratios)
        rows.append(
            [
                f"{precision} ({info.precision})" if precision is Precision.AUTO else precision,
                f"{median(here):.2f}",
                f"{median(there):.2f}",
                f"**{median(ratios):.2f}** ({ratios[0]:.2f}–{ratios[-1]:.2f})",
                info.reason,
            ]
        )
    head = ["our precision", "ours, images/s", "OpenCV (fp32), images/s", "ours ÷ OpenCV (range)", "why this precision"]
    verdict = f"At auto precision ours has to be {NEEDED} times as fast: {'yes' if ratio >= NEEDED else 'NO'}."
    body = f"{table(head, rows)}\n\nMedians of {options.rounds} rounds. {verdict}\n\n{__doc__}"
    write("backend", f"YOLOv4-{SIZE}, random weights: our engine against OpenCV's", body, ("openvino", "opencv-python-headless", "numpy"))
    return 0 if ratio >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
