"""The sections of the settings dialog, one below the other: their search, and the fold with the advanced settings."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.window.settings.form import SettingsForm
from app.window.widgets import theme
from app.window.widgets.build import column, label, push_button, show_inside
from app.window.widgets.icons import icon
from app.window.widgets.translation import translate


class _Section(QWidget):
    """A heading and its content, below a line except in the first section."""

    def __init__(self, title: str, content: QWidget, first: bool) -> None:
        super().__init__()
        self._title, self._content = title, content
        line = QFrame()
        line.setProperty("role", "line")
        column(*(() if first else (line, 4)), *((label("section", title),) if title else ()), content, spacing=12, of=self)

    def search(self, text: str) -> None:
        """Show the rows with this text, and all of a section that is named so."""
        named = text.lower() in self._title.lower()
        content = self._content
        self.setVisible(content.search("" if named else text) if isinstance(content, SettingsForm) else named)


class Sections(QScrollArea):
    """Shows sections, each with its title, and the advanced settings, which the user can fold. opened: show them at first."""

    def __init__(self, sections: Sequence[tuple[str, QWidget]], advanced: SettingsForm, opened: bool) -> None:
        super().__init__()
        self._advanced = advanced
        self.fold = push_button(translate("settings", "Advanced"), role="fold")
        self.fold.setCheckable(True)
        self.fold.setChecked(opened)
        self.fold.toggled.connect(self._show_advanced)
        self.fold.toggled.connect(lambda: QTimer.singleShot(0, self, lambda: self.ensureWidgetVisible(advanced)))  # after their layout
        self._sections = [_Section(title, content, not place) for place, (title, content) in enumerate(sections)]
        self._folded = _Section("", self.fold, False)
        self.inside = QWidget()
        column(*self._sections, self._folded, advanced, None, spacing=16, margins=(24, 20, 24, 20), of=self.inside)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        show_inside(self, self.inside, theme.SURFACE)
        self._show_advanced()

    def search(self, text: str) -> None:
        """Show the rows with this text, and the sections that have such rows or are named so. "": all."""
        for section in self._sections:
            section.search(text)
        self._folded.setVisible(not text)
        found = self._advanced.search(text)
        if text:
            self._advanced.setVisible(found)
        else:
            self._show_advanced()

    def _show_advanced(self) -> None:
        opened = self.fold.isChecked()
        self._advanced.setVisible(opened)
        self.fold.setIcon(icon("chevron-up" if opened else "chevron-down", theme.MUTED))
