"""``framefleet devices``: lists the devices of this machine."""

import json
from collections.abc import Sequence
from pathlib import Path

from framefleet.app.cli import options, runs
from framefleet.app.cli.table import aligned
from framefleet.engine.devices.discovery import DeviceDescription, default_devices, discover
from framefleet.engine.devices.recording import read_recording

GIB = 1 << 30
MARK = "*"
HEADINGS = ("DEVICE", "NAME", "CORES", "MEMORY", "COMPUTE", "DRIVER", "BACKEND", "PRECISIONS")


def run(argv: Sequence[str]) -> int:
    """List the devices of this machine, of a recorded one or of a cluster. Exit status 0.

    Raises
    ------
    DeviceError
        No device was found, or the cluster cannot be used.
    UsageError
        The recording cannot be read.
    """
    description = "List the devices of this machine; --devices of the other commands takes their ids."
    parser = options.make_parser("devices", description, examples=("", "--json"), json="print one JSON object instead of text")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--recording", type=Path, metavar="FILE", help="show a recorded machine instead of this one")
    shown.add_argument("--cluster", metavar="ADDRESS", help="list the devices of a Ray cluster: HOST:PORT, or auto")
    arguments = parser.parse_args(argv)
    with runs.connected(arguments.cluster, arguments.json) as cluster:
        if cluster is not None:
            devices = cluster.describe()
        else:
            devices = discover() if arguments.recording is None else read_recording(arguments.recording).devices
    if arguments.json:
        print(json.dumps({"devices": [device.as_json() for device in devices]}))
    else:
        print(table(devices))
    return 0


def table(devices: Sequence[DeviceDescription]) -> str:
    """A table of the devices without empty columns. The line below an unusable device says why."""
    best = default_devices(devices) if any(device.available for device in devices) else ()
    rows = [HEADINGS, *(_cells(device, device.id in best) for device in devices)]
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    lines = aligned([*zip(*columns, strict=True)]).splitlines()
    for place, device in reversed([*enumerate(devices, 2)]):
        if device.problem is not None:
            lines.insert(place, f"{'':{max(map(len, columns[0]))}}  not available: {device.problem}")
    if best:
        lines.append(f"{MARK} used unless you choose")
    return "\n".join(lines)


def _cells(device: DeviceDescription, best: bool) -> tuple[str, ...]:
    return (
        f"{device.id} {MARK}" if best else str(device.id),
        device.name,
        "" if device.cores is None else str(device.cores),
        "" if device.memory is None else f"{device.memory / GIB:.1f} GiB",
        device.compute_capability or "",
        ", CUDA ".join(filter(None, (device.driver, device.cuda))),
        device.backend,
        ", ".join(device.precisions),
    )
