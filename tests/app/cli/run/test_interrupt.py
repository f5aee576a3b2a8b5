from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from framefleet.engine.store.session import SessionReader
from tests.support.cli import FAST, read_lines
from tests.support.faults.missing import group_lives
from tests.support.media import make_video

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


def _start(video: Path, out: Path, *options: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a run that is slow enough to be interrupted. before: a program that starts it."""
    command = [*before, sys.executable, "-m", "framefleet.app", "detect", str(video), *FAST, "--size", "416", "--out", str(out), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def _wait_for_frames(out: Path, count: int = 8) -> None:
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        if (out / "session.sqlite").exists():
            try:
                with SessionReader(out / "session.sqlite") as reader:
                    if reader.count(0) >= count:
                        return
            except Exception:  # the file is being made
                pass
        time.sleep(0.2)  # opening a database takes the time of several frames
    raise AssertionError("no frames came")


@pytest.fixture(scope="module")
def long_video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("media") / "long.mp4", frames=2500, size=(64, 48), gop=30)


def test_a_closed_terminal_costs_nothing_that_was_found(long_video: Path, tmp_path: Path) -> None:
    """The terminal's end closes standard error and sends SIGHUP."""
    out = tmp_path / "out"
    with _start(long_video, out) as process:
        _wait_for_frames(out)
        assert process.stderr is not None
        process.stderr.close()
        os.killpg(process.pid, signal.SIGHUP)
        assert process.wait(timeout=30) == 129
    with SessionReader(out / "session.sqlite") as reader:
        assert len(read_lines(out / "long.jsonl")) == reader.count(0) >= 8


@pytest.mark.slow  # the test above closes standard error, tests/app/cli/test_main.py all streams
def test_nohup_and_a_reader_of_standard_error_that_goes_away_change_nothing(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", frames=20, size=(64, 48))
    with _start(video, tmp_path, before=("nohup",)) as process:
        assert process.stderr is not None
        process.stderr.close()
        _wait_for_frames(tmp_path, 1)
        process.send_signal(signal.SIGHUP)
        assert process.wait(timeout=60) == 0
    assert len(read_lines(tmp_path / "a.jsonl")) == 20


def test_the_second_interruption_ends_it_at_once(long_video: Path, tmp_path: Path) -> None:
    with _start(long_video, tmp_path / "out") as process:
        _wait_for_frames(tmp_path / "out")
        os.kill(process.pid, signal.SIGINT)
        assert process.stderr is not None
        assert any("stopping" in line for line in process.stderr)  # sent sooner, both may count as one
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "framefleet: interrupted" in errors
    assert "Traceback" not in errors


def test_a_killed_run_leaves_its_frames_and_no_result_file(long_video: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with _start(long_video, out) as process:
        _wait_for_frames(out)
        process.kill()
    deadline = time.monotonic() + 10
    while group_lives(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not group_lives(process.pid), "workers outlive the run"
    assert not list(out.glob("*.jsonl"))
    with SessionReader(out / "session.sqlite") as reader:
        indices = [frame.ref.index for frame in reader.frames(0)]
    assert len(indices) >= 8
    assert indices == list(range(len(indices)))
