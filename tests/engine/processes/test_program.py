"""How programs end that print JSON."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from framefleet.engine.processes.program import run_program

LINES = 'import os, sys; print("a driver says hello"); print(\'{"a": 1}\', flush=True)\n'


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("", None),
        ("sys.exit(3)", "it ended with status 3"),
        ("os.kill(os.getpid(), 9)", "it crashed (signal 9)"),
        ("print('first\\nno such device', file=sys.stderr); sys.exit(1)", "it ended with status 1: no such device"),
    ],
)
def test_what_a_program_printed_and_why_it_ended(code: str, reason: str | None) -> None:
    values, problem = run_program((sys.executable, "-c", LINES + code))
    assert values == [{"a": 1}]
    assert (None if problem is None else str(problem)) == reason


def test_a_program_that_does_not_end_or_start(tmp_path: Path) -> None:
    _, problem = run_program((sys.executable, "-c", LINES + "import time; time.sleep(60)"), timeout=0.5)
    assert str(problem) == "it gave no answer within 0.5 s"
    assert str(run_program((str(tmp_path / "none"),))[1]).startswith("it cannot be started: ")
