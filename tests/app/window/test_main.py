import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.cli.interrupt import SIGNALS
from app.window.main import close_soon
from tests.support.models import TINY_CFG

PROJECT = Path(__file__).resolve().parents[3]
FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def test_a_signal_closes_the_window_in_order_in_the_middle_of_a_run(tmp_path: Path, long: Path) -> None:
    assert set(SIGNALS) == {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}  # all have the same handler
    environment = os.environ | {name: str(tmp_path) for name in FOLDERS} | {"QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "app", str(long), "--model", str(TINY_CFG), "--weights", "random:1"]
    with subprocess.Popen(command, cwd=PROJECT, env=environment, stderr=subprocess.PIPE, text=True) as window:
        deadline = time.monotonic() + 30
        while not list(tmp_path.rglob("*.sqlite-wal")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(tmp_path.rglob("*.sqlite-wal")), "the run did not begin"
        window.send_signal(signal.SIGHUP)
        assert window.wait(20) == 0
        assert window.stderr is not None
        assert "leaked" not in window.stderr.read()
    assert list(tmp_path.rglob("*.sqlite"))
    assert not list(tmp_path.rglob("*.sqlite-wal"))  # the session was closed


def test_closing_at_a_signal_waits_for_the_code_that_was_interrupted(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    close_soon(window)
    assert window.isVisible()  # whatever runs now may hold a lock
    qtbot.waitUntil(lambda: not window.isVisible())
