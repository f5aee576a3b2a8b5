"""Objects are corrected while the run that finds them is under way."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from framefleet.app.window.corrections.corrector import Corrector
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.settings.preferences import Preferences, save
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Track
from framefleet.engine.store.corrections import edits
from framefleet.engine.store.session import SessionReader
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.pool import slow_main
from tests.support.window import feature

PATIENCE = 60_000


def item_of(window: MainWindow, state: ItemState) -> QueueItem | None:
    return next((item for item in window.context.queue if item.state is state), None)


def results_of(window: MainWindow) -> Results:
    (item,) = window.context.queue
    assert item.results is not None
    return item.results


@pytest.fixture
def correcting(qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """A run has begun, and the bar shows its first detections. Its worker waits before each frame, so that the run does not end soon."""
    monkeypatch.setattr(EnginePool, "worker_main", staticmethod(partial(slow_main, seconds=0.01)))
    save(Preferences.of(tiny_files(), track=Track.BYTETRACK), window.context.store)
    window.context.settings.begin(tiny_files())
    qtbot.waitUntil(lambda: window.context.settings.summary is not None)
    window.open_paths([make_video(tmp_path / "long.mp4", 150, (32, 32))])
    qtbot.waitUntil(lambda: item_of(window, ItemState.RUNNING) is not None, timeout=PATIENCE)
    window.context.viewer.player.pause()
    window.context.viewer.player.seek(0.0)
    qtbot.waitUntil(
        lambda: window.context.viewer.canvas.result is not None and len(window.context.viewer.canvas.visible_detections) > 0,
        timeout=PATIENCE,
    )
    window.context.actions.correct.setChecked(True)
    return window


def correct(qtbot: QtBot, window: MainWindow, *keys: Qt.Key) -> None:
    before = len(edits(results_of(window).database))
    for key in keys:
        qtbot.keyClick(window, key)
    qtbot.waitUntil(lambda: not feature(window, Corrector).busy and len(edits(results_of(window).database)) == before + 1, timeout=PATIENCE)


def stored_and_counted(qtbot: QtBot, window: MainWindow) -> int:
    """The number of stored detections, once the window has counted as many."""
    qtbot.waitUntil(lambda: item_of(window, ItemState.DONE) is not None, timeout=PATIENCE)
    results = results_of(window)
    with SessionReader(results.database) as reader:
        stored = sum(len(frame.detections) for frame in reader.frames(results.source) if frame.detections is not None)

    def counted() -> int:
        tally = window.context.run.tally(next(iter(window.context.queue)).key)
        return sum(tally.counts(0.0).values()) if tally is not None else -1

    qtbot.waitUntil(lambda: counted() == stored, timeout=PATIENCE)
    qtbot.waitUntil(lambda: not window.context.background.busy, timeout=PATIENCE)
    assert window.context.banners.texts == []
    return stored


def show_frame(qtbot: QtBot, window: MainWindow, frame: int) -> None:
    canvas = window.context.viewer.canvas
    window.context.viewer.player.pause()
    window.context.viewer.player.seek(frame / 30)
    qtbot.waitUntil(lambda: canvas.result is not None and canvas.result.ref.index == frame, timeout=PATIENCE)


def test_a_correction_during_a_run_is_kept_and_counted_also_after_a_pause(qtbot: QtBot, correcting: MainWindow) -> None:
    window = correcting
    correct(qtbot, window, Qt.Key.Key_E, Qt.Key.Key_Backspace)
    assert item_of(window, ItemState.RUNNING) is not None
    qtbot.waitUntil(lambda: next(iter(window.context.queue)).progress.frames > 3, timeout=PATIENCE)  # the frame that is corrected next
    window.context.run.set_paused(True)
    qtbot.waitUntil(lambda: not window.context.run.has_run, timeout=PATIENCE)
    show_frame(qtbot, window, 3)
    correct(qtbot, window, Qt.Key.Key_E, Qt.Key.Key_Backspace)
    window.context.run.set_paused(False)
    qtbot.waitUntil(lambda: item_of(window, ItemState.RUNNING) is not None, timeout=PATIENCE)
    show_frame(qtbot, window, 6)
    correct(qtbot, window, Qt.Key.Key_E, Qt.Key.Key_Backspace)
    corrected = stored_and_counted(qtbot, window)
    assert len(edits(results_of(window).database)) == 3

    window.context.run.detect_again(next(iter(window.context.queue)).key)
    qtbot.waitUntil(lambda: item_of(window, ItemState.RUNNING) is not None, timeout=PATIENCE)
    show_frame(qtbot, window, 0)
    correct(qtbot, window, Qt.Key.Key_E, Qt.Key.Key_Backspace)
    assert stored_and_counted(qtbot, window) == corrected + 2, "a new run has the corrections that were made of its own results"
