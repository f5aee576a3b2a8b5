"""What one NVIDIA GPU makes of a network: alone, with all that is around it, as PyTorch runs it, and one picture at a time.

Times on the device are CUDA events'. ``network`` is the stage of that name within the graph of a batch in steady state, several
batches being under way; ``around`` is preprocessing, YOLO layer, suppression and download, relative to it. PyTorch runs the same
layers in FP16, channels last, batch normalisation folded, as a CUDA graph, and gives raw heads only. Latency is from a picture in
pageable host memory to its detections in host memory, by the caller's clock, one after the other.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import table, write
from engine.backends import create_backend
from engine.backends.base import Backend
from engine.backends.tensorrt.backend import TensorRtBackend
from engine.backends.tensorrt.engine import CustomLayers
from engine.model.load import load_network
from engine.settings import EngineSettings, Hint, ModelFiles, Precision
from engine.types import DeviceId, Image

GPU = DeviceId("cuda", "0")
BATCHES, SIZES = (1, 2, 4, 8, 16, 32, 64, 128), (416, 512, 608)
LATENCY_SHAPES = ((416, 416), (720, 1280), (1080, 1920))


@dataclass(frozen=True)
class Speed:
    """images_per_s: all of it, by the wall clock. stages: ms of a batch."""

    batch: int
    images_per_s: float
    stages: dict[str, float]

    @property
    def network_per_s(self) -> float:
        """Images/s of the network stage alone."""
        return 1000 * self.batch / self.stages["network"]

    @property
    def around(self) -> float:
        """Time of what is around the network, relative to it."""
        return sum(self.stages[stage] for stage in ("preprocess", "postprocess", "download")) / self.stages["network"]


def pictures(count: int, height: int, width: int) -> list[Image]:
    """Noise with structure, different ones."""
    random = np.random.default_rng(0)
    blocks = random.integers(0, 256, (count, height // 16 + 1, width // 16 + 1, 3), np.uint8)
    return [np.ascontiguousarray(block.repeat(16, 0).repeat(16, 1)[:height, :width]) for block in blocks]


def open_backend(cfg: Path, size: int, batch: int | None, hint: Hint = Hint.THROUGHPUT, layers: CustomLayers | None = None) -> Backend:
    """An FP16 engine with seeded random weights. layers: see ``TensorRtBackend``."""
    backend = TensorRtBackend(GPU, layers)
    network = load_network(ModelFiles(cfg, "random:1", size=(size, size)))
    backend.activate(network, EngineSettings(precision=Precision.FP16, batch=batch, hint=hint))
    return backend


def throughput(cfg: Path, size: int, batch: int, seconds: float, layers: CustomLayers | None = None) -> Speed:
    """In steady state."""
    with open_backend(cfg, size, batch, layers=layers) as backend:
        images = pictures(batch, size, size)
        waiting = deque(backend.submit(images) for _ in range(backend.info.slots))
        for _ in range(3):
            waiting.popleft().result()
            waiting.append(backend.submit(images))
        backend.timings()
        batches, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            waiting.popleft().result()
            waiting.append(backend.submit(images))
            batches += 1
        elapsed, spent = time.perf_counter() - start, backend.timings()
        for future in waiting:
            future.result()
        return Speed(batch, batches * batch / elapsed, {stage: ms / batches for stage, ms in spent.items()})


def latency(cfg: Path, size: int, shape: tuple[int, int], rounds: int) -> tuple[float, float, dict[str, float]]:
    """p50 and p99, ms, and the device's stages, ms."""
    with open_backend(cfg, size, None, Hint.LATENCY) as backend:
        images = pictures(8, *shape)
        for image in images * 5:
            backend.infer([image])
        backend.timings()
        times = []
        for number in range(rounds):
            start = time.perf_counter()
            backend.infer([images[number % 8]])
            times.append(1000 * (time.perf_counter() - start))
        spent = {stage: ms / rounds for stage, ms in backend.timings().items()}
        return statistics.median(times), float(np.percentile(times, 99)), spent


def pytorch(cfg: Path, size: int, batch: int, seconds: float) -> float:
    """Images/s of the same layers."""
    import torch
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    from engine.model.describe import describe
    from tools.demo.network import Detector

    with torch.no_grad():
        model: Any = Detector(describe(cfg, (size, size))).eval()
        for layer in model.convolutions.values():
            if isinstance(layer.norm, torch.nn.BatchNorm2d):
                layer.conv, layer.norm = fuse_conv_bn_eval(layer.conv, layer.norm), torch.nn.Identity()
        model = model.cuda().half().to(memory_format=torch.channels_last)
        torch.backends.cudnn.benchmark = True
        inputs = torch.rand(batch, 3, size, size, device="cuda").half().to(memory_format=torch.channels_last)
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                model(inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(inputs)
        times, start = [], time.perf_counter()
        while time.perf_counter() - start < seconds:
            begun, done = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begun.record()
            graph.replay()
            done.record()
            done.synchronize()
            times.append(begun.elapsed_time(done))
        return 1000 * batch / float(statistics.median(times))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True, help="yolov4.cfg; yolov4-tiny.cfg beside it is swept, too")
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    parser.add_argument("--sweep", action="store_true", help="every batch and size")
    arguments = parser.parse_args()
    cfg, seconds = arguments.cfg, arguments.seconds
    body = []

    rows = []
    for size, needed in ((416, 4500), (608, 2200)):
        speed = throughput(cfg, size, 32, seconds)
        stages = (f"{speed.stages[stage]:.3f}" for stage in ("upload", "preprocess", "network", "postprocess", "download"))
        rows.append([size, f"{speed.network_per_s:.0f}", needed, f"{speed.around:.1%}", f"{speed.images_per_s:.0f}", *stages])
    head = ["size", "network alone, images/s", "wanted", "around", "all, from host memory, images/s"]
    body.append(table([*head, "upload ms", "preprocess ms", "network ms", "postprocess ms", "download ms"], rows))

    rows = []
    for size, batch in ((416, 1), (416, 32), (608, 32)):
        inside, outside, again = (throughput(cfg, size, batch, seconds, CustomLayers(first)) for first in (False, True, False))
        rows.append([size, batch, *(f"{speed.stages['network']:.3f}" for speed in (inside, outside, again))])
    body.append(table(["size", "batch", "network ms", "with the custom first convolution", "without it again"], rows))

    ours, theirs = throughput(cfg, 416, 32, seconds), pytorch(cfg, 416, 32, seconds)
    body.append(f"PyTorch, 416, batch 32: {theirs:.0f} images/s; ours is {ours.network_per_s / theirs:.2f}× (wanted: 1.8×).")

    rows = []
    for shape in LATENCY_SHAPES:
        p50, p99, spent = latency(cfg, 416, shape, 1000)
        rows.append([f"{shape[1]}×{shape[0]}", f"{p50:.2f}", f"{p99:.2f}", *(f"{ms:.3f}" for ms in spent.values())])
    body.append(table(["picture", "p50 ms", "p99 ms", *(f"{stage} ms" for stage in spent)], rows))

    if arguments.sweep:
        rows = []
        for model in (cfg, cfg.with_name("yolov4-tiny.cfg")):
            for size in SIZES:
                speeds = [throughput(model, size, batch, seconds / 2) for batch in BATCHES]
                rows.append(
                    [
                        model.stem,
                        size,
                        *(f"{speed.network_per_s:.0f} ({1000 * speed.batch / speed.network_per_s:.2f} ms)" for speed in speeds),
                    ]
                )
        body.append(
            "Network alone, images/s and ms of a batch:\n\n" + table(["model", "size", *(f"batch {batch}" for batch in BATCHES)], rows)
        )
    with create_backend(GPU) as backend:
        network = load_network(ModelFiles(cfg, "random:1", size=(416, 416)))
        info = backend.activate(network, EngineSettings(precision=Precision.FP16))
    body.append(f"{info.device_name}, {info.backend}. Batch chosen for 416: {info.batch} ({info.reason}).")
    write("gpu_model", "One NVIDIA GPU", "\n\n".join(body), ["numpy", "cuda-core", "torch"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
