"""The arrangement of the main window: its columns, the panels that the user can hide, full screen, and their memory."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget

from app.window.actions import Actions
from app.window.viewer.viewer import Viewer


class Arrangement(QObject):
    """Restores the window's size, splitters and panels, and keeps them.

    sides, below: the panels beside and below the picture. bars: hidden in full screen, as all panels are.
    """

    def __init__(
        self,
        window: QMainWindow,
        store: QSettings,
        actions: Actions,
        sides: tuple[QWidget, QWidget],
        below: QWidget,
        splitters: dict[str, QSplitter],
        bars: tuple[QWidget, ...],
        viewer: Viewer,
    ) -> None:
        super().__init__(window)
        self._window, self._store, self._splitters, self._bars, self._viewer = window, store, splitters, bars, viewer
        self._panels: tuple[tuple[QAction, QWidget, str], ...] = (
            (actions.left, sides[0], "window/left_shown"),
            (actions.right, sides[1], "window/right_shown"),
            (actions.zones, below, "window/zones_shown"),
        )
        if (geometry := store.value("window/geometry")) is not None:
            window.restoreGeometry(geometry)
        for name, splitter in splitters.items():
            splitter.setHandleWidth(3)
            if (state := store.value(name)) is not None:
                splitter.restoreState(state)
        for action, panel, name in self._panels:
            action.setChecked(store.value(name, "yes" if action.isChecked() else "no") == "yes")
            panel.setVisible(action.isChecked())
            action.toggled.connect(panel.setVisible)

    def toggle_fullscreen(self) -> None:
        """Fill the screen with the picture, or restore the window."""
        self.keep()
        full = not self._window.isFullScreen()
        for widget in self._bars:
            widget.setVisible(not full)
        for action, panel, _ in self._panels:
            panel.setVisible(action.isChecked() and not full)
        self._viewer.controls.set_floating(full)
        self._window.setWindowState(self._window.windowState() ^ Qt.WindowState.WindowFullScreen)  # keeps it maximized

    def keep(self) -> None:
        """Keep the present arrangement for the next start."""
        if not self._window.isFullScreen():  # the next start shall not begin in full screen
            self._store.setValue("window/geometry", self._window.saveGeometry())
            for name, splitter in self._splitters.items():
                self._store.setValue(name, splitter.saveState())
            for action, _, name in self._panels:
                self._store.setValue(name, "yes" if action.isChecked() else "no")
