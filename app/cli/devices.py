"""``framefleet devices``: what this machine can detect with."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.cli.options import make_parser


def run(argv: Sequence[str]) -> int:
    """0: there is at least one."""
    parser = make_parser("devices", "List the devices of this machine that can detect; --devices takes their ids.")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    arguments = parser.parse_args(argv)

    from engine.devices.discovery import discover

    devices = discover()
    return 0
