"""The detector finds the same objects as Darknet and OpenCV (a sample; ``benchmarks/detection/accuracy.py`` compares everything)."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

import cv2
import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.preview.reader import VideoReader
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network, Yolo
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import Detections, DeviceId, Image
from framefleet.resources import DEMO
from tests.support.networks.detections import Comparison, compare, from_rows, read_darknet, read_jsonl

CPU = DeviceId("cpu", "0")
FRAMES = slice(560, 700, 2)


@pytest.fixture(scope="module")
def network(data: Path) -> Network:
    return load_network(ModelFiles(data / "models" / "yolo-fastest-1.1.cfg", data / "models" / "yolo-fastest-1.1.weights"))


def opencv_detections(image: Image, network: Network, confidence: float, iou: float) -> Detections:
    """Detections of the demo's model in a picture by OpenCV: its Darknet importer, decoding and suppression."""
    opencv = cv2.dnn.readNetFromDarknet(str(DEMO.cfg), str(DEMO.weights))
    opencv.setInput(cv2.dnn.blobFromImage(image, 1 / 255, (network.width, network.height)))
    rows = np.concatenate(opencv.forward(opencv.getUnconnectedOutLayersNames()))
    height, width = image.shape[:2]
    found: list[tuple[int, float, list[float]]] = []
    for class_id, scores in enumerate(rows[:, 5:].T):
        chosen = np.flatnonzero(scores >= confidence)
        boxes = rows[chosen, :4] * (width, height, width, height)
        boxes[:, :2] -= boxes[:, 2:] / 2
        kept = cv2.dnn.NMSBoxes(boxes.tolist(), scores[chosen].tolist(), confidence, iou)
        found += [(class_id, float(scores[chosen[index]]), boxes[index].tolist()) for index in kept]
    return from_rows(found, width, height)


def test_the_demo_s_frames_as_opencv_sees_them() -> None:
    network = load_network(ModelFiles(DEMO.cfg, DEMO.weights))
    # OpenCV suppresses by IoU only
    by_iou = replace(
        network, layers=tuple(replace(layer, diou_beta=None) if isinstance(layer, Yolo) else layer for layer in network.layers)
    )
    total = Comparison()
    with VideoReader(DEMO.clip) as reader, create_backend(CPU) as backend:
        backend.activate(by_iou, EngineSettings(precision=Precision.FP32, stored_confidence=0.3))
        for seconds in (2, 11, 20):
            reader.seek(seconds)
            image = np.ascontiguousarray(next(reader).image[..., 2::-1])  # it is blue, green, red, 255
            total += compare(opencv_detections(image, network, 0.3, 0.45), backend.infer([image])[0], 0.3)
    assert total.reference > 60
    assert total.recovered >= 0.99
    assert total.unexplained <= 0.01 * total.reference


def test_pictures_as_darknet_sees_them(network: Network, data: Path) -> None:
    pictures = {file.name: cv2.cvtColor(cv2.imread(str(file)), cv2.COLOR_BGR2RGB) for file in (data / "images").glob("*.jpg")}
    sizes = {name: (picture.shape[1], picture.shape[0]) for name, picture in pictures.items()}
    reference = read_darknet(data / "reference" / "yolo-fastest-1.1.darknet.json", sizes)
    with create_backend(CPU) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32, stored_confidence=0.3))
        ours = {name: backend.infer([picture], still=True)[0] for name, picture in pictures.items()}
    total = sum((compare(reference[name], ours[name], 0.3) for name in reference), Comparison())
    assert total.reference == 16
    assert total.unexplained == 0
    assert total.recovered == 1.0


@pytest.mark.slow
def test_frames_as_opencv_sees_them(network: Network, data: Path) -> None:
    reference = read_jsonl(data / "reference" / "people.yolo-fastest-1.1.opencv.jsonl", 768, 432)[FRAMES]
    info = probe(data / "video" / "people.mp4")
    decoded = chain.from_iterable(decode(info, segment) for segment in info.segments)
    frames = [frame for frame in islice(decoded, FRAMES.start, FRAMES.stop, FRAMES.step) if isinstance(frame, DecodedFrame)]
    with create_backend(CPU) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32, stored_confidence=0.25))
        futures = [backend.submit([frame.image]) for frame in frames]
        ours = [future.result()[0] for future in futures]
    total = sum((compare(a, b, 0.25) for a, b in zip(reference, ours, strict=True)), Comparison())
    assert total.reference > 100
    assert total.recovered >= 0.99
    assert total.unexplained <= 0.01 * total.reference


def test_the_comparison_detects_every_difference() -> None:
    box, moved = [10.0, 10.0, 100.0, 100.0], [16.0, 10.0, 100.0, 100.0]
    reference = from_rows([(1, 0.9, box), (2, 0.26, box)], 200, 200)

    def against(*rows: tuple[int, float, list[float]]) -> Comparison:
        return compare(reference, from_rows(rows, 200, 200), 0.25)

    assert against((2, 0.28, box), (1, 0.88, box)) == Comparison(2, 2, 2, 0, 0)
    assert against((1, 0.9, box)) == Comparison(2, 1, 1, 1, 0)
    assert against((1, 0.9, box), (1, 0.9, box), (2, 0.26, box)).unexplained == 1
    for wrong in ((3, 0.9, box), (1, 0.86, box), (1, 0.9, moved)):
        assert against(wrong, (2, 0.26, box)) == Comparison(2, 2, 1, 0, 0)
        assert against(wrong, (2, 0.26, box)).unexplained == 2
