import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from tests.support.models import TINY_CFG

PROJECT = Path(__file__).resolve().parents[3]
FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


THREE_WINDOWS = """
import functools, sys
from app.main import main
from app.window import main as window
from app.window.models import setup
window.make_application = functools.cache(window.make_application)  # Qt allows one in each process
setup.discover = functools.cache(setup.discover)
for _ in range(3):
    print(main(sys.argv[1:]), flush=True)
"""


def test_each_signal_closes_the_window_in_order_in_the_middle_of_a_run(tmp_path: Path, long: Path) -> None:
    environment = os.environ | {name: str(tmp_path) for name in FOLDERS} | {"QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", THREE_WINDOWS, str(long), "--model", str(TINY_CFG), "--weights", "random:1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=pipe, stderr=pipe, text=True) as windows, ExitStack() as stack:
        stack.callback(windows.kill)
        assert windows.stdout is not None
        for sessions, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), start=1):
            deadline = time.monotonic() + 30
            while not list(tmp_path.rglob("*.sqlite-wal")) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert list(tmp_path.rglob("*.sqlite-wal")), "the run did not begin"
            windows.send_signal(number)
            assert windows.stdout.readline() == "0\n", number
            assert len(list(tmp_path.rglob("*.sqlite"))) == sessions
            assert not list(tmp_path.rglob("*.sqlite-wal")), number  # the session was closed
        assert windows.wait(20) == 0
        assert windows.stderr is not None
        assert "leaked" not in windows.stderr.read()
