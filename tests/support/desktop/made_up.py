"""Made-up machines, measurements and reports that the pictures of the screens show. They are the same on every machine."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.models.comparison import Evaluated
from framefleet.app.window.results.worst_frames import WorstFrame
from framefleet.app.window.widgets import formats
from framefleet.engine.cluster.messages import Measured, NodeState
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.evaluation.accuracy import CONFIDENCES, Accuracy, ClassAccuracy, Curve, Point
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.model.load import ModelSummary
from framefleet.engine.model.registry.catalogue import Partial, entry_named, files_of
from framefleet.engine.notices import Notice
from framefleet.engine.settings import ModelFiles
from framefleet.engine.types import DeviceId
from tests.support.devices.topologies import eight

GIB = 1 << 30
NEWEST = 1_793_880_000
"""The time of the measurements, seconds since 1970."""


def _described(gpu: DeviceId) -> DeviceDescription:
    return DeviceDescription(gpu, "NVIDIA H200", "TensorRT", ("fp32", "fp16"), memory=150 * 10**9, driver="580.1", compute_capability="9.0")


def _telemetry(gpu: DeviceId, number: int) -> Telemetry:
    return Telemetry(
        gpu,
        utilization=20.0 + 10 * number,
        decoder=90.0 - 10 * number,
        memory_used=(10 + 12 * number) * GIB,
        memory_total=140 * GIB,
        power=300.0 + 50 * number,
        power_limit=700.0,
        temperature=40.0 + 6 * number,
        sm_clock=1980.0,
        sm_clock_limit=1980.0,
        pcie_generation=5,
        pcie_width=16,
        nvlinks=18,
    )


def recorded_gpus() -> Recording:
    """A machine with eight GPUs under load."""
    gpus = [DeviceId("cuda", str(number)) for number in range(8)]
    return Recording(tuple(map(_described, gpus)), {gpu: _telemetry(gpu, number) for number, gpu in enumerate(gpus)}, eight())


def cluster_machines() -> tuple[list[DeviceDescription], list[Machine]]:
    """Two machines of a cluster with two GPUs each, and one that cannot be reached."""
    found, machines = [], []
    for place, name in enumerate(("gpu-1", "gpu-2", "gpu-3")):
        lost = name == "gpu-3"
        found += [_described(DeviceId("cuda", number, name)) for number in "01"]
        devices = tuple(_telemetry(DeviceId("cuda", str(number)), 2 * place + number) for number in range(2))
        measured = None if lost else Measured(devices, (place + 1) * 40 * 2**20, 3 * 2**20)
        machines.append(Machine(NodeState(0.0, name, f"10.0.0.{place + 1}", lost, 0, 0, measured)))
    return found, machines


def evaluated_models() -> list[Evaluated]:
    """The results of two models."""
    labels = ("person", "car", "bicycle", "dog", "motorcycle", "bus", "truck", "traffic light")
    first = {label: 0.42 + 0.05 * number for number, label in enumerate(labels)}
    second = {label: value + 0.03 * (number - 2) for number, (label, value) in enumerate(first.items())}
    return [
        Evaluated("street-before", 0.595, 0.331, 0.81, 0.64, 0.25, first),
        Evaluated("street-retrained", 0.64, 0.362, 0.86, 0.69, 0.25, second),
    ]


def demo_accuracy() -> Accuracy:
    """An accuracy of the demo's model."""
    labels = ("person", "bicycle", "car", "motorcycle", "bus", "truck", "dog")
    curve = Curve(np.ones(len(CONFIDENCES)), np.zeros(len(CONFIDENCES)), Point(1, 0, 0))  # not shown
    classes = tuple(
        ClassAccuracy(label, 900 - 100 * number, 0.99 - 0.01 * number, 0.85 - 0.02 * number, curve) for number, label in enumerate(labels)
    )
    return Accuracy(0.968, 0.801, classes)


def worst_frames() -> dict[str, list[WorstFrame]]:
    """The worst frames of two sessions."""
    file = Path("/videos/crossing.mp4")
    frames = [
        WorstFrame(Path("none.sqlite"), file, file.name, 1117 * n, 44.68 * n, formats.clock(44.68 * n, 2), 31 - n, 12 - n, n % 4)
        for n in range(1, 9)
    ]
    return {"street-before": frames, "street-retrained": frames[::2]}


def clip_info(frames: int) -> SourceInfo:
    """A video of many frames."""
    return SourceInfo("/videos/camera.mp4", SourceKind.VIDEO, "h264", 1920, 1080, frames, frames / 25, 25.0, ())


def model_summary() -> ModelSummary:
    """A model of the user's own."""
    return ModelSummary(
        "aerial",
        608,
        608,
        3,
        ("car", "boat", "plane"),
        64_000_000,
        256_000_000,
        128.4,
        Notice("model.labels_numbered", number=3, reason=Notice("model.no_labels_beside"), option="--labels"),
    )


def own_models() -> list[tuple[ModelFiles, ModelSummary | str]]:
    """A model that can be used, and one whose file is missing."""
    folder = Path("/home/user/models")
    names = "aerial", "night"
    files = [ModelFiles(folder / f"{name}.cfg", folder / f"{name}.weights") for name in names]
    return [(files[0], model_summary()), (files[1], "/home/user/models/night.weights does not exist: choose the file of its weights")]


def store_models(folder: Path) -> Path:
    """Store a model and an unfinished download, without their contents. Returns the model's cfg."""
    whole, part = entry_named("yolov4-tiny"), entry_named("yolov4-csp")
    files, unfinished = files_of(whole, folder), Partial(Path(files_of(part, folder).weights))
    for path, size in ((files.cfg, 0), (Path(files.weights), whole.weights_bytes), (unfinished.path, part.weights_bytes * 2 // 5)):
        _store(path, size)
    return files.cfg


def store_videos(folder: Path) -> Path:
    """Store videos and results with these sizes and times of change, without their contents."""
    sizes = {"bridge.mp4": 812, "crossing.mp4": 1436, "market.mkv": 95, "night.avi": 2210, "plan.png": 3}
    results = {"2026-11-01 12-00-00.sqlite": 14, "2026-11-02 12-00-00.sqlite": 9, "worst-frames.json": 1}
    paths = {folder / name: size for name, size in sizes.items()} | {folder / "results" / name: size for name, size in results.items()}
    for path, size in paths.items():
        _store(path, size * 2**20)
    (folder / "dashcam").mkdir(exist_ok=True)
    for place in (folder / "dashcam", folder / "results", folder):
        os.utime(place, (NEWEST, NEWEST))
    return folder


def _store(path: Path, size: int) -> None:
    """Make a file of this size that takes no room."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)
    os.utime(path, (NEWEST, NEWEST))
