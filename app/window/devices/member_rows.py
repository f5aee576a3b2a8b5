"""What each of several devices does that work as one."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.window.devices.row import DeviceRow, RowContent
from app.window.devices.row_columns import RowColumns, RowHeading
from app.window.devices.telemetry_text import readings
from app.window.widgets import theme
from engine.devices.telemetry.snapshot import Telemetry
from engine.types import DeviceId


class MemberRows(QWidget):
    """A row for each, with its readings; there is nothing to click."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = RowHeading()
        self.rows: dict[DeviceId, DeviceRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.heading)

    def show_members(self, telemetry: Mapping[DeviceId, Telemetry | None]) -> None:
        """These devices, and what each is doing; None where that is not known."""
        if tuple(telemetry) != tuple(self.rows):
            self._set_rows(telemetry)
        names: tuple[str, ...] = ()
        for device, snapshot in telemetry.items():
            shown = readings(snapshot) if snapshot is not None else ()
            names = max(names, tuple(reading.short for reading in shown), key=len)
            self.rows[device].show_device(RowContent(str(device), theme.ACCENT, readings=shown))
        self.heading.show_names(names)

    def _set_rows(self, devices: Mapping[DeviceId, object]) -> None:
        for row in self.rows.values():
            self._column.removeWidget(row)
            row.deleteLater()
        columns = RowColumns(max(map(str, devices), key=len))
        self.heading.set_columns(columns)
        self.rows = {device: DeviceRow() for device in devices}
        for row in self.rows.values():
            row.set_columns(columns)
            row.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._column.addWidget(row)
