"""The progress of all files stands in the title and goes to the desktop, over a real message bus."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtDBus import QDBusConnection
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.messages.progress import Desktop, Progress
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.queue.model import QueueModel
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.pool.pool import EnginePool
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.pool import slow_main
from tests.support.store import video_info
from tests.support.window import queue_item

PATIENCE = 60_000


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[tuple[QDBusConnection, Callable[[], str]]]:
    """A connection to a bus, and a function that returns what was sent there."""
    if shutil.which("dbus-daemon") is None or shutil.which("dbus-monitor") is None:
        pytest.skip("needs dbus-daemon and dbus-monitor")
    address = f"unix:path={tmp_path}/bus"
    daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", f"--address={address}", "--print-address"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)  # fmt: skip
    assert daemon.stdout is not None
    daemon.stdout.readline()
    with (tmp_path / "sent").open("wb") as sent:
        monitor = subprocess.Popen(["dbus-monitor", "--address", address], stdout=sent, stderr=subprocess.DEVNULL)
    try:
        yield QDBusConnection.connectToBus(address, "test"), (tmp_path / "sent").read_text
    finally:
        QDBusConnection.disconnectFromBus("test")
        for process in (monitor, daemon):
            process.terminate()
            process.wait()
        daemon.stdout.close()


def test_the_desktop_gets_progress_and_a_notification(qtbot: QtBot, bus: tuple[QDBusConnection, Callable[[], str]]) -> None:
    connection, sent = bus
    qtbot.waitUntil(lambda: "member=NameAcquired" in sent())
    desktop = Desktop(lambda: connection)
    desktop.show_progress(0.25)
    qtbot.waitUntil(lambda: "com.canonical.Unity.LauncherEntry; member=Update" in sent())
    qtbot.waitUntil(lambda: "double 0.25" in sent() and "boolean true" in sent() and "application://framefleet.desktop" in sent())
    desktop.show_progress(None)
    qtbot.waitUntil(lambda: "boolean false" in sent())
    desktop.notify("Detection has ended", "In 3 files.")
    qtbot.waitUntil(lambda: "org.freedesktop.portal.Notification; member=AddNotification" in sent())
    qtbot.waitUntil(lambda: 'string "In 3 files."' in sent())


def test_without_a_portal_the_notification_service_shows_it(
    qtbot: QtBot, bus: tuple[QDBusConnection, Callable[[], str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("gdbus") is None:
        pytest.skip("needs gdbus")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/bus")
    connection, sent = bus
    qtbot.waitUntil(lambda: "member=NameAcquired" in sent())
    desktop = Desktop(lambda: connection)
    desktop.notify("Detection has ended", 'In "3" files.')
    qtbot.waitUntil(lambda: "interface=org.freedesktop.Notifications; member=Notify" in sent(), timeout=PATIENCE)
    qtbot.waitUntil(lambda: 'string "In "3" files."' in sent() and "uint32 0" in sent())


def test_the_progress_is_that_of_the_files_that_run_together(qtbot: QtBot, qapp: QApplication) -> None:
    queue = QueueModel()
    progress = Progress(queue, queue)
    shown: list[tuple[float | None, int]] = []
    ends: list[tuple[int, int]] = []
    progress.changed.connect(lambda fraction, number: shown.append((fraction, number)))
    progress.ended.connect(lambda done, failed: ends.append((done, failed)))
    info = video_info("a.mp4", 100)
    first = queue_item(Path("a.mp4"), ItemState.RUNNING, key=2, info=info, frames=50)
    second = queue_item(Path("b.mp4"), key=3)
    address = LiveAddress.read("rtsp://127.0.0.1:9/cam")
    assert address is not None
    camera = queue_item(Path("camera"), key=4, stream=LiveSource(address))
    queue.extend([queue_item(Path("before.mp4"), ItemState.DONE, key=1), first, second, camera])
    progress.look()
    assert shown == [(0.25, 2)]  # neither the file of before nor the camera counts
    queue.update(replace(first, state=ItemState.DONE))
    queue.update(queue_item(Path("b.mp4"), ItemState.FAILED, key=3))  # the camera goes on
    progress.look()
    progress.look()
    assert (shown, ends) == ([(0.25, 2), (None, 0)], [(1, 1)])


def test_the_title_has_the_progress_and_then_only_the_name(
    qtbot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EnginePool, "worker_main", staticmethod(partial(slow_main, seconds=0.02)))
    window = open_window(tiny_files())
    window.open_paths([make_video(tmp_path / "long.mp4", 50, (32, 32))])
    qtbot.waitUntil(lambda: " % · long.mp4 — Framefleet" in window.windowTitle(), timeout=PATIENCE)
    window.context.requests.progress.emit(0.11, 3)
    assert window.windowTitle() == "11 % of 3 files · long.mp4 — Framefleet", "this is not how far long.mp4 is"
    qtbot.waitUntil(lambda: window.windowTitle() == "long.mp4 — Framefleet", timeout=PATIENCE)
