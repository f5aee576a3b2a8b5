"""No command looks up a host that the user did not name, or writes into the home folder but into Framefleet's own folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from framefleet.app.main import COMMANDS
from tests.support.cli import FAST, run_programs
from tests.support.media import make_video
from tests.support.paths import PROJECT, PYTHONPATH

COMPILER = shutil.which("gcc") or shutil.which("cc")
OWN = {".cache/framefleet", ".local/share/framefleet", ".local/state/framefleet"}
DESKTOP = {".local/share/applications", ".local/share/icons"}

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux" or COMPILER is None, reason="needs Linux and a C compiler"),
    pytest.mark.timeout(1200),
]


class Watched:
    """Runs programs with an empty home folder and a library that notes every host they look up or connect to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self._log = folder, folder / "home", folder / "lookups.txt"
        self.home.mkdir()
        library = folder / "lookups.so"
        subprocess.run([str(COMPILER), "-shared", "-fPIC", "-o", library, PROJECT / "tests/fixtures/lookups.c", "-ldl"], check=True)
        own = {"HOME": str(self.home), "LD_PRELOAD": str(library), "LOOKUPS": str(self._log), "PYTHONPATH": PYTHONPATH}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "FRAMEFLEET_", "LD_"))}
        self.environment = {**kept, **own, "QT_QPA_PLATFORM": "offscreen"}

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a Python program in the folder. words: its arguments."""
        program = [sys.executable, *map(str, words)]
        return subprocess.run(program, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600, check=False)

    @property
    def lookups(self) -> list[str]:
        """What the programs looked up."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    def written(self) -> set[str]:
        """The folders of the home folder that hold files, as deep as in OWN and DESKTOP."""
        files = [path.relative_to(self.home) for path in self.home.rglob("*") if not path.is_dir()]
        return {"/".join(path.parts[: 3 if path.parts[0] == ".local" else 2]) for path in files}


def test_the_library_notes_lookups(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    child = "import socket; socket.getaddrinfo('localhost', 80); socket.gethostbyname('localhost')"
    assert watched.run("-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)").returncode == 0
    assert "getaddrinfo localhost" in watched.lookups


DETECT = ("detect", "a.mp4", *FAST, "--confidence", "0.05", "--track", "bytetrack", "--out", "s", "--format", "jsonl,coco,video")
OFTEN: tuple[tuple[str | Path, ...], ...] = (
    ("devices",),
    ("models",),
    DETECT,
    ("results", "s", "--format", "csv,parquet,yolo"),
)
"""All that import OpenVINO, PyAV or the libraries of a format in this process."""

OTHERS: tuple[tuple[str | Path, ...], ...] = (
    ("doctor",),
    ("topology",),
    DETECT,
    ("track", "s"),
    ("clips", "s", "--class", "0"),
    ("correct", "s", "list"),
    ("evaluate", "s", "--truth", "s/a.coco.json", "--out", "report"),
    ("merge", "s", "--out", "merged"),
    ("export", *FAST[:4], "--output", "m.onnx"),
    ("bench", "model", *FAST[:4], "--seconds", "0.1"),
    ("bench", "pipeline", "a.mp4", *FAST),
    ("bench", "devices", "--devices", "cpu:0", "--repetitions", "2", "--largest", "1"),
    ("bench", "scaling", *FAST, "--source", "a.mp4", "--counts", "1", "--seconds", "0.5"),
    ("tune", "a.mp4", *FAST),
    ("install-desktop",),
    ("demo", "--headless", "--json"),
)


@pytest.mark.parametrize(
    "processes", [[OFTEN], pytest.param([(command,) for command in OTHERS], marks=pytest.mark.slow)], ids=["often", "others"]
)
def test_no_command_looks_up_a_host(processes: list[tuple[tuple[str | Path, ...], ...]], tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    make_video(tmp_path / "a.mp4", 30, (96, 64))
    for commands in processes:
        for command, done in zip(commands, run_programs(*commands, cwd=tmp_path, env=watched.environment), strict=True):
            assert done.status == 0, (command, done.err)
        assert watched.lookups == [], commands
    assert watched.written() <= OWN | DESKTOP


def test_every_command_is_watched() -> None:
    assert {command[0] for command in (*OFTEN, *OTHERS)} == set(COMMANDS)
