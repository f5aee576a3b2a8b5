"""The sections of the settings dialog, one below the other, with a list of topics, a search and a fold for the advanced settings."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import QFrame, QListWidget, QScrollArea, QWidget

from framefleet.app.window.settings.form import SettingsForm, words
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import column, label, push_button, say, show_inside
from framefleet.app.window.widgets.painting import icon
from framefleet.app.window.widgets.translation import translate

TOPICS_WIDTH = 14
"""Width of the list of topics, times the height of body text."""
NEAR = 24
"""A section whose top is this far below that of the page counts as the one that is read, logical pixels."""


class _Section(QWidget):
    """A heading and its content, below a line except in the first section."""

    def __init__(self, heading: QWidget, title: str, content: QWidget, first: bool) -> None:
        super().__init__()
        self.title, self.content = title, content
        self.line = QFrame()
        self.line.setProperty("role", "line")
        column(*(() if first else (self.line, 4)), heading, content, spacing=12, of=self)

    def search(self, text: str) -> None:
        """Show the rows with this text, and all of a section that is named so or, if it has no rows, contains the text. "": all."""
        named = text.lower() in self.title.lower()
        content = self.content
        found = content.search("" if named else text) if isinstance(content, SettingsForm) else text.lower() in words(content).lower()
        self.setVisible(named or found)


class Sections(QScrollArea):
    """Shows sections, each with its title. The user can fold the advanced settings. opened: show them at first.

    topics: a list of the titles. A choice there scrolls to the section, and scrolling changes the choice.
    """

    def __init__(self, sections: Sequence[tuple[str, QWidget]], advanced: SettingsForm, opened: bool) -> None:
        super().__init__()
        self.fold = push_button(translate("settings", "Advanced"), role="fold")
        self.fold.setCheckable(True)
        self.fold.setChecked(opened)
        self.fold.toggled.connect(self._show_advanced)
        show_last = partial(self._jump, len(sections))
        self.fold.toggled.connect(lambda opened: QTimer.singleShot(0, self, show_last) if opened else None)  # after their layout
        self._sections = [_Section(label("section", title), title, content, not place) for place, (title, content) in enumerate(sections)]
        self._sections.append(_Section(self.fold, self.fold.text(), advanced, False))
        self.inside = QWidget()
        self.nothing = label("muted")
        self.nothing.hide()
        column(self.nothing, *self._sections, None, spacing=16, margins=(24, 20, 24, 20), of=self.inside)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        show_inside(self, self.inside, "panel")
        self.topics = QListWidget()
        self.topics.setProperty("role", "topics")
        self.topics.setAccessibleName(translate("settings", "Topics"))
        self.topics.addItems([section.title for section in self._sections])
        self.topics.setCurrentRow(0)
        self.topics.setFixedWidth(TOPICS_WIDTH * theme.base_size())
        self.topics.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.topics.setResizeMode(QListWidget.ResizeMode.Adjust)  # the style, which sets the height of lines, comes later
        self.topics.currentRowChanged.connect(self._jump)
        self.topics.itemClicked.connect(lambda: self._jump(self.topics.currentRow()))
        self.verticalScrollBar().valueChanged.connect(self._follow)
        self._show_advanced(opened)

    def search(self, text: str) -> None:
        """Show the rows with this text, and the sections that have such rows or are named so. "": all."""
        for row, section in enumerate(self._sections):
            section.search(text)
            self.topics.item(row).setHidden(section.isHidden())
        found = [row for row, section in enumerate(self._sections) if not section.isHidden()]
        for row, section in enumerate(self._sections[1:], 1):
            section.line.setVisible(row not in found[:1])
        say(self.nothing, "" if found else translate("settings", "No setting has '{text}' in its name.").format(text=text))
        self._show_advanced(bool(text) or self.fold.isChecked())
        self.verticalScrollBar().setValue(0)
        self._choose(found[0] if found else -1)

    def _show_advanced(self, shown: bool) -> None:
        self._sections[-1].content.setVisible(shown)
        self.fold.setIcon(icon("chevron-up" if self.fold.isChecked() else "chevron-down", theme.MUTED))

    def _jump(self, row: int) -> None:
        """Scroll to a section, and open it if it is folded."""
        section = self._sections[row]
        if section.content.isHidden():
            self.fold.setChecked(True)
        self.verticalScrollBar().setValue(section.y())
        self._choose(row)  # also if it cannot reach the top

    def _follow(self, value: int) -> None:
        """Choose the section at the top of the page, or the last one at its end."""
        shown = [row for row, section in enumerate(self._sections) if not section.isHidden()]
        passed = [row for row in shown if self._sections[row].y() <= value + NEAR]
        if shown:
            self._choose(shown[-1] if value == self.verticalScrollBar().maximum() else (passed or shown)[-1])

    def _choose(self, row: int) -> None:
        with QSignalBlocker(self.topics):
            self.topics.setCurrentRow(row)
