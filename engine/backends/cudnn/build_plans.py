"""``python -m framefleet.engine.backends.cudnn.build_plans DEVICE COUNT SHAPES``: builds plans in a process of its own.

The third argument is a JSON list of shapes. Prints the plans of each as a line of JSON: its number in the list, and at most COUNT plans in
base 64. cuDNN holds the interpreter's lock while it builds a plan, so threads of one process would wait for each other.
"""

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import islice

from cuda.core import Device

from framefleet.engine.backends.cudnn.convolution import Shape, candidates
from framefleet.engine.backends.cudnn.library import find_cudnn
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.notices import DeviceError
from framefleet.engine.processes.program import run_program

_MAX_PROCESSES = 16
_SECONDS = 600.0


def build_plans(shapes: Sequence[Shape], device: int, count: int) -> dict[Shape, list[bytes]]:
    """Build plans in several processes. device: ordinal. Returns at most ``count`` plans of each shape; shapes that failed are missing."""
    processes = max(1, min(_MAX_PROCESSES, usable_cores() if count == 1 else usable_cores() // 2, len(shapes)))
    parts = [shapes[start::processes] for start in range(processes)]

    def run(part: Sequence[Shape]) -> dict[Shape, list[bytes]]:
        told = json.dumps([asdict(shape) for shape in part])
        lines, _ = run_program([sys.executable, "-m", __name__, str(device), str(count), told], _SECONDS)
        return {part[line["shape"]]: [b64decode(plan) for plan in line["plans"]] for line in lines if isinstance(line, dict)}

    with ThreadPoolExecutor(processes, "build plans") as threads:
        return {shape: plans for found in threads.map(run, parts) for shape, plans in found.items()}


def main(device: str, count: str, shapes: str) -> None:
    """Build and print the plans."""
    cuda = Device(int(device))
    cuda.set_current()
    capability = cuda.compute_capability
    library = find_cudnn((capability.major, capability.minor))
    handle = library.cudnn.create_handle()
    for number, told in enumerate(json.loads(shapes)):
        try:
            plans = list(islice(candidates(library, handle, Shape.from_json(told)), int(count)))
        except DeviceError:
            continue
        print(json.dumps({"shape": number, "plans": [b64encode(plan).decode() for plan in plans]}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
