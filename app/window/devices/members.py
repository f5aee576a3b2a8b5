"""The devices that share one engine, below its figures."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from framefleet.app.window.devices.columns import RowColumns, RowHeading
from framefleet.app.window.devices.row import DeviceRow
from framefleet.app.window.devices.telemetry_text import metrics
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import column
from framefleet.engine.devices.telemetry.snapshot import Telemetry
from framefleet.engine.types import DeviceId


class MemberRows(QWidget):
    """A row with metrics for each of several devices that share one engine; the rows cannot be clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.heading = RowHeading()
        self.rows: dict[DeviceId, DeviceRow] = {}
        self._column = column(self.heading, spacing=0, of=self)

    def show_members(self, telemetry: Mapping[DeviceId, Telemetry | None]) -> None:
        """Show these devices with their latest telemetry, None where it is unknown."""
        if tuple(telemetry) != tuple(self.rows):
            self._set_rows(telemetry)
        names: tuple[str, ...] = ()
        for device, snapshot in telemetry.items():
            shown = metrics(snapshot) if snapshot is not None else ()
            names = max(names, tuple(metric.name for metric in shown), key=len)
            self.rows[device].change(name=str(device), colour=theme.ACCENT, metrics=shown)
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
