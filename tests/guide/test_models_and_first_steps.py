"""The commands of the pages about first steps and models run as they are printed there, one after the other, in a fresh folder.

What stands in: the models of the list are the tiny test model under the same names, because the real ones have up to 511 MB. A web server
on this machine takes the place of GitHub; the programs find it through ``FRAMEFLEET_MODELS_URL``, as the page about models says. The
clip has 12 frames. ``./run`` sets up a virtual environment, which CI does itself, so only what stands behind ``./run`` runs here.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from framefleet.app.main import COMMANDS
from framefleet.app.window.queue.memory import NAME as QUEUE
from framefleet.engine.model.registry import catalogue as installed
from framefleet.engine.model.registry import catalogue as registry
from framefleet.engine.model.registry.catalogue import RemoteFile
from tests.support.cli import FAST, Outcome, read_lines, run_main
from tests.support.guide import GUIDE, commands
from tests.support.http import Site, publish_tiny, running_site
from tests.support.media import make_video
from tests.support.models import TINY_CFG
from tests.support.onnx_models import CELLS, write_model
from tests.support.paths import PYTHONPATH

NAMES = ("yolov4-tiny", "yolov4-csp")
FRAMES = 12
QUICK = FAST[4:]
"""One device and precision: their choice takes time."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The mirror of the small models. The working folder has the clip, and the user's folders are empty."""
    for name in ("DATA", "CONFIG", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / name))
    monkeypatch.chdir(tmp_path)
    make_video(tmp_path / "street.mp4", FRAMES, (96, 64))
    with running_site() as site:
        monkeypatch.setenv(registry.MIRROR, site.address)
        real = {entry.name: entry for entry in registry.FAMILY}
        small = []
        for name in NAMES:
            files = (RemoteFile(real[name].cfg.address), RemoteFile(real[name].weights.address))  # only the mirror has the small model
            small.append(replace(publish_tiny(site, tmp_path, name), cfg=files[0], weights=files[1]))
        monkeypatch.setattr(registry, "FAMILY", tuple(small))
        yield site


def run(words: list[str]) -> Outcome:
    """Run one command, and check that it succeeds."""
    done = run_main(*words, *(QUICK if words[0] == "detect" else ()))
    assert done.status == 0, done.err
    return done


def test_models_are_listed_downloaded_used_and_removed(site: Site, tmp_path: Path) -> None:
    metadata = {"names": "['cat', 'dog']", "stride": "32", "task": "detect"}
    write_model(tmp_path / "yolo11n.onnx", {"output0": np.zeros((1, 6, CELLS), np.float32)}, metadata)
    listed, downloaded, _, removed, _ = (run(words) for words in commands(GUIDE / "models.md"))
    assert "yolov4-csp" in listed.out
    assert (downloaded.status, removed.status) == (0, 0)
    assert [path for path, _ in site.requests] == ["/yolov4-csp.cfg", "/yolov4-csp.weights"]
    assert len(read_lines(tmp_path / "detections" / "street.jsonl")) == FRAMES
    assert [*installed.models_folder().iterdir()] == []


def test_the_last_sentences_about_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not in a block: random weights, and the export as ONNX."""
    page = (GUIDE / "models.md").read_text("utf-8")
    (command,) = re.findall(r"`framefleet (export .*?)`", page)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "M.cfg").write_bytes(TINY_CFG.read_bytes())
    words = shlex.split(command)
    assert "--weights random:SEED" in page
    done = run_main(*words, "--weights", "random:1")
    assert done.status == 0, done.err
    onnx.checker.check_model(onnx.load(str(tmp_path / "M.onnx")))


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("with_window", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_first_detection_in_an_own_file(tmp_path: Path, with_window: bool) -> None:
    *before, window = commands(GUIDE / "first-steps.md")
    for words in before:
        run(words)
    lines = read_lines(tmp_path / "detections" / "street.jsonl")
    assert [line["frame"] for line in lines] == [*range(FRAMES)]
    assert window[0] not in COMMANDS
    if with_window:
        status, words = open_window(window, tmp_path)
        assert status == 0, words


def open_window(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Open the window without a display, and end it with SIGTERM when it has put the file into its queue."""
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": PYTHONPATH}
    program = [sys.executable, "-m", "framefleet.app", *arguments]
    with subprocess.Popen(program, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        deadline = time.monotonic() + 100
        while process.poll() is None and not any(arguments[0] in queue.read_text() for queue in folder.rglob(QUEUE)):
            assert time.monotonic() < deadline, "the file does not appear in the queue"
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        words, _ = process.communicate(timeout=60)
    return process.returncode, words
