"""The queue, the line at the bottom and the list of devices show one rate at every moment of a real run."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.settings.preferences import Preferences
from framefleet.app.window.widgets import formats
from framefleet.engine.model.check import check_model
from tests.support.models import tiny_files
from tests.support.window import CPU, feature

MOMENTS = 4


def test_every_part_of_the_window_shows_the_same_rate(qtbot: QtBot, window: MainWindow, long: Path) -> None:
    shown: list[tuple[str, str, str]] = []

    def look(_: object) -> None:
        (item,) = window.context.queue
        if item.rate and feature(window, DevicePanel).cards[0].row.content.rate:
            shown.append((window.status.queue.text(), item.brief, feature(window, DevicePanel).cards[0].row.content.rate_text))

    for changed in (window.context.run.devices_changed, window.context.run.figures_changed):
        changed.connect(look)  # behind the connections of the window
    settings = Preferences.of(tiny_files(), devices=(CPU,)).run_settings()
    window.context.run.set_settings(settings, check_model(settings.model).labels, restart=False)
    window.open_paths([long])
    qtbot.waitUntil(lambda: len(shown) >= MOMENTS or any(item.ended for item in window.context.queue), timeout=60_000)
    (item,) = window.context.queue
    window.context.run.cancel(item.key)
    qtbot.waitUntil(lambda: any(item.ended for item in window.context.queue))
    assert shown
    for total, file, device in shown:
        assert total.startswith(f"{device} frames/s")
        assert file.startswith(f"{device}/s")
    qtbot.waitUntil(lambda: window.status.queue.text() == "")
    qtbot.waitUntil(lambda: feature(window, DevicePanel).cards[0].row.content.rate_text == formats.DASH)
