"""Must hold: a process that may use too little says which limit to raise, once. No frame counts as failed, and the next run does all."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.media import make_video
from tests.support.models import TINY_CFG
from tests.support.paths import PYTHONPATH
from tests.support.store import write_session

FRAMES = 60


def detect(folder: Path, *limit: int) -> subprocess.CompletedProcess[str]:
    """Detect in the folder's video. limit: the kind and the value of a limit of the program and its workers."""
    model = ("--model", str(TINY_CFG), "--weights", "random:1", "--devices", "cpu:0", "--precision", "fp32")
    return framefleet(folder, limit, "detect", "video.mp4", *model, "--json")


def framefleet(folder: Path, limit: tuple[int, ...], *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder. limit: see ``detect``."""
    command = [sys.executable, "-m", "framefleet.app.main", *words]

    def set_limit() -> None:
        if limit:
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
        (resource.RLIMIT_AS, 300 << 20, "ulimit -v"),
        (resource.RLIMIT_AS, 500 << 20, "ulimit -v"),
        (resource.RLIMIT_AS, 600 << 20, "ulimit -v"),
        (resource.RLIMIT_AS, 700 << 20, "ulimit -v"),
        (resource.RLIMIT_AS, 850 << 20, "ulimit -v"),
        (resource.RLIMIT_NOFILE, 12, "ulimit -n"),
        (resource.RLIMIT_NOFILE, 16, "ulimit -n"),
        (resource.RLIMIT_NOFILE, 18, "ulimit -n"),
        (resource.RLIMIT_FSIZE, 30 << 10, "ulimit -f"),
    ],
)
def test_a_limit_is_named_and_blames_no_frame(kind: int, value: int, option: str, tmp_path: Path) -> None:
    make_video(tmp_path / "video.mp4", FRAMES, (160, 120))
    limited = detect(tmp_path, kind, value)
    assert limited.returncode == 2, limited.stderr
    assert option in limited.stderr
    assert "Traceback" not in limited.stderr
    assert "inside Framefleet" not in limited.stderr
    assert "starting again" not in limited.stderr or "crashed (SIG" in limited.stderr  # a library without memory may crash
    free = detect(tmp_path)
    assert free.returncode == 0, free.stderr
    frames = json.loads(free.stdout.splitlines()[-1])["sources"][0]["frames"]
    assert (frames["decoded"], frames["inferred"], frames["failed"]) == (FRAMES, FRAMES, 0)


@pytest.mark.parametrize(
    "words",
    [
        *(("results", "s", "--out", "out", "--format", form) for form in ("jsonl", "csv", "coco", "video")),
        ("clips", "s", "--class", "person", "--exact"),
        ("track", "s"),
        ("merge", "s", "--out", "merged"),
        ("correct", "s", "delete", "--frame", "0", "--object", "0"),
        ("export", "--model", str(TINY_CFG), "--weights", "random:1", "-o", "tiny.onnx"),
    ],
    ids=" ".join,
)
def test_a_limit_of_files_is_named_by_what_writes_and_the_session_stays(words: tuple[str, ...], tmp_path: Path) -> None:
    make_video(tmp_path / "a.mp4", 300, (160, 120))
    write_session(tmp_path / "s" / "session.sqlite", {str(tmp_path / "a.mp4"): 300}, boxes=20)
    limited = framefleet(tmp_path, (resource.RLIMIT_FSIZE, 8 << 10), *words)
    assert limited.returncode in (1, 2), limited.stderr
    assert "a file may have 8 KiB here: raise the limit (ulimit -f)" in limited.stderr
    assert "Traceback" not in limited.stderr
    assert "disk" not in limited.stderr
    assert ".part" not in limited.stderr, "the message names the file that the user gets"
    assert framefleet(tmp_path, (), *words).returncode == 0, "without the limit, it works"
