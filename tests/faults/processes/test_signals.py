"""Signals at any moment: the exit status and the results are as docs/guide/detecting.md says, and no process stays."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from framefleet.engine.notices import ExportError
from framefleet.engine.store.session import SessionReader
from tests.support.cli import FAST, read_lines
from tests.support.faults.counts import long_count
from tests.support.faults.missing import NOT_BEGUN, finish, group_lives, start
from tests.support.faults.seeds import seeded
from tests.support.media import make_video

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")

FRAMES = 160  # two segments
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MOMENTS = long_count(50)
LIMIT = 3.0
"""The longest time from the first signal to the end, seconds. Only the long form checks it."""


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("media") / "long.mp4", FRAMES, (64, 48), gop=10)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It takes a second to write, so that a busy machine sees the file that is being written."""
    return make_video(tmp_path_factory.mktemp("media") / "long.mp4", FRAMES, (960, 720), gop=10)


def _start(video: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    devices = ("--devices", "cpu:0,cpu:1", "--parallel", "segments")
    return start("detect", video, *FAST, *devices, "--size", "256", "--out", out, "--json", *options)


def _stored(out: Path) -> list[int]:
    """The indices of the stored frames; none if there is no session yet."""
    try:
        with SessionReader(out / "session.sqlite") as reader:
            return [frame.ref.index for frame in reader.frames(0)]
    except ExportError:
        return []


def _check(process: subprocess.Popen[bytes], number: int, out: Path, twice: bool) -> str:
    """Check what the program leaves. Returns how it ended, in words."""
    done = finish(process)
    while group_lives(process.pid):  # the test's own time limit ends this
        time.sleep(0.02)
    assert not list(out.rglob(".*.part")), "a temporary file stays"
    indices, files = _stored(out), [*out.glob("*.jsonl")]
    assert indices == sorted(set(indices))
    if not done.out:  # the handlers were not in place yet, or no longer
        assert done.status in (-number, 128 + number) or NOT_BEGUN in done.err, done.err
        assert not (out / "session.sqlite").exists() or files, "the run had begun"
        return "before the run"
    report = json.loads(done.out.splitlines()[-1])
    if report["exit"] == "ok":
        assert done.status in (0, -number), "the report was printed before"
        assert len(indices) == FRAMES
        return "after the run"
    assert report["exit"] == "interrupted"
    assert done.status == 128 + number, done.err
    assert "stopping" in done.err or "interrupted" in done.err
    counted = report["sources"][0]["frames"] if report["sources"] else {"decoded": 0, "inferred": 0}
    if twice:
        assert len(indices) <= FRAMES
        return "ended at once"
    assert counted["decoded"] == counted["inferred"] == len(indices)
    for file in files:
        assert [line["frame"] for line in read_lines(file)] == indices
    if "framefleet: interrupted" not in done.err:
        assert len(files) == bool(indices)
    return "stopped in order"


def _wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


OTHERS = [pytest.param(number, marks=pytest.mark.slow) for number in SIGNALS[1:]]
MOMENTS_AND_SIGNALS = [
    ("frames", signal.SIGTERM),
    pytest.param("creation", signal.SIGINT, marks=pytest.mark.slow),
    *(pytest.param("frames", number, marks=pytest.mark.slow) for number in (signal.SIGINT, signal.SIGHUP)),
]
"""In the middle of a run, ``tests/app/cli/run/test_interrupt.py`` sends the other signals."""


@pytest.mark.parametrize(("moment", "number"), MOMENTS_AND_SIGNALS)
def test_a_signal_stops_a_run_in_order(moment: str, number: signal.Signals, video: Path, tmp_path: Path) -> None:
    process = _start(video, tmp_path)
    wanted = 1 if moment == "frames" else 0
    _wait_for(lambda: (tmp_path / "session.sqlite").exists() and len(_stored(tmp_path)) >= wanted, process)
    os.killpg(process.pid, number)
    assert _check(process, number, tmp_path, twice=False) in ("stopped in order", "after the run")


@pytest.mark.parametrize("number", [SIGNALS[0], *OTHERS])
def test_a_signal_while_a_video_is_written(number: signal.Signals, large: Path, tmp_path: Path) -> None:
    process = _start(large, tmp_path, "--format", "jsonl,video", "--size", "64")
    _wait_for(lambda: any(tmp_path.rglob(".*.mp4.part")), process)
    process.send_signal(number)
    done = finish(process)
    assert done.status == 128 + number, done.err
    assert done.report["exit"] == "interrupted"
    assert done.report["sources"][0]["frames"]["inferred"] == FRAMES
    assert len(read_lines(tmp_path / "long.jsonl")) == FRAMES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.jsonl", "session.sqlite"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_signals_at_random_moments(video: Path, tmp_path: Path) -> None:
    begun = time.monotonic()
    assert finish(_start(video, tmp_path / "whole")).status == 0
    longest = time.monotonic() - begun
    random = seeded()
    ends: list[str] = []
    seconds: list[float] = []
    for turn in itertools.count():
        if len(ends) == MOMENTS:
            break
        number, twice = random.choice(SIGNALS), random.random() < 0.4
        process = _start(video, tmp_path / str(turn))
        if _ends_within(process, random.uniform(0, longest)):
            finish(process)
            continue
        sent = time.monotonic()
        (os.killpg if random.random() < 0.5 else os.kill)(process.pid, number)
        if twice and not _ends_within(process, random.uniform(0, 0.5)):
            process.send_signal(number)
        process.wait(100)
        seconds.append(time.monotonic() - sent)
        ends.append(_check(process, number, tmp_path / str(turn), twice))
    counts = ", ".join(f"{ends.count(end)} {end}" for end in sorted(set(ends)))
    print(f"{len(ends)} signals: {counts}; the end came after {median(seconds):.2f} s in the median, {max(seconds):.2f} s at most")
    assert max(seconds) <= LIMIT


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
