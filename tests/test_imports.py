"""Every module of the project can be imported, and every benchmark can explain its command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import PROJECT

PACKAGES = ("app", "engine", "plugins", "resources")
FOLDERS = (*PACKAGES, "benchmarks", "tools")
# what an installation may lack: libraries for NVIDIA GPUs, the library that trained the demo model, a POSIX-only module
OPTIONAL = {"cuda", "pynvml", "PyNvVideoCodec", "tensorrt", "tensorrt_rtx", "torch", "resource"}
# one process imports all modules and lets all benchmarks explain themselves: the heavy libraries load once
TRY_ALL = """
import contextlib, importlib, io, json, runpy, sys, traceback
sys.argv[1:] = ["--help"]
modules, benchmarks = json.load(sys.stdin)
for name, explain in [*((name, False) for name in modules), *((name, True) for name in benchmarks)]:
    outcome, said = {"name": name, "explain": explain, "error": "", "missing": ""}, io.StringIO()
    try:
        if explain:
            sys.modules.pop(name, None)  # it was imported before
            with contextlib.redirect_stdout(said):
                runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            importlib.import_module(name)
    except BaseException as error:
        if not (explain and isinstance(error, SystemExit) and error.code == 0):
            outcome["error"] = traceback.format_exc()
        if isinstance(error, ModuleNotFoundError):
            outcome["missing"] = (error.name or "").partition(".")[0]
    print("\\n" + json.dumps(outcome | {"said": said.getvalue()}), flush=True)
"""


def _module(file: Path) -> str:
    """The dotted name of a source file."""
    parts = file.relative_to(PROJECT).with_suffix("").parts
    parts = ("framefleet", *parts) if parts[0] in PACKAGES else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = sorted(_module(file) for folder in FOLDERS for file in (PROJECT / folder).rglob("*.py"))


NO_PROGRAMS = ("report", "meters", "growth", "cluster.stub")
BENCHMARKS = [name for name in MODULES if name.startswith("benchmarks.") and name.partition(".")[2] not in NO_PROGRAMS]


@pytest.fixture(scope="module")
def found() -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """What ``TRY_ALL`` found out about importing each module, and about each benchmark; a process that dies leaves the rest out."""
    command = [sys.executable, "-W", "error", "-c", TRY_ALL]
    names = json.dumps([MODULES, BENCHMARKS])
    done = subprocess.run(command, cwd=PROJECT, input=names, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name": ')]
    died = {"error": f"the process ended with exit status {done.returncode}:\n{done.stderr}", "missing": ""}
    imported, explained = ({each["name"]: each for each in found if each["explain"] is explain} for explain in (False, True))
    return dict.fromkeys(MODULES, died) | imported, dict.fromkeys(BENCHMARKS, died) | explained


@pytest.fixture(scope="module")
def outcomes(found: tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """What importing each module led to."""
    return found[0]


@pytest.fixture(scope="module")
def explained(found: tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """What each benchmark did with --help."""
    return found[1]


def check(name: str, outcome: dict[str, Any]) -> None:
    """Skip a module that lacks a library, and fail for another error."""
    if outcome["missing"] in OPTIONAL:
        pytest.skip(f"{name} needs {outcome['missing']}, which is not installed")
    assert not outcome["error"], outcome["error"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_modules_import(outcomes: dict[str, dict[str, Any]], folder: str, subtests: pytest.Subtests) -> None:
    names = [name for name in MODULES if name.removeprefix("framefleet.").partition(".")[0] == folder]
    assert names
    for name in names:
        if outcomes[name]["error"]:  # a subtest for each module takes longer than the imports
            with subtests.test(name):
                check(name, outcomes[name])


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark_explains_its_command_line(explained: dict[str, dict[str, Any]], name: str) -> None:
    check(name, explained[name])
    assert explained[name]["said"].startswith("usage:")
