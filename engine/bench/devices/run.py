"""Runs the benchmarks of devices and links, in a separate process for each kind of device.

That process is ``python -m framefleet.engine.bench.devices.run KIND REPETITIONS BYTES DEVICE…``.
BYTES: of the largest array, 0 = automatic. It prints lines of JSON: first ``{"names": {device: name}}``, then a ``Measurement`` a line.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from framefleet.engine.bench.devices.measurement import Measurement, Test
from framefleet.engine.errors import UsageError
from framefleet.engine.processes.program import ROOT, explain_exit
from framefleet.engine.types import DeviceId

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
            raise UsageError(
                f"no device benchmarks for {', '.join(others) or 'no device'}: give CPU or CUDA devices, such as cuda:0,cuda:1"
            )
        if repetitions < 2:
            raise UsageError(f"a variance needs at least 2 repetitions, not {repetitions}")
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
        program = (sys.executable, "-m", "framefleet.engine.bench.devices.run", *options)
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
        from framefleet.engine.bench.devices.cuda import CudaDevices as Devices
    else:
        from framefleet.engine.bench.devices.cpu import CpuDevices as Devices  # type: ignore[assignment]
    bench = Devices([DeviceId.parse(name) for name in names], int(largest) or None)
    print(json.dumps({"names": {str(device): name for device, name in bench.names.items()}}), flush=True)
    for measurement in bench.measure(int(repetitions)):
        print(json.dumps(measurement.as_json()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
