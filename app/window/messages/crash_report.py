"""Tells the user of a bug, with the details for a report."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from app.window.widgets.banner import BannerArea, Severity
from app.window.widgets.indicators import label
from app.window.widgets.layouts import column


class CrashReport(QObject):
    """Shows a banner with a button for the details."""

    def __init__(self, window: QWidget, banners: BannerArea, log: Path) -> None:
        super().__init__(window)
        self._window = window
        self._banners = banners
        self._log = log

    def show_error(self, summary: str, story: str) -> None:
        """Show the banner. story: the traceback."""
        text = f"An error inside Framefleet: {summary}. What is under way may be incomplete; please report it."
        self._banners.show_banner("error", Severity.ERROR, text, ("Details…", lambda: self.show_details(story)))

    def show_details(self, story: str) -> None:
        """Show the traceback in a dialog, to be copied."""
        dialog = QDialog(self._window)
        dialog.setWindowTitle("Details of the error")
        dialog.resize(760, 420)
        text = QPlainTextEdit(story, readOnly=True)
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(dialog.reject)
        copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(story))
        dialog.finished.connect(dialog.deleteLater)
        column(text, label("small", f"Also in {self._log}"), buttons, spacing=10, margins=(20, 20, 20, 16), of=dialog)
        dialog.open()
