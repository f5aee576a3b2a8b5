"""The screens look as they were recorded. Record them with ``--record-goldens``."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.support.desktop.pictures import differences, encoded
from tests.support.desktop.screens import FONTS
from tests.support.goldens import CLIP, Goldens, write_stored
from tests.support.paths import PROJECT, PYTHONPATH

PROGRAM = PROJECT / "tests" / "support" / "desktop" / "screens.py"
SCREEN = 1600, 1000
"""Pixels."""
THEME = "dark"
SCREENS = (
    *("empty", "start", "menu", "keys", "models.states", "comparison", "cluster.connected"),
    *("running", "queue", "settings.advanced", "settings.problem"),
    *("finished", "small", "playing", "detections", "counts", "export.several", "clips", "worst", "sessions", "heat", "correcting"),
    *("devices", "device", "errors"),
)
"""The screens that are compared. The others are only shown."""


def take_pictures(folder: Path) -> Path:
    """Take the pictures of SCREENS; return their folder."""
    shutil.copy(CLIP, folder / "street.mp4")
    write_stored(folder / "stored.sqlite")
    with closing(sqlite3.connect(folder / "stored.sqlite")) as connection:
        connection.execute("UPDATE session SET value = ? WHERE key = 'folder'", (str(folder),))
        connection.commit()
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("DATA", "CONFIG", "STATE", "CACHE")}
    homes |= {"HOME": str(folder / "user"), "XDG_DATA_DIRS": str(folder / "DIRS")}  # file dialogs name the one, and types by the other
    (folder / "user").mkdir(exist_ok=True)
    screen = {"name": "screen", "x": 0, "y": 0, "width": SCREEN[0], "height": SCREEN[1], "logicalDpi": 96, "dpr": 1}
    (folder / "screen.json").write_text(json.dumps({"screens": [screen]}))
    platform = f"offscreen:configfile={folder / 'screen.json'}"  # without it, the screen has 800 × 800 pixels
    # the only fonts: beside the system's of the same name, the path of the checkout would decide which ones are used
    (folder / "fonts.conf").write_text(f"<fontconfig><dir>{FONTS}</dir><cachedir>{folder / 'CACHE'}</cachedir></fontconfig>")
    homes["FONTCONFIG_FILE"] = str(folder / "fonts.conf")
    settings = {"PYTHONPATH": PYTHONPATH, "QT_QPA_PLATFORM": platform, "QT_SCALE_FACTOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    command = [sys.executable, "-P", str(PROGRAM), str(folder), "en", THEME, *SCREENS]
    done = subprocess.run(command, cwd=folder, env=os.environ | homes | settings, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return folder / "screens"


def test_the_screens_look_as_recorded(goldens: Goldens, tmp_path: Path) -> None:
    folder = take_pictures(tmp_path)
    wrong = []
    for name in SCREENS:
        now = QImage(str(folder / f"{name}.png"))
        golden = f"pictures/{name}.webp"
        places = differences(QImage.fromData(goldens.expect(golden, partial(encoded, now))), now)
        if places:
            shown = ", ".join(f"{place.x()},{place.y()}" for place in places[:5])
            wrong.append(f"{folder / name}.png differs from tests/goldens/{golden} in {len(places)} regions, at {shown}")
    if wrong:
        pytest.fail("\n".join([*wrong, "after an intended change: pytest tests/e2e/test_goldens_pictures.py --record-goldens"]))
