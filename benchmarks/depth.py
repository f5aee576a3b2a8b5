"""One network in stages on several NVIDIA GPUs against the whole network on one, at the same batch.

Frames are NV12 pictures in the first GPU's memory, as NVDEC leaves them, so that the host has nothing to copy. ``of n × one``
is the rate relative to n times that of one GPU in the same run. Times are CUDA events', of a batch in steady state, several being
under way; ``moves`` is the time until all values that a stage needs from others are there, and the rate at which they came.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from cuda.core import Device
from numpy.typing import NDArray

from benchmarks.report import table, write
from engine.backends import create_backend
from engine.backends.base import Backend
from engine.backends.tensorrt.depth import TensorRtDepthBackend
from engine.backends.tensorrt.engine import HALF
from engine.cuda.memory import Memory
from engine.media.types import DeviceFrame, FrameFormat, PixelFormat
from engine.model.load import load_network
from engine.model.network import Network
from engine.model.split import split, transfers
from engine.settings import Decode, EngineSettings, ModelFiles, Precision
from engine.types import DeviceId

WIDTH, HEIGHT = 1280, 720

Heads: TypeAlias = Sequence[NDArray[np.float32]]


class Frames:
    """Pictures of noise on the first device."""

    def __init__(self, count: int) -> None:
        device = Device(0)
        device.set_current()
        stream = device.create_stream()
        self._memory = Memory(device, stream)
        layout = FrameFormat(PixelFormat.NV12, 8, WIDTH, HEIGHT, WIDTH, HEIGHT, (False, None), "bt709", False)
        random = np.random.default_rng(0)
        ready = stream.record()
        self.frames = []
        for _ in range(count):
            address = self._memory.constant(random.integers(0, 256, layout.nbytes, np.uint8))
            self.frames.append(DeviceFrame(layout, address, ready, lambda: None))

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()


def rate(backend: Backend, frames: Sequence[DeviceFrame], seconds: float) -> tuple[float, dict[str, float]]:
    """Images/s by the wall clock, and ms of a batch in each stage."""
    waiting = deque(backend.submit(frames) for _ in range(backend.info.slots))
    for _ in range(3 * backend.info.slots):
        waiting.popleft().result()
        waiting.append(backend.submit(frames))
    backend.timings()
    batches, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        waiting.popleft().result()
        waiting.append(backend.submit(frames))
        batches += 1
    elapsed, spent = time.perf_counter() - start, backend.timings()
    for future in waiting:
        future.result()
    return batches * len(frames) / elapsed, {stage: ms / batches for stage, ms in spent.items()}


def submit_ms(backend: Backend, frames: Sequence[DeviceFrame]) -> float:
    """Of the caller's time that putting a batch on all streams takes, while a slot is free."""
    start = time.perf_counter()
    futures = [backend.submit(frames) for _ in range(backend.info.slots)]
    took = time.perf_counter() - start
    for future in futures:
        future.result()
    return 1000 * took / backend.info.slots


def moved(network: Network, batch: int, cuts: tuple[int, ...]) -> dict[int, int]:
    """Bytes of a batch that arrive at each stage that needs something."""
    parts, found = split(network, *cuts), dict[int, int]()
    for move in transfers(network, parts):
        nbytes = HALF * batch * math.prod(network.layers[move.layer].shape)
        found[move.destination] = found.get(move.destination, 0) + nbytes
    return found


def error(heads: Heads, reference: Heads) -> float:
    """Relative L2 norm of the difference, of the worst head."""
    return max(float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in zip(heads, reference, strict=True))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True, help="yolov4.cfg")
    parser.add_argument("--size", type=int, default=608)
    parser.add_argument("--batches", type=int, nargs="+", default=[32], help="frames per micro-batch")
    parser.add_argument("--devices", type=int, nargs="+", default=[2], help="how many GPUs")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    arguments = parser.parse_args()
    network = load_network(ModelFiles(arguments.cfg, "random:1", size=(arguments.size, arguments.size)))
    probe = np.random.default_rng(1).random((4, 3, arguments.size, arguments.size), np.float32)
    with create_backend(DeviceId("cuda", "0")) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32, batch=len(probe), decode=Decode.CPU))
        exact = backend.raw_outputs(probe)
    frames = Frames(max(arguments.batches))
    rows, texts = [], []
    for batch in arguments.batches:
        settings = EngineSettings(precision=Precision.FP16, batch=batch, confidence=0.7, decode=Decode.CPU)
        with create_backend(DeviceId("cuda", "0")) as backend:
            info = backend.activate(network, settings)
            one, spent = rate(backend, frames.frames[:batch], arguments.seconds)
            uncut = backend.raw_outputs(probe)
        rows.append([1, "", batch, f"{one:.0f}", "", f"{spent['network']:.2f}", "", ""])
        for count in arguments.devices:
            for peer in (True, False):
                with TensorRtDepthBackend(DeviceId.group(*(DeviceId("cuda", str(n)) for n in range(count))), peer) as backend:
                    begun = time.perf_counter()
                    info = backend.activate(network, settings)
                    took = time.perf_counter() - begun
                    together, spent = rate(backend, frames.frames[:batch], arguments.seconds)
                    submitting = submit_ms(backend, frames.frames[:batch])
                    heads = backend.raw_outputs(probe)
                    cuts = backend.cuts
                computing = " + ".join(f"{spent[f'network cuda:{n}']:.2f}" for n in range(count))
                arriving = {n: spent[f"transfer cuda:{n}"] for n in range(1, count) if f"transfer cuda:{n}" in spent}
                nbytes = moved(network, batch, cuts)
                moves = ", ".join(f"{ms:.2f} ({nbytes[n] / ms / 1e6:.0f} GB/s)" for n, ms in arriving.items())
                share = f"{together / count / one:.3f}"
                way = "direct" if peer else "through the host"
                rows.append([count, way, batch, f"{together:.0f}", share, computing, moves, ", ".join(map(str, cuts))])
                texts.append(
                    f"{count} GPUs, {way}, batch {batch}: {info.reason}. Heads differ from the uncut network's by "
                    f"{error(heads, uncut):.1e}, from FP32's by {error(heads, exact):.1e} (the uncut network's: {error(uncut, exact):.1e}; "
                    f"relative L2 norm, worst head); submitting a batch takes {submitting:.2f} ms; ready after {took:.0f} s; "
                    f"{info.slots} batches under way."
                )
    frames.close()
    head = ["GPUs", "values move", "batch", "images/s", "of n × one", "network of each stage, ms", "moves, ms", "cut before layers"]
    body = [f"{network.name}, {arguments.size} × {arguments.size}, FP16, {info.backend}, {info.device_name}.", table(head, rows)]
    write("depth", "A network in stages on several GPUs", "\n\n".join([*body, *texts]), ["numpy", "cuda-core"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
