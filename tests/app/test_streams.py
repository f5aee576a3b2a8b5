from __future__ import annotations

import os
import pty
import subprocess
import sys

from tests.support.cli import FAST
from tests.support.paths import PROJECT

PRINTS = (
    "import sys; from framefleet.app import streams; streams.prepare(); print('a\\x1b[31mb\\x9b\\tc'); print('d\\x07', file=sys.stderr)"
)


def test_names_do_not_control_a_terminal() -> None:
    master, slave = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", PRINTS], check=True, cwd=PROJECT, stdout=slave, stderr=slave)
        assert os.read(master, 1000).split() == [b"a\\x1B[31mb\\x9B", b"c", b"d\\x07"]
    finally:
        os.close(slave)
        os.close(master)


LINE = "from framefleet.app import streams; streams.prepare(); streams.print_line('a\\nb\\r.mp4')"


def test_a_line_break_in_a_name_does_not_break_the_line_on_a_terminal() -> None:
    master, slave = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", LINE], check=True, cwd=PROJECT, stdout=slave)
        assert os.read(master, 1000) == b"a\\x0Ab\\x0D.mp4\r\n"
    finally:
        os.close(slave)
        os.close(master)
    done = subprocess.run([sys.executable, "-c", LINE], check=True, cwd=PROJECT, capture_output=True)
    assert done.stdout == b"a\nb\r.mp4\n"


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


def test_programs_get_the_exact_names() -> None:
    done = subprocess.run([sys.executable, "-c", PRINTS], check=True, cwd=PROJECT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("a\x1b[31mb\x9b\tc\n", "d\x07\n")
