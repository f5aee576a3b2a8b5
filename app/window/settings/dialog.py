"""The settings dialog: model, devices, how to detect, how to share the work."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.window.models.parts import ModelParts
from app.window.queue.file_drops import local_paths
from app.window.queue.intake import sort_paths
from app.window.session.background import Background
from app.window.settings.device_form import DeviceForm
from app.window.settings.form import SettingsForm
from app.window.settings.model_form import ModelForm
from app.window.settings.preferences import Preferences
from app.window.widgets import formats, theme
from app.window.widgets.icons import icon
from app.window.widgets.indicators import say
from app.window.widgets.screen_fit import within_screen
from engine.settings.checks import find_notes, find_problems
from engine.settings.table import DEFAULTS, Section

WIDTH, MOST_HEIGHT = 640, 820


class SettingsDialog(QDialog):
    """Edits a copy of the preferences; ``preferences`` has it once the dialog is accepted."""

    def __init__(self, preferences: Preferences, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self.setModal(True)
        self.setAcceptDrops(True)
        self.model = ModelForm(background)
        self.devices = DeviceForm()
        self.devices.set_devices(preferences.values["devices"])
        self._values = preferences.values
        self.sharing, self.detection, self.advanced = self._forms = [
            SettingsForm(section, preferences.values) for section in (Section.SHARING, Section.DETECTION, Section.ADVANCED)
        ]
        self.fold = QPushButton("Advanced")
        self.fold.setCheckable(True)
        self.fold.setChecked(any(value != DEFAULTS[name] for name, value in self.advanced.values.items()))
        self.fold.setProperty("role", "fold")
        self.fold.toggled.connect(self._fold)
        self.fold.toggled.connect(self._reveal)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        for button in self.buttons.buttons():
            button.setIcon(type(button.icon())())  # without the style's own icons
        self._arrange()
        self._fold()
        self.devices.changed.connect(self._validate)
        for form in self._forms:
            form.changed.connect(self._validate)
        self.model.checked.connect(self._validate)
        self.model.set_parts(ModelParts.of(preferences.model))
        self._validate()

    def _arrange(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(12)
        parts = (
            ("Model", self.model),
            (Section.DEVICES, self.devices),
            (Section.SHARING, self.sharing),
            (Section.DETECTION, self.detection),
            ("", self.fold),
        )
        for number, (title, content) in enumerate(parts):
            if number:
                column.addSpacing(4)
                line = QFrame()
                line.setProperty("role", "line")
                column.addWidget(line)
                column.addSpacing(4)
            if title:
                heading = QLabel(title)
                heading.setProperty("role", "section")
                column.addWidget(heading)
            column.addWidget(content)
        column.addWidget(self.advanced)
        column.addStretch()
        self.pane = scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields have the focus, and it scrolls to them
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        inside.setObjectName("inside")
        inside.setStyleSheet(f"#inside {{ background: {theme.SURFACE}; }}")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(scroll, 1)
        self.buttons.setContentsMargins(24, 12, 24, 14)
        outer.addWidget(self.buttons)
        self._inside = inside

    @property
    def preferences(self) -> Preferences:
        """The preferences in the fields."""
        values = {**self._values, "devices": self.devices.devices}
        for form in self._forms:
            values |= form.values
        return Preferences(self.model.files, values)

    @Slot()
    def _fold(self) -> None:
        opened = self.fold.isChecked()
        self.advanced.setVisible(opened)
        self.fold.setIcon(icon("chevron-up" if opened else "chevron-down", theme.MUTED))

    @Slot()
    def _reveal(self) -> None:
        QTimer.singleShot(0, self, self._scroll_down)  # when the fields have their places

    @Slot()
    def _scroll_down(self) -> None:
        self.pane.ensureWidgetVisible(self.advanced)

    @Slot()
    def _validate(self) -> None:
        preferences = self.preferences
        values, used = preferences.values, preferences.values["devices"] or self.devices.default
        none = "Tick at least one device, or leave the choice to Framefleet." if self.devices.none_ticked else ""
        problems = find_problems(values, used, self.devices.offered) if used and not none else {}
        say(self.devices.problem, none)
        for form in self._forms:
            form.show_problems({name: f"{formats.capitalised(text)}." for name, text in problems.items()}, find_notes(values))
        empty = preferences.model is None and not self.model.cfg.text and not self.model.weights.text
        usable = self.model.summary is not None or empty
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        save.setEnabled(usable and not (problems or none))
        why = "Something cannot be used: see the text in red" if usable else "Choose a model that can be used"
        save.setToolTip("" if save.isEnabled() else why)

    def showEvent(self, event: QShowEvent) -> None:
        """Make the dialog as high as its contents, within limits."""
        self.ensurePolished()
        height = self._inside.sizeHint().height() + self.buttons.sizeHint().height() + 20
        self.resize(within_screen(self, WIDTH, min(height, MOST_HEIGHT)))
        super().showEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept model files anywhere on the dialog."""
        if sort_paths(local_paths(event)).has_model:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the dropped files."""
        self.model.take(sort_paths(local_paths(event)))
        event.acceptProposedAction()
