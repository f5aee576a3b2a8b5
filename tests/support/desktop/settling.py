"""Waits until a screen shows what it was told to show, and brings menus and dialogs up for a picture."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QFileDialog, QMenu, QTreeView, QWidget

from framefleet.app.window.grid.grid import Cell
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.viewer.viewer import Viewer

Screens = Iterator[tuple[str, QWidget]]
PATIENCE = 60.0
"""Seconds until a screen that does not become ready is an error."""

LARGEST = 1920
"""The width up to which the preview process enlarges 16:9 pictures, pixels."""


def settle(ready: Callable[[], bool] = lambda: True, patience: float = PATIENCE) -> None:
    """Process events until a condition holds and none are left. Raises TimeoutError if that takes more than ``patience`` seconds."""
    deadline = time.monotonic() + patience
    _process_events()  # the layout of a change
    while not ready():
        _process_events()
        if time.monotonic() > deadline:
            raise TimeoutError("the screen does not become ready")
        time.sleep(0.01)
    _process_events()


def _process_events() -> None:
    for _ in range(5):
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # Qt sends these only from a running event loop


def shown_dialog(name: str, dialog: QDialog, ready: Callable[[], bool] = lambda: True) -> Screens:
    """The picture of a dialog, which is then closed."""
    dialog.show()
    settle(ready)
    yield name, dialog
    dialog.reject()


def shown_files(name: str, window: MainWindow, folder: Path) -> Screens:
    """The picture of the file dialog, which shows this folder as one of /."""
    dialog = cast("QFileDialog", child(window, QFileDialog))
    dialog.setDirectory(str(folder.absolute()))
    view, places = dialog.findChild(QTreeView, "treeView"), dialog.findChild(QComboBox, "lookInCombo")
    chosen = [path for path in folder.iterdir() if path.is_dir() or not dialog.testOption(QFileDialog.Option.ShowDirsOnly)]
    kept = [path for path in chosen if path.is_dir() or not dialog.nameFilters() or path.suffix in dialog.nameFilters()[0]]
    settle(lambda: view.model().rowCount(view.rootIndex()) == len(kept))
    places.setItemText(places.currentIndex(), f"/{folder}")
    yield from shown_dialog(name, dialog)


def shown_menu(name: str, menu: QMenu, window: MainWindow) -> Screens:
    """The picture of a menu, which is then closed."""
    menu.popup(window.mapToGlobal(window.rect().center()))
    yield name, menu
    menu.hide()


def child(window: QWidget, kind: type[QDialog]) -> QDialog:
    """The dialog of this kind that is open."""
    return next(each for each in window.children() if isinstance(each, kind) and each.isVisible())


def has_settled(viewer: Viewer | Cell) -> bool:
    """Whether the picture has been scaled to its place."""
    shown, placement, canvas = viewer.player.current, viewer.canvas.placement, viewer.canvas
    if shown is None or placement is None:
        return False
    return abs(shown.image.width() - min(placement.width * canvas.devicePixelRatio(), LARGEST)) < 2


def statistics_agree(viewer: Viewer) -> bool:
    """Whether the picture has been scaled to its place, and the statistics say so."""
    shown = viewer.player.current
    return has_settled(viewer) and shown is not None and f"{shown.image.width()} × " in viewer.canvas.statistics
