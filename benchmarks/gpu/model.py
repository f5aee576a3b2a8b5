"""Measures a network on one NVIDIA GPU with TensorRT and cuDNN: alone, with all other stages, with one picture at a time, and in PyTorch.

Each round measures every engine once, so that all run in the same state of the device. TensorRT uses our first convolution, cuDNN our pairs
of pointwise convolutions and the fastest of several plans. ``auto`` uses those that a trial on the device finds faster.

- Times on the device are those of CUDA events.
- ``network`` is this stage in the graph of a batch, in steady state with several batches under way. A device runs its stages one after the
  other, so no other stage shares this time. The other stages are preprocessing, and YOLO layer and NMS with the copy of their results.
- PyTorch runs the same layers in FP16, channels last, with batch normalisation folded, as a CUDA graph, with and without ``torch.compile``.
  It computes raw outputs only.
- Latency is the time from a picture in pageable host memory to its detections in host memory, by the caller's clock, one at a time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.meters import Speed, in_new_process, keep_busy
from benchmarks.report import spread, table, write
from framefleet.engine.backends.base import Backend
from framefleet.engine.backends.nvidia.backend import NvidiaBackend
from framefleet.engine.backends.nvidia.engine import CustomLayers
from framefleet.engine.model.load import load_network
from framefleet.engine.settings import EngineSettings, Hint, ModelFiles, Precision
from framefleet.engine.types import DeviceId, Image

GPU = DeviceId("cuda", "0")
BATCHES, SIZES = (1, 2, 4, 8, 16, 32, 64, 128), (416, 512, 608)
LATENCY_SHAPES = ((416, 416), (720, 1280), (1080, 1920))
LATENCIES = 500
BATCH = 32
STAGES = ("upload", "preprocess", "network", "postprocess")
AROUND = ("preprocess", "postprocess")

NEEDED = {416: 6000, 608: 2900}
"""The least images/s of the network alone by the faster library, by size."""

MAX_MS = 0.92
"""The most ms of the network alone for one picture of 416 by the faster library."""

LIBRARIES = {"TensorRT": CustomLayers(first_convolution=True), "cuDNN": CustomLayers(cudnn=True, pointwise=True, fastest=True)}

PEERS = {"PyTorch": False, "PyTorch, torch.compile(max-autotune)": True}
FASTER = 1.8
"""The least speed, in multiples of a peer's."""


def pictures(count: int, height: int, width: int) -> list[Image]:
    """Different pictures of coarse noise."""
    random = np.random.default_rng(0)
    blocks = random.integers(0, 256, (count, height // 16 + 1, width // 16 + 1, 3), np.uint8)
    return [np.ascontiguousarray(block.repeat(16, 0).repeat(16, 1)[:height, :width]) for block in blocks]


def open_backend(cfg: Path, size: int, batch: int | None, layers: CustomLayers | None, hint: Hint = Hint.THROUGHPUT) -> Backend:
    """An FP16 engine with seeded random weights. layers: None = those that a trial finds faster."""
    backend = NvidiaBackend(GPU, layers)
    network = load_network(ModelFiles(cfg, "random:1", size=(size, size)))
    backend.activate(network, EngineSettings(precision=Precision.FP16, batch=batch, hint=hint))
    return backend


def latency(backend: Backend, shape: tuple[int, int]) -> tuple[float, float, dict[str, float]]:
    """p50 and p99, ms, and the device's stages, ms. shape: height and width of the pictures."""
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

    from framefleet.engine.model.describe import describe
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
    parser.add_argument("--auto", action="store_true", help="what auto chooses for 416, which takes minutes")
    parser.add_argument("--no-pytorch", action="store_true", help="leave out PyTorch")
    options = parser.parse_args()
    cfg, seconds, peers = options.cfg, options.seconds, {} if options.no_pytorch else PEERS
    libraries = LIBRARIES if find_spec("cudnn") else {"TensorRT": LIBRARIES["TensorRT"]}
    speeds: dict[tuple[int, str], list[Speed]] = defaultdict(list)
    latencies: dict[tuple[tuple[int, int], str], list[tuple[float, float, dict[str, float]]]] = defaultdict(list)
    theirs: dict[str, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        engines = {
            (size, name): stack.enter_context(open_backend(cfg, size, BATCH, layers))
            for size, (name, layers) in product(NEEDED, libraries.items())
        }
        single = {name: stack.enter_context(open_backend(cfg, 416, 1, layers, Hint.LATENCY)) for name, layers in libraries.items()}
        names = {name: backend.info.backend for name, backend in single.items()}
        device = single["TensorRT"].info.device_name
        for turn in range(options.rounds):
            for (size, name), backend in engines.items():
                speeds[size, name].append(keep_busy(backend, [pictures(BATCH, size, size)], seconds))
            for shape, (name, backend) in product(LATENCY_SHAPES, single.items()):
                latencies[shape, name].append(latency(backend, shape))
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
    for _ in range(options.rounds):
        for peer, compiled in peers.items():
            theirs[peer].append(in_new_process(pytorch, cfg, 416, BATCH, seconds, compiled))
    networks = {key: [1000 * BATCH / speed.stages["network"] for speed in measured] for key, measured in speeds.items()}
    best = {size: max((networks[size, name] for name in libraries), key=median) for size in NEEDED}
    body, rows = [], []
    for (size, name), measured in speeds.items():
        around = [sum(one.stages[stage] for stage in AROUND) / one.stages["network"] for one in measured]
        everything = spread([speed.images_per_s for speed in measured], 0)
        stages = (f"{median(speed.stages[stage] for speed in measured):.3f}" for stage in STAGES)
        rows.append([size, names[name], spread(networks[size, name], 0), NEEDED[size], f"{median(around):.1%}", everything, *stages])
    head = ["size", "library", "network alone, images/s", "target", "other stages ÷ network", "all stages, from host memory, images/s"]
    body.append(table([*head, *(f"{stage} ms" for stage in STAGES)], rows))
    ratios = {peer: [a / median(each) for a in best[416]] for peer, each in theirs.items()}
    rows = [[peer, spread(theirs[peer], 0), spread(each, 2)] for peer, each in ratios.items()]
    body.append(
        table(["416, batch 32", "images/s", f"our faster engine ÷ this (target: {FASTER})"], rows) if rows else "PyTorch was left out."
    )
    rows = []
    for (shape, name), every in latencies.items():
        p50, p99 = spread([one[0] for one in every], 2), spread([one[1] for one in every], 2)
        device_ms = (f"{median(one[2][stage] for one in every):.3f}" for stage in STAGES)
        rows.append([f"{shape[1]}×{shape[0]}", names[name], p50, p99, *device_ms])
    body.append(table(["one picture", "library", "p50 ms", "p99 ms", *(f"{stage} ms" for stage in STAGES)], rows))
    if options.sweep:
        body.append(f"Network alone, images/s and ms of a batch, one run each:\n\n{sweep(cfg, seconds / 2, libraries)}")
    if options.auto:
        with open_backend(cfg, 416, None, None) as backend:
            info = backend.info
        body.append(f"For 416, auto chooses {info.backend} with batch {info.batch}: {info.reason}.")
    alone = min(median(one[2]["network"] for one in latencies[LATENCY_SHAPES[0], name]) for name in libraries)
    missed = [f"{size}: {NEEDED[size]} images/s" for size, rates in best.items() if median(rates) < NEEDED[size]]
    missed += [f"one picture: {MAX_MS} ms"] if alone > MAX_MS else []
    missed += [f"{peer}: {FASTER}×" for peer, each in ratios.items() if median(each) < FASTER]
    body.insert(0, f"{device}. Medians of {options.rounds} rounds, ranges in brackets. Targets missed: {', '.join(missed) or 'none'}.")
    body.append(str(__doc__))
    write(
        "gpu.model",
        "One NVIDIA GPU",
        "\n\n".join(body),
        ["numpy", "tensorrt-rtx", "nvidia-cudnn-cu13", "cuda-core", "torch"],
        "gpu-network",
    )
    return 1 if missed else 0


def sweep(cfg: Path, seconds: float, libraries: Mapping[str, CustomLayers]) -> str:
    """A table of every batch, size and library."""
    rows: list[list[object]] = []
    for model, size, (name, layers) in product((cfg, cfg.with_name("yolov4-tiny.cfg")), SIZES, libraries.items()):
        times = []
        for batch in BATCHES:
            with open_backend(model, size, batch, layers) as backend:
                times.append((batch, keep_busy(backend, [pictures(batch, size, size)], seconds).stages["network"]))
        rows.append([model.stem, size, name, *(f"{1000 * batch / ms:.0f} ({ms:.2f} ms)" for batch, ms in times)])
    return table(["model", "size", "library", *(f"batch {batch}" for batch in BATCHES)], rows)


if __name__ == "__main__":
    sys.exit(main())
