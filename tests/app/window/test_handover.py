"""A second start with files hands them to the open window; ``--new-window`` opens another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QProcess, QProcessEnvironment
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from pytestqt.qtbot import QtBot

from framefleet.app.window.handover import Listener, address_of
from framefleet.app.window.main_window import MainWindow
from framefleet.engine.settings.folders import Folder
from tests.support.media import make_video
from tests.support.paths import PROJECT, PYTHONPATH

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sets the runtime folder by XDG_RUNTIME_DIR")


@pytest.fixture
def listener(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, window: MainWindow) -> Iterator[Listener]:
    """A window that takes the files of further starts."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    listener = Listener(Folder.SESSIONS.path)
    listener.opened.connect(window.take_over)
    yield listener
    listener.stop()


def start(qtbot: QtBot, *arguments: str, platform: str = "none") -> int:
    """The exit status of another start of the program, while this one goes on. platform: of Qt, "" = it has no display."""
    process = QProcess()
    environment = QProcessEnvironment.systemEnvironment()
    environment.insert("PYTHONPATH", PYTHONPATH)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        environment.remove(name)
    environment.insert("QT_QPA_PLATFORM", platform)  # a start that hands over needs no display
    process.setProcessEnvironment(environment)
    process.setWorkingDirectory(str(PROJECT))
    process.start(sys.executable, ["-m", "framefleet.app", *arguments])
    qtbot.waitUntil(lambda: process.state() is QProcess.ProcessState.NotRunning)
    return process.exitCode()


def test_a_second_start_hands_its_files_to_the_open_window(qtbot: QtBot, window: MainWindow, listener: Listener, tmp_path: Path) -> None:
    videos = [make_video(tmp_path / name, 3, (64, 64)) for name in ("a b.mp4", "ü.mp4")]
    assert start(qtbot, *map(str, videos)) == 0
    qtbot.waitUntil(lambda: [item.path for item in window.context.queue] == videos)
    assert start(qtbot, "--new-window", str(videos[0]), platform="") == 2, "a window of its own needs a display"
    assert len(window.context.queue) == 2
    qtbot.waitUntil(lambda: window.context.viewer.player.current is not None)
    other = make_video(tmp_path / "other.mp4", 3, (64, 64))
    assert start(qtbot, str(other)) == 0
    qtbot.waitUntil(lambda: window.context.selection.item.path == other)


def test_without_a_runtime_folder_the_first_window_of_a_new_user_is_found_too(
    qtbot: QtBot, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path_factory.mktemp("x") / "data"  # a socket's name is short
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    listener = Listener(data / "sessions")
    socket = QLocalSocket()
    socket.connectToServer(address_of(data / "sessions") or "")
    qtbot.waitUntil(lambda: socket.state() is QLocalSocket.LocalSocketState.ConnectedState)
    socket.abort()
    listener.stop()


def test_what_is_no_message_is_refused_and_a_killed_window_leaves_no_closed_door(
    qtbot: QtBot, window: MainWindow, listener: Listener, tmp_path: Path
) -> None:
    address = address_of(Folder.SESSIONS.path)
    assert address is not None
    socket = QLocalSocket()
    socket.connectToServer(address)
    socket.write(b"what?\n")
    qtbot.waitUntil(lambda: socket.state() is QLocalSocket.LocalSocketState.UnconnectedState)
    assert len(window.context.queue) == 0
    listener.stop()
    left = QLocalServer()
    left.listen(address)
    Path(address).rename(tmp_path / "kept")
    left.close()
    (tmp_path / "kept").rename(address)  # as a killed window leaves it
    again = Listener(Folder.SESSIONS.path)
    again.opened.connect(window.take_over)
    video = make_video(tmp_path / "a.mp4", 3, (64, 64))
    assert start(qtbot, str(video)) == 0
    qtbot.waitUntil(lambda: [item.path for item in window.context.queue] == [video])
    again.stop()
