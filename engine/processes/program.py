"""Runs a short program that prints JSON. A driver that crashes or hangs in it does not affect the caller."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import framefleet
from framefleet.engine.notices import Notice

ROOT = Path(framefleet.__file__).resolve().parent.parent
"""The working folder of the programs, so that they can import this engine even if it is not installed."""


def run_program(program: Sequence[str], timeout: float | None = None) -> tuple[list[Any], Notice | None]:
    """Run a program to its end.

    Parameters
    ----------
    program : sequence of str
        The command and its arguments.
    timeout : float, optional
        Seconds after which it is killed. None: there is no limit.

    Returns
    -------
    values : list
        The JSON values of the lines that it printed. Other lines are ignored, because drivers print, too.
    problem : Notice or None
        Why it failed; None if it succeeded.
    """
    try:
        done = subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, cwd=ROOT, check=False)
        output, problem = done.stdout, explain_exit(done.returncode, done.stderr.decode("utf-8", "replace"))
    except subprocess.TimeoutExpired as expired:
        output, problem = expired.stdout or b"", Notice("processes.no_answer", timeout=timeout)
    except OSError as error:
        return [], Notice("processes.not_started", error=str(error))
    values = []
    for line in output.decode("utf-8", "replace").splitlines():
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return values, problem


def explain_exit(status: int, errors: str) -> Notice | None:
    """Why a process failed, with the last line of its standard error; None if it succeeded."""
    if status == 0:
        return None
    how = Notice("processes.program_crashed", signal=-status) if status < 0 else Notice("processes.program_status", status=status)
    last = errors.strip().splitlines()[-1:]
    return Notice("processes.last_line", problem=how, line=last[0]) if last else how
