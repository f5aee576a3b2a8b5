"""Logs unexpected errors of all threads, and shows them with their tracebacks."""

import logging
import sys
import threading
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.build import column, label
from framefleet.app.window.widgets.translation import translate

_log = logging.getLogger("framefleet")
_LEVELS = {QtMsgType.QtDebugMsg: logging.DEBUG, QtMsgType.QtInfoMsg: logging.INFO, QtMsgType.QtWarningMsg: logging.WARNING}


class UnexpectedErrors(QObject):
    """Logs uncaught exceptions of all threads. raised: a summary in one line, and the traceback."""

    raised = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self._before: tuple[Any, Any, Any] | None = None

    def install(self) -> None:
        """Install the hooks."""
        self._before = sys.excepthook, threading.excepthook, sys.unraisablehook
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread
        sys.unraisablehook = self._unraisable

    def uninstall(self) -> None:
        """Restore the earlier hooks."""
        if self._before is not None:
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
            self._before = None

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self._report(kind, error, trace, "")

    def _uncaught_in_thread(self, caught: threading.ExceptHookArgs) -> None:
        if caught.exc_type is not SystemExit:
            where = f" (in {caught.thread.name})" if caught.thread is not None else ""
            self._report(caught.exc_type, caught.exc_value, caught.exc_traceback, where)

    def _unraisable(self, caught: Any) -> None:
        self._report(caught.exc_type, caught.exc_value, caught.exc_traceback, f" (in {caught.object!r})")

    def _report(self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, where: str) -> None:
        details = "".join(traceback.format_exception(kind, error, trace))
        _log.critical("unexpected error%s\n%s", where, details)
        self.raised.emit(f"{kind.__name__}: {error}{where}", details)


def log_to(folder: Path) -> Path:
    """Write the log, with Qt's messages, to a file in this folder; return the file. It and its one backup have at most 1 MiB each.

    If the folder cannot be made, warnings go to standard error: the window opens also then.
    """
    path, root = folder / "window.log", logging.getLogger()
    root.setLevel(logging.INFO)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        root.warning("no log is written: %s", error)
    else:
        handler = RotatingFileHandler(path, maxBytes=1 << 20, backupCount=1, encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"))
        root.addHandler(handler)

    def qt_message(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
        logging.getLogger("qt").log(_LEVELS.get(kind, logging.ERROR), message)

    qInstallMessageHandler(qt_message)
    return path


class CrashReport(QObject):
    """Shows a banner for an unexpected error, with a button for the details."""

    def __init__(self, window: QWidget, banners: BannerArea, log: Path) -> None:
        super().__init__(window)
        self._window = window
        self._banners = banners
        self._log = log

    def show_error(self, summary: str, details: str) -> None:
        """Show the banner. details: the traceback."""
        action = translate("messages", "Details…"), lambda: self.show_details(details)
        advice = translate("messages", "{summary}. Results of running work may be incomplete. Please report this error.")
        title = translate("messages", "An error inside Framefleet")
        self._banners.show_banner("error", Severity.ERROR, title, action, details=advice.format(summary=summary))

    def show_details(self, details: str) -> None:
        """Show the traceback in a dialog, to be copied."""
        dialog = QDialog(self._window)
        dialog.setWindowTitle(translate("messages", "Details of the error"))
        dialog.resize(760, 420)
        text = QPlainTextEdit(details, readOnly=True)
        text.setAccessibleName(dialog.windowTitle())
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(dialog.reject)
        copy = buttons.addButton(translate("messages", "Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(details))
        dialog.finished.connect(dialog.deleteLater)
        column(
            text,
            label("small", translate("messages", "This is also in the log: {log}").format(log=self._log)),
            buttons,
            spacing=10,
            margins=(20, 20, 20, 16),
            of=dialog,
        )
        dialog.open()
