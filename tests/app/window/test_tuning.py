"""Engines are tuned from the window: offered after a run, done in a process of its own."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPushButton

from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.engine.backends.precision import NOT_TUNED
from framefleet.engine.pool.events import SourceProgress
from framefleet.engine.types import AS_ASKED, DeviceId, EngineInfo
from framefleet.plugins.cache import FOLDER_VARIABLE
from tests.support.media import make_video
from tests.support.models import tiny_files

CPU = DeviceId("cpu", "0")
FIRST = EngineInfo(CPU, "a processor", "OpenVINO", "fp32", NOT_TUNED, 96, 64, 1, 1)
OFFER = "those that were ready soonest"


@pytest.fixture
def ready(window, qtbot, tmp_path, monkeypatch):
    """A window with a model, and no tuned engine."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    window.context.settings.begin(tiny_files())
    qtbot.waitUntil(lambda: window.context.settings.summary is not None, timeout=20_000)
    return window


def see(window, engine: EngineInfo) -> None:
    """A run with this engine has finished a file."""
    run = window.context.run
    run.devices_changed.emit((DeviceStatus(CPU, Phase.READY, engine=engine),))
    run.file_done.emit(QueueItem(1, SourceProgress(tiny_files().cfg), ItemState.DONE))


def offers(window) -> list[str]:
    return [text for text in window.context.banners.texts if OFFER in text]


def test_it_is_offered_once_for_a_model_and_kind_of_device(ready):
    see(ready, replace(FIRST, reason=AS_ASKED))
    assert offers(ready) == []
    see(ready, FIRST)
    assert len(offers(ready)) == 1
    ready.context.banners.remove("tuning")
    see(ready, FIRST)
    assert offers(ready) == []
    see(ready, replace(FIRST, device_name="another processor"))
    assert len(offers(ready)) == 1


def test_the_outcome_is_shown_in_the_line_at_the_bottom(ready, qtbot):
    see(ready, FIRST)
    next(button for button in ready.context.banners.findChildren(QPushButton) if button.text() == "Look for faster ones").click()
    assert offers(ready) == []
    line = ready.context.activity
    assert line.text.text() == "Looking for faster engines…"
    qtbot.waitUntil(lambda: not line.bar.isVisibleTo(line), timeout=60_000)
    # which engine is the fastest depends on the processor
    assert re.fullmatch(r"cpu:0( has the fastest engine already:|: [\d,]+ →) [\d,]+ images/s", line.text.text())


def test_it_can_be_cancelled(ready, qtbot):
    ready.context.actions.tune.trigger()
    line = ready.context.activity
    line.cancel.click()
    qtbot.waitUntil(lambda: line.isHidden(), timeout=60_000)
    assert not any("tun" in text for text in ready.context.banners.texts)


def test_it_waits_for_the_files(ready, qtbot, tmp_path):
    ready.context.run.set_paused(True)
    ready.open_paths([make_video(tmp_path / "a.mp4", 12, (96, 64))])
    qtbot.waitUntil(lambda: len(ready.context.queue) == 1, timeout=20_000)
    ready.context.actions.tune.trigger()
    assert any("when all files are done" in text for text in ready.context.banners.texts)
    assert ready.context.activity.isHidden()


def test_without_a_model_it_asks_for_one(window):
    window.context.actions.tune.trigger()
    assert any("Choose a model" in text for text in window.context.banners.texts)
