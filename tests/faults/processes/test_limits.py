"""Must hold: a process that may use too little says which limit to raise, once. No frame counts as failed, and the next run does all."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import FAST, TINY, run_main
from tests.support.faults.missing import limited
from tests.support.media import make_video
from tests.support.paths import PYTHONPATH
from tests.support.store import write_session

FRAMES = 60


DETECT = ("detect", "video.mp4", *FAST, "--json")


def framefleet(folder: Path, limit: tuple[int, int], *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder. limit: the kind and the value of a limit of the program and its workers."""
    command = [sys.executable, "-m", "framefleet.app.main", *words]

    def set_limit() -> None:
        resource.setrlimit(limit[0], (limit[1], limit[1]))

    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": PYTHONPATH, "PYTHONDONTWRITEBYTECODE": "1"},  # Python leaves bytecode that a limit cut
        preexec_fn=set_limit,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("kind", "value", "option"),
    [
        (resource.RLIMIT_AS, 500 << 20, "ulimit -v"),
        (resource.RLIMIT_NOFILE, 16, "ulimit -n"),
        pytest.param(
            resource.RLIMIT_FSIZE, 30 << 10, "ulimit -f", marks=pytest.mark.slow
        ),  # tests/faults/folders/test_disk.py limits files
        *(pytest.param(resource.RLIMIT_AS, size << 20, "ulimit -v", marks=pytest.mark.slow) for size in (300, 600, 700, 850)),
        *(pytest.param(resource.RLIMIT_NOFILE, count, "ulimit -n", marks=pytest.mark.slow) for count in (12, 18)),
    ],
)
def test_a_limit_is_named_and_blames_no_frame(kind: int, value: int, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_video(tmp_path / "video.mp4", FRAMES, (160, 120))
    done = framefleet(tmp_path, (kind, value), *DETECT)
    assert done.returncode == 2, done.stderr
    assert option in done.stderr
    assert "Traceback" not in done.stderr
    assert "inside Framefleet" not in done.stderr
    assert "starting again" not in done.stderr or "crashed (SIG" in done.stderr  # a library without memory may crash
    monkeypatch.chdir(tmp_path)
    free = run_main(*DETECT)
    assert free.status == 0, free.err
    frames = free.report["sources"][0]["frames"]
    assert (frames["decoded"], frames["inferred"], frames["failed"]) == (FRAMES, FRAMES, 0)


@pytest.mark.parametrize(
    "words",
    [
        ("results", "s", "--out", "out", "--format", "jsonl"),
        pytest.param(("track", "s"), marks=pytest.mark.slow),
        ("export", *TINY, "-o", "tiny.onnx"),
        *(pytest.param(("results", "s", "--out", "out", "--format", form), marks=pytest.mark.slow) for form in ("csv", "coco", "video")),
        pytest.param(("clips", "s", "--class", "person", "--exact"), marks=pytest.mark.slow),
        pytest.param(("merge", "s", "--out", "merged"), marks=pytest.mark.slow),
        pytest.param(("correct", "s", "delete", "--frame", "0", "--object", "0"), marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_a_limit_of_files_is_named_by_what_writes_and_the_session_stays(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_video(tmp_path / "a.mp4", 300, (160, 120))
    write_session(tmp_path / "s" / "session.sqlite", {str(tmp_path / "a.mp4"): 300}, boxes=20)
    monkeypatch.chdir(tmp_path)
    with limited(8):
        done = run_main(*words)
    assert done.status in (1, 2), done.err
    assert "a file may have 8 KiB here: raise the limit (ulimit -f)" in done.err
    assert "Traceback" not in done.err
    assert "disk" not in done.err
    assert ".part" not in done.err, "the message names the file that the user gets"
    assert run_main(*words).status == 0, "without the limit, it works"
