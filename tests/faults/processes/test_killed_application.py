"""Must hold: SIGKILL of the application at any moment leaves old files or new files, whole, and the next run goes on.

Long form: ``pytest tests/faults/processes/test_killed_application.py -m slow -s`` (50 kills in detection, 50 in export, 10 minutes).
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from framefleet.engine.store.exporters.base import STAGE
from framefleet.engine.store.session import SessionReader
from tests.support.cli import FAST, TINY, run_main
from tests.support.faults.counts import short_and_long
from tests.support.faults.killing import kill_at, start, times
from tests.support.faults.seeds import seeded
from tests.support.media import make_video
from tests.support.store import write_session

FORMATS = "jsonl,coco,csv"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for orphans in /proc")


def finished(*arguments: str | Path) -> float:
    """Run the program to its end. Returns the seconds that it took."""
    begun = time.monotonic()
    program = start(*arguments)
    assert program.wait(100) == 0
    return time.monotonic() - begun


def files(folder: Path) -> dict[str, bytes]:
    """The results in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".jsonl", ".json", ".csv")}


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


@short_and_long(1, 50, "kills")
def test_a_run_that_is_killed_again_and_again_equals_an_undisturbed_one(tmp_path: Path, kills: int) -> None:
    videos = [make_video(tmp_path / f"{name}.mp4", frames=min(400, 100 * kills), size=(64, 48), gop=12) for name in "abc"]
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
        assert run_main(*going_on).status == 0
        assert files(out) == expected
        assert sorted(path.name for path in out.iterdir()) == sorted([*expected, "session.sqlite"]), "temporary files are left"
        shutil.rmtree(out)
    print(f"{kills} kills in {runs} runs")


@short_and_long(1, 50, "kills")
def test_a_killed_export_leaves_old_files_or_new_ones(tmp_path: Path, kills: int) -> None:
    out = tmp_path / "out"
    frames = min(3000, 800 * kills)
    write_session(out / "session.sqlite", {"a.mp4": frames, "b.mp4": frames // 2})
    old_way = ("results", out, "--format", FORMATS, "--confidence", "0.85")
    new_way = ("results", out, "--format", FORMATS)
    assert run_main(*old_way).status == 0
    old = files(out)
    longest = finished(*new_way)
    new, moment = files(out), times(seeded(), longest, kills)
    assert set(old) == set(new)
    for _ in range(kills):
        assert run_main(*old_way).status == 0
        kill_at(moment(), start(*new_way))
        found = files(out)
        assert set(found) == set(new)
        assert all(content in (old[name], new[name]) for name, content in found.items())
        check_session(out / "session.sqlite")
    assert run_main(*new_way).status == 0
    assert files(out) == new
    assert sorted(path.name for path in out.iterdir()) == sorted([*new, "session.sqlite"]), "temporary files are left"
    assert not (out / STAGE).exists()


@pytest.mark.slow  # its memory has no name: test_shared_pictures.py; the run above is killed, too
@short_and_long(1, 50, "kills")
def test_a_killed_run_of_a_group_leaves_no_shared_memory(tmp_path: Path, kills: int) -> None:
    video = make_video(tmp_path / "a.mp4", frames=min(600, 100 * kills), size=(320, 240), gop=12)
    run = (
        "detect",
        video,
        *TINY,
        "--devices",
        "cpu:0,cpu:1",
        "--parallel",
        "frames",
        "--precision",
        "fp32",
        "--out",
        tmp_path / "out",
    )
    moment = times(seeded(), finished(*run), kills)
    for _ in range(kills):
        kill_at(moment(), start(*run, "--restart"))
        check_session(tmp_path / "out/session.sqlite")
    assert run_main(*run).status == 0
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".jsonl", ".sqlite"}, "temporary files are left"
