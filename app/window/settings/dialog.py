"""The settings: model, devices, how to detect, how to share the work."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.window.models.parts import ModelParts
from app.window.queue.file_drops import local_paths
from app.window.queue.intake import sort_paths
from app.window.session.background import Background
from app.window.settings.advanced_form import AdvancedForm
from app.window.settings.check import check
from app.window.settings.detection_form import DetectionForm
from app.window.settings.device_form import DeviceForm
from app.window.settings.model_form import ModelForm
from app.window.settings.preferences import Preferences
from app.window.settings.sharing_form import SharingForm
from app.window.widgets import theme
from app.window.widgets.indicators import say
from app.window.widgets.screen_fit import within_screen
from engine.settings import Decode, Hint, Isolation, Precision, Resize

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
        self.devices.set_devices(preferences.devices)
        self.detection = DetectionForm(preferences)
        self.sharing = SharingForm(preferences)
        self.advanced = AdvancedForm(preferences)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        for button in self.buttons.buttons():
            button.setIcon(type(button.icon())())  # the style's own icons are not ours
        self._arrange()
        self.advanced.button.toggled.connect(self._reveal)
        for part in (self.devices, self.detection, self.sharing, self.advanced):
            part.changed.connect(self._validate)
        self.detection.batch.valueChanged.connect(self._validate)
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
            ("Devices", self.devices),
            ("Sharing the work", self.sharing),
            ("Detection", self.detection),
            ("", self.advanced),
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
        column.addStretch()
        self.pane = scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields have it, and are scrolled to
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
        """What the fields say."""
        detection, sharing, advanced = self.detection, self.sharing, self.advanced
        return Preferences(
            self.model.files,
            self.devices.devices,
            Precision(detection.precision.currentData()),  # Qt hands enumerations back as plain text
            Resize(detection.resize_mode.currentData()),
            sharing.strategy,
            detection.batch.value() or None,
            round(detection.confidence.value(), 2),
            round(detection.iou.value(), 2),
            Decode(detection.decode.currentData()),
            sharing.tiles,
            Isolation(advanced.isolation.currentData()),
            advanced.decode_threads.value() or None,
            round(advanced.latency_budget.value(), 1) or None,
            Hint(advanced.hint.currentData()),
        )

    @Slot()
    def _reveal(self) -> None:
        """What was folded away is seen at once."""
        QTimer.singleShot(0, self, self._scroll_down)

    @Slot()
    def _scroll_down(self) -> None:
        self.pane.ensureWidgetVisible(self.advanced)

    @Slot()
    def _validate(self) -> None:
        preferences = self.preferences
        problems = check(preferences, self.devices.found, self.devices.automatic.isChecked())
        say(self.devices.problem, problems.devices)
        say(self.detection.precision_problem, problems.precision)
        say(self.detection.decode_problem, problems.decode)
        say(self.sharing.problem, problems.parallel)
        fixed = preferences.batch is not None and preferences.latency_budget is not None
        say(self.advanced.budget_note, f"It has no effect while the batch is set to {preferences.batch}." if fixed else "")
        empty = preferences.model is None and not self.model.cfg.text and not self.model.weights.text
        usable = self.model.summary is not None or empty
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        save.setEnabled(usable and not problems)
        why = "Something cannot be used: see what is written in red" if usable else "Choose a model that can be used"
        save.setToolTip("" if save.isEnabled() else why)

    def showEvent(self, event: QShowEvent) -> None:
        """As high as what is in it, within reason."""
        self.ensurePolished()
        height = self._inside.sizeHint().height() + self.buttons.sizeHint().height() + 20
        self.resize(within_screen(self, WIDTH, min(height, MOST_HEIGHT)))
        super().showEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Model files may be dropped anywhere on the dialog."""
        if sort_paths(local_paths(event)).has_model:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take them."""
        self.model.take(sort_paths(local_paths(event)))
        event.acceptProposedAction()
