"""Every module of the project can be imported, and every benchmark can explain its command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROJECT

FOLDERS = ("app", "engine", "plugins", "resources", "benchmarks", "tools")
# what an installation may lack: libraries for NVIDIA GPUs, the library that trained the demo model, a POSIX-only module
OPTIONAL = {"cuda", "pynvml", "PyNvVideoCodec", "tensorrt", "tensorrt_rtx", "torch", "resource"}
# one process imports all modules: the heavy libraries load once
IMPORT_ALL = """
import importlib, json, sys, traceback
for name in json.load(sys.stdin):
    outcome = {"name": name, "error": "", "missing": ""}
    try:
        importlib.import_module(name)
    except BaseException as error:
        outcome["error"] = traceback.format_exc()
        if isinstance(error, ModuleNotFoundError):
            outcome["missing"] = (error.name or "").partition(".")[0]
    print("\\n" + json.dumps(outcome), flush=True)
"""


def _module(file: Path) -> str:
    """The dotted name of a source file."""
    parts = file.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = sorted(_module(file) for folder in FOLDERS for file in (PROJECT / folder).rglob("*.py"))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, dict[str, Any]]:
    """What importing each module led to; a process that dies leaves the rest out."""
    command = [sys.executable, "-W", "error", "-c", IMPORT_ALL]
    done = subprocess.run(command, cwd=PROJECT, input=json.dumps(MODULES), capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name": ')]
    died = {"error": f"the importing process ended with exit status {done.returncode}:\n{done.stderr}", "missing": ""}
    return dict.fromkeys(MODULES, died) | {each["name"]: each for each in found}


@pytest.mark.parametrize("name", MODULES)
def test_module_imports(outcomes: dict[str, dict[str, Any]], name: str) -> None:
    outcome = outcomes[name]
    if outcome["missing"] in OPTIONAL:
        pytest.skip(f"{name} needs {outcome['missing']}, which is not installed")
    assert not outcome["error"], outcome["error"]


def test_all_folders_have_modules() -> None:
    assert {name.partition(".")[0] for name in MODULES} == set(FOLDERS)


@pytest.mark.parametrize(
    "name", [name for name in MODULES if name.startswith("benchmarks.") and name.split(".")[1] not in ("report", "meters", "growth")]
)
def test_benchmark_explains_its_command_line(name: str) -> None:
    done = subprocess.run([sys.executable, "-m", name, "--help"], cwd=PROJECT, capture_output=True, text=True, check=False)
    if missing := next((library for library in OPTIONAL if f"No module named '{library}" in done.stderr), None):
        pytest.skip(f"{name} needs {missing}, which is not installed")
    assert (done.returncode, done.stdout[:6]) == (0, "usage:"), done.stderr
