"""``python -m engine.bench.devices.process KIND REPETITIONS BYTES DEVICE…``: benchmarks devices of one kind and prints lines of JSON.

The first line is ``{"names": {device: name}}``, each other one a ``Measurement``. BYTES: of the largest array, 0 = automatic. Started
by ``run``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from engine.types import DeviceId


def main(arguments: Sequence[str]) -> None:
    """Measure, and print each result at once."""
    kind, repetitions, largest = arguments[0], int(arguments[1]), int(arguments[2]) or None
    devices = [DeviceId.parse(text) for text in arguments[3:]]
    if kind == "cuda":
        from engine.bench.devices.cuda import CudaDevices as Devices
    else:
        from engine.bench.devices.cpu import CpuDevices as Devices  # type: ignore[assignment]
    bench = Devices(devices, largest)
    print(json.dumps({"names": {str(device): name for device, name in bench.names.items()}}), flush=True)
    for measurement in bench.measure(repetitions):
        print(json.dumps(measurement.as_json()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
