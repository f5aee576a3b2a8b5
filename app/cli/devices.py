"""``framefleet devices``: what this machine can detect with."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.cli.options import make_parser
from engine.devices.description import DeviceDescription
from engine.devices.discovery import default_devices, discover


def run(argv: Sequence[str]) -> int:
    """0: the devices are listed.

    Raises:
        DeviceError: not even the CPU could be examined.
    """
    parser = make_parser("devices", "List the devices of this machine; --devices of the other commands takes their ids.")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    arguments = parser.parse_args(argv)
    devices = discover()
    if arguments.json:
        print(json.dumps({"devices": [device.as_json() for device in devices]}))
        return 0
    best = default_devices(devices)
    for device in devices:
        print(_line(device) + (" – used unless you choose" if device.id in best else ""))
    return 0


def _line(device: DeviceDescription) -> str:
    state = ", ".join(device.precisions) if device.problem is None else f"not available: {device.problem}"
    cores = "" if device.cores is None else f", {device.cores} cores"
    return f"{device.id!s:16} {device.name}{cores}, {device.backend}: {state}"
