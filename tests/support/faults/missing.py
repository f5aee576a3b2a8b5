"""Starts the program where something is missing: room on the disk, a folder, the right to write."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from tests.support.cli import FAST, Outcome, run_main
from tests.support.paths import PROJECT, PYTHONPATH

MOUNTING = ("unshare", "--mount", "--map-root-user", "sh", "-c")
"""Starts a shell in which mounting changes nothing for other processes."""


def can_mount() -> bool:
    """Whether this machine lets a test mount file systems."""
    try:
        return subprocess.run([*MOUNTING, "mount -t tmpfs tmpfs /tmp"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def mounted(*mounts: str) -> tuple[str, ...]:
    """The words before a command that do these mounts first."""
    return (*MOUNTING, f'{" && ".join(mounts)} && exec "$@"', "sh")


def small_disk(folder: Path, size: str) -> str:
    """The mount of a small empty disk."""
    return f"mount -t tmpfs -o size={size} tmpfs {shlex.quote(str(folder))}"


def read_only(folder: Path) -> tuple[str, str]:
    """The mounts that make a folder read-only."""
    path = shlex.quote(str(folder))
    return f"mount --bind {path} {path}", f"mount -o remount,bind,ro {path}"


NOT_BEGUN = "Failed to import the site module"
"""What Python says if SIGINT comes while Python itself starts. No program can prevent that."""


@contextmanager
def limited(kibibytes: int) -> Iterator[None]:
    """In the block, let no file of this process and its children grow beyond this size, as if the disk were full then."""
    (soft, hard), bytecode = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # Python keeps bytecode that a limit cut
    resource.setrlimit(resource.RLIMIT_FSIZE, (kibibytes << 10, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = bytecode


def start(*arguments: str | Path, before: tuple[str, ...] = (), cwd: Path = PROJECT) -> subprocess.Popen[bytes]:
    """Start ``framefleet ARGUMENTS`` in its own process group. before: words before the command."""
    command = [*before, sys.executable, "-m", "framefleet.app", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=environment, start_new_session=True)


def run(*arguments: str | Path, before: tuple[str, ...] = (), cwd: Path = PROJECT, program: bool = False) -> Outcome:
    """Run ``framefleet ARGUMENTS`` to its end: in this process, or as a program, if ``before`` or ``program`` asks for it."""
    if before or program:
        return finish(start(*arguments, before=before, cwd=cwd))
    with chdir(cwd):
        outcome = run_main(*arguments)
    (outcome.out + outcome.err).encode("utf-8")  # a terminal takes nothing else
    return outcome


def detect(*arguments: str | Path, before: tuple[str, ...] = (), cwd: Path = PROJECT, program: bool = False) -> Outcome:
    """Run ``framefleet detect ARGUMENTS --json`` with the tiny model, which finds boxes in every frame."""
    return run("detect", *arguments, *FAST, "--confidence", "0.01", "--json", before=before, cwd=cwd, program=program)


def finish(process: subprocess.Popen[bytes]) -> Outcome:
    """Wait for the end of a program, and check that it says nothing that only its authors understand."""
    out, err = (stream.decode("utf-8") for stream in process.communicate(timeout=100))
    assert "Traceback" not in err or NOT_BEGUN in err, err
    assert "inside Framefleet" not in err, err
    return Outcome(process.returncode, out, err)


def group_lives(group: int) -> bool:
    """Whether a process of this group lives."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def strict_json(text: str) -> Any:
    """Read JSON as a parser does that accepts neither lone surrogates nor NaN."""
    found = json.loads(text, parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name)))
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found
