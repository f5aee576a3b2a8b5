"""Runs the real ``main()`` and reads its output."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from framefleet.app.main import main
from tests.support.models import TINY_CFG

TINY = ("--model", str(TINY_CFG), "--weights", "random:1")
FAST = (*TINY, "--devices", "cpu:0", "--precision", "fp32")
"""TINY without the search for devices and the trial of precisions."""


@dataclass(frozen=True)
class Outcome:
    """The exit status, standard output and standard error of one run of ``main``."""

    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON object in the last line of standard output."""
        report: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        return report


def run_main(*arguments: str | Path) -> Outcome:
    """Run ``framefleet ARGUMENTS`` in this process."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        status = main([str(argument) for argument in arguments])
    return Outcome(status, out.getvalue(), err.getvalue())


def run_program(*arguments: str | Path) -> Outcome:
    """Run ``framefleet ARGUMENTS`` in a separate process."""
    done = subprocess.run(
        [sys.executable, "-m", "framefleet.app", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


COMMANDS = """
import json, sys
from framefleet.app.main import main
for command in json.load(sys.stdin):
    status = main(command)
    for stream in (sys.stdout, sys.stderr):
        print("", "end of a command", status, sep="\\n", file=stream, flush=True)
"""


def run_programs(*commands: Sequence[str | Path], **options: Any) -> list[Outcome]:
    """Run ``framefleet`` with each of these arguments, one after the other in one separate process, whose libraries load once.

    options: as for ``subprocess.run``.
    """
    words = json.dumps([[str(argument) for argument in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], input=words, capture_output=True, text=True, check=False, timeout=300, **options
    )
    out, err = ([] if not text else re.split(r"\nend of a command\n(\d+)\n", text)[:-1] for text in (done.stdout, done.stderr))
    assert len(out) == len(err) == 2 * len(commands), done.stderr
    return [Outcome(int(out[place + 1]), out[place], err[place]) for place in range(0, len(out), 2)]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
