"""Choosing devices: automatic, or any of those found."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.window.indicators import ElidedLabel
from engine.devices.description import DeviceDescription
from engine.types import DeviceId


class DeviceForm(QWidget):
    """A check box for "automatic" and one for each device. changed: something was ticked."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.automatic = QCheckBox("Automatic: the best available")
        self.automatic.setChecked(True)
        self.automatic.toggled.connect(self._enable)
        self.hint = QLabel("Looking for devices…")
        self.hint.setProperty("role", "small")
        self.hint.setWordWrap(True)
        self.boxes: dict[DeviceId, QCheckBox] = {}
        self._wanted: tuple[DeviceId, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addWidget(self.automatic)
        self._column.addWidget(self.hint)

    @property
    def devices(self) -> tuple[DeviceId, ...]:
        """The chosen devices; empty = automatic."""
        if self.automatic.isChecked():
            return ()
        return tuple(device for device, box in self.boxes.items() if box.isChecked()) if self.boxes else self._wanted

    @property
    def valid(self) -> bool:
        """Whether there is anything to run on."""
        return self.automatic.isChecked() or bool(self.devices)

    def set_devices(self, devices: Sequence[DeviceId]) -> None:
        """Tick these; none = automatic."""
        self._wanted = tuple(devices)
        self.automatic.setChecked(not devices)
        for device, box in self.boxes.items():
            box.setChecked(device in devices)
        self._enable()

    def offer(self, found: Sequence[DeviceDescription]) -> None:
        """These were found. What was chosen before and is not among them stays on the list, and says so."""
        for description in found:
            if description.problem is None:
                self._add(description.id, f"{description.name} · {', '.join(description.precisions)} · {description.backend}", True)
            else:
                self._add(description.id, f"{description.name}: {description.problem}", False)
        for device in self._wanted:
            if device not in self.boxes:
                self._add(device, "was not found on this machine", True)
        self.hint.hide()
        self._enable()

    def _add(self, device: DeviceId, detail: str, usable: bool) -> None:
        box = QCheckBox(str(device))
        box.setAccessibleName(f"{device}, {detail}")
        box.setChecked(device in self._wanted)
        box.setProperty("usable", usable)
        box.toggled.connect(self.changed)
        label = ElidedLabel("small")
        label.setText(detail)
        label.setToolTip(detail)
        row = QHBoxLayout()
        row.setContentsMargins(22, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(box)
        row.addWidget(label, 1)
        self._column.addLayout(row)
        self.boxes[device] = box

    def fail(self, message: str) -> None:
        """Looking for devices went wrong."""
        self.hint.setText(message)

    @Slot()
    def _enable(self) -> None:
        for box in self.boxes.values():
            box.setEnabled(not self.automatic.isChecked() and (box.property("usable") or box.isChecked()))
        self.changed.emit()
