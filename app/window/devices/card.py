"""The card of one device: hardware, engine, state, telemetry and throughput."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import Enum, auto

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QFrame, QMenu, QProgressBar, QWidget

from app.window.devices import status_text
from app.window.devices.figures import DeviceFigures
from app.window.devices.gauges import Gauges
from app.window.devices.rows import DeviceRow, MemberRows, RowColumns
from app.window.devices.status import DeviceStatus, Phase
from app.window.devices.telemetry_text import details, metrics
from app.window.widgets import formats, theme
from app.window.widgets.build import ElidedLabel, Light, column, label, row, say, tool_button, wrapped
from app.window.widgets.icons import icon
from app.window.widgets.translation import marked, translate
from engine.devices.description import DeviceDescription
from engine.devices.telemetry.snapshot import Telemetry
from engine.types import DeviceId

MARGIN = 12
_ROW_MESSAGES = {
    Phase.STARTING: marked("devices", "Building the engine…"),
    Phase.LEAVING: marked("devices", "Leaving this run…"),
    Phase.LEFT: marked("devices", "Left this run"),
}


class Change(Enum):
    """How the user can change a device's part in the current run."""

    JOIN = auto()
    LEAVE = auto()


class DeviceCard(QFrame):
    """Shows one ``DeviceStatus`` and its telemetry. Charts and gauges change only in ``refresh``.

    Among many devices it is a row, and a click opens the whole card. join_requested, leave_requested: the card's DeviceId.
    """

    join_requested = Signal(object)
    leave_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._status: DeviceStatus | None = None
        self._description: DeviceDescription | None = None
        self._share: float | None = None
        self._change: Change | None = None
        self._columns: RowColumns | None = None
        self._open = False
        self.row = DeviceRow()
        self.row.toggled.connect(self.toggle)
        self.dot, self.name, self.phase = Light(), label("section"), label("small")
        self.change = tool_button("close", "")
        self.change.setProperty("role", "small-flat")
        self.change.setIconSize(QSize(14, 14))
        self.change.clicked.connect(self._request_change)
        self.hardware, self.engine = ElidedLabel("small"), ElidedLabel("small")
        self.message, self.note = wrapped("error"), wrapped("notice")
        self.building = QProgressBar(minimum=0, maximum=1000, textVisible=False)
        self.building.setFixedHeight(6)
        self.gauges, self.members, self.figures = Gauges(), MemberRows(), DeviceFigures()
        for widget in (self.row, self.change, self.building, self.gauges, self.members, self.figures):
            widget.hide()
        head = QWidget()
        row(self.dot, self.name, None, self.phase, self.change, spacing=8, of=head)
        words = column(head, self.hardware, self.engine, self.message, self.note, self.building, spacing=4)
        self.whole = QWidget()
        self._column = column(words, self.gauges, self.members, self.figures, spacing=10, of=self.whole)
        column(self.row, self.whole, spacing=0, of=self)
        self.set_row(None)

    def set_row(self, columns: RowColumns | None) -> None:
        """Show a row with these columns, or the whole card if there are none."""
        if columns is not None and columns == self._columns:
            return
        self._columns = columns
        narrow = columns is not None
        if columns is not None:
            self.row.set_columns(columns)
        self.row.setVisible(narrow)
        self.dot.setVisible(not narrow)
        self.name.setVisible(not narrow)
        self.whole.setVisible(self._open or not narrow)
        self._column.setContentsMargins(MARGIN, 0 if narrow else MARGIN, MARGIN, MARGIN)

    def toggle(self) -> None:
        """Open or close the card below the row."""
        self._open = not self._open
        self.whole.setVisible(self._open)
        self.refresh()

    def set_change(self, change: Change | None) -> None:
        """Offer to let the device join the run or leave it; None offers nothing."""
        if change is self._change:
            return
        self._change = change
        self.change.setVisible(change is not None)
        if change is not None and self._status is not None:
            title = (
                translate("devices", "Let {device} take part").format(device=self._status.device)
                if change is Change.JOIN
                else translate("devices", "Take {device} out of this run").format(device=self._status.device)
            )
            self.change.setIcon(icon("add" if change is Change.JOIN else "close", theme.MUTED))
            self.change.setToolTip(title)
            self.change.setAccessibleName(title)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the change in a menu, because a closed row has no button."""
        if self._change is not None:
            self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """A menu with the action of the button."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.change.icon(), self.change.toolTip(), self._request_change)
        return menu

    def _request_change(self) -> None:
        if self._status is not None and self._change is not None:
            (self.join_requested if self._change is Change.JOIN else self.leave_requested).emit(self._status.device)

    def describe(self, description: DeviceDescription | None) -> None:
        """Set the description that discovery made of the device, None = unknown."""
        if description != self._description:
            self._description = description
            if self._status is not None:
                self._show_text(self._status)

    def show_status(self, status: DeviceStatus, share: float | None = None) -> None:
        """Show a status: text at once, charts at the next ``refresh``. share: of all work, 0..1, None = it is the only device."""
        before, self._status, self._share = self._status, status, share
        if before is None or _text_parts(before) != _text_parts(status):
            self._show_text(status)

    def _show_text(self, status: DeviceStatus) -> None:
        known, title = self._description, status_text.title(status)
        self.name.setText(str(status.device))
        self.phase.setText(title)
        self.dot.set_colour(status_text.colour(status))
        for widget in (self.name, self.hardware, self.engine, self.figures):
            widget.setEnabled(status.phase is not Phase.LEFT)
        broken = status.phase in (Phase.FAILED, Phase.RESTARTING)
        step, progress = status.building or ("", 0.0)
        say(self.message, status.message if broken else "")
        say(self.note, status.note)
        self.building.setVisible(status.building is not None)
        self.building.setValue(round(1000 * progress))
        say(self.hardware, status_text.hardware(status, known))
        self.hardware.setToolTip("\n".join(filter(None, (self.hardware.text(), status_text.facts(known), known.uuid if known else ""))))
        say(self.engine, status_text.engine_line(status, known))
        self.engine.setToolTip(status_text.engine_details(status, known))
        self.figures.setVisible(status.engine is not None)
        self.figures.show_work(status, self._share)
        message = (
            (status.message or title) if broken else step if status.building else translate("devices", _ROW_MESSAGES.get(status.phase, ""))
        )
        self.row.change(message=message, progress=0.0 if broken else progress, serious=broken)
        self.setAccessibleName(f"{status.device}, {title} {status.message}")

    def show_telemetry(self, telemetry: Telemetry | None, problem: str | None = None) -> None:
        """Show the device's telemetry, None = unknown. problem: why values are missing."""
        shown = metrics(telemetry) if telemetry is not None else ()
        self.gauges.setVisible(bool(shown))
        self.gauges.show_metrics(shown)
        self.gauges.setToolTip(problem or (details(telemetry) if telemetry is not None else ""))
        status = self._status
        if self._columns is not None and status is not None:
            rate = formats.rate(status.rate) if status.working else formats.DASH
            colour, off = status_text.colour(status), status.phase is Phase.LEFT
            self.row.change(name=str(status.device), colour=colour, rate=rate, share=self._share, metrics=shown, off=off)
            self.row.setToolTip(self.gauges.toolTip())

    def show_members(self, telemetry: Mapping[DeviceId, Telemetry | None]) -> None:
        """Show the telemetry of the devices that share one engine."""
        self.members.show()
        self.members.show_members(telemetry)

    def refresh(self, now: float | None = None) -> None:
        """Redraw charts and figures, unless the card is closed. now: monotonic seconds."""
        status = self._status
        if status is None or not self.whole.isVisibleTo(self):
            return
        self.phase.setText(status_text.title(status))
        self.figures.show_work(status, self._share)
        self.figures.refresh(status, time.monotonic() if now is None else now)


def _text_parts(status: DeviceStatus) -> tuple[object, ...]:
    """The parts of a status that the card shows as text."""
    return status.phase, status.attempt, status.engine, status.message, status.note, status.building
