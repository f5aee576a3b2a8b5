"""Compares the speed of our engine with that of OpenCV's DNN module, with the same network, weights, pictures and cores.

Both run alternately, and only the ratio within a round counts. Our engine always has as many pictures in progress as it has slots. Its time
includes resizing, box decoding and NMS. OpenCV computes one picture at a time with all cores: ``blobFromImage``, then ``forward`` to the
outputs of its YOLO layers, without NMS. Processor time is the sum over all threads. Other programs on the machine affect it much less than
images/s. With ``auto``, the engine compares precisions on frames of the demo's clip, as it does on a user's video.

The matrix product is NumPy's of two float32 matrices of 2048 × 2048, in the same rounds: about what the CPU can compute in fp32.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from benchmarks.meters import Speed, keep_busy
from benchmarks.report import spread, table, write
from framefleet.engine.backends.create import create_backend
from framefleet.engine.bench.tune import EXAMPLES
from framefleet.engine.media.probe import examples
from framefleet.engine.model.describe import describe
from framefleet.engine.model.load import load_network
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.notices import DeviceError
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import DeviceId, Image
from framefleet.resources import DEMO
from tools.darknet_weights import write_weights

NEEDED = 2.5
"""The least speed at ``auto`` precision, in multiples of OpenCV's."""

SIZE = 416


def opencv_speed(network: cv2.dnn.Net, pictures: Sequence[Image], seconds: float) -> Speed:
    """OpenCV's speed with one picture after the other."""
    outputs = network.getUnconnectedOutLayersNames()
    done, started, used = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - started < seconds:
        network.setInput(cv2.dnn.blobFromImage(pictures[done % len(pictures)], 1 / 255, (SIZE, SIZE)))
        network.forward(outputs)
        done += 1
    return Speed(done / (time.perf_counter() - started), 1000 * (time.process_time() - used) / done, {})


def matrix_product(seconds: float) -> float:
    """GFLOP/s of NumPy's float32 matrix product on all cores."""
    left, right = np.random.default_rng(0).random((2, 2048, 2048), np.float32)
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        np.matmul(left, right)
        done += 1
    return done * 2 * 2048**3 / 1e9 / (time.perf_counter() - started)


def main() -> int:
    """Measure and write the result. Returns 0 if our engine is fast enough, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True, help="yolov4.cfg")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "random.weights"
        write_weights(weights, random_weights(describe(options.cfg), "random:1"))
        network = load_network(ModelFiles(options.cfg, weights, size=(SIZE, SIZE)))
        opencv = cv2.dnn.readNetFromDarknet(str(options.cfg), str(weights))
    pictures = list(np.random.default_rng(0).integers(0, 256, (4, SIZE, SIZE, 3), np.uint8))
    opencv_speed(opencv, pictures, 1)
    billions = describe(options.cfg, (SIZE, SIZE)).flops / 1e9
    rows, ratio = [], 0.0
    for precision in (Precision.AUTO, Precision.FP32, Precision.BF16):
        pairs = []
        products: list[float] = []
        with create_backend(DeviceId("cpu", "0")) as backend:
            backend.tuning, backend.examples = True, partial(examples, [DEMO.clip], EXAMPLES)
            try:
                info = backend.activate(network, EngineSettings(precision=precision))
            except DeviceError as problem:  # this CPU does not compute in it
                print(problem, file=sys.stderr)
                continue
            for number in range(options.rounds):
                pairs.append(
                    (
                        keep_busy(backend, [[picture] for picture in pictures], options.seconds),
                        opencv_speed(opencv, pictures, options.seconds),
                    )
                )
                products.append(matrix_product(options.seconds / 3))
                print(f"{precision}, round {number + 1}: {pairs[-1]}", file=sys.stderr)
        ratios = [ours.images_per_s / theirs.images_per_s for ours, theirs in pairs]
        ratio = ratio or median(ratios)
        shares = [billions * ours.images_per_s / product for (ours, _), product in zip(pairs, products, strict=True)]
        rates = (f"{median(speed.images_per_s for speed in side):.2f}" for side in zip(*pairs, strict=True))
        costs = (f"{median(speed.processor_ms for speed in side):.0f}" for side in zip(*pairs, strict=True))
        saved = median(theirs.processor_ms / ours.processor_ms for ours, theirs in pairs)
        rows.append(
            [
                f"{precision} ({info.precision})",
                *rates,
                spread(ratios),
                spread(products, 0),
                spread(shares),
                *costs,
                f"{saved:.2f}",
                info.reason,
            ]
        )
    head = ["our precision", "ours, images/s", "OpenCV (fp32), images/s", "ours ÷ OpenCV (range)"]
    head += ["matrix product, GFLOP/s", "ours ÷ matrix product"]
    head += ["ours, processor ms/image", "OpenCV, processor ms/image", "processor time, OpenCV ÷ ours", "why this precision"]
    verdict = f"Target at precision auto, {NEEDED} times OpenCV's speed: {'reached' if ratio >= NEEDED else '**missed**'}."
    body = f"{verdict} Medians of {options.rounds} rounds.\n\n{table(head, rows)}\n\n{__doc__}"
    write(
        "detection.backend",
        f"YOLOv4-{SIZE}, random weights: our engine against OpenCV's",
        body,
        ("openvino", "opencv-python-headless", "numpy"),
        "cpu",
    )
    return 0 if ratio >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
