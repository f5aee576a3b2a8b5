"""``framefleet doctor``: checks this machine, says what is missing and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from app.cli.checks.check import Check, Status
from app.cli.checks.libraries import check_libraries
from app.cli.checks.system import check_system
from app.cli.options import make_parser

MARKS = {Status.OK: "ok", Status.WARNING: "warning", Status.PROBLEM: "PROBLEM"}


def run(argv: Sequence[str]) -> int:
    """Print every check; 0 if detection can work here, 1 if not."""
    parser = make_parser(
        "doctor", "Check this machine: libraries, devices, display, disk, memory; say what to do where something is wrong."
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    arguments = parser.parse_args(argv)
    checks: list[Check] = []
    for check in (*check_system(), *check_libraries()):
        checks.append(check)
        if not arguments.json:
            _print(check)
    usable = all(check.status is not Status.PROBLEM for check in checks)
    if arguments.json:
        print(json.dumps({"checks": [asdict(check) for check in checks], "usable": usable}))
    else:
        warnings = sum(check.status is Status.WARNING for check in checks)
        print("\nThis machine is ready." if usable else "\nDetection cannot work here until the problems above are solved.", end=" ")
        print(f"{warnings} warning{'s' * (warnings != 1)}." if warnings else "")
    return 0 if usable else 1


def _print(check: Check) -> None:
    print(f"{MARKS[check.status]:8} {check.name}: {check.detail}", flush=True)
    if check.remedy:
        print(f"{'':8} → {check.remedy}", flush=True)
