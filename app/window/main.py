"""Starts the application with its window, and collects garbage in small portions in its thread."""

import gc
import logging
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_data_path, user_log_path
from PySide6.QtCore import QObject, QSettings, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from framefleet.app.cli.interrupt import handling
from framefleet.app.window.context import Start
from framefleet.app.window.handover import Listener
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.messages.unexpected import CrashReport, UnexpectedErrors, log_to
from framefleet.app.window.widgets import translation
from framefleet.app.window.widgets.appearance import KEY, apply_theme, stored_theme
from framefleet.app.window.widgets.painting import pixmap
from framefleet.app.window.widgets.translation import LANGUAGE
from framefleet.engine.devices.recording import Recording
from framefleet.engine.settings import ModelFiles, RunSettings
from framefleet.engine.settings.folders import Folder

INTERVAL_MS = 1000
FULL_EVERY = 30
"""The number of collections from one of all generations to the next."""


class GarbageCollector(QObject):
    """Replaces Python's automatic collection by one in the window's thread.

    Python collects cyclic garbage in the thread that allocates. In the session's thread this would destroy Qt objects outside the thread
    that they belong to. A full collection can hold the interpreter's lock for a tenth of a second, which shows as a pause in the video.
    Objects that exist at the start are ignored, so that a collection takes milliseconds.
    """

    def __init__(self) -> None:
        super().__init__()
        self._collections = 0
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self._collect)

    def start(self) -> None:
        """Replace Python's automatic collection."""
        gc.collect()
        gc.freeze()
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Restore Python's automatic collection."""
        self._timer.stop()
        gc.enable()
        gc.unfreeze()

    def _collect(self) -> None:
        self._collections += 1
        gc.collect(2 if self._collections % FULL_EVERY == 0 else 1)


def make_application() -> QApplication:
    """Create the QApplication with its icon and theme."""
    QGuiApplication.setDesktopFileName("framefleet")
    application = QApplication(["framefleet"])
    application.setOrganizationName("framefleet")
    application.setApplicationName("framefleet")
    application.setApplicationDisplayName("Framefleet")
    translation.install(application, str(QSettings().value(LANGUAGE) or ""))
    apply_theme(application, stored_theme(QSettings().value(KEY)))
    icon = QIcon()
    for size in (16, 32, 64, 256):
        icon.addPixmap(pixmap("framefleet", size))
    application.setWindowIcon(icon)
    return application


def run_window(
    paths: Sequence[Path], model: ModelFiles | None = None, demo: RunSettings | None = None, recording: Recording | None = None
) -> int:
    """Open the window with these files queued; return the exit status when it is closed.

    model: used now and kept for the next start. demo: also queue the demo's clip, with these settings. recording: also show its devices.
    """
    application = make_application()
    log = log_to(user_log_path("framefleet", appauthor=False))
    errors = UnexpectedErrors()
    errors.install()
    listener, garbage = Listener(Folder.SESSIONS.path), GarbageCollector()
    signal_timer = QTimer(interval=300)  # Python handles signals only when it runs
    signal_timer.timeout.connect(lambda: None)
    signal_timer.start()
    again = False
    try:
        while True:
            data = user_data_path("framefleet", appauthor=False)
            window = MainWindow(QSettings(), Folder.SESSIONS.path, model, data, recording)
            garbage.start()
            report = CrashReport(window, window.context.banners, log)
            errors.raised.connect(report.show_error)
            listener.opened.connect(window.take_over)
            try:
                with handling(lambda *_, shown=window: close_soon(shown)):
                    window.quitting.ask = True
                    window.show()
                    window.begin(Start(again, demo))
                    window.context.requests.open_paths.emit(paths)
                    status = application.exec()
            finally:
                window.quitting.ask = False
                window.close()
            if not window.again:
                return status
            errors.raised.disconnect(report.show_error)
            listener.opened.disconnect(window.take_over)
            window.deleteLater()
            again, paths, model, demo = True, (), None, None
            translation.install(application, str(QSettings().value(LANGUAGE) or ""))
    finally:
        listener.stop()
        garbage.stop()
        errors.uninstall()
        logging.shutdown()


def close_soon(window: MainWindow) -> None:
    """Close a window from the event loop without asking. A signal may interrupt code that holds locks which closing needs."""
    window.quitting.ask = False
    QTimer.singleShot(0, window, window.close)
