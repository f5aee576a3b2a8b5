from threading import Event

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.window.session.background import Background
from engine.errors import UsageError


def refuse() -> None:
    raise UsageError("not like this")


def test_the_outcome_comes_back_to_the_window(qtbot: QtBot) -> None:
    background = Background()
    outcomes: list[object] = []
    background.start(lambda: 7, outcomes.append, outcomes.append)
    qtbot.waitUntil(lambda: not background.busy)
    background.start(refuse, outcomes.append, outcomes.append)
    qtbot.waitUntil(lambda: not background.busy)
    assert outcomes == [7, "not like this"]
    background.stop()


def test_what_was_on_its_way_when_the_window_closed_is_dropped(qtbot: QtBot) -> None:
    background = Background()
    outcomes: list[object] = []
    background.start(lambda: 7, outcomes.append, outcomes.append)
    background.stop()  # waits for the thread, which has sent its outcome by then
    with qtbot.captureExceptions() as problems:
        QCoreApplication.processEvents()
    assert (outcomes, problems) == ([], [])


def test_long_work_ends_when_the_window_closes(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    background, stop = Background(), Event()
    background.start(stop.wait, print, print, stop)
    background.stop()
    assert stop.is_set()
    assert not caplog.records  # no thread is left
