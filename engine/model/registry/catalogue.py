"""The models that can be downloaded by name: where they are published, how large they are, what they are good for.

Addresses and figures: the README of https://github.com/AlexeyAB/darknet, "Pre-trained models", except the accuracy of
YOLOv4-tiny, which is from Scaled-YOLOv4 (arXiv 2011.08036), abstract. Layers, parameters and GFLOP are what each cfg says, counted
by ``engine/model/describe.py``. Checksums: open_model_zoo of Intel and the AUR package zmeventnotification publish the same ones.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum

from engine.errors import UsageError

MIRROR = "FRAMEFLEET_MODELS_URL"
"""Environment variable: an address under which all files lie side by side, for those who cannot reach GitHub."""

_CFG = "https://raw.githubusercontent.com/AlexeyAB/darknet/master/cfg/"
_WEIGHTS = "https://github.com/AlexeyAB/darknet/releases/download/darknet_yolo_v4_pre/"
_WEIGHTS_2020 = "https://github.com/AlexeyAB/darknet/releases/download/darknet_yolo_v3_optimal/"

_HEADER_BYTES = 20
_CFG_BYTES = 25_000
"""About the size of the largest cfg: nothing beside the weights."""


class Purpose(StrEnum):
    """What a model is good for, from its accuracy and its work per picture."""

    FAST = "fast"
    BALANCED = "balanced"
    ACCURATE = "accurate"


@dataclass(frozen=True)
class RemoteFile:
    """address: where it is published. sha256: hexadecimal, where a trustworthy one is known."""

    address: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]

    @property
    def source(self) -> str:
        """Where to get it from: the address, or the mirror that the environment names."""
        mirror = os.environ.get(MIRROR, "").strip()
        return f"{mirror.rstrip('/')}/{self.name}" if mirror else self.address


@dataclass(frozen=True)
class ModelEntry:
    """A published model.

    side: network input of its cfg, width and height in pixels. layers: as Darknet counts them. parameters: numbers in its weight
    file. gflops: 10⁹ floating-point operations per picture of that size. ap, ap50: on COCO test-dev at that size, percent, AP at
    IoU 0.50:0.95 and at 0.50.
    """

    name: str
    title: str
    purpose: Purpose
    note: str
    side: int
    layers: int
    parameters: int
    gflops: float
    ap: float
    ap50: float
    cfg: RemoteFile
    weights: RemoteFile

    @property
    def weights_bytes(self) -> int:
        """Exact size of its weight file."""
        return _HEADER_BYTES + 4 * self.parameters

    @property
    def download_bytes(self) -> int:
        """What is to be downloaded, within a few kilobytes."""
        return self.weights_bytes + _CFG_BYTES


FAMILY = (
    ModelEntry(
        name="yolov4-tiny",
        title="YOLOv4-tiny",
        purpose=Purpose.FAST,
        note="By far the fastest. For machines without a GPU.",
        side=416,
        layers=38,
        parameters=6_062_814,
        gflops=6.9,
        ap=22.0,
        ap50=42.0,
        cfg=RemoteFile(f"{_CFG}yolov4-tiny.cfg", "f858e3724962eedf3ac44e3b6cb3f0c3d9ed067c306bb831f539c578b924c90e"),
        weights=RemoteFile(f"{_WEIGHTS}yolov4-tiny.weights", "cf9fbfd0f6d4869b35762f56100f50ed05268084078805f0e7989efe5bb8ca87"),
    ),
    ModelEntry(
        name="yolov4-csp",
        title="YOLOv4-CSP",
        purpose=Purpose.BALANCED,
        note="A good first choice: better than YOLOv4, less work.",
        side=512,
        layers=175,
        parameters=52_986_205,
        gflops=77.0,
        ap=46.2,
        ap50=64.8,
        cfg=RemoteFile(f"{_CFG}yolov4-csp.cfg"),
        weights=RemoteFile(f"{_WEIGHTS}yolov4-csp.weights"),
    ),
    ModelEntry(
        name="yolov4",
        title="YOLOv4",
        purpose=Purpose.BALANCED,
        note="The original of 2020, known everywhere.",
        side=608,
        layers=162,
        parameters=64_429_405,
        gflops=128.5,
        ap=43.5,
        ap50=65.7,
        cfg=RemoteFile(f"{_CFG}yolov4.cfg", "a6d0f8e5c62cc8378384f75a8159b95fa2964d4162e33351b00ac82e0fc46a34"),
        weights=RemoteFile(f"{_WEIGHTS_2020}yolov4.weights", "e8a4f6c62188738d86dc6898d82724ec0964d0eb9d2ae0f0a9d53d65d108d562"),
    ),
    ModelEntry(
        name="yolov4-csp-swish",
        title="YOLOv4-CSP-Swish",
        purpose=Purpose.BALANCED,
        note="YOLOv4-CSP at 640 pixels. Finds smaller objects.",
        side=640,
        layers=176,
        parameters=52_986_205,
        gflops=120.3,
        ap=50.0,
        ap50=68.7,
        cfg=RemoteFile(f"{_CFG}yolov4-csp-swish.cfg"),
        weights=RemoteFile(f"{_WEIGHTS}yolov4-csp-swish.weights"),
    ),
    ModelEntry(
        name="yolov4x-mish",
        title="YOLOv4x-Mish",
        purpose=Purpose.ACCURATE,
        note="A wider and deeper YOLOv4-CSP. For a GPU.",
        side=640,
        layers=203,
        parameters=99_847_037,
        gflops=222.0,
        ap=50.1,
        ap50=68.5,
        cfg=RemoteFile(f"{_CFG}yolov4x-mish.cfg"),
        weights=RemoteFile(f"{_WEIGHTS}yolov4x-mish.weights"),
    ),
    ModelEntry(
        name="yolov4-csp-x-swish",
        title="YOLOv4-CSP-X-Swish",
        purpose=Purpose.ACCURATE,
        note="The most accurate at 640 pixels. For a GPU.",
        side=640,
        layers=204,
        parameters=99_847_037,
        gflops=222.0,
        ap=51.5,
        ap50=69.9,
        cfg=RemoteFile(f"{_CFG}yolov4-csp-x-swish.cfg"),
        weights=RemoteFile(f"{_WEIGHTS}yolov4-csp-x-swish.weights"),
    ),
    ModelEntry(
        name="yolov4-p5",
        title="YOLOv4-P5",
        purpose=Purpose.ACCURATE,
        note="For small objects in large pictures. For a GPU.",
        side=896,
        layers=244,
        parameters=70_917_468,
        gflops=326.8,
        ap=51.6,
        ap50=70.0,
        cfg=RemoteFile(f"{_CFG}yolov4-p5.cfg"),
        weights=RemoteFile(f"{_WEIGHTS}yolov4-p5.weights"),
    ),
    ModelEntry(
        name="yolov4-p6",
        title="YOLOv4-P6",
        purpose=Purpose.ACCURATE,
        note="The most accurate, and the slowest.",
        side=1280,
        layers=305,
        parameters=127_717_040,
        gflops=717.2,
        ap=54.0,
        ap50=72.1,
        cfg=RemoteFile(f"{_CFG}yolov4-p6.cfg"),
        weights=RemoteFile(f"{_WEIGHTS}yolov4-p6.weights"),
    ),
)
"""All were trained on COCO's 80 classes. From the least work per picture to the most."""


def find_entry(name: str) -> ModelEntry | None:
    """The model of this name, in any case of letters; None if there is none."""
    return next((entry for entry in FAMILY if entry.name == name.lower()), None)


def entry_named(name: str) -> ModelEntry:
    """The same.

    Raises:
        UsageError: there is none.
    """
    entry = find_entry(name)
    if entry is None:
        raise UsageError(f"there is no model '{name}' to download; there are {', '.join(entry.name for entry in FAMILY)}")
    return entry
