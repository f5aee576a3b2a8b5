"""Measures a network on one NVIDIA GPU: alone, with all other stages, in PyTorch, and with one picture at a time.

Times on the device are CUDA events'. ``network`` is the stage of that name within the graph of a batch in steady state, several
batches being under way; ``around`` is preprocessing, YOLO layer, suppression and download, relative to it. PyTorch runs the same
layers in FP16, channels last, batch normalisation folded, as a CUDA graph, and computes raw outputs only. Latency is from a picture in
pageable host memory to its detections in host memory, by the caller's clock, one after the other.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.meters import Speed, keep_busy
from benchmarks.report import table, write
from engine.backends.base import Backend
from engine.backends.create import create_backend
from engine.model.load import load_network
from engine.settings import EngineSettings, Hint, ModelFiles, Precision
from engine.types import DeviceId, Image

GPU = DeviceId("cuda", "0")
BATCHES, SIZES = (1, 2, 4, 8, 16, 32, 64, 128), (416, 512, 608)
LATENCY_SHAPES = ((416, 416), (720, 1280), (1080, 1920))
LATENCIES = 1000


def pictures(count: int, height: int, width: int) -> list[Image]:
    """Different pictures of coarse noise."""
    random = np.random.default_rng(0)
    blocks = random.integers(0, 256, (count, height // 16 + 1, width // 16 + 1, 3), np.uint8)
    return [np.ascontiguousarray(block.repeat(16, 0).repeat(16, 1)[:height, :width]) for block in blocks]


def open_backend(cfg: Path, size: int, batch: int | None, hint: Hint = Hint.THROUGHPUT) -> Backend:
    """An FP16 engine with seeded random weights."""
    backend = create_backend(GPU)
    network = load_network(ModelFiles(cfg, "random:1", size=(size, size)))
    backend.activate(network, EngineSettings(precision=Precision.FP16, batch=batch, hint=hint))
    return backend


def throughput(cfg: Path, size: int, batch: int, seconds: float) -> Speed:
    """The speed in steady state."""
    with open_backend(cfg, size, batch) as backend:
        return keep_busy(backend, [pictures(batch, size, size)], seconds)


def latency(cfg: Path, size: int, shape: tuple[int, int]) -> tuple[float, float, dict[str, float]]:
    """p50 and p99, ms, and the device's stages, ms. shape: height and width of the pictures."""
    with open_backend(cfg, size, None, Hint.LATENCY) as backend:
        images = pictures(8, *shape)
        for image in images * 5:
            backend.infer([image])
        backend.timings()
        times = []
        for number in range(LATENCIES):
            start = time.perf_counter()
            backend.infer([images[number % 8]])
            times.append(1000 * (time.perf_counter() - start))
        spent = {stage: ms / LATENCIES for stage, ms in backend.timings().items()}
        return statistics.median(times), float(np.percentile(times, 99)), spent


def pytorch(cfg: Path, size: int, batch: int, seconds: float) -> float:
    """Images/s of the same layers."""
    import torch
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    from engine.model.describe import describe
    from tools.street_renderer.training.network import Detector

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


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True, help="yolov4.cfg; yolov4-tiny.cfg beside it is swept, too")
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    parser.add_argument("--sweep", action="store_true", help="every batch and size")
    options = parser.parse_args()
    cfg, seconds = options.cfg, options.seconds
    body, rows, networks = [], [], dict[int, float]()
    for size, needed in ((416, 4500), (608, 2200)):
        speed = throughput(cfg, size, 32, seconds)
        around = sum(speed.stages[stage] for stage in ("preprocess", "postprocess", "download")) / speed.stages["network"]
        networks[size] = 32_000 / speed.stages["network"]
        stages = (f"{speed.stages[stage]:.3f}" for stage in ("upload", "preprocess", "network", "postprocess", "download"))
        rows.append([size, f"{networks[size]:.0f}", needed, f"{around:.1%}", f"{speed.images_per_s:.0f}", *stages])
    head = ["size", "network alone, images/s", "wanted", "around", "all, from host memory, images/s"]
    body.append(table([*head, "upload ms", "preprocess ms", "network ms", "postprocess ms", "download ms"], rows))
    theirs = pytorch(cfg, 416, 32, seconds)
    body.append(f"PyTorch, 416, batch 32: {theirs:.0f} images/s; ours is {networks[416] / theirs:.2f}× (wanted: 1.8×).")
    rows = []
    for shape in LATENCY_SHAPES:
        p50, p99, spent = latency(cfg, 416, shape)
        rows.append([f"{shape[1]}×{shape[0]}", f"{p50:.2f}", f"{p99:.2f}", *(f"{ms:.3f}" for ms in spent.values())])
    body.append(table(["picture", "p50 ms", "p99 ms", *(f"{stage} ms" for stage in spent)], rows))
    if options.sweep:
        rows = []
        for model in (cfg, cfg.with_name("yolov4-tiny.cfg")):
            for size in SIZES:
                times = [(batch, throughput(model, size, batch, seconds / 2).stages["network"]) for batch in BATCHES]
                rows.append([model.stem, size, *(f"{1000 * batch / ms:.0f} ({ms:.2f} ms)" for batch, ms in times)])
        swept = table(["model", "size", *(f"batch {batch}" for batch in BATCHES)], rows)
        body.append(f"Network alone, images/s and ms of a batch:\n\n{swept}")
    with open_backend(cfg, 416, None) as backend:
        info = backend.info
    body.append(f"{info.device_name}, {info.backend}. Batch chosen for 416: {info.batch} ({info.reason}).")
    write("gpu_model", "One NVIDIA GPU", "\n\n".join(body), ["numpy", "cuda-core", "torch"])


if __name__ == "__main__":
    main()
