"""Assistive technology finds in the window what was recorded: roles, names, values and states, as accessible trees."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.goldens import CLIP, FOLDER, Goldens, write_stored
from tests.support.paths import PROJECT, PYTHONPATH

PROGRAM = PROJECT / "tests" / "support" / "desktop" / "accessible_trees.py"
Steps = list[tuple[str, str]]

FIRST_START: Steps = [
    ("await", "Settings"),
    ("show", "start page"),
    ("press", "More"),
    ("await", "Quit"),
    ("show", "menu"),
]
MODELS: Steps = [("press", "Choose model…"), ("await", "Models"), ("show", "models")]
SETTINGS: Steps = [
    ("press", "Settings"),
    ("await", "Advanced"),
    ("press", "Advanced"),
    ("await", "Processes"),
    ("await", "cpu:0, "),
    ("show", "settings"),
]
ALL_OF_A_FIRST_START: Steps = [*MODELS, ("press", "Close"), ("await", "Choose model…"), *SETTINGS, ("press", "Cancel"),
                               ("await", "Choose model…"), *FIRST_START]  # fmt: skip
"""The menu comes last, because it stays open."""
RECORDED_MACHINE: Steps = [
    ("await", "This machine"),
    ("await", "Power 79 W"),
    ("show", "devices of a recorded machine"),
    ("press", "Show Devices in its own window"),
    ("await", "Connections between GPUs"),
    ("show", "topology of a recorded machine"),
]
STORED_RESULTS: Steps = [("await", "31 objects"), ("await", "person, 502 detections"), ("show", "stored results")]


def trees(folder: Path, steps: Steps, *arguments: str | Path) -> str:
    """Start the window as a new user, do these steps and return the trees that they show."""
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("DATA", "CONFIG", "STATE", "CACHE")}
    settings = {"PYTHONPATH": PYTHONPATH, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "1", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-P", str(PROGRAM), json.dumps(steps), *map(str, arguments)]
    try:
        done = subprocess.run(command, cwd=folder, env=os.environ | homes | settings, capture_output=True, timeout=100, check=False)
    except subprocess.TimeoutExpired as expired:
        pytest.fail(f"the window does not show what is awaited:\n{(expired.stderr or b'').decode()}")
    assert done.returncode == 0, done.stderr.decode()
    shown = re.sub(r"'cpu:0: .*, a run will use it'", "'cpu:0: <processor>, a run will use it'", done.stdout.decode())
    return shown.replace(str(folder), "<folder>")


def without_sizes(text: str) -> str:
    """The tree without the sizes of folders."""
    return re.sub(r"'\d[\d.,]* (bytes?|[kKMG]i?B)'", "'<size>'", text)


def without_devices(text: str) -> str:
    """The settings without this machine's devices: a check box for each, and what is known of it."""
    automatic = r"( *CheckBox 'Automatic: the best available) \(.*\)(' checked\n)"
    each, following = r" *CheckBox 'cpu:0, .*\n(?:.*\n)*?", r"( *StaticText 'Sharing the work'\n)"
    result, found = re.subn(automatic + each + following, r"\1 <devices>\2  <a check box for each device>\n\3", text)
    assert found == 1, text
    return result


@pytest.fixture(scope="module")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one window of a new user shows, by golden."""
    text = trees(tmp_path_factory.mktemp("user"), ALL_OF_A_FIRST_START)
    models, settings, start = re.split(r"^(?=== settings$|== start page$)", text, flags=re.MULTILINE)
    return {"start": start, "models": models, "settings": without_sizes(without_devices(settings))}


@pytest.mark.parametrize("name", ["start", "models", "settings"])
def test_a_first_start_shows_the_recorded_trees(goldens: Goldens, first_start: dict[str, str], name: str) -> None:
    goldens.compare_text(f"window.{name}.txt", first_start[name])


@pytest.mark.slow  # tests/app/window/devices shows recorded machines
def test_a_recorded_machine_shows_the_recorded_trees(goldens: Goldens, tmp_path: Path) -> None:
    text = trees(tmp_path, RECORDED_MACHINE, "--recording", FOLDER / "recorded_machine.json")
    goldens.compare_text("window.machine.txt", text)


def test_stored_results_show_the_recorded_tree(goldens: Goldens, tmp_path: Path) -> None:
    shutil.copy(CLIP, tmp_path / "street.mp4")
    write_stored(tmp_path / "session.sqlite")
    with closing(sqlite3.connect(tmp_path / "session.sqlite")) as connection:
        connection.execute("UPDATE session SET value = ? WHERE key = 'folder'", (str(tmp_path),))
        connection.commit()
    goldens.compare_text("window.stored.txt", trees(tmp_path, STORED_RESULTS, tmp_path / "session.sqlite"))
