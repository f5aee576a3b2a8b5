"""The list of sessions, with real databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QInputDialog, QLineEdit, QMessageBox
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.results.stored import clock_text, read_clock, read_stored
from framefleet.app.window.sessions.dialog import (
    AGES,
    SessionsDialog,
    StoredSession,
    delete_sessions,
    list_sessions,
    rename_session,
    to_clean,
)
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import ExportError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings.folders import Folder
from framefleet.engine.store.facts import LiveRecord
from framefleet.engine.store.files import lock_session, note_session, noted_sessions
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, FrameRef, FrameResult
from tests.support.window import CPU, write_results

NOW = datetime(2026, 11, 22, 12).astimezone()
PATIENCE = 30_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name, frames in (("one", 3), ("two", 5)):
        write_results(folder / f"{name}.sqlite", tmp_path / f"{name}.mp4", frames)
    (folder / "damaged.sqlite").write_bytes(b"nothing")
    return folder


def test_sessions_are_listed_renamed_and_deleted(folder: Path) -> None:
    found = {session.path.stem: session for session in list_sessions(folder)}
    assert {name: (session.files, session.frames, session.model) for name, session in found.items()} == {
        "one": (("one.mp4",), 3, "tiny"),
        "two": (("two.mp4",), 5, "tiny"),
        "damaged": ((), 0, ""),
    }
    assert found["damaged"].problem
    assert all(session.size for session in found.values())
    assert rename_session(folder / "one.sqlite", "first") == folder / "first.sqlite"
    for bad in ("", "two", "../x", "a/b"):
        with pytest.raises(ExportError):
            rename_session(folder / "first.sqlite", bad)
    with lock_session(folder / "two.sqlite"), pytest.raises(ExportError, match="another run uses it"):
        delete_sessions([folder / "two.sqlite", folder / "damaged.sqlite"])
    assert sorted(session.path.stem for session in list_sessions(folder)) == ["first", "two"]


def test_a_stream_has_its_address_as_name_and_local_times(tmp_path: Path) -> None:
    address, begun = "http://127.0.0.1:34511/mjpeg", datetime(2026, 11, 27, 2, 45, tzinfo=timezone(timedelta(hours=5)))
    path, name = tmp_path / "20261127-024500-000000 127-0-0-1-34511-mjpeg.sqlite", "127-0-0-1-34511-mjpeg"
    with SessionWriter(path, ("person",), {"model": "tiny"}) as writer:
        writer.add_source(0, name, SourceInfo(address, SourceKind.LIVE, "mjpeg", 64, 48, 0, None, 25.0, ()))
        writer.set_start(0, begun)
        writer.set_live(0, LiveRecord(address))
        nothing = Detections(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int32))
        writer.add_frames([FrameResult(FrameRef(0, 0, 0.0), CPU, 64, 48, nothing)])
        writer.finish_source(0, name, Ledger(1, 1, received=1), 1.0)
    (session,) = list_sessions(tmp_path)
    assert session.name == "127.0.0.1:34511/mjpeg"
    (item,) = read_stored(path)
    assert item.name == "127.0.0.1:34511/mjpeg"
    assert clock_text(read_clock(item), 0.0, dated=True) == f"{begun.astimezone():%Y-%m-%d %H:%M:%S}"


def test_a_session_is_named_after_its_files_and_says_how_far_it_is(folder: Path) -> None:
    (folder / "one.sqlite").rename(folder / "20261123-092008-480758 one.sqlite")
    sessions = {session.name: session.state for session in list_sessions(folder)}
    assert sessions == {"one.mp4": "complete", "two": "complete", "damaged": "unreadable"}
    several = StoredSession(folder / "20261123-092008-480758 a.sqlite", NOW, ("a.mp4", "b.mp4"), 9, complete=1, corrected=True)
    assert (several.name, several.state) == ("a.mp4 + 1", "1 of 2 complete, corrected")
    assert StoredSession(folder / "20261123-092008-480758 a.sqlite", NOW, ("a.mp4",)).state == "no results"


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 100)), max_size=12), st.integers(1, 200), st.integers(0, 300))
def test_cleaning_up_deletes_the_oldest_and_no_more_than_needed(ages: list[tuple[int, int]], days: int, most: int) -> None:
    sessions = [StoredSession(Path(f"{n}"), NOW - timedelta(days=age, seconds=n), size=size) for n, (age, size) in enumerate(ages)]
    chosen = to_clean(sessions, NOW, timedelta(days=days), most)
    rest = [session for session in sessions if session not in chosen]
    assert sum(session.size for session in rest) <= most
    assert all(NOW - session.created <= timedelta(days=days) for session in rest)
    for session in chosen:
        old = NOW - session.created > timedelta(days=days)
        assert old or sum(other.size for other in (*rest, session)) > most or all(session.created <= other.created for other in rest)
    assert to_clean(sessions, NOW, None, None) == []


def test_the_dialog_opens_renames_and_deletes(qtbot: QtBot, window: MainWindow, folder: Path) -> None:
    assert window.context.run.folder == folder
    window.context.actions.sessions.trigger()
    (dialog,) = window.findChildren(SessionsDialog)
    table = dialog.table
    qtbot.waitUntil(lambda: table.topLevelItemCount() == 3, timeout=PATIENCE)

    def select(name: str) -> None:
        (item,) = table.findItems(name, Qt.MatchFlag.MatchExactly)
        table.setCurrentItem(item)

    select("damaged")
    assert not dialog.show_.isEnabled()
    # before, its shortcuts do nothing; isActiveWindow is also true while its parent is the active window
    qtbot.waitUntil(lambda: QApplication.activeWindow() is dialog)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    (box,) = dialog.findChildren(QMessageBox)
    assert box.text().startswith("Delete 1 session (7 bytes)?")
    next(button for button in box.buttons() if button.text() == "Delete").click()
    qtbot.waitUntil(lambda: table.topLevelItemCount() == 2, timeout=PATIENCE)
    select("one")
    qtbot.mouseClick(dialog.rename, Qt.MouseButton.LeftButton)
    (asked,) = dialog.findChildren(QInputDialog)
    asked.findChild(QLineEdit).setText("first")
    asked.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok).click()
    qtbot.waitUntil(lambda: bool(table.findItems("first", Qt.MatchFlag.MatchExactly)), timeout=PATIENCE)
    assert not dialog.clean.isEnabled()
    dialog.age.setCurrentText("older than a week")
    assert not dialog.clean.isEnabled()
    assert AGES["older than a week"] == 7
    select("first")
    qtbot.mouseClick(dialog.show_, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(window.context.queue) == 1, timeout=PATIENCE)
    window.context.actions.sessions.trigger()
    dialog = next(found for found in window.findChildren(SessionsDialog) if found.isVisible())
    table = dialog.table
    qtbot.waitUntil(lambda: table.topLevelItemCount() == 2, timeout=PATIENCE)
    select("first")
    dialog.delete.click()
    next(button for button in dialog.findChild(QMessageBox).buttons() if button.text() == "Delete").click()
    assert "shown in the queue" in dialog.problem.text()
    assert (folder / "first.sqlite").exists()


def test_the_dialog_can_close_before_its_list_is_read(qtbot: QtBot, window: MainWindow, folder: Path) -> None:
    window.context.actions.sessions.trigger()
    (dialog,) = window.findChildren(SessionsDialog)
    dialog.reject()
    QCoreApplication.sendPostedEvents(dialog, QEvent.Type.DeferredDelete)  # before the list arrives
    assert not window.findChildren(SessionsDialog)
    with qtbot.captureExceptions() as problems:
        qtbot.waitUntil(lambda: not window.context.background.busy, timeout=PATIENCE)
    assert problems == []


def test_a_session_without_files_cannot_be_exported_and_says_so(qtbot: QtBot, window: MainWindow, folder: Path) -> None:
    SessionWriter(folder / "empty.sqlite", ("person",), {"model": "tiny"}).close(False)
    window.context.actions.sessions.trigger()
    (dialog,) = window.findChildren(SessionsDialog)
    qtbot.waitUntil(lambda: dialog.table.topLevelItemCount() == 4, timeout=PATIENCE)
    dialog.table.setCurrentItem(dialog.table.findItems("empty", Qt.MatchFlag.MatchExactly)[0])
    with qtbot.captureExceptions() as problems:
        dialog.export.click()
        qtbot.waitUntil(lambda: "holds no results" in dialog.problem.text(), timeout=PATIENCE)
    assert problems == []


def test_a_folder_without_sessions_says_what_will_be_there(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    dialog = SessionsDialog(tmp_path / "empty", window.context.background, set)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(dialog.empty.isVisible)
    assert dialog.empty.text().startswith("No sessions yet.")
    dialog.empty.setText(dialog.empty.text() * 3)  # as long as in other languages
    qtbot.waitUntil(
        lambda: dialog.empty.height() >= dialog.empty.heightForWidth(dialog.empty.width()) > dialog.empty.fontMetrics().height()
    )


def test_sessions_of_the_command_line_are_listed_and_stay(
    qtbot: QtBot, window: MainWindow, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(Folder.SESSIONS.variable, str(folder))
    (tmp_path / "night").mkdir()
    write_results(tmp_path / "night" / "session.sqlite", tmp_path / "a.mp4", 3)
    for path in (tmp_path / "night" / "session.sqlite", folder / "one.sqlite"):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE session SET value = '2020-11-01T07:00:00+00:00' WHERE key = 'created'")
    for path in ("night/session.sqlite", "gone/session.sqlite", "night/session.sqlite"):
        note_session(tmp_path / path)
    assert noted_sessions(folder) == [tmp_path / "night" / "session.sqlite"]
    dialog = SessionsDialog(folder, window.context.background, set)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.table.topLevelItemCount() == 4, timeout=PATIENCE)
    assert dialog.total.text().startswith("4 sessions, ")
    assert str(folder) not in dialog.total.text()
    assert dialog.reveal.toolTip() == str(folder)
    (item,) = dialog.table.findItems("night", Qt.MatchFlag.MatchExactly)
    dialog.table.setCurrentItem(item)
    assert (dialog.show_.isEnabled(), dialog.rename.isEnabled()) == (True, False)
    dialog.age.setCurrentText("older than a year")
    assert [session.path.name for session in dialog.cleanable] == ["one.sqlite"], "cleaning up leaves the user's own folders alone"
