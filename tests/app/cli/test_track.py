"""The objects of an earlier run are followed without detecting again."""

from __future__ import annotations

from pathlib import Path

from tests.support.cli import run_main
from tests.support.store import write_session


def test_a_stored_run_is_tracked(tmp_path: Path) -> None:
    write_session(tmp_path / "session.sqlite", {"a.mp4": 30})
    run = run_main("track", tmp_path)
    assert (run.status, run.out) == (0, "a.mp4: 1 track\n"), run.err
    run = run_main("track", tmp_path / "session.sqlite", "--tracker", "ocsort")
    assert (run.status, run.out) == (0, "a.mp4: 1 track\n"), run.err


def test_a_missing_session_and_an_unknown_tracker_are_named(tmp_path: Path) -> None:
    run = run_main("track", tmp_path)
    assert run.status == 2
    assert "there is no" in run.err
    run = run_main("track", tmp_path, "--tracker", "sort")
    assert run.status == 2
    assert "ocsort" in run.err
