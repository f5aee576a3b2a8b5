"""The devices in the whole window: at launch, their choice, and a slow one that can be seen from afar."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible, QColor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.devices.status import DeviceStatus, fold
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.app.window.widgets import theme
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.pool.events import DeviceReady, DeviceStats, RunFigures
from framefleet.engine.types import DeviceId
from tests.support.devices.topologies import eight
from tests.support.window import CPU, engine_info, feature, pixels

Open = Callable[..., MainWindow]
GPUS = tuple(DeviceId("cuda", str(number)) for number in range(8))


def recorded() -> Recording:
    """A machine with eight GPUs."""
    return Recording(
        tuple(DeviceDescription(gpu, "NVIDIA H200", "TensorRT", ("fp32", "fp16"), memory=150 << 30) for gpu in GPUS), {}, eight()
    )


def name(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def test_at_launch_each_device_is_there_with_its_memory_and_a_click_leads_to_their_choice(qtbot: QtBot, open_window: Open) -> None:
    window = open_window()
    panel = feature(window, DevicePanel)
    qtbot.waitUntil(lambda: bool(panel.cards))
    assert name(panel.cards[0].row).startswith("cpu:0: ")
    assert " GiB, a run will use it" in name(panel.cards[0].row)
    assert panel.run.title.text() == "A run will use cpu:0."
    assert not panel.cluster.isVisible(), "the cluster's sign is there only where one is set up"
    panel.run.choose.click()
    settings = window.context.settings.dialog
    assert settings is not None
    qtbot.waitUntil(lambda: settings.focusWidget() is settings.devices.automatic)
    qtbot.waitUntil(lambda: not settings.devices.automatic.visibleRegion().isEmpty())
    settings.reject()


def test_the_devices_of_a_recording_can_be_chosen_but_are_not_kept(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(recording=recorded())
    panel = feature(window, DevicePanel)
    qtbot.waitUntil(lambda: len(panel.cards) == 9)
    assert panel.run.title.text() == "On the recorded machine, a run would use 8 devices."
    panel.run.choose.click()
    settings = window.context.settings.dialog
    assert settings is not None
    qtbot.waitUntil(lambda: len(settings.devices.boxes) == 9)
    settings.devices.automatic.setChecked(False)
    for device, box in settings.devices.boxes.items():
        box.setChecked(device == GPUS[3])
    settings.accept()
    assert panel.run.title.text() == "On the recorded machine, a run would use cuda:3."
    assert [device for device, card in panel.device_cards.items() if card.row.content.used] == [CPU, GPUS[3]]
    window.close()
    window.context.store.setValue("cluster/address", "10.0.0.1:6379")
    again = open_window()
    qtbot.waitUntil(lambda: feature(again, DevicePanel).run.title.text() == "A run will use cpu:0.")
    assert feature(again, DevicePanel).cluster.isVisible()


def at_work(gpu: DeviceId, rate: float, now: float) -> DeviceStatus:
    status = fold(DeviceStatus(gpu), DeviceReady(engine_info(gpu)), now)
    run = RunFigures()
    for second in range(7):
        run = run.with_interval(rate, 1.0, np.full(100, 12.0, np.float32))
        status = fold(status, DeviceStats(gpu, round(second * rate), rate, 12.0, 30.0, bottleneck="network", run=run), now + second)
    return status


def test_recorded_devices_beside_a_run_are_not_marked_as_used(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(recording=recorded())
    panel = feature(window, DevicePanel)
    qtbot.waitUntil(lambda: [card.row.content.used for card in panel.cards] == [True] * 9)
    window.context.run.devices_changed.emit((at_work(CPU, 40.0, time.monotonic() - 6),))
    qtbot.waitUntil(lambda: panel.device_cards[CPU].row.content.rate > 0)
    assert [card.row.content.used for card in panel.cards] == [None] * 9
    assert "a run will use it" not in "".join(name(card.row) for card in panel.cards)


def test_a_slow_gpu_can_be_seen_from_afar(qtbot: QtBot, open_window: Open) -> None:
    window = open_window()
    window.resize(1360, 840)
    panel = feature(window, DevicePanel)
    now = time.monotonic() - 6
    statuses = [at_work(gpu, 640.0 if gpu == GPUS[2] else 1130.0, now) for gpu in GPUS]
    window.context.run.devices_changed.emit(tuple(statuses))
    qtbot.waitUntil(lambda: len(panel.cards) == 8 and panel.cards[-1].isVisible())
    assert [card.row.content.slow for card in panel.cards] == [gpu == GPUS[2] for gpu in GPUS]
    assert "slower than the others" in name(panel.cards[2].row)
    ground = QColor(theme.WARNING_GROUND)
    tinted = [
        (pixels(card.row.grab().toImage()) == (ground.red(), ground.green(), ground.blue())).all(axis=2).mean() for card in panel.cards
    ]
    assert tinted[2] > 0.4
    assert max(tinted[:2] + tinted[3:]) == 0
    assert name(panel.run.figures).startswith("8,550 frames/s, p50 12.1 · p99 ")
    assert panel.run.title.property("role") == "notice", "a device that does less than it should is a warning"
    assert panel.height() > 2 * feature(window, FilterPanel).height()
    heights = {card.row.height() for card in panel.cards}
    window.context.run.devices_changed.emit(tuple(statuses[:4]))
    qtbot.waitUntil(lambda: len(panel.cards) == 4)
    assert min(card.row.height() for card in panel.cards) > max(heights)  # up to four devices have tall rows
    window.context.run.devices_changed.emit(tuple(replace(status, resting=True, rate=0.0) for status in statuses))
    assert panel.run.unit.text() == "frames/s, mean"
    assert panel.run.title.text().startswith("cuda:2 is slower than the others")  # what limited the run stays


def test_the_panel_shows_the_topology_beside_the_devices_in_its_own_window(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(recording=recorded())
    panel = feature(window, DevicePanel)
    panel.detach.click()
    own = panel.window()
    own.resize(900, 640)
    matrix = panel.topology.matrix
    qtbot.waitUntil(matrix.isVisible)
    qtbot.waitUntil(lambda: panel.cards[0].mapTo(panel, QPoint(0, 0)).x() > matrix.mapTo(panel, QPoint(0, 0)).x() + matrix.width())
    own.close()
