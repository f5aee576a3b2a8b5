"""Fixtures for the window: the theme, windows, a timeline, one search for devices. Qt's offscreen platform may log what it lacks."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.settings import choices
from framefleet.app.window.timeline.timeline import MARGIN, Timeline
from framefleet.app.window.widgets import translation
from framefleet.app.window.widgets.appearance import Theme, apply_theme
from framefleet.engine.devices.discovery import discover
from framefleet.engine.devices.recording import Recording
from framefleet.engine.settings import ModelFiles
from tests.support.desktop.shared import SharedWindow
from tests.support.media import make_video

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support (propagateSizeHints|raise|grabbing the keyboard)"))


@pytest.fixture(autouse=True, scope="session")
def _themed(qapp: QApplication) -> None:
    translation.install(qapp, "en")
    apply_theme(qapp, Theme.DARK)
    gc.collect()
    gc.freeze()  # what is loaded by now stays anyway; looking through it after each test takes a tenth of a second


@pytest.fixture(autouse=True, scope="session")
def _one_search_for_devices() -> Iterator[None]:
    """Every window searches for devices in two processes, which take seconds of CPU time: all windows of the tests share one search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choices, "discover", functools.cache(discover))
        yield


@pytest.fixture(scope="session")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video that takes seconds to detect in."""
    return make_video(tmp_path_factory.mktemp("videos") / "long.mp4", 3000, (32, 32), gop=250)


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    """The whole window, with nothing chosen yet."""
    window = MainWindow(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), tmp_path / "sessions")
    qtbot.addWidget(window)
    window.show()
    yield window
    window.close()


@pytest.fixture(scope="module")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedWindow]:
    shared = SharedWindow(lambda: tmp_path_factory.mktemp("window"))
    yield shared
    shared.close()


@pytest.fixture
def shared_window(qtbot: QtBot, _shared: SharedWindow, _nothing_left_behind: set[str]) -> Iterator[MainWindow]:
    """The whole window, with nothing chosen yet, as ``window``; the tests of a file that show stored results use it one after the other.

    Making a window takes a tenth of a second, and the first picture another process. A test that detects, that changes the model or that
    shows only files without pictures uses ``window``: a run's workers, and memory into which no picture comes, would be left behind.
    """
    window = _shared.take()
    yield window
    _shared.give_back()
    _nothing_left_behind |= {"framefleet preview", "watch preview"}


@pytest.fixture
def open_window(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[..., MainWindow]]:
    """Opens windows with the same settings, one after the other."""
    windows: list[MainWindow] = []

    def open_one(model: ModelFiles | None = None, recording: Recording | None = None) -> MainWindow:
        store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
        window = MainWindow(store, tmp_path / "sessions", model, recording=recording)
        windows.append(window)
        window.show()
        return window

    yield open_one
    for window in windows:
        window.close()
        window.deleteLater()


@pytest.fixture
def timeline(qtbot: QtBot) -> Timeline:
    """100 seconds on 500 pixels."""
    timeline = Timeline()
    qtbot.addWidget(timeline)
    timeline.resize(500 + 2 * int(MARGIN), 56)
    timeline.set_duration(100.0)
    timeline.show()
    return timeline
