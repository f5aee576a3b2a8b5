"""Measures how fast a model runs on a device, without decoding or files."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from framefleet.engine.backends import base, create
from framefleet.engine.model.load import load_model
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.settings import EngineSettings, Hint, ModelFiles, Precision
from framefleet.engine.types import DeviceId, EngineInfo, Image

_WARM_UP = 3
_MIN_SAMPLES = 10
_PICTURES = 8


@dataclass(frozen=True)
class ModelBenchResult:
    """One measurement.

    engine: the engine built for throughput. images_per_s: with all its slots busy. latency_p50, latency_p99: ms for a batch, on an
    engine built for latency that has one batch at a time.
    """

    engine: EngineInfo
    images_per_s: float
    latency_p50: float
    latency_p99: float

    @property
    def size(self) -> int | str:
        """The network's input size: 416 if it is square, else for example "512x288"."""
        engine = self.engine
        return engine.width if engine.width == engine.height else f"{engine.width}x{engine.height}"

    def as_json(self) -> dict[str, Any]:
        """One entry of ``framefleet bench model --json``."""
        return {
            "device": str(self.engine.device),
            "backend": self.engine.backend,
            "precision": self.engine.precision,
            "size": self.size,
            "batch": self.engine.batch,
            "images_per_s": round(self.images_per_s, 2),
            "latency_ms": {"p50": round(self.latency_p50, 3), "p99": round(self.latency_p99, 3)},
        }


def bench_model(
    files: ModelFiles,
    devices: Sequence[DeviceId],
    precisions: Sequence[Precision],
    sizes: Sequence[int] | None,
    batches: Sequence[int],
    seconds: float,
) -> Iterator[ModelBenchResult]:
    """Measure every combination, one after the other. Yields each result as soon as it is measured.

    The pictures are noise of the network's size. The times include resizing, decoding of boxes and NMS with the default thresholds.
    sizes: square network inputs, pixels, multiples of 32; None = the model's own. seconds: of each measurement, above 0; throughput and
    latency take half each.

    Raises
    ------
    UsageError
        A setting is out of range.
    ModelError
        The model cannot be used.
    DeviceError
        A device is missing or does not support a setting.
    """
    for size in sizes or (None,):
        network = load_model(files if size is None else replace(files, size=(size, size)))
        for device, precision, batch in product(devices, precisions, batches):
            yield _measure(network, device, EngineSettings(precision=precision, batch=batch), seconds / 2)


def _measure(network: Model, device: DeviceId, settings: EngineSettings, seconds: float) -> ModelBenchResult:
    with create.create_backend(device) as backend:
        backend.tuning = True
        info = backend.activate(network, settings)
        pictures = noise_pictures(network, info.batch)
        images_per_s = throughput(backend, pictures, seconds)
    with create.create_backend(device) as backend:
        backend.activate(network, replace(settings, precision=Precision(info.precision), hint=Hint.LATENCY))
        p50, p99 = np.percentile(_latencies(backend, pictures, seconds), (50, 99)) * 1000
    return ModelBenchResult(info, images_per_s, float(p50), float(p99))


def noise_pictures(network: Model, batch: int) -> list[list[Image]]:
    """Batches of random pictures of the network's size."""
    random = np.random.default_rng(0)
    shape = (batch, network.height, network.width, 3)
    return [list(random.integers(0, 256, shape, np.uint8)) for _ in range(max(1, _PICTURES // batch))]


def throughput(backend: base.Backend, pictures: list[list[Image]], seconds: float) -> float:
    """Images per second with all slots busy."""
    slots, batch = backend.info.slots, backend.info.batch
    under_way = deque(backend.submit(pictures[turn % len(pictures)]) for turn in range(slots + _WARM_UP))
    while len(under_way) > slots:
        under_way.popleft().result()
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds or done < _MIN_SAMPLES:
        under_way.popleft().result()
        under_way.append(backend.submit(pictures[done % len(pictures)]))
        done += 1
    elapsed = time.perf_counter() - started
    for future in under_way:
        future.result()
    return done * batch / elapsed


def _latencies(backend: base.Backend, pictures: list[list[Image]], seconds: float) -> list[float]:
    """Seconds of each inference, one at a time."""
    for turn in range(_WARM_UP):
        backend.infer(pictures[turn % len(pictures)])
    samples: list[float] = []
    started = time.perf_counter()
    while time.perf_counter() - started < seconds or len(samples) < _MIN_SAMPLES:
        begin = time.perf_counter()
        backend.infer(pictures[len(samples) % len(pictures)])
        samples.append(time.perf_counter() - begin)
    return samples
