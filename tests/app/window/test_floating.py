"""Panels get their own windows and come back, also after a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from framefleet.app.window.floating import MARGIN, SIZE, FloatingWindow
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.file_drops import DropOverlay
from tests.support.devices.topologies import ALONE
from tests.support.window import drag_over, drop, pixels


def test_the_topology_gets_its_own_window_and_comes_back(qtbot: QtBot, open_window: Callable[[], MainWindow]) -> None:
    window = open_window()
    tabs = window.device_tabs
    qtbot.mouseClick(tabs.buttons.button(1), Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tabs.detach, Qt.MouseButton.LeftButton)
    own = window.topology.window()
    assert isinstance(own, FloatingWindow)
    assert (own.isVisible(), own.windowTitle(), tabs.detach.accessibleName()) == (True, "Topology — Framefleet", "Put Topology back here")
    assert window.topology.geometry() == own.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
    note = tabs.floating[1].note
    assert (tabs.stack.currentWidget(), note.isVisible()) == (note, True)
    own.close()
    assert (window.topology.window(), window.topology.isVisible(), tabs.stack.currentWidget()) == (window, True, window.topology)
    tabs.detach.setFocus()
    QTest.keyClick(tabs.detach, Qt.Key.Key_Space)
    assert isinstance(window.topology.window(), FloatingWindow)
    qtbot.mouseClick(tabs.floating[1].back, Qt.MouseButton.LeftButton)
    assert window.topology.window() is window


def test_a_panel_is_in_its_own_window_again_at_the_next_start(qtbot: QtBot, open_window: Callable[[], MainWindow]) -> None:
    first = open_window()
    first.device_tabs.floating[0].float_()
    own = first.devices.window()
    own.move(QPoint(37, 91))
    own.resize(611, 433)
    first.close()
    assert not own.isVisible()
    second = open_window()
    assert second.devices.window() is second  # the main window is first, so that the other one stays above it
    qtbot.waitUntil(lambda: second.devices.window() is not second)
    own = second.devices.window()
    assert isinstance(own, FloatingWindow)
    assert (own.isVisible(), own.pos(), own.size().toTuple()) == (True, QPoint(37, 91), (611, 433))
    own.close()
    second.close()
    third = open_window()
    QCoreApplication.processEvents()
    assert third.devices.window() is third


def test_the_events_window_is_hidden_with_the_panels_below_the_picture(qtbot: QtBot, open_window: Callable[[], MainWindow]) -> None:
    window = open_window()
    window.actions_.zones.setChecked(True)
    events = window.zones.list
    QTest.mouseClick(events.detach, Qt.MouseButton.LeftButton)
    own = events.window()
    assert isinstance(own, FloatingWindow)
    window.actions_.zones.setChecked(False)
    assert not own.isVisible()
    window.close()
    again = open_window()
    qtbot.waitUntil(lambda: again.zones.list.window() is not again)
    assert not again.zones.list.isVisible()
    again.actions_.zones.setChecked(True)
    assert again.zones.list.isVisible()
    assert isinstance(again.zones.list.window(), FloatingWindow)


def test_panels_in_their_own_windows_stay_in_full_screen(open_window: Callable[[], MainWindow]) -> None:
    window = open_window()
    window.device_tabs.floating[0].float_()
    window.arrangement.toggle_fullscreen()
    assert (window.device_tabs.isVisible(), window.devices.isVisible()) == (False, True)
    window.arrangement.toggle_fullscreen()
    assert window.device_tabs.isVisible()


def test_files_dropped_on_a_panel_in_its_own_window_are_queued(qtbot: QtBot, open_window: Callable[[], MainWindow], tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").touch()
    window = open_window()
    window.device_tabs.floating[0].float_()
    own = window.devices.window()
    data = drag_over(own, [tmp_path / "clip.mp4"])
    (overlay,) = own.findChildren(DropOverlay)
    assert (overlay.isVisible(), overlay.title, overlay.geometry()) == (True, "Drop to add clip.mp4", own.rect())
    assert (window.overlay.isVisible(), data.hasUrls()) == (False, True)
    drop(own, [tmp_path / "clip.mp4"])
    assert not overlay.isVisible()
    qtbot.waitUntil(lambda: [item.path.name for item in window.items] == ["clip.mp4"])
    assert window.recent.paths == [tmp_path / "clip.mp4"]
    data = drag_over(own, [tmp_path / f"{'long ' * 50}.mp4"])
    overlay.resize(300, 300)
    inside = pixels(overlay.grab().toImage())[140:200, 23:31]  # between the frame and the title, which is shortened
    assert (inside == inside[0, 0]).all()
    drop(own, [])


def test_one_node_without_gpus_gets_a_small_window(open_window: Callable[[], MainWindow]) -> None:
    window = open_window()
    window.topology.show_topology(ALONE)
    window.device_tabs.show_tab(1)
    window.device_tabs.detach.click()
    assert window.topology.window().size() == SIZE / 2
