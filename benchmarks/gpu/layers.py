"""Compares the time of each custom layer on the GPU with the time that memory bandwidth allows.

Each figure is the median over replays of a CUDA graph with several launches, divided by the number of launches, so gaps between single
launches do not count. Launches alternate between several sets of data, which together do not fit into the cache. Bandwidth is measured in
the same run with a kernel that copies 1 GiB; it counts bytes read and bytes written. The bound is the least number of bytes that a layer
must move, divided by the bandwidth.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, EventOptions, LaunchConfig, ObjectCode, Stream, launch
from numpy.typing import NDArray

from benchmarks.report import table, write
from framefleet.engine.cuda.graph import Step, copy, record
from framefleet.engine.cuda.memory import Memory
from framefleet.plugins import first_convolution
from framefleet.plugins.kernels import Kernels, compile_source
from framefleet.plugins.mish import Mish
from framefleet.plugins.nms import Nms, class_mask, read_results, result_bytes
from framefleet.plugins.preprocess import FRAME, NV12, Preprocess, describe_frame
from framefleet.plugins.yolo_layer import CANDIDATE_BYTES, CAPACITY, Candidates, Head, YoloLayer, head_table

SOURCE = (1920, 1080)
CLASSES = 80
ANCHORS = np.array([[12, 16], [19, 36], [40, 28], [36, 75], [76, 55], [72, 146], [142, 110], [192, 243], [459, 401]], np.float32)
REPLAYS, LAUNCHES = 15, 24


COPY = """
extern "C" __global__ void copy(const uint4* __restrict__ from, uint4* __restrict__ to, long long count) {
    for (long long i = blockIdx.x * 256LL + threadIdx.x; i < count; i += 256LL * gridDim.x) {
        to[i] = from[i];
    }
}
"""


class CopyKernel:
    """A step that copies memory."""

    def __init__(self, cubin: bytes, source: int, target: int, nbytes: int) -> None:
        self._kernel = ObjectCode.from_cubin(cubin).get_kernel("copy")
        self._config = LaunchConfig(grid=min(nbytes // 16 // 256, 1 << 16), block=256)
        self._arguments = np.uint64(source), np.uint64(target), np.int64(nbytes // 16)

    def launch(self, stream: Stream) -> None:
        """Put it on the stream."""
        launch(stream, self._config, self._kernel, *self._arguments)


@dataclass(frozen=True)
class Case:
    """One layer at one size. steps: the layer on different data. nbytes: the least it must read and write; None = no bound."""

    name: str
    batch: int
    size: int
    steps: Sequence[Step]
    nbytes: int | None


class Bench:
    """The device and its memory, freed after each case."""

    def __init__(self) -> None:
        self._device = Device(0)
        self._device.set_current()
        self._stream = self._device.create_stream()
        self.memory = Memory(self._device, self._stream)
        self.arch = f"sm_{self._device.arch}"
        self.kernels = Kernels(self.arch)
        self.random = np.random.default_rng(0)
        self.name, self.driver = self._device.name, driver.cuDriverGetVersion()[1]

    def filled(self, nbytes: int) -> int:
        """Allocate device memory full of half-precision numbers. Returns the address."""
        tile = self.random.normal(0, 2, 1 << 20).astype(np.float16).view(np.uint8)
        address = self.memory.device(nbytes)
        source = self.memory.constant(tile)
        for start in range(0, nbytes, tile.nbytes):
            copy(address + start, source, min(tile.nbytes, nbytes - start), self._stream)
        self._stream.sync()
        return address

    def read(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        """Copy device memory to the host, uint8 (nbytes,)."""
        values = np.empty(nbytes, np.uint8)
        copy(values.ctypes.data, address, nbytes, self._stream)
        self._stream.sync()
        return values

    def microseconds(self, steps: Sequence[Step]) -> float:
        """The median time of one step, over replays of a graph with LAUNCHES steps."""
        many = [steps[number % len(steps)] for number in range(LAUNCHES)]
        many[0].launch(self._stream)
        self._stream.sync()
        graph = record(many, self._stream)
        graph.upload(self._stream)
        times = []
        for _ in range(REPLAYS):
            begun = self._stream.record(options=EventOptions(timing_enabled=True))
            graph.launch(self._stream)
            ended = self._stream.record(options=EventOptions(timing_enabled=True))
            self._stream.sync()
            times.append((ended - begun) * 1000 / LAUNCHES)
        return float(median(times[3:]))

    def bandwidth(self) -> float:
        """Bytes/s of a large copy, read and written."""
        nbytes = 1 << 30
        source, target = self.filled(nbytes), self.memory.device(nbytes)
        elapsed = self.microseconds([CopyKernel(compile_source(COPY, self.arch), source, target, nbytes)])
        self.memory.close()
        return 2 * nbytes / elapsed * 1e6


def sets(nbytes: int) -> int:
    """The number of data sets of this size that do not fit into the cache together, 1..8."""
    return max(1, min(8, (400 << 20) // nbytes))


def mish_cases(bench: Bench, batch: int, size: int) -> list[Case]:
    """The network's largest activation: 32 channels at full size."""
    channels = 32
    count = batch * channels * size * size
    steps = [Mish(bench.kernels, bench.filled(2 * count), count) for _ in range(sets(2 * count))]
    return [Case("mish", batch, size, steps, 4 * count)]


def first_convolution_cases(bench: Bench, batch: int, size: int) -> list[Case]:
    """YOLOv4's and YOLOv4-tiny's first layer: 32 channels at full size, and at half of it."""
    channels = 32
    kernels = Kernels(bench.arch, names=first_convolution.SOURCES)
    weights = bench.random.normal(0, 0.3, (channels, 3, 3, 3)).astype(np.float32)
    packed = bench.memory.constant(first_convolution.packed(weights, np.ones(channels, np.float32)))
    read = 2 * batch * 3 * size * size
    cases = []
    for stride, activation in ((1, "mish"), (2, "leaky")):
        written = 2 * batch * channels * (size // stride) ** 2
        steps = [
            first_convolution.FirstConvolution(
                kernels, bench.filled(read), packed, bench.memory.device(written), batch, size, size, channels, stride, activation
            )
            for _ in range(sets(read + written))
        ]
        cases.append(Case(f"first_convolution, stride {stride}, {activation}", batch, size, steps, read + written))
    return cases


def preprocess_cases(bench: Bench, batch: int, size: int) -> list[Case]:
    """1080p frames in NVDEC's layout, stretched."""
    width, height = SOURCE
    pitch = 2048
    rows = min(height, 2 * size) + min(height // 2, 2 * size)  # every row of the network reads two rows of the frame
    nbytes = batch * (rows * width + 6 * size * size)
    steps = []
    for _ in range(sets(nbytes)):
        frames = np.zeros(batch, FRAME)
        for index in range(batch):
            address = bench.filled(pitch * height * 3 // 2)
            entry = describe_frame(NV12, SOURCE, SOURCE, (0, 0, size, size), "bt709")
            entry["luma"], entry["chroma"], entry["pitch"] = address, address + pitch * height, pitch
            frames[index] = entry
        pictures = bench.memory.device(6 * batch * size * size)
        steps.append(Preprocess(bench.kernels, bench.memory.constant(frames), pictures, batch, size, size))
    return [Case("preprocess", batch, size, steps, nbytes)]


def decoding_cases(bench: Bench, batch: int, size: int, crowd: str, objectness: float) -> list[Case]:
    """YOLO layer and suppression, of pictures with few or with many candidates."""
    layers: list[Step] = []
    suppressions: list[Step] = []
    found = []
    for _ in range(2):
        heads = []
        for number, stride in enumerate((8, 16, 32)):
            cells = size // stride
            values = 1.5 * bench.random.standard_normal((batch, 3, 5 + CLASSES, cells, cells), np.float32)
            values[:, :, 4] += objectness
            values[:, :, 5:] -= 3
            heads.append(
                Head(bench.memory.constant(values.astype(np.float16)), cells, cells, ANCHORS[3 * number : 3 * number + 3], 1.1, False)
            )
        candidates = Candidates(bench.memory.device(batch * CAPACITY * CANDIDATE_BYTES), bench.memory.device(4 * batch))
        frames = np.zeros(batch, FRAME)
        frames[:] = describe_frame(NV12, SOURCE, SOURCE, (0, 0, size, size))
        frames["luma"] = 1
        results = bench.memory.device(result_bytes(batch))
        table_address, mask = bench.memory.constant(head_table(heads)), bench.memory.constant(class_mask(CLASSES, None))
        layer = YoloLayer(bench.kernels, heads, table_address, batch, CLASSES, (size, size), 0.25, candidates)
        suppression = Nms(bench.kernels, candidates, bench.memory.constant(frames), mask, batch, 0.45, 0.6, results)
        bench.microseconds([layer])
        bench.microseconds([suppression])
        counts, _ = read_results(bench.read(results, result_bytes(batch)), batch)
        found.append(counts.mean(axis=0))
        layers.append(layer)
        suppressions.append(suppression)
    candidates_found, kept = np.mean(found, axis=0)
    what = f"{crowd}: {candidates_found:.0f} candidates a picture, {kept:.0f} kept"
    return [Case(f"yolo_layer, {what}", batch, size, layers, None), Case(f"nms, {what}", batch, size, suppressions, None)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write ``results/gpu-layers.md``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--network", type=float, nargs=2, metavar=("MS_416", "MS_608"), help="ms of the network alone at batch 32, for shares"
    )
    options = parser.parse_args(arguments)
    bench = Bench()
    bandwidth = bench.bandwidth()
    shares = dict(zip((416, 608), options.network or (), strict=False))
    rows = []
    for size in (416, 608):
        for batch in (1, 32):
            groups = [partial(cases, bench, batch, size) for cases in (mish_cases, first_convolution_cases, preprocess_cases)]
            for crowd, objectness in (("few", -5.0), ("many", -3.5)):
                groups.append(partial(decoding_cases, bench, batch, size, crowd, objectness))
            for group in groups:
                for case in group():
                    elapsed = bench.microseconds(case.steps)
                    bound = "" if case.nbytes is None else f"{case.nbytes / bandwidth * 1e6:.1f}"
                    rate = "" if case.nbytes is None else f"{case.nbytes / elapsed / 1e3:.0f}"
                    share = f"{elapsed / shares[size] / 10:.2f} %" if size in shares and batch == 32 else ""
                    rows.append((case.name, size, batch, f"{elapsed:.1f}", bound, rate, share))
                bench.memory.close()
    body = f"{bench.name}, driver for CUDA {bench.driver / 1000:.1f}; copying moves {bandwidth / 1e9:.0f} GB/s.\n\n"
    body += table(("layer", "network", "batch", "µs", "lower bound by bandwidth, µs", "GB/s", "÷ network's time"), rows)
    body += "\n\nAt batch 1, the data is in the cache after the first replay, and the time of a launch (about 2 µs) matters."
    if shares:
        body += f" The network's time is as given on the command line: {shares[416]} ms at 416, {shares[608]} ms at 608, for 32 pictures."
    write("gpu.layers", "The custom layers' time on the GPU", body, ("cuda-core", "cuda-bindings", "numpy"), "gpu-layers")


if __name__ == "__main__":
    main()
