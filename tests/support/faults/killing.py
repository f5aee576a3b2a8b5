"""Kills programs at random moments, and looks for what they leave."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.support.faults.counts import time_limit
from tests.support.paths import PROJECT

ORPHAN_SECONDS = 5.0


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start the program as the leader of a new session, by which its children are found."""
    return start_python("-m", "framefleet.app", *arguments)


def start_python(*arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start Python in the same way."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, cwd=PROJECT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def members(leader: int) -> list[int]:
    """The running processes of a session."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[3]) == leader:
            found.append(int(status.parent.name))
    return found


def shared_memory(pids: list[int]) -> set[Path]:
    """The files of the shared memory that processes have mapped."""
    found = set()
    for pid in pids:
        with suppress(OSError):
            found |= set(map(Path, re.findall(r"/dev/shm/psm_\w+", Path(f"/proc/{pid}/maps").read_text())))
    return found


def kill_at(seconds: float, program: subprocess.Popen[bytes]) -> bool:
    """Kill a program after some seconds. Returns whether it was still running.

    Fails if its children or their shared memory stay for longer than ``ORPHAN_SECONDS`` (see ``time_limit``).
    """
    shared: set[Path] = set()
    try:
        program.wait(seconds)
    except subprocess.TimeoutExpired:
        shared = shared_memory(members(program.pid))
        program.send_signal(signal.SIGKILL)
    killed = program.wait() == -signal.SIGKILL
    deadline = time.monotonic() + time_limit(ORPHAN_SECONDS)
    while (members(program.pid) or any(file.exists() for file in shared)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert members(program.pid) == [], "orphans"
    assert [file for file in shared if file.exists()] == []
    return killed


def times(choice: random.Random, longest: float, count: int) -> Callable[[], float]:
    """Moments of kills in seconds: one in each of ``count`` equal parts of the time, in random order."""
    moments = [longest * (part + choice.random()) / count for part in range(count)]
    choice.shuffle(moments)
    return moments.pop
