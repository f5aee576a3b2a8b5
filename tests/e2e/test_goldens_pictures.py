"""The screens look as they were recorded: dark and light, and at two larger scales in one theme each, because a change of the theme
takes a third of a second.

A golden is a small picture: the mean colour of each square of ``CELL`` logical pixels. Record all with ``--record-goldens``.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage

from tests.support.goldens import CLIP, PROJECT, STORED, Goldens
from tests.support.window import pixels

PROGRAM = PROJECT / "tests" / "support" / "desktop" / "screens.py"
CELL = 10
DIFFERS = 24
"""The difference of a channel, 0..255, from which a square looks different."""
TOLERANCE = 0.004
"""The share of squares that may differ, for the rounding of another processor or decoder."""
SCREENS = ("empty", "models", "settings", "settings.advanced", "queue", "finished", "playing", "export", "sessions", "devices", "topology",
           "errors")  # fmt: skip


def take_pictures(folder: Path, scale: str, *themes: str, language: str = "en") -> Path:
    """Take the pictures of all screens in these themes; return their folder."""
    shutil.copy(CLIP, folder / "street.mp4")
    shutil.copy(STORED, folder / "session.sqlite")
    with closing(sqlite3.connect(folder / "session.sqlite")) as connection:
        connection.execute("UPDATE session SET value = ? WHERE key = 'folder'", (str(folder),))
        connection.commit()
    # relative, because the settings show these folders
    homes = {f"XDG_{name}_HOME": name for name in ("DATA", "CONFIG", "STATE", "CACHE")}
    settings = {"PYTHONPATH": str(PROJECT), "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": scale, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    command = [sys.executable, "-P", str(PROGRAM), str(folder), language, *themes]
    done = subprocess.run(command, cwd=folder, env=os.environ | homes | settings, capture_output=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return folder / "pictures"


def small(picture: QImage, scale: float) -> QImage:
    """The picture with one pixel for each square."""
    width, height = (max(round(side / scale / CELL), 1) for side in (picture.width(), picture.height()))
    shrunk = picture.scaled(width, height, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)
    return shrunk.convertToFormat(QImage.Format.Format_RGB888)


def encoded(picture: QImage) -> bytes:
    """The picture as PNG."""
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG", 0)  # type: ignore[call-overload]
    return bytes(content.data())


def difference(first: QImage, second: QImage) -> float:
    """The share of squares that look different, 0..1."""
    if first.size() != second.size():
        return 1.0
    return float((abs(pixels(first).astype(np.int16) - pixels(second)).max(axis=2) > DIFFERS).mean())


@pytest.mark.parametrize(("scale", "themes"), [("1", ("dark", "light")), ("1.5", ("dark",)), ("2", ("light",))], ids=["1", "1.5", "2"])
def test_the_screens_look_as_recorded(goldens: Goldens, tmp_path: Path, scale: str, themes: tuple[str, ...]) -> None:
    folder = take_pictures(tmp_path, scale, *themes)
    names = [f"{screen}.{theme}" for screen in SCREENS for theme in themes]
    assert sorted(path.stem for path in folder.iterdir()) == sorted(names)
    wrong = []
    for name in names:
        now = small(QImage(str(folder / f"{name}.jpg")), float(scale))
        recorded = QImage.fromData(goldens.expect(f"pictures/{name}.{scale}.png", encoded(now)))
        if (share := difference(recorded, now)) > TOLERANCE:
            wrong.append(f"{folder / name}.jpg: {share:.1%} of it differs from tests/goldens/pictures/{name}.{scale}.png")
    assert not wrong, "\n".join([*wrong, "after an intended change: pytest tests/e2e/test_goldens_pictures.py --record-goldens"])


def test_a_moved_button_is_noticed(tmp_path: Path) -> None:
    picture = QImage(1360, 840, QImage.Format.Format_RGB888)
    picture.fill(0x14171C)
    moved = picture.copy()
    for image, left in ((picture, 100), (moved, 240)):
        for x in range(left, left + 120):
            for y in range(50, 82):
                image.setPixel(x, y, 0x6AA5FF)
    assert difference(small(picture, 1.0), small(moved, 1.0)) > TOLERANCE
    assert difference(small(picture, 1.0), small(picture.copy(), 1.0)) == 0
