"""Compares our detections with those of the original programs.

1. Boxes of yolo-fastest-1.1: on three pictures, against AlexeyAB's darknet; on every frame of a video, against OpenCV 4.14's Darknet
   importer.
2. Other precisions and decoders on the same video, against fp32 on the CPU. ``--devices cuda:0`` compares a GPU.
3. Raw outputs of the YOLOv4 family with seeded random weights, against OpenCV's importer: max |a - b| / max |b|.

Boxes of the reference and of Framefleet are paired one to one: same class, IoU ≥ 0.9, confidence within 0.03. Boxes whose confidence is
within 0.03 of the threshold are counted separately, because rounding can move such a box below the threshold on one side.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import cv2
import numpy as np

from benchmarks.report import table, write
from framefleet.engine.backends.create import create_backend
from framefleet.engine.media.probe import probe
from framefleet.engine.model.describe import describe
from framefleet.engine.model.load import load_network
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.notices import DeviceError
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, FramesDone, SourceFinished
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Decode, EngineSettings, ModelFiles, Precision, RunSettings
from framefleet.engine.types import Detections, DeviceId
from tests.support.networks.detections import Comparison, compare, read_darknet, read_jsonl
from tests.support.networks.opencv import opencv_heads, relative_difference
from tools.darknet_weights import write_weights

LIBRARIES = "numpy", "openvino", "opencv-python-headless", "av"
CPU = DeviceId("cpu", "0")
FAMILY = ("yolov4", "yolov4-tiny", "yolov4-tiny-3l", "yolov4-csp", "yolov4-csp-swish", "yolov4-p5", "yolov4x-mish")
BOXES, HEADS = 0.99, 1e-4
"""The least share of boxes that must be paired, and the largest relative difference of a raw output."""

PICTURE_THRESHOLD, VIDEO_THRESHOLD = 0.3, 0.25
"""The thresholds of the references."""


def detect(model: ModelFiles, source: Path, device: DeviceId, settings: EngineSettings) -> tuple[list[Detections], str]:
    """The detections of every frame through ``EnginePool``, and the precision in use with its reason.

    Raises
    ------
    DeviceError
        The device failed.
    """
    found: list[Detections] = []
    used = ""
    with EnginePool(RunSettings(model, engine=settings), [device]) as pool:
        pool.add(source)
        pool.finish()
        for event in pool.events():
            match event:
                case DeviceReady(engine):
                    used = f"{engine.precision}: {engine.reason}"
                case DeviceFailed(_, message):
                    raise DeviceError(message)
                case FramesDone(_, frames):
                    found += [frame.detections or Detections() for frame in frames]
                case SourceFinished(_, ledger, _, error):
                    assert error is None, error
                    assert not ledger.failed, ledger
    return found, used


def row(name: str, reference: Sequence[Detections], ours: Sequence[Detections], threshold: float) -> tuple[list[object], float]:
    """A row of the table of boxes, and the smaller of the two shares of paired boxes."""
    result = sum((compare(a, b, threshold) for a, b in zip(reference, ours, strict=True)), Comparison())
    one_sided = f"{result.missed_at_threshold} / {result.surplus_at_threshold}"
    shares = (result.recovered, result.confirmed)
    counts = (result.reference, result.ours, result.paired)
    return [name, *counts, *(f"{share:.2%}" for share in shares), one_sided, result.unexplained], min(shares)


def boxes(data: Path, devices: Sequence[DeviceId]) -> tuple[str, float]:
    """The first two comparisons as text, and the smallest share of boxes found in the first."""
    model = ModelFiles(data / "models" / "yolo-fastest-1.1.cfg", data / "models" / "yolo-fastest-1.1.weights")
    video = data / "video" / "people.mp4"
    rows, shares = [], []
    exact_settings = EngineSettings(precision=Precision.FP32, stored_confidence=PICTURE_THRESHOLD)
    pictures = {picture: probe(picture) for picture in sorted((data / "images").glob("*.jpg"))}
    sizes = {picture.name: (info.width, info.height) for picture, info in pictures.items()}
    darknet = read_darknet(data / "reference" / "yolo-fastest-1.1.darknet.json", sizes)
    for picture in pictures:
        line, share = row(
            f"darknet, {picture.name}", [darknet[picture.name]], detect(model, picture, CPU, exact_settings)[0], PICTURE_THRESHOLD
        )
        rows.append(line)
        shares.append(share)
    info = probe(video)
    opencv = read_jsonl(data / "reference" / "people.yolo-fastest-1.1.opencv.jsonl", info.width, info.height)
    exact, _ = detect(model, video, CPU, EngineSettings(precision=Precision.FP32, stored_confidence=VIDEO_THRESHOLD))
    line, share = row(f"OpenCV, {len(exact)} frames", opencv, exact, VIDEO_THRESHOLD)
    rows.append(line)
    shares.append(share)
    others: list[list[object]] = []
    for device, precision, decoder in product(devices, Precision, Decode):
        if decoder is not Decode.CPU and device.kind != "cuda":
            continue  # other devices have no other decoder
        settings = EngineSettings(precision=precision, decode=decoder, stored_confidence=VIDEO_THRESHOLD)
        try:
            found, used = detect(model, video, device, settings)
        except DeviceError as error:
            others.append([f"{device} {precision}, {decoder}", *[""] * 7, str(error)])
            continue
        others.append([*row(f"{device} {precision}, {decoder}", exact, found, VIDEO_THRESHOLD)[0], used])
    head = ["", "reference boxes", "our boxes", "paired", "of reference", "of ours", "at the threshold, reference / ours", "unexplained"]
    text = f"## Boxes of yolo-fastest-1.1 at fp32\n\n{table(head, rows)}\n\n"
    text += f"## Precisions and decoders against fp32 on the CPU, on the same video\n\n{table([*head, 'precision in use'], others)}"
    return text, min(shares)


def heads(cfg: Path) -> tuple[list[list[object]], float]:
    """Rows of the table of raw outputs for one network, and the largest relative difference."""
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "random.weights"
        write_weights(weights, random_weights(describe(cfg), "random:1"))
        network = load_network(ModelFiles(cfg, weights))
        inputs = np.random.default_rng(0).random((1, 3, network.height, network.width), dtype=np.float32)
        try:
            expected = opencv_heads(cfg, weights, network, inputs)
        except cv2.error as error:
            return [[cfg.stem, "", "", f"OpenCV cannot read it: {error}", ""]], 0.0
    with create_backend(CPU) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32))
        ours = backend.raw_outputs(inputs)
    size = f"{network.width}×{network.height}"
    differences = [relative_difference(head, reference) for head, reference in zip(ours, expected, strict=True)]
    rows: list[list[object]] = [
        [cfg.stem, size, "×".join(map(str, reference.shape[1:])), f"{difference:.1e}", f"{reference.std():.2f}"]
        for difference, reference in zip(differences, expected, strict=True)
    ]
    return rows, max(differences)


def main() -> int:
    """Compare and write the result. Returns 0 if all differences are within the limits, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with models/, images/, video/ and reference/")
    parser.add_argument("--devices", default="cpu:0", help="compared with fp32 on the CPU (cpu:0)")
    options = parser.parse_args()
    text, least = boxes(options.data, [DeviceId.parse(name) for name in options.devices.split(",")])
    rows, worst = [], 0.0
    for name in FAMILY:
        print(f"{name} …", file=sys.stderr)
        more, difference = heads(options.data / "models" / f"{name}.cfg")
        rows += more
        worst = max(worst, difference)
    comparison = table(["network (random:1)", "input", "output", "max \\|a - b\\| / max \\|b\\|", "standard deviation of b"], rows)
    verdict = f"Paired boxes at fp32, of the reference's and of ours, ≥ {BOXES:.0%}: {'yes' if least >= BOXES else '**NO**'}. "
    verdict += f"Raw outputs within {HEADS:g}: {'yes' if worst < HEADS else '**NO**'}."
    body = f"{verdict}\n\n{text}\n\n## Raw outputs against OpenCV, fp32\n\n{comparison}"
    write(
        "detection.accuracy",
        "Do we detect what the original programs detect?",
        body,
        ("numpy", "openvino", "opencv-python-headless", "av"),
        "accuracy",
    )
    return 0 if least >= BOXES and worst < HEADS else 1


if __name__ == "__main__":
    sys.exit(main())
