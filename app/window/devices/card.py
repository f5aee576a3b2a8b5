"""One device: what it is, what it does, how fast."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import Enum, auto

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.window.devices import status_text as device_words
from app.window.devices.figures import DeviceFigures
from app.window.devices.member_rows import MemberRows
from app.window.devices.row import DeviceRow, Matter, RowContent
from app.window.devices.row_columns import RowColumns
from app.window.devices.status import DeviceStatus, Phase
from app.window.devices.telemetry_text import details, readings
from app.window.viewer.transport import tool_button
from app.window.widgets import formats, theme
from app.window.widgets.gauges import Gauges
from app.window.widgets.icons import icon
from app.window.widgets.indicators import Dot, ElidedLabel, ProgressBar, label, say, wrapped
from engine.devices.description import DeviceDescription
from engine.devices.telemetry.snapshot import Telemetry
from engine.types import DeviceId

MARGIN = 12
_ROW_MATTERS = {Phase.STARTING: "Building the engine…", Phase.LEAVING: "Leaving this run…", Phase.LEFT: "Left this run"}


class Change(Enum):
    """What the user can do about a device while a run goes on."""

    JOIN = auto()
    LEAVE = auto()


class DeviceCard(QFrame):
    """Shows one ``DeviceStatus`` and its telemetry; charts and gauges move only when ``refresh`` is called.

    Among many it is a row, which opens to the whole card when it is clicked. join_requested, leave_requested: its DeviceId.
    """

    join_requested = Signal(object)
    leave_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._status: DeviceStatus | None = None
        self._description: DeviceDescription | None = None
        self._share: float | None = None
        self._change: Change | None = None
        self._columns: RowColumns | None = None
        self._narrow = self._open = False
        self.row = DeviceRow()
        self.row.hide()
        self.row.toggled.connect(self.toggle)
        self.dot = Dot()
        self.name = label("section")
        self.phase = label("small")
        self.change = tool_button("close", "")
        self.change.setProperty("role", "small-flat")
        self.change.setIconSize(QSize(14, 14))
        self.change.clicked.connect(self._ask_for_change)
        self.change.hide()
        self.hardware = ElidedLabel("small")
        self.engine = ElidedLabel("small")
        self.message = wrapped("error")
        self.note = wrapped("notice")
        self.building = ProgressBar()
        self.building.hide()
        self.gauges = Gauges()
        self.gauges.hide()
        self.members = MemberRows()
        self.members.hide()
        self.figures = DeviceFigures()
        self.figures.hide()
        self._arrange()

    def _arrange(self) -> None:
        self.head = QWidget()
        head = QHBoxLayout(self.head)
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(8)
        head.addWidget(self.dot)
        head.addWidget(self.name)
        head.addStretch()
        head.addWidget(self.phase)
        head.addWidget(self.change)
        words = QVBoxLayout()
        words.setSpacing(4)
        for widget in (self.head, self.hardware, self.engine, self.message, self.note, self.building):
            words.addWidget(widget)
        self.whole = QWidget()
        self._column = QVBoxLayout(self.whole)
        self._column.setSpacing(10)
        self._column.addLayout(words)
        self._column.addWidget(self.gauges)
        self._column.addWidget(self.members)
        self._column.addWidget(self.figures)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self.row)
        outer.addWidget(self.whole)
        self.set_row(None)

    def set_row(self, columns: RowColumns | None) -> None:
        """As a row with these columns, or as the whole card."""
        if columns is not None and columns == self._columns:
            return
        self._columns = columns
        self._narrow = narrow = columns is not None
        if columns is not None:
            self.row.set_columns(columns)
        self.row.setVisible(narrow)
        self.dot.setVisible(not narrow)
        self.name.setVisible(not narrow)
        self.whole.setVisible(self._open or not narrow)
        self._column.setContentsMargins(MARGIN, 0 if narrow else MARGIN, MARGIN, MARGIN)

    @Slot()
    def toggle(self) -> None:
        """Open the row, or close it."""
        self._open = not self._open
        self.whole.setVisible(self._open)
        self.refresh()

    def set_change(self, change: Change | None) -> None:
        """Whether the user may let it join the run, or take it out."""
        if change is self._change:
            return
        self._change = change
        self.change.setVisible(change is not None)
        if change is not None and self._status is not None:
            title = f"Let {self._status.device} take part" if change is Change.JOIN else f"Take {self._status.device} out of this run"
            self.change.setIcon(icon("add" if change is Change.JOIN else "close", theme.MUTED))
            self.change.setToolTip(title)
            self.change.setAccessibleName(title)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The same choice, also where only the row can be seen."""
        if self._change is not None:
            self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """What the user can do about the device now."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.change.icon(), self.change.toolTip(), self._ask_for_change)
        return menu

    @Slot()
    def _ask_for_change(self) -> None:
        if self._status is not None and self._change is not None:
            (self.join_requested if self._change is Change.JOIN else self.leave_requested).emit(self._status.device)

    def describe(self, description: DeviceDescription | None) -> None:
        """What is known of the device, whether anything is built for it or not; None = nothing."""
        if description != self._description:
            self._description = description
            if self._status is not None:
                self._show_words(self._status)

    def show_status(self, status: DeviceStatus, share: float | None = None) -> None:
        """Take new facts; text changes at once, charts with the next ``refresh``. share: of all work done, None = it is alone."""
        before, self._status, self._share = self._status, status, share
        if before is None or _words(before) != _words(status):
            self._show_words(status)

    def _show_words(self, status: DeviceStatus) -> None:
        known, title = self._description, device_words.title(status)
        self.name.setText(str(status.device))
        self.phase.setText(title)
        self.dot.set_colour(device_words.colour(status))
        for widget in (self.name, self.hardware, self.engine, self.figures):
            widget.setEnabled(status.phase is not Phase.LEFT)
        broken = status.phase in (Phase.FAILED, Phase.RESTARTING)
        say(self.message, status.message if broken else "")
        say(self.note, status.note)
        self.building.setVisible(status.building is not None)
        self.building.show_fraction(status.building[1] if status.building else 0.0)
        say(self.hardware, device_words.hardware(status, known))
        self.hardware.setToolTip("\n".join(filter(None, (self.hardware.text(), device_words.facts(known), known.uuid if known else ""))))
        say(self.engine, device_words.engine_line(status, known))
        self.engine.setToolTip(device_words.engine_details(status, known))
        self.figures.setVisible(status.engine is not None)
        self.figures.show_work(status, self._share)
        if broken:
            self.row.show_matter(Matter(status.message or title, serious=True))
        elif status.building is not None:
            self.row.show_matter(Matter(*status.building))
        else:
            self.row.show_matter(Matter(_ROW_MATTERS.get(status.phase, "")))
        self.setAccessibleName(f"{status.device}, {title} {status.message}")

    def show_telemetry(self, telemetry: Telemetry | None, problem: str | None = None) -> None:
        """What the device is doing now; None where nothing is told of it. problem: why so little is known."""
        shown = readings(telemetry) if telemetry is not None else ()
        self.gauges.setVisible(bool(shown))
        self.gauges.show_readings(shown)
        self.gauges.setToolTip(problem or (details(telemetry) if telemetry is not None else ""))
        status = self._status
        if self._narrow and status is not None:
            rate = formats.rate(status.samples[-1].frames_per_second) if status.working else formats.DASH
            self.row.show_device(
                RowContent(str(status.device), device_words.colour(status), rate, self._share, shown, status.phase is Phase.LEFT)
            )
            self.row.setToolTip(self.gauges.toolTip())

    def show_members(self, telemetry: Mapping[DeviceId, Telemetry | None]) -> None:
        """The same for a group of devices that share one engine."""
        self.members.show()
        self.members.show_members(telemetry)

    def refresh(self, now: float | None = None) -> None:
        """Redraw charts and figures."""
        status = self._status
        if status is None or not self.whole.isVisibleTo(self):
            return
        self.phase.setText(device_words.title(status))
        self.figures.show_work(status, self._share)
        self.figures.refresh(status, time.monotonic() if now is None else now)


def _words(status: DeviceStatus) -> tuple[object, ...]:
    """What of a status stands on the card in words."""
    return status.phase, status.attempt, status.engine, status.message, status.note, status.building
