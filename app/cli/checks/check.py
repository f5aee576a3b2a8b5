"""The result of one check of the doctor, and how code is tried in another interpreter, so that a crash is a finding."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How serious a finding is. WARNING: something is slow, or the window does not work. PROBLEM: detection cannot work."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Check:
    """One finding. remedy: what to do, None = nothing."""

    name: str
    status: Status
    detail: str
    remedy: str | None = None


SECONDS = 60


def try_python(code: str, environment: Mapping[str, str] | None = None) -> tuple[str, str | None]:
    """Run code. Returns its output, and why it failed (None = it succeeded)."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer within {SECONDS} s"
    except OSError as error:
        return "", str(error)
    if done.returncode == 0:
        return done.stdout.strip(), None
    last = done.stderr.strip().splitlines()[-1:] or [""]
    if done.returncode < 0:
        return "", f"it crashes ({signal.Signals(-done.returncode).name}) {last[0]}".strip()
    return "", last[0]
