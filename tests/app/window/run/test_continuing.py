"""The question before detection continues and corrections are removed, asked twice at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.outcome import OutcomeLine
from framefleet.app.window.settings.preferences import Preferences
from framefleet.engine.model.load import check_model
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.store.corrections import Corrections, OneDetection, edits
from framefleet.engine.store.session import SessionReader
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.pool import slow_main
from tests.support.window import CPU, feature

PATIENCE = 60_000
FRAMES = 300


def test_a_file_goes_on_once_although_both_of_two_questions_are_answered_with_yes(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EnginePool, "worker_main", staticmethod(partial(slow_main, seconds=0.01)))
    video = make_video(tmp_path / "long.mp4", FRAMES, (32, 32), gop=30)
    settings = Preferences.of(tiny_files(), devices=(CPU,)).run_settings()
    run, queue = window.context.run, window.context.queue
    run.set_settings(settings, check_model(settings.model).labels, restart=False)
    window.open_paths([video])
    qtbot.waitUntil(lambda: [item.state for item in queue] == [ItemState.RUNNING], timeout=PATIENCE)

    def item() -> QueueItem:
        return next(iter(queue))

    key = item().key
    run.seek(key, 9.0)
    qtbot.waitUntil(lambda: bool(item().ahead.segments), timeout=PATIENCE)
    run.cancel(key)
    run.renew()
    qtbot.waitUntil(lambda: not run.has_run, timeout=PATIENCE)
    results = item().results
    assert results is not None
    with SessionReader(results.database) as reader:
        found = [frame.ref.index for frame in reader.frames(0) if frame.detections is not None and len(frame.detections)]
    with Corrections(results.database) as corrections:
        corrections.delete(OneDetection(0, found[-1], 0))

    feature(window, QueuePanel).continue_requested.emit([key])
    feature(window, OutcomeLine).continue_requested.emit()
    qtbot.waitUntil(lambda: len(window.findChildren(QMessageBox)) == 2, timeout=PATIENCE)
    for box in window.findChildren(QMessageBox):
        next(button for button in box.buttons() if button.text() == "Continue").click()
        assert item().results is not None, "the run has it, also after the second answer"
        qtbot.waitUntil(lambda: item().state is ItemState.RUNNING, timeout=PATIENCE)
    qtbot.waitUntil(lambda: item().state is ItemState.DONE, timeout=2 * PATIENCE)
    assert [each.key for each in queue] == [key]
    assert not edits(results.database)
    now = item().results
    assert now is not None
    assert (now.database, now.source) == (results.database, results.source)
    with SessionReader(results.database) as reader:
        assert [[frame.ref.index for frame in reader.frames(source.number)] for source in reader.sources()] == [[*range(FRAMES)]]
