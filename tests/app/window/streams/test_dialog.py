"""The dialog that opens a stream: its fields, the test of an address, the last streams, and the key ring."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QToolButton, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.run.background import Background
from framefleet.app.window.streams.dialog import RecentStreams, StreamDialog, found_text
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.trial import Trial
from tests.support.live.http_camera import HttpCamera
from tests.support.live.servers import RtspServer, free_port

PATIENCE = 40_000


@pytest.fixture
def recent(tmp_path: Path) -> RecentStreams:
    return RecentStreams(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def background(window: QWidget) -> Iterator[Background]:
    background = Background(window)
    yield background
    background.stop()


@pytest.fixture
def dialog(recent: RecentStreams, background: Background, window: QWidget) -> StreamDialog:
    dialog = StreamDialog(recent, background, window)
    dialog.show()
    return dialog


def test_a_test_shows_a_picture_and_what_was_found(qtbot: QtBot, dialog: StreamDialog) -> None:
    with RtspServer(width=640, height=480, rate=25, user="anna", password="s3cret") as server:
        dialog.address.setText(server.address)
        dialog.user.setText("anna")
        dialog.password.setText("s3cret")
        dialog.test.click()
        assert dialog.progress.isVisible()
        qtbot.waitUntil(dialog.outcome.isVisible, timeout=PATIENCE)
        first = dialog.found.text().splitlines()[0]
        assert first == "H.264 · 640 × 480"
        assert "frames/s" in dialog.found.text()
        assert dialog.picture.size() == dialog.picture.pixmap().deviceIndependentSize().toSize()  # no empty edges beside it
        dialog.password.setText("wrong")  # what was found is not about this
        assert not dialog.outcome.isVisible()
        dialog.test.click()
        qtbot.waitUntil(dialog.problem.isVisible, timeout=PATIENCE)
        assert "password" in dialog.problem.text()


def test_a_test_says_what_is_wrong(qtbot: QtBot, dialog: StreamDialog) -> None:
    dialog.address.setText(f"rtsp://127.0.0.1:{free_port()}/cam")
    dialog.test.click()
    qtbot.waitUntil(dialog.problem.isVisible, timeout=PATIENCE)
    assert "cannot be opened" in dialog.problem.text()
    assert dialog.test.text() == "Test"
    dialog.address.setText("this is none")
    dialog.test.click()
    assert "not an address of a stream" in dialog.problem.text()
    dialog.address.setText("rtsp://")
    dialog.open_.click()
    assert dialog.problem.isVisible()
    assert dialog.isVisible()


def test_a_test_of_a_silent_source_can_be_ended(qtbot: QtBot, dialog: StreamDialog, tmp_path: Path) -> None:
    with HttpCamera(tmp_path, rate=0.001) as camera:
        dialog.address.setText(f"{camera.address}/mjpeg")
        dialog.test.click()
        qtbot.waitUntil(lambda: bool(camera.requests), timeout=PATIENCE)
        dialog.test.click()
        assert not dialog.progress.isVisible()
        assert dialog.test.text() == "Test"


def test_an_address_with_a_password_is_split_at_once(dialog: StreamDialog) -> None:
    dialog.address.setText("rtsp://anna:p%40ss@camera.example/stream")
    assert dialog.address.text() == "rtsp://camera.example/stream"
    assert (dialog.user.text(), dialog.password.text()) == ("anna", "p@ss")
    dialog.address.setText("camera:0")
    assert not dialog.user.isEnabled()
    assert dialog.chosen_address == LiveAddress.read("camera:0")


def test_the_last_streams_have_no_password_and_can_be_removed(
    qtbot: QtBot, dialog: StreamDialog, recent: RecentStreams, background: Background
) -> None:
    for text in ("rtsp://anna:s3cret@one/cam?token=abc", "rtsp://two/cam", "rtsp://anna:s3cret@one/cam?token=abc"):
        address = LiveAddress.read(text)
        assert address is not None
        recent.add(address)
    assert recent.addresses == ["rtsp://one/cam?token=***", "rtsp://two/cam"]
    again = StreamDialog(recent, background, dialog.parentWidget())
    again.show()
    assert again.recent.count() == 2
    again.recent.setCurrentRow(1)
    assert again.address.text() == "rtsp://two/cam"
    line = again.recent.itemWidget(again.recent.item(1))
    line.findChild(QToolButton).click()
    assert recent.addresses == ["rtsp://one/cam?token=***"]
    again.reject()


@pytest.fixture
def key_ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A key ring in memory in place of the system's."""
    kept: dict[tuple[str, str], str] = {}
    module, errors = types.ModuleType("keyring"), types.ModuleType("keyring.errors")
    module.__spec__ = types.SimpleNamespace()  # type: ignore[assignment]
    module.set_password = lambda service, host, text: kept.__setitem__((service, host), text)  # type: ignore[attr-defined]
    module.get_password = lambda service, host: kept.get((service, host))  # type: ignore[attr-defined]
    errors.KeyringError = RuntimeError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    return kept


def test_a_password_is_kept_only_if_the_user_wants(qtbot: QtBot, key_ring: dict[tuple[str, str], str], recent: RecentStreams) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    background = Background(parent)
    for keep in (False, True):
        dialog = StreamDialog(recent, background, parent)
        dialog.show()
        assert dialog.keep.isVisible()
        dialog.address.setText("rtsp://camera.example/stream")
        dialog.user.setText("anna")
        dialog.password.setText("s3cret")
        dialog.keep.setChecked(keep)
        dialog.open_.click()
        qtbot.waitUntil(lambda: not background.busy)
        assert bool(key_ring) is keep
    third = StreamDialog(recent, background, parent)
    third.show()
    third.recent.setCurrentRow(0)
    qtbot.waitUntil(lambda: third.password.text() == "s3cret")
    assert third.user.text() == "anna"
    third.reject()
    background.stop()


def test_what_was_found_names_a_wrong_rate() -> None:
    trial = Trial("hevc", 1920, 1080, 21.04, 25.0, 1, 1, bytes(4))
    assert found_text(trial) == "H.265 (HEVC) · 1920 × 1080\n21.0 frames/s\nThe source states 25.0 frames/s"
    assert "states" not in found_text(Trial("h264", 1280, 720, 24.9, 25.0, 1, 1, bytes(4)))
