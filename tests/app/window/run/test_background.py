from collections.abc import Callable
from functools import partial
from threading import Event

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from framefleet.app.window.run.background import Background
from framefleet.engine.notices import UsageError, literal


def refuse() -> None:
    raise UsageError(literal("not like this"))


def test_the_outcome_comes_back_to_the_window(qtbot: QtBot) -> None:
    background = Background()
    outcomes: list[object] = []
    background.start(background, lambda: 7, outcomes.append, outcomes.append)
    qtbot.waitUntil(lambda: not background.busy)
    background.start(background, refuse, outcomes.append, outcomes.append)
    qtbot.waitUntil(lambda: not background.busy)
    assert [str(outcome) for outcome in outcomes] == ["7", "not like this"]
    background.stop()


def test_what_was_on_its_way_when_the_window_closed_is_dropped(qtbot: QtBot) -> None:
    background = Background()
    outcomes: list[object] = []
    background.start(background, lambda: 7, outcomes.append, outcomes.append)
    background.stop()  # waits for the thread, which has sent its outcome by then
    with qtbot.captureExceptions() as problems:
        QCoreApplication.processEvents()
    assert (outcomes, problems) == ([], [])


@pytest.mark.parametrize("work", [int, refuse])
def test_the_outcome_is_dropped_if_its_owner_is_deleted(qtbot: QtBot, work: Callable[[], object]) -> None:
    background, owner = Background(), QObject()
    outcomes: list[object] = []
    background.start(owner, work, outcomes.append, outcomes.append)
    delete(owner)
    with qtbot.captureExceptions() as problems:
        qtbot.waitUntil(lambda: not background.busy)
    assert (outcomes, problems) == ([], [])
    background.stop()


def test_a_bug_is_reported_also_if_its_owner_is_deleted(qtbot: QtBot) -> None:
    background, owner = Background(), QObject()
    outcomes: list[object] = []
    with qtbot.captureExceptions() as problems:
        background.start(owner, partial(int, "x"), outcomes.append, outcomes.append)
        delete(owner)
        qtbot.waitUntil(lambda: not background.busy and bool(problems))
    assert (outcomes, [kind for kind, *_ in problems]) == ([], [ValueError])
    background.stop()


def test_long_work_ends_when_the_window_closes(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    background, stop = Background(), Event()
    background.start(background, stop.wait, print, print, stop)
    background.stop()
    assert stop.is_set()
    assert not caplog.records  # no thread is left
