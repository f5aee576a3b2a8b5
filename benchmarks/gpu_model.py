"""Measures a network on one NVIDIA GPU: alone, with all other stages, in PyTorch, and with one picture at a time.

Times on the device are CUDA events'. ``network`` is the stage of that name within the graph of a batch in steady state, several
batches being under way; the stages of a device run one after the other, so that no other one shares its time. ``around`` is
preprocessing, YOLO layer, suppression and download, relative to it. PyTorch runs the same layers in FP16, channels last, batch
normalisation folded, as a CUDA graph, with and without ``torch.compile``; it computes raw outputs only. Latency is from a picture in
pageable host memory to its detections in host memory, by the caller's clock, one after the other.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.meters import Speed, in_new_process, keep_busy
from benchmarks.report import spread, table, write
from engine.backends.base import Backend
from engine.backends.create import create_backend
from engine.model.load import load_network
from engine.settings import EngineSettings, Hint, ModelFiles, Precision
from engine.types import DeviceId, Image

GPU = DeviceId("cuda", "0")
BATCHES, SIZES = (1, 2, 4, 8, 16, 32, 64, 128), (416, 512, 608)
LATENCY_SHAPES = ((416, 416), (720, 1280), (1080, 1920))
LATENCIES = 1000
BATCH = 32
STAGES = ("upload", "preprocess", "network", "postprocess", "download")
AROUND = ("preprocess", "postprocess", "download")

NEEDED = {416: 4500, 608: 2200}
"""The least images/s of the network alone, by size."""

PEERS = {"PyTorch": False, "PyTorch, torch.compile(max-autotune)": True}
FASTER = 1.8
"""The least speed, in multiples of a peer's."""


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
        return median(times), float(np.percentile(times, 99)), spent


def pytorch(cfg: Path, size: int, batch: int, seconds: float, compiled: bool) -> float:
    """Images/s of the same layers. compiled: by ``torch.compile`` in its most thorough mode, instead of the layers as they are."""
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
        if compiled:  # without its own graphs: both peers are recorded below
            model = torch.compile(model, mode="max-autotune-no-cudagraphs")
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
        return 1000 * batch / float(median(times))


def main() -> int:
    """Measure and write the result. Returns 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True, help="yolov4.cfg; yolov4-tiny.cfg beside it is swept, too")
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sweep", action="store_true", help="every batch and size")
    parser.add_argument("--no-pytorch", action="store_true", help="leave out PyTorch")
    options = parser.parse_args()
    cfg, seconds, peers = options.cfg, options.seconds, {} if options.no_pytorch else PEERS
    speeds: dict[int, list[Speed]] = {size: [] for size in NEEDED}
    theirs: dict[str, list[float]] = {name: [] for name in peers}
    latencies: dict[tuple[int, int], list[tuple[float, float, dict[str, float]]]] = {shape: [] for shape in LATENCY_SHAPES}
    for turn in range(options.rounds):
        for size, measured in speeds.items():
            measured.append(throughput(cfg, size, BATCH, seconds))
        for name, compiled in peers.items():
            theirs[name].append(in_new_process(pytorch, cfg, 416, BATCH, seconds, compiled))
        for shape, each in latencies.items():
            each.append(latency(cfg, 416, shape))
        print(f"round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
    networks = {size: [1000 * BATCH / speed.stages["network"] for speed in measured] for size, measured in speeds.items()}
    body, rows = [], []
    for size, measured in speeds.items():
        around = [sum(one.stages[stage] for stage in AROUND) / one.stages["network"] for one in measured]
        everything = spread([speed.images_per_s for speed in measured], 0)
        stages = (f"{median(speed.stages[stage] for speed in measured):.3f}" for stage in STAGES)
        rows.append([size, spread(networks[size], 0), NEEDED[size], f"{median(around):.1%}", everything, *stages])
    head = ["size", "network alone, images/s", "wanted", "around", "all, from host memory, images/s"]
    body.append(table([*head, *(f"{stage} ms" for stage in STAGES)], rows))
    ratios = {name: [a / b for a, b in zip(networks[416], each, strict=True)] for name, each in theirs.items()}
    rows = [[name, spread(theirs[name], 0), spread(each, 2)] for name, each in ratios.items()]
    body.append(
        table(["peer, 416, batch 32", "images/s", f"ours is faster by (wanted: {FASTER})"], rows) if rows else "PyTorch was left out."
    )
    rows = []
    for shape, every in latencies.items():
        p50, p99 = spread([one[0] for one in every], 2), spread([one[1] for one in every], 2)
        rows.append([f"{shape[1]}×{shape[0]}", p50, p99, *(f"{median(one[2][stage] for one in every):.3f}" for stage in every[0][2])])
    body.append(table(["picture", "p50 ms", "p99 ms", *(f"{stage} ms" for stage in every[0][2])], rows))
    if options.sweep:
        body.append(f"Network alone, images/s and ms of a batch, one run each:\n\n{sweep(cfg, seconds / 2)}")
    with open_backend(cfg, 416, None) as backend:
        info = backend.info
    missed = [f"{size}: {NEEDED[size]}" for size, rates in networks.items() if median(rates) < NEEDED[size]]
    missed += [f"{name}: {FASTER}×" for name, each in ratios.items() if median(each) < FASTER]
    body.append(f"{info.device_name}, {info.backend}. Batch chosen for 416: {info.batch} ({info.reason}).")
    body.append(f"Medians of {options.rounds} rounds, ranges in brackets. Targets missed: {', '.join(missed) or 'none'}.\n\n{__doc__}")
    write("gpu_model", "One NVIDIA GPU", "\n\n".join(body), ["numpy", "tensorrt-rtx", "cuda-core", "torch"])
    return 1 if missed else 0


def sweep(cfg: Path, seconds: float) -> str:
    """A table of every batch and size."""
    rows: list[list[object]] = []
    for model in (cfg, cfg.with_name("yolov4-tiny.cfg")):
        for size in SIZES:
            times = [(batch, throughput(model, size, batch, seconds).stages["network"]) for batch in BATCHES]
            rows.append([model.stem, size, *(f"{1000 * batch / ms:.0f} ({ms:.2f} ms)" for batch, ms in times)])
    return table(["model", "size", *(f"batch {batch}" for batch in BATCHES)], rows)


if __name__ == "__main__":
    sys.exit(main())
