"""The window can be used by keyboard alone: Tab visits everything in the order of reading, and each stop has a name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QDialog, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.cluster.control import ClusterControl
from framefleet.app.window.events.clips import Clips
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.messages.unexpected import CrashReport
from framefleet.app.window.models.comparison import ComparisonDialog, Evaluated, ExplanationDialog
from framefleet.app.window.results.export import Exports
from framefleet.app.window.results.stored import read_stored
from framefleet.app.window.results.worst_frames import WorstFramesDialog
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.zones.sets import FilesDialog
from tests.support.media import make_video
from tests.support.window import feature, write_results

FEW = 2
"""Stops that every dialog has at least."""


def stops(qtbot: QtBot, window: QWidget) -> list[QWidget]:
    """The widgets that Tab visits, from the first one to the last one."""
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    visited: list[QWidget] = []
    at: QWidget | None = window.focusWidget() or window
    while at is not None and at not in visited:
        visited.append(at)
        qtbot.keyClick(at, Qt.Key.Key_Tab)
        at = QApplication.focusWidget()
    visited = [widget for widget in visited if widget is not window]
    first = min(range(len(visited)), key=lambda place: _corner(visited[place], window))
    return visited[first:] + visited[:first]


def _corner(widget: QWidget, window: QWidget) -> tuple[int, ...]:
    """Where a widget begins; first the corner of the scroll area around it, because it may be scrolled."""
    parent, area = widget.parentWidget(), widget
    while parent is not None and parent is not window:
        area, parent = (parent if isinstance(parent, QScrollArea) else area), parent.parentWidget()
    outer, inner = (each.mapTo(window, QPoint(0, 0)) for each in (area, widget))
    return outer.y() // 16, outer.x(), inner.y() // 16, inner.x()


def _area(widget: QWidget, other: QWidget, window: QWidget) -> QRect:
    """The area of a widget in its window, or of the scroll area around it that the other widget is outside of."""
    around = widget.parentWidget()
    while around is not None and around is not window:
        if isinstance(around, QScrollArea) and not around.isAncestorOf(other):
            widget = around
        around = around.parentWidget()
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def out_of_order(visited: list[QWidget], window: QWidget) -> list[str]:
    """Pairs of stops whose second one is neither right of the first one, nor below it."""
    wrong = []
    for one, other in pairwise(visited):
        before, after = _area(one, other, window), _area(other, one, window)
        if after.left() < before.right() - 1 and after.top() < before.bottom() - 1:
            wrong.append(f"{_named(one)} → {_named(other)}")
    return wrong


def _named(widget: QWidget) -> str:
    return f"{type(widget).__name__} '{name(widget)}'"


def name(widget: QWidget) -> str:
    """The name that a screen reader says."""
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)


def _results(tmp_path: Path) -> Path:
    return write_results(tmp_path / "stored.sqlite", make_video(tmp_path / "street.mp4", 10, (320, 240)), 10).database


def _ask_with_results(ask: Callable[..., object], tmp_path: Path) -> None:
    ask(read_stored(_results(tmp_path))[0], ViewFilter())


def _settings(window: MainWindow, _: Path) -> None:
    window.context.settings.open_dialog()
    assert window.context.settings.dialog is not None
    window.context.settings.dialog.pane.fold.setChecked(True)


OPENED: dict[str, Callable[[MainWindow, Path], object]] = {
    "settings": _settings,
    "models": lambda window, _: window.context.settings.open_models(),
    "keys": lambda window, _: window.context.actions.help.trigger(),
    "cluster": lambda window, _: feature(window, ClusterControl).open_dialog(),
    "sessions": lambda window, _: window.context.actions.sessions.trigger(),
    "export": lambda window, folder: _ask_with_results(feature(window, Exports).ask, folder),
    "clips": lambda window, folder: _ask_with_results(feature(window, Clips).ask, folder),
    "worst frames": lambda window, folder: WorstFramesDialog(folder / "worst.json", {"one": [], "two": []}, window).open(),
    "comparison": lambda window, _: ComparisonDialog([Evaluated(each, 0.5, 0.4, 0.9, 0.8, 0.25, {}) for each in "ab"], window).open(),
    "comparison explained": lambda window, _: ExplanationDialog(window).open(),
    "files of a set": lambda window, folder: FilesDialog("a", {folder / "a.mp4": None}, window).open(),
    "error": lambda window, folder: CrashReport(window, window.context.banners, folder / "window.log").show_details("Traceback"),
}


def test_tab_goes_through_each_dialog_as_it_is_read(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    def visible() -> list[QDialog]:
        return [each for each in window.findChildren(QDialog) if each.isVisible()]

    for dialog, open_dialog in OPENED.items():
        (tmp_path / dialog).mkdir()
        open_dialog(window, tmp_path / dialog)
        qtbot.waitUntil(lambda: bool(visible()))
        (shown,) = visible()
        visited = stops(qtbot, shown)
        assert len(visited) >= FEW, dialog
        assert out_of_order(visited, shown) == [], dialog
        assert [_named(widget) for widget in visited if not name(widget)] == [], dialog
        shown.reject()
        qtbot.waitUntil(lambda: not visible())


@pytest.mark.parametrize("opened", [False, True])
def test_tab_goes_through_the_window_as_it_is_read(qtbot: QtBot, window: MainWindow, tmp_path: Path, opened: bool) -> None:
    if opened:
        window.open_paths([_results(tmp_path)])
        qtbot.waitUntil(lambda: window.context.viewer.player.info is not None)
        window.context.actions.zones.setChecked(True)
        window.context.actions.correct.setChecked(True)
    window.resize(1600, 1000)
    visited = stops(qtbot, window)
    assert len(visited) > 10
    assert out_of_order(visited, window) == []
    assert [_named(widget) for widget in visited if not name(widget)] == []


@pytest.mark.parametrize("turn", [1, 2])
def test_no_key_stays_held_after_a_test(qtbot: QtBot, turn: int) -> None:
    assert QApplication.keyboardModifiers() is Qt.KeyboardModifier.NoModifier, f"turn {turn}"
    widget = QWidget()
    qtbot.addWidget(widget)
    qtbot.keyClick(widget, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.keyboardModifiers() is Qt.KeyboardModifier.ControlModifier
