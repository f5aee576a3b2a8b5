"""The question whether old or large sessions shall stay."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from framefleet.app.window.session.background import Background
from framefleet.app.window.sessions import reminder
from framefleet.app.window.sessions.reminder import DAY, SessionReminder
from framefleet.app.window.widgets.banner import BannerArea
from tests.support.window import window_actions


@pytest.mark.parametrize(("days", "size", "asks"), [(1, 10, False), (100, 10, True), (1, 5000, True)])
def test_old_or_large_sessions_raise_a_question_until_it_is_answered(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int, size: int, asks: bool
) -> None:
    monkeypatch.setattr(reminder, "MOST_BYTES", 1000)
    path = tmp_path / "one.framefleet.sqlite"
    path.write_bytes(b"x" * size)
    os.utime(path, (time.time() - days * DAY,) * 2)
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    background, banners, actions = Background(), BannerArea(), window_actions()
    qtbot.addWidget(banners)
    opened: list[bool] = []
    actions.sessions.triggered.connect(lambda: opened.append(True))
    asking = SessionReminder(tmp_path, store, actions, background, banners, background)
    asking.look()
    qtbot.waitUntil(lambda: not background.busy)
    assert bool(banners.texts) is asks
    if asks:
        asking._open()
        assert len(opened) == 1
        assert not banners.texts
        asking.look()
        assert not background.busy  # it has an answer
