"""``framefleet doctor``: checks this machine, and says how to solve the problems that it finds."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import chain

from framefleet.app.cli.arguments.parser import make_parser
from framefleet.app.cli.checks.check import Check, Status
from framefleet.app.cli.checks.libraries import check_libraries
from framefleet.app.cli.checks.system import check_system

MARKS = {Status.OK: "ok", Status.WARNING: "warning", Status.PROBLEM: "PROBLEM"}


def run(argv: Sequence[str]) -> int:
    """Print every check. Exit status 0: detection can work; 1: it cannot."""
    description = "Check the libraries, devices, display, disk and memory of this machine, and say how to solve problems."
    parser = make_parser("doctor", description, examples=("",), json="print one JSON object instead of text")
    arguments = parser.parse_args(argv)
    checks: list[Check] = []
    for check in chain(check_system(), check_libraries()):
        checks.append(check)
        if not arguments.json:
            print(as_text(check), flush=True)
    usable = is_usable(checks)
    if arguments.json:
        print(json.dumps({"checks": [asdict(check) for check in checks], "usable": usable}))
    else:
        print(f"\n{verdict(checks)}")
    return 0 if usable else 1


def is_usable(checks: Iterable[Check]) -> bool:
    """Whether detection can work."""
    return all(check.status is not Status.PROBLEM for check in checks)


def as_text(check: Check) -> str:
    """The finding, and on a second line what to do."""
    finding = f"{MARKS[check.status]:8} {check.name}: {check.detail}"
    return f"{finding}\n{'':8} → {check.remedy}" if check.remedy else finding


def verdict(checks: Sequence[Check]) -> str:
    """Whether detection can work, and the number of warnings."""
    words = "This machine is ready." if is_usable(checks) else "Detection cannot work here until the problems above are solved."
    warnings = sum(check.status is Status.WARNING for check in checks)
    return f"{words} {warnings} warning{'s' * (warnings != 1)}." if warnings else words
