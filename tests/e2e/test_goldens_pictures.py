"""The screens look as they were recorded: at three scales, dark and light. Record all with ``--record-goldens``."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.support.desktop.small_pictures import decoded, difference, encoded, small
from tests.support.goldens import CLIP, Goldens, write_stored
from tests.support.paths import PROJECT, PYTHONPATH

PROGRAM = PROJECT / "tests" / "support" / "desktop" / "screens.py"
TOLERANCE = 0.004
"""The share of squares that may differ, for the rounding of another processor or decoder."""
SCREEN = 1600, 1000
"""Logical pixels."""
THEMES = ("dark", "light")
SCREENS = (
    *("empty", "menu", "keys", "models", "comparison.steps", "comparison", "about", "cluster"),
    *("open", "open.folder", "open.results", "menu.recent", "menu.videos", "menu.over", "question", "keys.change", "start"),
    *("models.states", "models.own", "cluster.refused", "cluster.connected"),
    *(
        "running",
        "menu.file",
        "menu.device",
        "settings",
        "settings.advanced",
        "settings.search",
        "settings.problem",
        "queue",
        "quit",
        "removed",
    ),
    *("finished", "small", "playing", "detections", "counts", "export", "export.several", "clips", "worst"),
    *("sessions", "sessions.rename", "sessions.delete", "grid.2", "grid.3"),
    *(
        "routes",
        "counts.places",
        "heat",
        "menu.set",
        "menu.show",
        "set.name",
        "save",
        "set.files",
        "set.classes",
        "events.window",
        "drawing",
    ),
    *("correcting", "part", "menu.part", "menu.speed", "clips.part", "glimpse", "exporting", "fullscreen", "fullscreen.bare"),
    *("machines", "starting", "devices", "device", "devices.window", "detached"),
    *("demo", "drop", "errors", "details"),
)


def take_pictures(folder: Path, scale: str, *themes: str, language: str = "en", whole: bool = False) -> Path:
    """Take the pictures of all screens in these themes; return their folder. whole: in full size, as JPEG."""
    folder.mkdir(exist_ok=True)
    shutil.copy(CLIP, folder / "street.mp4")
    write_stored(folder / "stored.sqlite")
    with closing(sqlite3.connect(folder / "stored.sqlite")) as connection:
        connection.execute("UPDATE session SET value = ? WHERE key = 'folder'", (str(folder),))
        connection.commit()
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("DATA", "CONFIG", "STATE", "CACHE")}
    homes |= {"HOME": str(folder / "user"), "XDG_DATA_DIRS": str(folder / "DIRS")}  # file dialogs name the one, and types by the other
    (folder / "user").mkdir(exist_ok=True)
    width, height = (round(side * float(scale)) for side in SCREEN)
    screen = {"name": "screen", "x": 0, "y": 0, "width": width, "height": height, "logicalDpi": 96, "dpr": 1}
    (folder / "screen.json").write_text(json.dumps({"screens": [screen]}))
    platform = f"offscreen:configfile={folder / 'screen.json'}"  # without it, the screen has 800 × 800 pixels
    settings = {"PYTHONPATH": PYTHONPATH, "QT_QPA_PLATFORM": platform, "QT_SCALE_FACTOR": scale, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    command = [sys.executable, "-P", str(PROGRAM), str(folder), language, *themes, *(["whole"] if whole else [])]
    done = subprocess.run(command, cwd=folder, env=os.environ | homes | settings, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return folder / "screens"


@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_the_screens_look_as_recorded(goldens: Goldens, tmp_path: Path, scale: str) -> None:
    folder = take_pictures(tmp_path / "small", scale, *THEMES)
    names = [f"{screen}.{theme}" for screen in SCREENS for theme in THEMES]
    assert sorted(path.stem for path in folder.iterdir()) == sorted(names)
    wrong = {}
    for screen in SCREENS:
        now = [QImage(str(folder / f"{screen}.{theme}.png")) for theme in THEMES]
        golden = f"pictures/{screen}.{scale}.webp"
        recorded = decoded(goldens.expect(golden, encoded(now)), len(THEMES))
        for theme, before, after in zip(THEMES, recorded, now, strict=True):
            if (share := difference(before, after)) > TOLERANCE:
                wrong[f"{screen}.{theme}"] = f"{share:.1%} of it differs from tests/goldens/{golden}"
    if wrong:
        whole = take_pictures(tmp_path / "whole", scale, *THEMES, whole=True)
        lines = [f"{whole / name}.jpg: {text}" for name, text in wrong.items()]
        pytest.fail("\n".join([*lines, "after an intended change: pytest tests/e2e/test_goldens_pictures.py --record-goldens"]))


def test_a_moved_button_is_noticed(tmp_path: Path) -> None:
    picture = QImage(1360, 840, QImage.Format.Format_RGB888)
    picture.fill(0x14171C)
    moved = picture.copy()
    for image, left in ((picture, 100), (moved, 240)):
        for x in range(left, left + 120):
            for y in range(50, 82):
                image.setPixel(x, y, 0x6AA5FF)
    before, after = small(picture, 1.0), small(moved, 1.0)
    recorded, _ = decoded(encoded([before, after]), 2)
    assert difference(recorded, after) > TOLERANCE
    assert difference(recorded, before) == 0
