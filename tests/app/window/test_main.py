import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import ExitStack
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from framefleet.app.window.main import GarbageCollector
from tests.support.models import TINY_CFG
from tests.support.paths import PROJECT, PYTHONPATH

FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


WINDOWS = """
import functools, sys
from framefleet.app.main import main
from framefleet.app.window import main as window
from framefleet.app.window.settings import choices
window.make_application = functools.cache(window.make_application)  # Qt allows one in each process
choices.discover = functools.cache(choices.discover)
for _ in range(int(sys.argv.pop(1))):
    print(main(sys.argv[1:]), flush=True)
"""
SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGHUP


@pytest.mark.parametrize("signals", [SIGNALS[:1], pytest.param(SIGNALS, marks=pytest.mark.slow)], ids=["one", "each"])
def test_a_signal_closes_the_window_in_order_in_the_middle_of_a_run(
    tmp_path: Path, long: Path, signals: tuple[signal.Signals, ...]
) -> None:
    environment = os.environ | {name: str(tmp_path) for name in FOLDERS} | {"QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", WINDOWS, str(len(signals)), str(long), "--model", str(TINY_CFG), "--weights", "random:1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=pipe, stderr=pipe, text=True) as windows, ExitStack() as stack:
        stack.callback(windows.kill)
        assert windows.stdout is not None
        for number in signals:
            deadline = time.monotonic() + 30
            while not list(tmp_path.rglob("*.sqlite-wal")) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert list(tmp_path.rglob("*.sqlite-wal")), "the run did not begin"
            windows.send_signal(number)
            assert windows.stdout.readline() == "0\n", number
            assert len(list(tmp_path.rglob("*.sqlite"))) == 1  # the next run goes on with the file
            assert not list(tmp_path.rglob("*.sqlite-wal")), number  # the session was closed
        assert windows.wait(20) == 0
        assert windows.stderr is not None
        assert "leaked" not in windows.stderr.read()


HEAVY = ("av", "cv2", "openvino", "onnx", "cuda", "tensorrt", "tensorrt_rtx", "pynvml", "PyNvVideoCodec", "ray")
"""What the window's process must never load: a decoder's or driver's bug would take it down."""

OTHER_LANGUAGE = """
import functools, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel
from framefleet.app.window import main
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.settings import choices
from framefleet.app.window.widgets.banner import Banner
from tests.support.window import queue_item

show, shown = MainWindow.show, []

def shown_again(window):
    show(window)
    shown.append(window)
    QTimer.singleShot(0, first if len(shown) == 1 else second)

def first():
    shown[0].context.queue.extend([queue_item(Path(sys.argv[1]))])
    shown[0].context.settings.open_dialog()
    shown[0].context.settings.dialog.window_.values = {"theme": "dark", "language": "de"}
    shown[0].context.settings.dialog.accept()
    assert not shown[0].again  # a file waits, so the user decides
    button = next(banner.button for banner in shown[0].context.banners.findChildren(Banner) if banner.button.text() == "Restart now")
    button.click()

def second():
    print([item.path.name for item in shown[1].context.queue], "Dateien" in [label.text() for label in shown[1].findChildren(QLabel)])
    shown[1].quitting.ask = False
    shown[1].close()

MainWindow.show = shown_again
choices.discover = functools.cache(choices.discover)  # the search for devices takes two processes
print(main.run_window([]))
print(sorted({name.partition(".")[0] for name, module in sys.modules.items() if module is not None}.intersection(sys.argv[2:])))
"""


def test_another_language_opens_the_window_again_with_its_queue_and_loads_no_decoder_and_no_backend(tmp_path: Path, long: Path) -> None:
    homes = {name: str(tmp_path / name) for name in FOLDERS}
    environment = os.environ | homes | {"QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8", "PYTHONPATH": PYTHONPATH}
    command = [sys.executable, "-c", OTHER_LANGUAGE, str(long), *HEAVY]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [f"['{long.name}'] True", "0", "[]"], done.stderr


class Knot(QObject):
    """A Qt object that only the cyclic collector can free; it notes in which thread that happens."""

    freed_in: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.itself = self
        weakref.finalize(self, lambda: Knot.freed_in.append(threading.current_thread().name))


def test_qt_objects_are_freed_in_the_window_s_thread_whoever_allocates(qtbot: QtBot) -> None:
    collector = GarbageCollector()
    collector.start()
    try:
        Knot.freed_in.clear()
        for _ in range(20):
            Knot()
        worker = threading.Thread(target=lambda: [[{}] for _ in range(200_000)], name="worker")
        worker.start()
        worker.join()
        assert Knot.freed_in == []
        qtbot.waitUntil(lambda: len(Knot.freed_in) == 20)
        assert set(Knot.freed_in) == {"MainThread"}
    finally:
        collector.stop()
    assert gc.isenabled()
