"""The result of one device benchmark. It crosses process borders as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np

from framefleet.engine.types import DeviceId


class Test(StrEnum):
    """A kind of benchmark.

    MEMORY: a copy within a device. UPLOAD, DOWNLOAD: pinned host memory to a device, and back. PEER: a copy to another device.
    PEER_LATENCY: the same with a few bytes. PRODUCT: matrix · vector, the columns shared by the devices. SUM: of a vector, its parts
    shared by the devices.
    """

    __test__ = False  # not a test for pytest

    MEMORY = "memory"
    UPLOAD = "upload"
    DOWNLOAD = "download"
    PEER = "peer"
    PEER_LATENCY = "peer latency"
    PRODUCT = "product"
    SUM = "sum"


@dataclass(frozen=True)
class Spread:
    """The distribution of a duration over repetitions. median, p5, p95: ms. variance: ms²."""

    repetitions: int
    median: float
    p5: float
    p95: float
    variance: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Self:
        """The distribution of samples, in ms."""
        p5, median, p95 = np.percentile(samples, (5, 50, 95))
        return cls(len(samples), float(median), float(p5), float(p95), float(np.var(samples)))


@dataclass(frozen=True)
class Measurement:
    """One measurement.

    devices: the participants; for PEER source and destination. nbytes: bytes moved: read plus written for MEMORY, copied for UPLOAD,
    DOWNLOAD and PEER, the size of the matrix or vector for PRODUCT and SUM. time: by the device's clock. For PRODUCT, SUM and
    measurements on several devices: from the call to the result in host memory, by the host's clock; device_time is then the slowest
    device's time by its own clock. note: the method. problem: why there is no time, or why the result is wrong.
    """

    test: Test
    devices: tuple[DeviceId, ...]
    nbytes: int
    time: Spread | None = None
    device_time: Spread | None = None
    note: str = ""
    problem: str | None = None

    @property
    def rate(self) -> float | None:
        """GB/s, by the median time."""
        return self.nbytes / self.time.median / 1e6 if self.time is not None and self.time.median > 0 else None

    def as_json(self) -> dict[str, Any]:
        """The measurement as a JSON object."""
        rate = self.rate
        return {
            "test": self.test.value,
            "devices": [str(device) for device in self.devices],
            "bytes": self.nbytes,
            "gb_per_s": None if rate is None else round(rate, 3),
            "ms": None if self.time is None else asdict(self.time),
            "device_ms": None if self.device_time is None else asdict(self.device_time),
            "note": self.note,
            "problem": self.problem,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """The inverse of ``as_json``. Raises KeyError, TypeError, ValueError or UsageError if the values do not describe a measurement."""
        time, device_time = (None if values[name] is None else Spread(**values[name]) for name in ("ms", "device_ms"))
        devices = tuple(map(DeviceId.parse, values["devices"]))
        return cls(Test(values["test"]), devices, values["bytes"], time, device_time, values["note"], values["problem"])
