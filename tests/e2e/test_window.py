"""The real application under a virtual X server: a real drag-and-drop, real detection, and a look at the screen."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.app.window.widgets import theme
from framefleet.engine.media.annotation.layout import class_colour
from tests.support.media import beginning, make_video
from tests.support.models import TINY_CFG
from tests.support.paths import PROJECT, PYTHONPATH

SCREEN = (1600, 900)
CANVAS = (slice(120, 700), slice(300, 1030))  # rows and columns that the picture's area covers in any case
TOOLS = {"Xvfb": "xvfb", "xdotool": "xdotool"}
MISSING = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs a virtual display: apt-get install {' '.join(MISSING)}")


@pytest.fixture
def display(tmp_path: Path) -> Iterator[str]:
    """A free X display, whose pixels are in a file. It is not reset when xdotool leaves: it would refuse a client that comes meanwhile."""
    reading, writing = os.pipe()
    options = ["-screen", "0", f"{SCREEN[0]}x{SCREEN[1]}x24", "-nolisten", "tcp", "-noreset", "-fbdir", tmp_path]
    command = ["Xvfb", "-displayfd", str(writing), *options]
    server = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        number = pipe.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait(10)


class Desktop:
    """A person at that display."""

    def __init__(self, display: str, folder: Path) -> None:
        self.folder = folder
        homes = {name: str(folder / name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
        self.environment = (
            os.environ | homes | {"PYTHONPATH": PYTHONPATH, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "QT_SCALE_FACTOR": "1"}
        )
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, *command: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=PROJECT,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def xdotool(self, *arguments: object) -> str:
        done = subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def screen(self) -> NDArray[np.uint8]:
        """What is on the screen now, uint8 (height, width, 3), RGB: the end of the file in which Xvfb draws, as xwd's format has it."""
        width, height = SCREEN
        drawn = np.fromfile(self.folder / "Xvfb_screen0", np.uint8)[-4 * width * height :]
        return drawn.reshape(height, width, 4)[..., 2::-1]

    def drag(self, source: subprocess.Popen[str], start: tuple[int, int], end: tuple[int, int], halfway: Callable[[], None]) -> str:
        """Press the mouse at ``start``, move it to ``end``, call ``halfway`` there, let go; gives the source's word on it."""
        assert source.stdout is not None
        self.xdotool("mousemove", *start, "mousedown", 1)
        for step in range(1, 9):
            x, y = (round(a + (b - a) * step / 8) for a, b in zip(start, end, strict=True))
            self.xdotool("mousemove", x, y)
            time.sleep(0.04)
        assert source.stdout.readline() == "dragging\n"
        halfway()
        self.xdotool("mousemove", end[0] + 3, end[1] + 3, "mouseup", 1)
        return source.stdout.readline().strip()


@pytest.fixture
def desktop(display: str, tmp_path: Path) -> Iterator[Desktop]:
    desktop = Desktop(display, tmp_path)
    yield desktop
    for process in desktop.processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"still no {what} after {seconds} s"
        time.sleep(0.15)


def box_pixels(screen: NDArray[np.uint8], classes: int) -> int:
    """How many pixels of the picture's area have exactly the colour of a class."""
    area = screen[CANVAS].astype(np.int32)
    packed = area[..., 0] << 16 | area[..., 1] << 8 | area[..., 2]
    wanted = [red << 16 | green << 8 | blue for red, green, blue in map(class_colour, range(classes))]
    return int(np.isin(packed, wanted).sum())


ATTEMPTS = 4
"""To close a window: a key may be lost on a busy machine."""


def quit_at_last(desktop: Desktop, app: subprocess.Popen[str]) -> None:
    """Confirm that the window should close although detection has not finished, if it asks."""

    def questions() -> list[str]:
        return desktop.xdotool("search", "--onlyvisible", "--name", "Quit Framefleet").splitlines()

    for _ in range(ATTEMPTS):
        wait_for(lambda: app.poll() is not None or bool(questions()), "end, or the question")
        if asked := questions():
            desktop.xdotool("windowfocus", "--sync", asked[0])
            desktop.xdotool("key", "Tab", "space")  # from the default, which keeps detecting, to the other button
        with suppress(subprocess.TimeoutExpired):
            app.wait(10)
            return
        desktop.xdotool("key", "ctrl+q")  # on a busy machine, a key may have come before the question had the focus


def processes_of_session(session: int) -> list[str]:
    """The processes that a program and its children left behind."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_text(errors="replace")
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(command)
    return found


def settings(home: Path, *lines: str) -> None:
    """Write the settings that the window finds. It needs no trial of precisions, which takes seconds."""
    (home / "XDG_CONFIG_HOME" / "framefleet").mkdir(parents=True)
    text = "\n".join(("[detection]", "precision=fp32", *lines, ""))
    (home / "XDG_CONFIG_HOME" / "framefleet" / "framefleet.conf").write_text(text)


def live_through(desktop: Desktop, model: list[str], video: Path, classes: int) -> None:
    app = desktop.start("-m", "framefleet.app", *model)

    def window_is_up() -> bool:
        assert app.poll() is None, f"the application ended with {app.returncode}: {app.stdout.read() if app.stdout else ''}"
        return bool(desktop.xdotool("search", "--onlyvisible", "--name", "Framefleet"))

    wait_for(window_is_up, "window")
    source = desktop.start(str(PROJECT / "tests/support/desktop/drag_source.py"), "1440", "300", str(video))
    assert source.stdout is not None
    assert source.stdout.readline() == "ready\n"
    surface = [int(theme.SURFACE[start : start + 2], 16) for start in (1, 3, 5)]
    wait_for(lambda: bool((desktop.screen()[4, 600] == surface).all()), "picture of the window")
    assert box_pixels(desktop.screen(), classes) == 0

    def frame_pixels(screen: NDArray[np.uint8]) -> int:
        colour = np.array([int(theme.ON_STAGE[start : start + 2], 16) for start in (1, 3, 5)])
        return int((np.abs(screen[17:25, 100:1200].astype(np.int32) - colour).max(axis=2) < 16).sum())

    def overlay_is_up() -> None:
        wait_for(lambda: frame_pixels(desktop.screen()) > 300, "sign where to drop")

    assert desktop.drag(source, (1500, 360), (660, 400), overlay_is_up) == "dropped"
    wait_for(lambda: box_pixels(desktop.screen(), classes) > 300, "boxes over the picture")
    wait_for(lambda: video.name in desktop.xdotool("search", "--onlyvisible", "--name", video.name, "getwindowname"), "title")

    window = desktop.xdotool("search", "--onlyvisible", "--name", "Framefleet").splitlines()[0]
    desktop.xdotool("windowfocus", "--sync", window)
    desktop.xdotool("key", "ctrl+q")
    quit_at_last(desktop, app)
    assert app.wait(60) == 0, app.stdout.read() if app.stdout else ""
    wait_for(lambda: not processes_of_session(app.pid), "end of all processes")
    assert app.stdout is not None
    assert app.stdout.read() == ""
    assert list((desktop.folder / "XDG_DATA_HOME" / "framefleet" / "sessions").glob("*.sqlite"))


def test_a_video_dropped_on_the_window_gets_its_boxes(desktop: Desktop, tmp_path: Path) -> None:
    settings(tmp_path, "confidence=0.05")
    video = make_video(tmp_path / "numbers.mp4", 100, (320, 240))
    live_through(desktop, ["--model", str(TINY_CFG), "--weights", "random:1"], video, 3)


@pytest.mark.slow
@pytest.mark.data
def test_real_people_get_their_boxes(desktop: Desktop, data: Path, tmp_path: Path) -> None:
    settings(tmp_path)
    video = beginning(data / "video/people.mp4", tmp_path / "people.mp4", 60)  # detection of the rest would only take time
    live_through(desktop, ["--model", str(data / "models/yolo-fastest-1.1.cfg")], video, 80)
