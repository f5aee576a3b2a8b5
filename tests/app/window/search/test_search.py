"""The search over all stored results, in the real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.search.dialog import PERIODS, SearchDialog
from framefleet.app.window.sessions.dialog import SessionsDialog
from tests.support.media import make_video
from tests.support.window import write_results

PATIENCE = 30_000
FRAMES = 30


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def dialog(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> SearchDialog:
    """The dialog with two sessions: each has a person, a bicycle and a car in turn."""
    window.context.folder.mkdir(exist_ok=True)
    for name in ("one", "two"):
        write_results(window.context.folder / f"{name}.sqlite", make_video(tmp_path / f"{name}.mp4", FRAMES, (320, 240)), FRAMES)
    window.context.actions.search.trigger()
    (dialog,) = window.findChildren(SearchDialog)
    qtbot.waitUntil(lambda: dialog.classes.topLevelItemCount() == 3 and not dialog.progress.text(), timeout=PATIENCE)
    return dialog


def check(dialog: SearchDialog, *names: str) -> None:
    for name in names:
        (line,) = dialog.classes.findItems(name, Qt.MatchFlag.MatchExactly)
        line.setCheckState(0, Qt.CheckState.Checked)


def texts(dialog: SearchDialog) -> list[str]:
    return [dialog.results.item(number).text() for number in range(dialog.results.count())]


def test_moments_of_all_sessions_are_found_and_a_click_shows_one(qtbot: QtBot, window: MainWindow, dialog: SearchDialog) -> None:
    check(dialog, "car")
    qtbot.waitUntil(lambda: any("1 × car" in text for text in texts(dialog)), timeout=PATIENCE)
    assert sorted(text.splitlines()[0] for text in texts(dialog)) == ["one.mp4", "two.mp4"]
    assert dialog.said.text() == "2 moments"
    lines = [dialog.results.item(number) for number in range(2)]
    qtbot.waitUntil(lambda: all(line.data(Qt.ItemDataRole.UserRole + 1) for line in lines), timeout=PATIENCE)  # their pictures
    (line,) = dialog.results.findItems("one.mp4", Qt.MatchFlag.MatchStartsWith)
    hit = line.data(Qt.ItemDataRole.UserRole)
    dialog.results.itemClicked.emit(line)
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: player.current is not None and abs(player.current.pts - hit.pts) < 1e-3, timeout=PATIENCE)
    assert player.path == str(hit.file)
    assert not player.playing


def test_what_does_not_occur_at_once_is_not_found(qtbot: QtBot, dialog: SearchDialog) -> None:
    check(dialog, "car", "person")
    dialog.count.setValue(2)
    qtbot.waitUntil(lambda: dialog.said.text() == "No such moment in the stored results", timeout=PATIENCE)
    assert not texts(dialog)
    dialog.count.setValue(1)
    qtbot.waitUntil(lambda: any("1 × car, person" in text for text in texts(dialog)), timeout=PATIENCE)


def test_the_time_limits_the_moments(qtbot: QtBot, dialog: SearchDialog) -> None:
    qtbot.waitUntil(lambda: len(texts(dialog)) == 2, timeout=PATIENCE)
    dialog.period.setCurrentIndex([*PERIODS].index("between two times"))
    assert dialog.between.isVisible()
    dialog.end.setDateTime(dialog.begin.dateTime().addDays(1))
    qtbot.waitUntil(lambda: not texts(dialog), timeout=PATIENCE)
    dialog.period.setCurrentIndex([*PERIODS].index("in the last 24 hours"))
    qtbot.waitUntil(lambda: len(texts(dialog)) == 2, timeout=PATIENCE)
    assert all("detected" in text for text in texts(dialog))


def test_classes_can_be_filtered_by_name(dialog: SearchDialog) -> None:
    dialog.search.setText("BI")
    lines = map(dialog.classes.topLevelItem, range(dialog.classes.topLevelItemCount()))
    hidden = {line.text(0): line.isHidden() for line in lines}
    assert hidden == {"person": True, "bicycle": False, "car": True}


def test_the_list_of_sessions_leads_to_the_search(qtbot: QtBot, window: MainWindow) -> None:
    window.context.actions.sessions.trigger()
    (sessions,) = window.findChildren(SessionsDialog)
    sessions.search.click()
    assert len(window.findChildren(SearchDialog)) == 1
    window.context.actions.search.trigger()
    assert len(window.findChildren(SearchDialog)) == 1
