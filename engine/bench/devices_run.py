"""Runs the benchmarks of devices and links, in a separate process for each kind of device, and evaluates them.

That process is ``python -m framefleet.engine.bench.devices_run KIND REPETITIONS BYTES DEVICE…``.
BYTES: of the largest array, 0 = automatic. It prints lines of JSON: first ``{"names": {device: name}}``, then a ``Measurement`` a line.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import accumulate, pairwise
from statistics import median
from typing import Any, Self

import numpy as np

from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.processes.program import ROOT, explain_exit
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


ROWS = 32768
"""Rows of the matrix; the memory limits its columns."""

COLUMNS = 64
"""Parts of matrices and vectors begin at multiples of this, which are multiples of 256 bytes."""

VECTORS = (1 << 20, 1 << 24, 1 << 26, 1 << 28, 1 << 30, 1 << 32, 1 << 35)
"""Sizes of the summed vectors, bytes. Small ones show how long a start takes."""


def counts(devices: int) -> list[int]:
    """The numbers of devices to measure: 1, 2, 4, … and all."""
    return [count for count in (1, 2, 4, 8, 16, 32, 64) if count < devices] + [devices]


def vectors(room: int) -> list[int]:
    """The sizes in VECTORS that fit into ``room`` bytes; if none does, one as large as the room."""
    fitting = [nbytes for nbytes in VECTORS if nbytes <= room]
    return fitting or [room // (4 * COLUMNS) * 4 * COLUMNS]


def shares(total: int, speeds: Sequence[float]) -> list[tuple[int, int]]:
    """Start and length of each device's part: multiples of COLUMNS if ``total`` is one.

    speeds: of the devices, in any unit. Speeds within 5 % of the fastest count as equal, which is the accuracy of the measurement.
    """
    weights = [round(10 * speed / max(speeds)) or 1 for speed in speeds]
    steps = total // COLUMNS
    bounds = [steps * done // sum(weights) * COLUMNS for done in accumulate(weights, initial=0)]
    bounds[-1] = total
    return [(first, after - first) for first, after in pairwise(bounds)]


SLOW = 0.8
"""A device or link below this share of the median of its peers is slow."""

_LINKS = (Test.PEER, Test.PEER_LATENCY)
_WORDS = {
    Test.MEMORY: "copies within its memory",
    Test.UPLOAD: "takes from the host",
    Test.DOWNLOAD: "gives to the host",
    Test.PEER: "copies",
    Test.PEER_LATENCY: "makes small copies",
    Test.PRODUCT: "multiplies",
    Test.SUM: "adds up",
}


def speedup(measured: Measurement, measurements: Sequence[Measurement]) -> float | None:
    """The speedup of a PRODUCT or SUM over the fastest of its devices alone; None without a comparison."""
    if measured.test not in (Test.PRODUCT, Test.SUM) or len(measured.devices) == 1 or measured.time is None:
        return None
    alone = [
        one.time.median
        for one in measurements
        if one.time
        and (one.test, one.nbytes) == (measured.test, measured.nbytes)
        and len(one.devices) == 1
        and one.devices[0] in measured.devices
    ]
    return min(alone) / measured.time.median if alone else None


def ideal(measured: Measurement, measurements: Sequence[Measurement]) -> float:
    """The ideal speedup: the sum of the devices' memory bandwidths ÷ the fastest one. CPU devices share one memory."""
    rates = [_copy_rate(device, measurements) for device in measured.devices if device.kind != "cpu"]
    fastest = max(rates, default=0.0)
    return sum(rates) / fastest if fastest else 1.0


def of_copy(measured: Measurement, measurements: Sequence[Measurement]) -> float | None:
    """The rate of a PRODUCT or SUM ÷ the measured copy bandwidth of its devices."""
    if measured.test not in (Test.PRODUCT, Test.SUM) or measured.rate is None:
        return None
    devices = measured.devices[:1] if measured.devices[0].kind == "cpu" else measured.devices
    rates = [_copy_rate(device, measurements) for device in devices]
    return measured.rate / sum(rates) if all(rates) else None


def findings(measurements: Sequence[Measurement], names: Mapping[DeviceId, str]) -> list[str]:
    """Failures and slow devices or links in words; empty = none. names: devices with equal names are peers."""
    groups: dict[tuple[object, ...], list[tuple[Measurement, float]]] = defaultdict(list)
    # smaller sums measure the launch, not the device
    largest = max((one.nbytes for one in measurements if one.test is Test.SUM), default=0)
    for one in measurements:
        rate = one.rate
        if rate is None or one.problem is not None or (one.test is Test.SUM and one.nbytes < largest):
            continue
        if one.test is Test.PEER_LATENCY and one.time is not None:
            rate *= one.time.median / one.time.p5  # other work of the host can double the time of most small copies
        if one.test in _LINKS:
            groups[one.test, one.note].append((one, rate))
        elif len(one.devices) == 1:
            groups[one.test, one.nbytes, names.get(one.devices[0])].append((one, rate))
    slow = [
        f"{_what(one)} at {share:.0%} of its peers' median speed ({rate:.3g} instead of {usual:.3g} GB/s)"
        for group in groups.values()
        for usual in [median(rate for _, rate in group)]
        for one, rate in group
        if (share := rate / usual) < SLOW
    ]
    return [f"{_what(one)}: {one.problem}" for one in measurements if one.problem is not None] + slow


def verdict(measurements: Sequence[Measurement], names: Mapping[DeviceId, str]) -> str:
    """The evaluation in one sentence."""
    found = findings(measurements, names)
    if found:
        return f"{len(found)} finding{'s' if found[1:] else ''}: " + "; ".join(found)
    devices, links = (sum(one.test is test and len(one.devices) <= 2 for one in measurements) for test in (Test.MEMORY, Test.PEER))
    if devices < 2:
        return "everything could be measured; only a comparison with a second device of its kind shows whether this one is slow"
    return f"no problem: none of {devices} devices and {links} links is below {SLOW:.0%} of the median of its peers"


def pays_from(measurements: Sequence[Measurement]) -> int | None:
    """The smallest vector, in bytes, from which several devices sum faster than one; None: never, or there is one device.

    For smaller vectors, starting several devices and waiting for them takes longer than one device needs.
    """
    gains: dict[int, list[float]] = defaultdict(list)
    for one in measurements:
        if one.test is Test.SUM and (gain := speedup(one, measurements)) is not None:
            gains[one.nbytes].append(gain)
    slower = max((nbytes for nbytes, found in gains.items() if min(found) < 1), default=0)
    return min((nbytes for nbytes in gains if nbytes > slower), default=None)


def _copy_rate(device: DeviceId, measurements: Sequence[Measurement]) -> float:
    for one in measurements:
        if one.test is Test.MEMORY and one.rate is not None and (one.devices[0] == device or one.devices[0].kind == device.kind == "cpu"):
            return one.rate
    return 0.0


def _what(one: Measurement) -> str:
    if one.test in _LINKS:
        return f"{one.devices[0]} → {one.devices[-1]} {_WORDS[one.test]}"
    return f"{one.devices[0]} {_WORDS[one.test]}" if len(one.devices) == 1 else f"{one.test} by {len(one.devices)} devices"


# the benchmarks start a thread for each core: NumPy's libraries must not start more
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1"}


class DeviceBench:
    """The benchmarks of some devices. devices: CPU and CUDA devices; each kind is measured separately. repetitions: of each measurement.
    largest: bytes of the largest array, at least 1 MiB; None = depends on the free memory.

    Raises UsageError for another kind of device, no device, or fewer than two repetitions.
    """

    def __init__(self, devices: Sequence[DeviceId], repetitions: int = 30, largest: int | None = None) -> None:
        others = [str(device) for device in devices if device.kind not in ("cpu", "cuda")]
        if others or not devices:
            raise UsageError(Notice("bench.other_devices", devices=tuple(others)) if others else Notice("bench.no_devices"))
        if repetitions < 2:
            raise UsageError(Notice("bench.too_few_repetitions", repetitions=repetitions))
        self._devices, self._repetitions, self._largest = devices, repetitions, largest
        self.names: dict[DeviceId, str] = {}

    def measure(self) -> Iterator[Measurement]:
        """Yield each measurement when it is taken; fill ``names``. A failure or a driver's crash is a measurement with a ``problem``."""
        for kind in ("cpu", "cuda"):
            devices = [device for device in self._devices if device.kind == kind]
            if devices:
                yield from self._measure(kind, devices)

    def _measure(self, kind: str, devices: Sequence[DeviceId]) -> Iterator[Measurement]:
        options = (kind, str(self._repetitions), str(self._largest or 0), *map(str, devices))
        program = (sys.executable, "-m", "framefleet.engine.bench.devices_run", *options)
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                program,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                cwd=ROOT,
                env=os.environ | _ENVIRONMENT,
            ) as process,
        ):
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    values = json.loads(line)
                    if "names" in values:
                        self.names |= {DeviceId.parse(device): name for device, name in values["names"].items()}
                    else:
                        yield Measurement.from_json(values)
            except BaseException:
                process.kill()
                raise
            status = process.wait()
            errors.seek(0)
            if (problem := explain_exit(status, errors.read())) is not None:
                yield Measurement(Test.MEMORY, tuple(devices), 0, problem=f"the benchmark did not reach its end: {problem}")


def main(kind: str, repetitions: str, largest: str, *names: str) -> None:
    """Measure devices of one kind, and print each result at once."""
    if kind == "cuda":
        from framefleet.engine.bench.devices_cuda import CudaDevices as Devices
    else:
        from framefleet.engine.bench.devices_cpu import CpuDevices as Devices  # type: ignore[assignment]
    bench = Devices([DeviceId.parse(name) for name in names], int(largest) or None)
    print(json.dumps({"names": {str(device): name for device, name in bench.names.items()}}), flush=True)
    for measurement in bench.measure(int(repetitions)):
        print(json.dumps(measurement.as_json()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
