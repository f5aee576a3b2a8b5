from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import FAST, run_programs
from tests.support.media import make_video
from tests.support.paths import PROJECT

PRINTS = (
    "import sys; from framefleet.app import terminal; terminal.prepare(); print('a\\x1b[31mb\\x9b\\tc'); print('d\\x07', file=sys.stderr)"
)


def test_names_do_not_control_a_terminal() -> None:
    master, slave = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", PRINTS], check=True, cwd=PROJECT, stdout=slave, stderr=slave)
        assert os.read(master, 1000).split() == [b"a\\x1B[31mb\\x9B", b"c", b"d\\x07"]
    finally:
        os.close(slave)
        os.close(master)


LINE = "from framefleet.app import terminal; terminal.prepare(); terminal.print_line('a\\nb\\r.mp4')"


def test_a_line_break_in_a_name_does_not_break_the_line_on_a_terminal() -> None:
    master, slave = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", LINE], check=True, cwd=PROJECT, stdout=slave)
        assert os.read(master, 1000) == b"a\\x0Ab\\x0D.mp4\r\n"
    finally:
        os.close(slave)
        os.close(master)
    done = subprocess.run([sys.executable, "-c", LINE], check=True, cwd=PROJECT, capture_output=True)
    assert done.stdout == b"a\\x0Ab\\x0D.mp4\n", "nor a line that a program reads"


WRONG = "import sys; from framefleet.app.main import main; sys.exit(main(['detect', 'a\\nb.mp4', 'c\\nd.mp4', *sys.argv[1:]]))"


def test_a_line_break_in_a_name_does_not_break_the_message_of_an_error() -> None:
    master, slave = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", WRONG, *map(str, FAST)], check=False, cwd=PROJECT, stderr=slave)
        lines = [line for line in os.read(master, 1000).decode().splitlines() if ".mp4" in line]
        assert [line[:22] for line in lines] == ["framefleet: a\\x0Ab.mp4", "framefleet: c\\x0Ad.mp4"]
    finally:
        os.close(slave)
        os.close(master)


def test_names_do_not_control_the_terminal_on_which_redirected_output_is_read_later() -> None:
    done = subprocess.run([sys.executable, "-c", PRINTS], check=True, cwd=PROJECT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("a\\x1B[31mb\\x9B\tc\n", "d\\x07\n")


NAME = "safe\u202egpj\n.exe\x1b[2K.mp4"
SHOWN = "safe\\u202Egpj\\x0A.exe\\x1B[2K.mp4"


@pytest.mark.slow  # the tests above have such names, and the output of one command
def test_no_command_prints_a_name_that_breaks_or_turns_a_line(tmp_path: Path) -> None:
    """Standard output and error are pipes here. Tests above have the terminal."""
    video = make_video(tmp_path / NAME, 30, (96, 64))
    broken = tmp_path / f"broken{NAME}"
    broken.write_bytes(b"no video")
    out, truth = tmp_path / "out\u2066", tmp_path / "t\n.json"
    truth.write_text("{}")
    model = (*FAST, "--confidence", "0.05")
    commands = [
        ("detect", video, broken, *model, "--track", "bytetrack", "--out", out, "--format", "jsonl,video", "--verbose"),
        ("detect", video, *model, "--out", out),
        ("detect", tmp_path / f"gone{NAME}", *FAST),
        ("results", out, "--format", "csv,video"),
        ("results", out, "--source", NAME),
        ("track", out),
        ("clips", out, "--class", "0,1,2"),
        ("correct", out, "delete", "--source", video, "--frame", "0", "--object", "0"),
        ("correct", out, "list"),
        ("evaluate", out, "--truth", truth),
        ("merge", out, "--out", tmp_path / "merged\u2066\n"),
        ("export", *FAST[:4], "--output", tmp_path / f"{NAME}.onnx"),
        ("devices", "--recording", truth),
        (tmp_path / f"gone{NAME}",),
    ]
    named = 0
    for command, done in zip(commands, run_programs(*commands), strict=True):
        for line in f"{done.out}\n{done.err}".split("\n"):
            assert line.isprintable(), (command[0], line)
            assert not line.startswith(".exe"), (command[0], line)
        named += SHOWN in done.out + done.err
    assert named >= 10, "the names are printed"
