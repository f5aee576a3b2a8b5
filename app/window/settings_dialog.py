"""The settings: model, devices, and how to detect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFrame,
    QLabel,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.window import theme
from app.window.background import Background
from app.window.device_form import DeviceForm
from app.window.form_grid import form_grid, indent
from app.window.intake import sort_paths
from app.window.model_form import ModelForm
from app.window.model_parts import ModelParts
from app.window.preferences import Preferences
from engine.settings import Parallel, Precision, Resize

_PRECISIONS = {
    Precision.AUTO: "Automatic: the fastest whose detections match FP32",
    Precision.FP32: "FP32",
    Precision.MIXED: "Mixed: FP32, the last layers BF16",
    Precision.BF16: "BF16",
    Precision.FP16: "FP16",
    Precision.INT8: "INT8",
}
_RESIZES = {
    Resize.AUTO: "As the model says",
    Resize.STRETCH: "Stretch to the network's shape",
    Resize.LETTERBOX: "Letterbox: keep the aspect ratio",
}
_PARALLELS = {
    Parallel.AUTO: "Automatic",
    Parallel.STREAMS: "Streams: each file stays on one device",
    Parallel.SEGMENTS: "Segments: all devices share each file",
}


Choice = TypeVar("Choice", bound=StrEnum)


def _combo(name: str, titles: Mapping[Choice, str], value: Choice) -> QComboBox:
    combo = QComboBox()
    combo.setAccessibleName(name)
    for choice, title in titles.items():
        combo.addItem(title, choice)
    combo.setCurrentIndex(list(titles).index(value))
    return combo


def _share(name: str, value: float) -> QDoubleSpinBox:
    spin = QDoubleSpinBox(minimum=0.01, maximum=1.0, singleStep=0.05, decimals=2, value=value)
    spin.setAccessibleName(name)
    return spin


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
        self.precision = _combo("Precision", _PRECISIONS, preferences.precision)
        self.resize_mode = _combo("Resize", _RESIZES, preferences.resize)
        self.parallel = _combo("Strategy", _PARALLELS, preferences.parallel)
        self.batch = QSpinBox(minimum=0, maximum=1024, value=preferences.batch or 0)
        self.batch.setSpecialValueText("Automatic")
        self.batch.setAccessibleName("Batch")
        self.confidence = _share("Confidence", preferences.confidence)
        self.iou = _share("Overlap (IoU)", preferences.iou)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        for button in self.buttons.buttons():
            button.setIcon(type(button.icon())())  # the style's own icons are not ours
        self._arrange()
        self.model.checked.connect(self._validate)
        self.devices.changed.connect(self._validate)
        self.model.set_parts(ModelParts.of(preferences.model))
        self._validate()

    def _arrange(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(12)
        for number, (title, content) in enumerate((("Model", self.model), ("Devices", self.devices), ("Detection", self._detection()))):
            if number:
                column.addSpacing(4)
                line = QFrame()
                line.setProperty("role", "line")
                column.addWidget(line)
                column.addSpacing(4)
            heading = QLabel(title)
            heading.setProperty("role", "section")
            column.addWidget(heading)
            column.addWidget(content)
        column.addStretch()
        scroll = QScrollArea()
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
        self.resize(640, min(inside.sizeHint().height() + self.buttons.sizeHint().height() + 4, 800))

    def _detection(self) -> QWidget:
        content = QWidget()
        for field in (self.batch, self.confidence, self.iou):
            field.setFixedWidth(124)
            indent(field)
        content.setLayout(
            form_grid(
                (
                    ("Precision", self.precision),
                    ("Resize", self.resize_mode),
                    ("Strategy", self.parallel),
                    ("Batch", self.batch, "frames per inference"),
                    ("Confidence", self.confidence, "for a start; the slider beside the video changes it"),
                    ("IoU", self.iou, "overlap above which the weaker of two boxes goes"),
                )
            )
        )
        return content

    @property
    def preferences(self) -> Preferences:
        """What the fields say."""
        return Preferences(
            self.model.files,
            self.devices.devices,
            Precision(self.precision.currentData()),  # Qt hands enumerations back as plain text
            Resize(self.resize_mode.currentData()),
            Parallel(self.parallel.currentData()),
            self.batch.value() or None,
            round(self.confidence.value(), 2),
            round(self.iou.value(), 2),
        )

    @Slot()
    def _validate(self) -> None:
        empty = self.model.files is None and not self.model.cfg.text and not self.model.weights.text
        save = self.buttons.button(QDialogButtonBox.StandardButton.Save)
        save.setEnabled((self.model.summary is not None or empty) and self.devices.valid)
        save.setToolTip("" if save.isEnabled() else "Choose a model that can be used, and at least one device")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Model files may be dropped anywhere on the dialog."""
        if sort_paths(_local_paths(event)).has_model:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take them."""
        self.model.take(sort_paths(_local_paths(event)))
        event.acceptProposedAction()


def _local_paths(event: QDropEvent) -> Sequence[Path]:
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
