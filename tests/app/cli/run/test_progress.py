import fcntl
import os
import struct
import termios
from collections.abc import Iterator
from contextlib import closing, redirect_stderr
from pathlib import Path

import pytest

from framefleet.app.cli.runs import Progress
from framefleet.app.terminal import PLAIN_SECONDS
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import (
    DeviceFailed,
    DeviceReady,
    DeviceStarting,
    DeviceStats,
    EngineBuilding,
    FramesDone,
    Ledger,
    SourceFinished,
    SourceOpened,
    SourceProgress,
)
from framefleet.engine.types import DeviceId
from tests.support.notices import words
from tests.support.store import make_frame, video_info
from tests.support.window import engine_info

GPU = DeviceId("cuda", "0")
OTHER = DeviceId("cuda", "1")
SOURCES = {0: SourceProgress(Path("people.mp4"))}
Capture = pytest.CaptureFixture[str]


class Clock:
    """Stands still until it is put forward."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal:
    """A terminal of 120 columns."""

    def __init__(self) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
        self.file = os.fdopen(slave, "w", buffering=1)

    def read(self) -> str:
        """What was written since the last time."""
        os.set_blocking(self._master, False)
        parts = []
        try:
            while part := os.read(self._master, 1 << 16):
                parts.append(part)
        except BlockingIOError:
            pass
        return b"".join(parts).decode()

    def close(self) -> None:
        self.file.close()
        os.close(self._master)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


def test_without_a_terminal_a_build_is_told_now_and_then(capsys: Capture) -> None:
    clock = Clock()
    with closing(Progress(SOURCES, quiet=False, clock=clock)) as progress:
        progress.show(DeviceStarting(GPU, 1))
        progress.show(EngineBuilding(GPU, words("building the plan"), 0.01))
        progress.show(EngineBuilding(OTHER, words("preparing its kernels"), 0.0))  # each device has its own line
        clock.now += PLAIN_SECONDS - 0.1
        progress.show(EngineBuilding(GPU, words("trying tactics"), 0.3))
        clock.now += 0.1
        progress.show(EngineBuilding(GPU, words("trying tactics"), 0.37))
        progress.show(DeviceReady(engine_info(GPU, "fp16", "the fastest that matches fp32")))
    assert capsys.readouterr().err.splitlines() == [
        "cuda:0: starting",
        "cuda:0: building the plan 1 %",
        "cuda:1: preparing its kernels",
        "cuda:0: trying tactics 37 %",
        "cuda:0: Some Processor, OpenVINO 2026.4, fp16 (the fastest that matches fp32), 320×320, batch 1",
    ]


def test_on_a_terminal_a_build_moves_in_its_line(terminal: Terminal) -> None:
    with redirect_stderr(terminal.file), closing(Progress(SOURCES, quiet=False)) as progress:
        progress.show(SourceOpened(0, video_info("people.mp4", 50)))
        progress.show(EngineBuilding(GPU, words("trying tactics"), 0.3))
        progress.show(EngineBuilding(GPU, words("trying tactics"), 0.37))
        shown = terminal.read()
        assert "cuda:0 trying tactics 30 %" in shown
        assert shown.rpartition("\r")[2].startswith("cuda:0 trying tactics 37 %")
        assert "\n" not in shown
        progress.show(DeviceReady(engine_info(GPU)))
        assert "trying tactics" not in terminal.read().rpartition("\n")[2]


def test_while_one_device_works_the_other_is_built_beside_it(terminal: Terminal) -> None:
    with redirect_stderr(terminal.file), closing(Progress(SOURCES, quiet=False)) as progress:
        progress.show(SourceOpened(0, video_info("people.mp4", 50)))
        progress.show(DeviceReady(engine_info(GPU)))
        progress.show(FramesDone(0, (make_frame(0, 0),)))
        progress.show(DeviceStats(GPU, 1, 12.5, 80.0, 90.0))
        progress.show(EngineBuilding(OTHER, words("trying tactics"), 0.5))
        progress.say("so far")
        line = terminal.read().rpartition("\n")[2]
        assert "cuda:0 12.5/s 80 ms · cuda:1 trying tactics 50 %" in line
        assert "people.mp4" in line
        progress.show(DeviceFailed(OTHER, words("there is no memory"), restarting=False))
        after = terminal.read()
        assert "cuda:1: there is no memory; this device is not used any more" in after
        assert "trying tactics" not in after.rpartition("\n")[2]


def test_quiet_tells_failures_only(capsys: Capture) -> None:
    with closing(Progress(SOURCES, quiet=True)) as progress:
        progress.show(DeviceStarting(GPU, 1))
        progress.show(EngineBuilding(GPU, words("trying tactics"), 0.3))
        progress.show(DeviceReady(engine_info(GPU, "fp16")))
        progress.show(DeviceFailed(GPU, words("it crashed"), restarting=True))
        progress.show(
            SourceFinished(
                0, Ledger(), 0.0, Notice("general.of_device", device=Path("clips/people.mp4"), problem=words("it is no video")), False
            )
        )
    assert capsys.readouterr().err.splitlines() == ["cuda:0: it crashed", "clips/people.mp4: it is no video"], "each name once"


def test_counts_at_lines_are_in_the_bar(terminal: Terminal) -> None:
    with redirect_stderr(terminal.file), closing(Progress(SOURCES, quiet=False)) as progress:
        progress.show(SourceOpened(0, video_info("people.mp4", 100)))
        progress.show(FramesDone(0, [make_frame(0, index) for index in range(50)]))
        progress.show_counts("gate: 2 forward, 1 backward")
        progress.say("cpu:0: starting")  # draws the bar again
    assert "gate: 2 forward, 1 backward" in terminal.read()


def test_without_a_terminal_counts_are_behind_the_frames(capsys: Capture) -> None:
    with closing(Progress(SOURCES, quiet=False)) as progress:
        progress.show(SourceOpened(0, video_info("people.mp4", 100)))
        progress.show_counts("gate: 2 forward, 1 backward")
        progress.show(FramesDone(0, [make_frame(0, index) for index in range(50)]))
    assert capsys.readouterr().err == "50 of 100 frames (50 %); gate: 2 forward, 1 backward\n"


def test_without_a_terminal_several_files_are_counted(capsys: Capture) -> None:
    done = SourceProgress(Path("a.mp4"), finished=SourceFinished(0, Ledger(9, 9), 1.0, None))
    with closing(Progress({0: done, 1: SourceProgress(Path("b.mp4"))}, quiet=False)) as progress:
        progress.show(SourceOpened(1, video_info("b.mp4", 100)))
        progress.show(FramesDone(1, [make_frame(1, index) for index in range(50)]))
    assert capsys.readouterr().err == "1 of 2 files, 50 of 100 frames (50 %)\n"
