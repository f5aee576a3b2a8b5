"""Sound in the whole window, with the real process and miniaudio's device that plays into nothing."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.player.sound import SAME
from framefleet.engine.media.sound import process
from tests.support.media import make_sound, make_video

pytest.importorskip("miniaudio")
PATIENCE = 30_000


@pytest.fixture(autouse=True)
def _no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "BACKENDS", ("NULL",))


def test_m_turns_sound_on_and_off_and_it_plays_at_normal_speed_only(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_sound(tmp_path / "tone.mp4", 35.0)])
    viewer = window.context.viewer
    qtbot.waitUntil(lambda: viewer.canvas.placement is not None, timeout=PATIENCE)
    assert viewer.sound.process_id is None  # it is off at the first start
    viewer.player.play()
    qtbot.keyClick(window, Qt.Key.Key_M)
    qtbot.waitUntil(lambda: not math.isnan(viewer.sound.error), timeout=PATIENCE)
    viewer.player.seek(30.0)
    qtbot.waitUntil(lambda: viewer.player.position > 30.0 and viewer.sound.wanted is not None, timeout=PATIENCE)
    anchor, wanted = viewer.player.anchor, viewer.sound.wanted
    assert anchor is not None
    assert wanted is not None
    assert wanted.pts - wanted.at == pytest.approx(anchor[1] - anchor[0], abs=SAME)  # it sounds when its picture is due
    viewer.transport.choose_speed(2.0)
    qtbot.waitUntil(lambda: math.isnan(viewer.sound.error), timeout=PATIENCE)
    viewer.transport.choose_speed(1.0)
    qtbot.waitUntil(lambda: not math.isnan(viewer.sound.error), timeout=PATIENCE)
    viewer.player.pause()
    assert math.isnan(viewer.sound.error)
    qtbot.keyClick(window, Qt.Key.Key_M)
    assert not viewer.transport.sound.isChecked()


def test_a_video_without_sound_says_so(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "quiet.mp4", 600, (64, 48))])
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None, timeout=PATIENCE)
    window.context.viewer.player.play()
    window.context.viewer.transport.sound.toggle()
    transport = window.context.viewer.transport
    qtbot.waitUntil(lambda: "quiet.mp4 has no sound" in transport.hint.text(), timeout=PATIENCE)
    window.context.viewer.player.pause()
    assert "quiet.mp4 has no sound" in transport.hint.text()  # it stays where the button looks turned on
    assert "quiet.mp4 has no sound" in transport.sound.accessibleDescription()
    transport.sound.toggle()
    assert not transport.hint.text()
