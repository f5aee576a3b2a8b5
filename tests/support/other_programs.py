"""Runs programs that are not ours and that read exported files. They are large, so they are no dependencies.

``FRAMEFLEET_OTHER_PROGRAMS`` names them, separated like the entries of PATH: Python interpreters with packages, ``Rscript``, ``soffice``.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "FRAMEFLEET_OTHER_PROGRAMS"


def _named() -> list[Path]:
    return [Path(entry) for entry in os.environ.get(VARIABLE, "").split(os.pathsep) if entry]


def read_with(module: str, script: str, *arguments: Path | str) -> Any:
    """Run a script with an interpreter that has a module. Returns the JSON value of its last line."""
    for interpreter in _named():
        found = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
        if "python" in interpreter.name and subprocess.run([interpreter, "-c", found], check=False).returncode == 0:
            return json.loads(run_program(interpreter, "-c", script, *arguments).splitlines()[-1])
    pytest.skip(f"no {module}: install it into a separate environment, and set {VARIABLE} to its interpreter")


def program(name: str) -> Path:
    """Return the path of a program with this name."""
    for path in _named():
        if path.name == name:
            return path
    pytest.skip(f"no {name}: install it, and add its path to {VARIABLE}")


def run_program(*command: Path | str) -> str:
    """Run a command. Returns what it prints."""
    run = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout
