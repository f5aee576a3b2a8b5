"""Tells the user of a mistake of ours, with everything worth reporting."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app.window.widgets.banner import BannerArea, Kind


class CrashReport(QObject):
    """A banner that leads to the details."""

    def __init__(self, window: QWidget, banners: BannerArea, log: Path) -> None:
        super().__init__(window)
        self._window = window
        self._banners = banners
        self._log = log

    @Slot(str, str)
    def show_error(self, summary: str, story: str) -> None:
        """Put the banner up."""
        text = f"An error inside Framefleet: {summary}. What is under way may be incomplete; please report it."
        self._banners.show_banner("error", Kind.ERROR, text, ("Details…", lambda: self.show_details(story)))

    def show_details(self, story: str) -> None:
        """The traceback, to be copied."""
        dialog = QDialog(self._window)
        dialog.setWindowTitle("Details of the error")
        dialog.resize(760, 420)
        text = QPlainTextEdit(story)
        text.setReadOnly(True)
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        where = QLabel(f"Also in {self._log}")
        where.setProperty("role", "small")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(story))
        buttons.rejected.connect(dialog.reject)
        dialog.finished.connect(dialog.deleteLater)
        column = QVBoxLayout(dialog)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(10)
        for widget in (text, where, buttons):
            column.addWidget(widget)
        dialog.open()
