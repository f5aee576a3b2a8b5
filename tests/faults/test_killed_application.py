"""Must hold: SIGKILL of the application at any moment leaves old files or new files, whole, and the next run goes on.

Long form: ``pytest tests/faults/test_killed_application.py -m slow -s`` (50 kills during detection and 50 during export, about 10 minutes).
"""

from __future__ import annotations

import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.store.export.run import STAGE
from engine.store.session import SessionReader
from tests.support.cli import FAST
from tests.support.faults.seeds import seeded
from tests.support.media import make_video
from tests.support.store import write_session

PROJECT = Path(__file__).resolve().parents[2]
ORPHAN_SECONDS = 5.0
FORMATS = "jsonl,coco,csv"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for orphans in /proc")


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start the program as the leader of a new session, by which its children are found."""
    command = [sys.executable, "-m", "app", *map(str, arguments)]
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


def kill_at(seconds: float, program: subprocess.Popen[bytes]) -> bool:
    """Kill a program after some seconds. Returns whether it was still running. Waits for the end of its children."""
    try:
        program.wait(seconds)
    except subprocess.TimeoutExpired:
        program.send_signal(signal.SIGKILL)
    killed = program.wait() == -signal.SIGKILL
    deadline = time.monotonic() + ORPHAN_SECONDS
    while members(program.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert members(program.pid) == [], "orphans"
    return killed


def finished(*arguments: str | Path) -> float:
    """Run the program to its end. Returns the seconds that it took."""
    begun = time.monotonic()
    program = start(*arguments)
    assert program.wait(100) == 0
    return time.monotonic() - begun


def files(folder: Path) -> dict[str, bytes]:
    """The results in a folder, without their dates."""
    dates = re.compile(rb'"date_created": "[^"]*"')
    return {path.name: dates.sub(b"", path.read_bytes()) for path in folder.iterdir() if path.suffix in (".jsonl", ".json", ".csv")}


def check_session(database: Path) -> None:
    """A session is intact, and the stored frames of each source have no gap."""
    if not database.exists():
        return
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
            return
    with SessionReader(database) as reader:
        for source in reader.sources():
            indices = [frame.ref.index for frame in reader.frames(source.number)]
            assert indices == list(range(len(indices)))


def times(choice: random.Random, longest: float, count: int) -> Callable[[], float]:
    """Moments of kills in seconds: one in each of ``count`` equal parts of the time, in random order."""
    moments = [longest * (part + choice.random()) / count for part in range(count)]
    choice.shuffle(moments)
    return moments.pop


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_a_run_that_is_killed_again_and_again_equals_an_undisturbed_one(tmp_path: Path, kills: int) -> None:
    videos = [make_video(tmp_path / f"{name}.mp4", frames=400, size=(64, 48), gop=12) for name in "abc"]
    whole = ("detect", *videos, *FAST, "--format", FORMATS, "--out", tmp_path / "whole")
    longest = finished(*whole)
    expected, moment = files(tmp_path / "whole"), times(seeded(), longest, kills)
    out, tried, runs = tmp_path / "out", 0, 0
    going_on = (*whole[:-1], out)
    while tried < kills:
        runs += 1
        killed = True
        while killed and tried < kills:
            killed = kill_at(moment(), start(*going_on))
            tried += 1
            check_session(out / "session.sqlite")
            found = files(out) if out.exists() else {}
            assert {name: content for name, content in found.items() if content != expected.get(name)} == {}
        finished(*going_on)
        assert files(out) == expected
        assert sorted(path.name for path in out.iterdir()) == sorted([*expected, "session.sqlite"]), "temporary files are left"
        shutil.rmtree(out)
    print(f"{kills} kills in {runs} runs")


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_a_killed_export_leaves_old_files_or_new_ones(tmp_path: Path, kills: int) -> None:
    out = tmp_path / "out"
    write_session(out / "session.sqlite", {"a.mp4": 6000, "b.mp4": 3000})
    old_way = ("results", out, "--format", FORMATS, "--confidence", "0.85")
    new_way = ("results", out, "--format", FORMATS)
    finished(*old_way)
    old = files(out)
    longest = finished(*new_way)
    new, moment = files(out), times(seeded(), longest, kills)
    assert set(old) == set(new)
    for _ in range(kills):
        finished(*old_way)
        kill_at(moment(), start(*new_way))
        found = files(out)
        assert set(found) == set(new)
        assert all(content in (old[name], new[name]) for name, content in found.items())
        check_session(out / "session.sqlite")
    finished(*new_way)
    assert files(out) == new
    assert sorted(path.name for path in out.iterdir()) == sorted([*new, "session.sqlite"]), "temporary files are left"
    assert not (out / STAGE).exists()
