"""The dialogs that choose files: what they show can be read, and what they return is complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QToolButton, QTreeView, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.open_files import DropOverlay, FileDialogs, RecentFiles
from framefleet.app.window.widgets.questions import Mode, choose_path
from tests.support.window import feature


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


def test_a_dropped_address_is_not_ignored(window: MainWindow, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl("ftp://camera.example/street")])
    place, action, button, key = QPointF(100, 100), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(place.toPoint(), action, data, button, key))
    assert feature(window, DropOverlay).title == "This address cannot be opened"
    QApplication.sendEvent(window, QDropEvent(place, action, data, button, key))
    assert any("ftp://camera.example/street is not an address" in text for text in window.context.banners.texts)
    window.open_paths([])
    assert not any("is not an address" in text for text in window.context.banners.texts), "the message goes with the next try"


def test_an_address_that_is_dropped_with_a_file_is_not_ignored(window: MainWindow, tmp_path: Path) -> None:
    data, overlay = QMimeData(), feature(window, DropOverlay)
    taken: list[object] = []
    overlay.dropped.connect(taken.append)
    overlay.address_dropped.connect(taken.append)
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "notes.json")), QUrl("http://127.0.0.1:9/mjpeg")])
    place, action, button, key = QPointF(100, 100), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(place.toPoint(), action, data, button, key))
    QApplication.sendEvent(window, QDropEvent(place, action, data, button, key))
    assert taken == [[tmp_path / "notes.json"], "http://127.0.0.1:9/mjpeg"]


def test_names_of_recent_files_keep_their_ampersands(window: MainWindow, tmp_path: Path) -> None:
    recent = RecentFiles(window.context.store, QMenu(window), window)
    recent.add([tmp_path / "bridge & tunnel.mp4"])
    recent.menu.aboutToShow.emit()
    assert recent.menu.actions()[0].text() == "bridge && tunnel.mp4"  # Qt shows one of them


def test_every_column_shows_its_whole_text(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    folder.mkdir()
    with (folder / "bridge.png").open("wb") as file:
        file.truncate(812 * 2**20)
    feature(window, FileDialogs).choose_files()
    dialog = window.findChild(QFileDialog)
    dialog.setDirectory(str(folder))
    view = dialog.findChild(QTreeView, "treeView")
    qtbot.waitUntil(lambda: view.model().rowCount(view.rootIndex()) == 1)
    qtbot.waitUntil(lambda: all(view.columnWidth(number) >= view.sizeHintForColumn(number) for number in range(4)))
    assert sum(map(view.columnWidth, range(4))) <= view.viewport().width()


def test_the_buttons_are_light_on_a_dark_ground(window: MainWindow) -> None:
    feature(window, FileDialogs).choose_folder()
    dialog = window.findChild(QFileDialog)
    buttons = [button for button in dialog.findChildren(QToolButton) if button.isVisible()]
    assert len(buttons) == 6
    for button in buttons:
        button.setEnabled(True)
        drawn = button.icon().pixmap(QSize(16, 16)).toImage()
        inked = [drawn.pixelColor(x, y) for x in range(16) for y in range(16) if drawn.pixelColor(x, y).alpha() > 200]
        assert inked, button.objectName()
        assert min(colour.lightness() for colour in inked) > 120, button.objectName()


def test_a_file_that_is_written_gets_its_suffix(qtbot: QtBot, tmp_path: Path) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    chosen: list[str] = []
    dialog = choose_path(window, "Export", chosen.append, "Sets (*.json)", "street.json", Mode.AnyFile)
    dialog.setDirectory(str(tmp_path))
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field.text() == "street.json"
    field.setText("bridge")
    dialog.accept()
    assert chosen == [str(tmp_path / "bridge.json")]
