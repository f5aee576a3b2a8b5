"""Panels get their own windows and come back, also after a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.floating import MARGIN, FloatingWindow
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.open_files import DropOverlay, RecentFiles
from framefleet.app.window.zones.workspace import Zones
from tests.support.window import drag_over, drop, feature, pixels


def test_the_devices_get_their_own_window_and_come_back(qtbot: QtBot, open_window: Callable[[], MainWindow]) -> None:
    window = open_window()
    panel, (floating, *_) = feature(window, DevicePanel), window.floating
    qtbot.mouseClick(panel.detach, Qt.MouseButton.LeftButton)
    own = panel.window()
    assert isinstance(own, FloatingWindow)
    assert (own.isVisible(), own.windowTitle(), panel.detach.accessibleName()) == (True, "Devices — Framefleet", "Put Devices back here")
    assert panel.geometry() == own.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
    assert (window.right.widget(0), floating.note.isVisible()) == (floating.note, True)
    own.close()
    assert (panel.window(), panel.isVisible(), window.right.widget(0)) == (window, True, panel)
    panel.detach.setFocus()
    QTest.keyClick(panel.detach, Qt.Key.Key_Space)
    assert isinstance(panel.window(), FloatingWindow)
    qtbot.mouseClick(floating.back, Qt.MouseButton.LeftButton)
    assert panel.window() is window


def test_a_panel_is_in_its_own_window_again_at_the_next_start(qtbot: QtBot, open_window: Callable[[], MainWindow]) -> None:
    first = open_window()
    first.floating[0].float_()
    own = feature(first, DevicePanel).window()
    own.move(QPoint(37, 91))
    own.resize(611, 433)
    first.close()
    assert not own.isVisible()
    second = open_window()
    assert feature(second, DevicePanel).window() is second  # the main window is first, so that the other one stays above it
    qtbot.waitUntil(lambda: feature(second, DevicePanel).window() is not second)
    own = feature(second, DevicePanel).window()
    assert isinstance(own, FloatingWindow)
    assert (own.isVisible(), own.pos(), own.size().toTuple()) == (True, QPoint(37, 91), (611, 433))
    own.close()
    second.close()
    third = open_window()
    QCoreApplication.processEvents()
    assert feature(third, DevicePanel).window() is third


def test_the_events_window_is_hidden_with_the_panels_below_the_picture(qtbot: QtBot, open_window: Callable[[], MainWindow]) -> None:
    window = open_window()
    window.context.actions.zones.setChecked(True)
    events = feature(window, Zones).list
    QTest.mouseClick(events.detach, Qt.MouseButton.LeftButton)
    own = events.window()
    assert isinstance(own, FloatingWindow)
    window.context.actions.zones.setChecked(False)
    assert not own.isVisible()
    window.close()
    again = open_window()
    qtbot.waitUntil(lambda: feature(again, Zones).list.window() is not again)
    assert not feature(again, Zones).list.isVisible()
    again.context.actions.zones.setChecked(True)
    assert feature(again, Zones).list.isVisible()
    assert isinstance(feature(again, Zones).list.window(), FloatingWindow)


def test_panels_in_their_own_windows_stay_in_full_screen(open_window: Callable[[], MainWindow]) -> None:
    window = open_window()
    window.floating[0].float_()
    window.toggle_fullscreen()
    assert (window.right.isVisible(), feature(window, DevicePanel).isVisible()) == (False, True)
    window.toggle_fullscreen()
    assert window.right.isVisible()


def test_files_dropped_on_a_panel_in_its_own_window_are_queued(qtbot: QtBot, open_window: Callable[[], MainWindow], tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").touch()
    window = open_window()
    window.floating[0].float_()
    own = feature(window, DevicePanel).window()
    data = drag_over(own, [tmp_path / "clip.mp4"])
    (overlay,) = own.findChildren(DropOverlay)
    assert (overlay.isVisible(), overlay.title, overlay.geometry()) == (True, "Drop to add clip.mp4", own.rect())
    assert (feature(window, DropOverlay).isVisible(), data.hasUrls()) == (False, True)
    drop(own, [tmp_path / "clip.mp4"])
    assert not overlay.isVisible()
    qtbot.waitUntil(lambda: [item.path.name for item in window.context.queue] == ["clip.mp4"])
    assert feature(window, RecentFiles).paths == [tmp_path / "clip.mp4"]
    data = drag_over(own, [tmp_path / f"{'long ' * 50}.mp4"])
    overlay.resize(300, 300)
    inside = pixels(overlay.grab().toImage())[140:200, 23:31]  # between the frame and the title, which is shortened
    assert (inside == inside[0, 0]).all()
    drop(own, [])
