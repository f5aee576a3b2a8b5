"""What the device benchmarks measure: one value for each thing tried, which crosses process borders as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from engine.types import DeviceId


class Test(StrEnum):
    """MEMORY: a copy within a device. UPLOAD, DOWNLOAD: pinned host memory to a device, and back. PEER: one device to another.
    PEER_LATENCY: the same with next to nothing to copy. PRODUCT: matrix · vector, the columns shared. SUM: of a vector, its parts shared.
    """

    __test__ = False  # no test of pytest's

    MEMORY = "memory"
    UPLOAD = "upload"
    DOWNLOAD = "download"
    PEER = "peer"
    PEER_LATENCY = "peer latency"
    PRODUCT = "product"
    SUM = "sum"


@dataclass(frozen=True)
class Spread:
    """How long something took, ms, over so many repetitions. variance: ms²."""

    repetitions: int
    median: float
    p5: float
    p95: float
    variance: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """samples: ms each."""
        p5, median, p95 = np.percentile(samples, (5, 50, 95))
        return cls(len(samples), float(median), float(p5), float(p95), float(np.var(samples)))


@dataclass(frozen=True)
class Measurement:
    """One thing tried.

    devices: those that took part; for PEER from where and to where. nbytes: what had to be moved: read and written for MEMORY, copied
    for UPLOAD, DOWNLOAD and PEER, the size of the matrix or vector for PRODUCT and SUM. time: of PRODUCT, SUM and whatever several devices
    do at once, from the call to the result in host memory by the host's clock; otherwise by the device's clock. device_time: of the
    slowest device by its own clock, where ``time`` is the host's. note: how it was done. problem: why there is no time, or why the
    result is not to be trusted.
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
        """See ``from_json``."""
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
    def from_json(cls, values: dict[str, Any]) -> Measurement:
        """Read what ``as_json`` wrote.

        Raises:
            KeyError, TypeError, ValueError, UsageError: it is something else.
        """
        time, device_time = (None if values[name] is None else Spread(**values[name]) for name in ("ms", "device_ms"))
        devices = tuple(map(DeviceId.parse, values["devices"]))
        return cls(Test(values["test"]), devices, values["bytes"], time, device_time, values["note"], values["problem"])
