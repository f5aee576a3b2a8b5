"""A window for several tests: after each one, it gets back the state of a new window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QWidget,
)

from framefleet.app.window.grid.grid import Grid
from framefleet.app.window.main_window import SIZE, MainWindow
from framefleet.app.window.settings.preferences import Preferences
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.app.window.zones.workspace import Zones
from tests.support.desktop.settling import settle
from tests.support.window import feature

PATIENCE = 2.0
"""Seconds until a window that does not show what a new one shows is closed."""


class SharedWindow:
    """Makes a window when a test needs one, and another one if the last test left what cannot be taken back.

    folder: returns a new folder, for the window's settings and sessions.
    """

    def __init__(self, folder: Callable[[], Path]) -> None:
        self._folder = folder
        self._window: MainWindow | None = None
        self._new: list[str] = []
        self._checked: dict[QAbstractButton | QAction, bool] = {}

    def take(self) -> MainWindow:
        """The window, shown and active."""
        if self._window is None:
            folder = self._folder()
            window = self._window = MainWindow(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat), folder / "sessions")
            window.show()
            settle(lambda: not window.context.background.busy)
            self._new = list(shown_parts(window))
            switches = [*window.findChildren(QAbstractButton), *window.findChildren(QAction)]
            self._checked = {each: each.isChecked() for each in switches if each.isCheckable()}
        self._window.activateWindow()  # another test may have opened one, too
        settle(self._window.isActiveWindow)
        return self._window

    def give_back(self) -> None:
        """Take back what a test did: the window shows the same as a new one then, or it is closed."""
        window = self._window
        assert window is not None
        try:
            self._reset(window)
            settle(lambda: not window.context.background.busy and list(shown_parts(window)) == self._new, PATIENCE)
        except TimeoutError:
            self.close()

    def _reset(self, window: MainWindow) -> None:
        context, new = window.context, Preferences()
        for dialog in window.findChildren(QDialog):
            dialog.close()
        if window.isFullScreen():
            window.toggle_fullscreen()
        for switch, checked in sorted(self._checked.items(), key=lambda pair: not pair[1]):  # of exclusive ones, the checked one first
            switch.setChecked(checked)
        if context.viewer.canvas.statistics:
            context.viewer.toggle_statistics()
        feature(window, Grid).set_side(1)
        context.viewer.player.pause()
        scope = feature(window, Zones).panel.scope
        scope.setCurrentIndex(0)
        scope.activated.emit(0)
        for key in [item.key for item in context.queue]:
            context.run.remove(key)
        context.selection.show(None)
        for name in context.zones.library.names():
            context.zones.library.delete(name)
        context.filter.classes.set_hidden(frozenset())
        context.filter.set_confidence(new.confidence)
        context.filter.set_labels(())
        feature(window, FilterPanel).search.clear()
        if any(key.startswith("keys/") for key in context.store.allKeys()):
            context.bindings.reset()
        context.undo.clear()
        for subject in context.banners.subjects:
            context.banners.remove(subject)
        context.activity.hide()
        context.store.clear()
        for path in context.folder.glob("*.sqlite*"):
            path.unlink()
        window.resize(*SIZE)

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()
            self._window.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # type: ignore[arg-type] # None is allowed: all objects
            self._window, self._checked = None, {}


def shown_parts(window: QWidget) -> Iterator[str]:
    """What the visible widgets of a window show, a line each."""
    for widget in window.findChildren(QWidget):
        if widget.isVisible():
            facts: list[object] = [type(widget).__name__, widget.isEnabled()]
            if isinstance(widget, QAbstractButton | QLabel | QLineEdit):
                facts.append(widget.text())
            if isinstance(widget, QAbstractButton):
                facts.append(widget.isChecked())
            if isinstance(widget, QComboBox):
                facts += [widget.currentText(), widget.count()]
            if isinstance(widget, QAbstractSlider):
                facts.append(widget.value())
            if isinstance(widget, QAbstractItemView):
                facts.append(widget.model().rowCount() if widget.model() is not None else 0)
            yield " ".join(map(str, facts))
