"""The settings dialog and its sections."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings, QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QListWidget, QScrollArea, QWidget

from framefleet.app.window.models.files import ModelParts
from framefleet.app.window.queue import item, opening
from framefleet.app.window.results.stored import clock_preview
from framefleet.app.window.run.background import Background
from framefleet.app.window.settings.form import SettingsForm, words
from framefleet.app.window.settings.pages import DeviceForm, FoldersForm, ModelForm, WindowForm
from framefleet.app.window.settings.preferences import NAME, Preferences, read_settings, write_settings
from framefleet.app.window.widgets import fields, painting, questions, theme
from framefleet.app.window.widgets.build import column, label, push_button, row, say, show_inside, within_screen, wrapped
from framefleet.app.window.widgets.translation import of_engine, of_settings, translate
from framefleet.engine.notices import ExportError, Notice, UsageError
from framefleet.engine.settings import clock
from framefleet.engine.settings.checks import find_notes, find_problems
from framefleet.engine.settings.table import DEFAULTS, Section

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
        content = self.content
        also = content.search_words if isinstance(content, DeviceForm) else ""
        named = text.lower() in f"{self.title} {also}".lower()
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
        self.sections = [_Section(label("section", title), title, content, not place) for place, (title, content) in enumerate(sections)]
        self.sections.append(_Section(self.fold, self.fold.text(), advanced, False))
        self.inside = QWidget()
        self.nothing = label("muted")
        self.nothing.hide()
        column(self.nothing, *self.sections, None, spacing=16, margins=(24, 20, 24, 20), of=self.inside)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.topics = QListWidget()
        self.topics.setProperty("role", "topics")
        self.topics.setAccessibleName(translate("settings", "Topics"))
        self.topics.addItems([section.title for section in self.sections])
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
        for place, section in enumerate(self.sections):
            section.search(text)
            self.topics.item(place).setHidden(section.isHidden())
        found = [place for place, section in enumerate(self.sections) if not section.isHidden()]
        for place, section in enumerate(self.sections[1:], 1):
            section.line.setVisible(place not in found[:1])
        say(self.nothing, "" if found else translate("settings", "No setting has '{text}' in its name.").format(text=text))
        self._show_advanced(bool(text) or self.fold.isChecked())
        self.verticalScrollBar().setValue(0)
        self._choose(found[0] if found else -1)

    def _show_advanced(self, shown: bool) -> None:
        self.sections[-1].content.setVisible(shown)
        self.fold.setIcon(painting.icon("chevron-up" if self.fold.isChecked() else "chevron-down", theme.MUTED))

    def show_section(self, content: QWidget) -> None:
        """Scroll to the section with this content, and give it the keyboard focus."""
        self._jump(next(place for place, section in enumerate(self.sections) if section.content is content))
        content.setFocus(Qt.FocusReason.OtherFocusReason)

    def _jump(self, place: int) -> None:
        """Scroll to a section, and open it if it is folded."""
        section = self.sections[place]
        if section.content.isHidden():
            self.fold.setChecked(True)
        self.verticalScrollBar().setValue(section.y())
        self._choose(place)  # also if it cannot reach the top

    def _follow(self, value: int) -> None:
        """Choose the section at the top of the page, or the last one at its end."""
        shown = [place for place, section in enumerate(self.sections) if not section.isHidden()]
        passed = [place for place in shown if self.sections[place].y() <= value + NEAR]
        if shown:
            self._choose(shown[-1] if value == self.verticalScrollBar().maximum() else (passed or shown)[-1])

    def _choose(self, place: int) -> None:
        with QSignalBlocker(self.topics):
            self.topics.setCurrentRow(place)


WIDTH, MAX_HEIGHT = 880, 820
NOTHING: Mapping[str, str] = {}


class SettingsDialog(QDialog):
    """Edits preferences; after the dialog is accepted, ``preferences`` are the new ones.

    store: keeps the theme and the language. chosen: what the last run chose by itself, in words, by the setting's name. example: a file
    for which the dialog shows the clock time.
    """

    def __init__(
        self,
        preferences: Preferences,
        background: Background,
        store: QSettings,
        chosen: Mapping[str, str] = NOTHING,
        example: item.QueueItem | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._chosen, self._example = chosen, example
        self.setWindowTitle(translate("settings", "Settings"))
        self.setModal(True)
        self.setAcceptDrops(True)
        self.model = ModelForm(background)
        if example is not None:
            self.model.questions.source = lambda: example.path
        self.devices = DeviceForm()
        self.devices.set_devices(preferences.values["devices"])
        self._values = preferences.values
        sections = (Section.SHARING, Section.DETECTION, Section.VIDEOS, Section.ADVANCED)
        self.forms = [SettingsForm(section, preferences.values) for section in sections]
        self.sharing, self.detection, self.videos, self.advanced = self.forms
        self.folders = FoldersForm(background)
        self.folders.models_requested.connect(self.model.list_requested)
        self.window_ = WindowForm(store)
        self.problem = wrapped("error")
        self.search = fields.clearable(translate("settings", "Search settings"))
        self.search.textChanged.connect(self._search)
        buttons = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(buttons.RestoreDefaults | buttons.Save | buttons.Cancel)
        self.buttons.button(buttons.RestoreDefaults).setText(translate("settings", "Reset all"))
        self.buttons.button(buttons.RestoreDefaults).setToolTip(translate("settings", "Reset all settings except the model"))
        self.buttons.button(buttons.RestoreDefaults).clicked.connect(self.reset)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self._arrange()
        self.devices.changed.connect(self._validate)
        for form in self.forms:
            form.changed.connect(self._validate)
        self.model.checked.connect(self._validate)
        self.model.set_parts(ModelParts.of(preferences.model))
        self._validate()

    def _arrange(self) -> None:
        sections = (
            (translate("settings", "Model"), self.model),
            (of_settings(Section.DEVICES), self.devices),
            (of_settings(Section.SHARING), self.sharing),
            (of_settings(Section.DETECTION), self.detection),
            (of_settings(Section.VIDEOS), self.videos),
            (translate("settings", "Window"), self.window_),
            (translate("settings", "Files"), self.folders),
        )
        changed = any(value != DEFAULTS[name] for name, value in self.advanced.values.items())
        self.pane = Sections(sections, self.advanced, opened=changed)
        self.buttons.setContentsMargins(24, 12, 24, 14)
        exchange = (
            push_button(translate("settings", "Import…"), self._ask_import, tip=translate("settings", "Read all settings from a file")),
            push_button(translate("settings", "Export…"), self._ask_export, tip=translate("settings", "Write all settings to a file")),
        )
        head = column(row((self.search, 1), *exchange, spacing=8), self.problem, spacing=6, margins=(24, 16, 24, 8))
        whole = column(head, (row(self.pane.topics, (self.pane, 1), spacing=0), 1), spacing=0, of=self)
        show_inside(self.pane, self.pane.inside, "panel")  # now: before, all its widgets would compute their style again in the dialog
        whole.addWidget(self.buttons)

    @property
    def preferences(self) -> Preferences:
        """The preferences in the fields."""
        values = {**self._values, "devices": self.devices.devices}
        for form in self.forms:
            values |= form.values
        return Preferences(self.model.files, values)

    def reset(self) -> None:
        """Show the defaults of all settings except the model. They are kept when the dialog is accepted."""
        self._show(DEFAULTS, {})

    def done(self, outcome: int) -> None:
        """Keep the theme and the language, or show the theme of before."""
        if outcome == QDialog.DialogCode.Accepted.value:
            self.window_.keep()
        else:
            self.window_.restore()
        super().done(outcome)

    def _ask_import(self) -> None:
        questions.choose_path(self, translate("settings", "Import settings"), self.take, translate("settings", "Settings (*.json)"))

    def _ask_export(self) -> None:
        title, kinds = translate("settings", "Export settings"), translate("settings", "Settings (*.json)")
        questions.choose_path(self, title, self.give, kinds, NAME, questions.Mode.AnyFile)

    def take(self, path: str) -> None:
        """Show the settings of a file. They are kept when the dialog is accepted."""
        try:
            values, window = read_settings(Path(path))
        except UsageError as error:
            say(self.problem, f"{of_engine(error.notice, capital=True)}.")
            return
        say(self.problem, "")
        self._show(values, window)

    def _show(self, values: Mapping[str, Any], window: Mapping[str, str]) -> None:
        self.devices.set_devices(values["devices"])
        for form in self.forms:
            form.set_values(values)
        self.window_.values = window
        self._validate()

    def give(self, path: str) -> None:
        """Write the settings that the fields show."""
        try:
            write_settings(Path(path), self.preferences.values, self.window_.values)
        except ExportError as error:
            say(self.problem, f"{of_engine(error.notice, capital=True)}.")
        else:
            say(self.problem, "")

    def _search(self, text: str) -> None:
        self.pane.search(text)
        self._validate()

    def _validate(self) -> None:
        preferences = self.preferences
        values, used = preferences.values, preferences.values["devices"] or self.devices.default
        none = translate("settings", "Select at least one device, or the automatic choice.") if self.devices.none_ticked else ""
        problems: dict[str, Notice] = dict(find_problems(values, used, self.devices.offered) if used and not none else {})
        problems |= {name: text for form in self.forms for name, text in form.unreadable.items()}
        say(self.devices.problem, none)
        for form in self.forms:
            form.show_sentences(
                {name: f"{of_engine(text, capital=True)}." for name, text in problems.items()},
                {name: of_engine(text) for name, text in find_notes(values).items()},
                self._chosen,
                clock_preview(clock.ClockSettings(values["clock"], values["time_zone"]), self._example),
            )
        if problems.keys() & self.advanced.fields.keys():
            self.pane.fold.setChecked(True)  # so that the problem can be seen
        empty = preferences.model is None and not self.model.cfg.text and not self.model.weights.text
        usable = self.model.summary is not None or empty
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        save.setEnabled(usable and not (problems or none))
        why = (
            translate("settings", "A value cannot be used: see the message below it")
            if usable
            else translate("settings", "Choose a model that can be used")
        )
        save.setToolTip("" if save.isEnabled() else why)

    def showEvent(self, event: QShowEvent) -> None:
        """Make the dialog as high as its contents, within limits."""
        self.ensurePolished()
        height = self.pane.inside.sizeHint().height() + self.buttons.sizeHint().height() + 80
        self.resize(within_screen(self, WIDTH, min(height, MAX_HEIGHT)))
        super().showEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do not close the dialog at Enter in the search field."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or self.focusWidget() is not self.search:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept model files anywhere on the dialog."""
        if opening.sort_paths(opening.local_paths(event)).has_model:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the dropped files."""
        self.model.take(opening.sort_paths(opening.local_paths(event)))
        event.acceptProposedAction()
