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

FRAMES = 60


def detect(folder: Path, *limit: int) -> subprocess.CompletedProcess[str]:
    """Detect in the folder's video. limit: the kind and the value of a limit of the program and its workers."""
    model = ("--model", str(TINY_CFG), "--weights", "random:1", "--devices", "cpu:0", "--precision", "fp32")
    command = [sys.executable, "-m", "framefleet.app.main", "detect", "video.mp4", *model, "--json"]

    def set_limit() -> None:
        if limit:
            resource.setrlimit(limit[0], (limit[1], limit[1]))

    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": PYTHONPATH},
        preexec_fn=set_limit,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("kind", "value", "option"),
    [
        (resource.RLIMIT_AS, 350 << 20, "ulimit -v"),
        (resource.RLIMIT_AS, 700 << 20, "ulimit -v"),
        (resource.RLIMIT_NOFILE, 20, "ulimit -n"),
    ],
)
def test_a_limit_is_named_and_blames_no_frame(kind: int, value: int, option: str, tmp_path: Path) -> None:
    make_video(tmp_path / "video.mp4", FRAMES, (160, 120))
    limited = detect(tmp_path, kind, value)
    assert limited.returncode == 2, limited.stderr
    assert option in limited.stderr
    assert "Traceback" not in limited.stderr
    assert "inside Framefleet" not in limited.stderr
    assert "starting again" not in limited.stderr
    free = detect(tmp_path)
    assert free.returncode == 0, free.stderr
    frames = json.loads(free.stdout.splitlines()[-1])["sources"][0]["frames"]
    assert (frames["decoded"], frames["inferred"], frames["failed"]) == (FRAMES, FRAMES, 0)
