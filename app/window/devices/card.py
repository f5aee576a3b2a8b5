"""The card of one device: hardware, engine, state, telemetry and throughput."""

import time
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from framefleet.app.window.devices import bottleneck, figures, rows
from framefleet.app.window.devices.figures import SmallCharts
from framefleet.app.window.devices.status import (
    DeviceStatus,
    Phase,
    engine_details,
    engine_line,
    hardware_facts,
    hardware_name,
    status_colour,
    status_title,
)
from framefleet.app.window.devices.telemetry import details, metrics
from framefleet.app.window.widgets import formats, painting, theme
from framefleet.app.window.widgets.build import ElidedLabel, column, label, row, say, set_role, tool_button, wrapped
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.types import DeviceId

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

    It is a row, and a click opens the details below. join_requested, leave_requested: the card's DeviceId.
    """

    join_requested = Signal(object)
    leave_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._status: DeviceStatus | None = None
        self._description: DeviceDescription | None = None
        self._share: float | None = None
        self._told: tuple[Telemetry | None, str | None] | None = None
        self._change: Change | None = None
        self._chosen: bool | None = None
        self.row = rows.DeviceRow()
        self.row.clicked.connect(lambda: self.toggle())
        self.phase = label("small")
        self.change = tool_button("close", "")
        self.change.setProperty("role", "small-flat")
        self.change.setIconSize(QSize(14, 14))
        self.change.clicked.connect(self._request_change)
        self.hardware, self.engine = ElidedLabel("small"), ElidedLabel("small")
        self.message, self.note = wrapped("error"), wrapped("notice")
        self.gauges, self.members = rows.Gauges(), rows.MemberRows()
        self._figures: figures.DeviceFigures | None = None
        self._charts: SmallCharts | None = None
        for widget in (self.change, self.gauges, self.members):
            widget.hide()
        head = QWidget()
        row((self.hardware, 1), self.phase, self.change, spacing=8, of=head)
        words = column(head, self.engine, self.message, self.note, spacing=4)
        self.whole = QWidget()
        self._details = column(words, self.gauges, self.members, spacing=10, margins=(MARGIN, 2, MARGIN, MARGIN), of=self.whole)
        self._column = column(self.row, self.whole, spacing=0, of=self)
        self.whole.hide()

    @property
    def opened(self) -> bool:
        """Whether the details are shown."""
        return not self.whole.isHidden()

    @property
    def figures(self) -> figures.DeviceFigures:
        """The figures with their chart. Made when they are first shown: with hundreds of devices, few cards are ever opened."""
        if self._figures is None:
            self._figures = figures.DeviceFigures()
            self._figures.hide()
            self._details.addWidget(self._figures)
            self._show_figures()
        return self._figures

    @property
    def wants_charts(self) -> bool:
        """Whether charts below the row say more than the row: it is closed, and the device takes part in a run."""
        status = self._status
        return not self.opened and status is not None and status.engine is not None and status.phase not in (Phase.FAILED, Phase.LEFT)

    @property
    def charts(self) -> SmallCharts | None:
        """The charts below the row, None while there are none."""
        return self._charts if self._charts is not None and not self._charts.isHidden() else None

    def show_charts(self, room: float | None) -> None:
        """Show charts below the row. room: their height, logical pixels; None = show none."""
        if room is not None:
            if self._charts is None:
                self._charts = SmallCharts()
                self._column.insertWidget(1, self._charts)
            self._charts.fit(room)
        if self._charts is not None and self._charts.isHidden() is (room is not None):
            self._charts.setVisible(room is not None)
            self.refresh()

    def _show_figures(self) -> None:
        if self._figures is not None and self._status is not None:
            self._figures.setEnabled(self._status.phase is not Phase.LEFT)
            self._figures.setVisible(self._status.engine is not None)
            self._figures.show_work(self._status, self._share)

    def set_alone(self, alone: bool) -> None:
        """Show the details of the only device, unless the user has chosen."""
        self._open(alone if self._chosen is None else self._chosen)

    def toggle(self) -> None:
        """Open or close the details below the row."""
        self._chosen = not self.opened
        self._open(self._chosen)
        self.refresh()

    def _open(self, opened: bool) -> None:
        self.whole.setVisible(opened)
        self.row.set_opened(opened)
        self._show_gauges()
        set_role(self, "card" if opened else "")

    def set_change(self, change: Change | None) -> None:
        """Offer to let the device join the run or leave it; None offers nothing."""
        if change is self._change:
            return
        self._change = change
        self.change.setVisible(change is not None)
        if change is not None and self._status is not None:
            title = (
                translate("devices", "Add {device} to this run").format(device=self._status.device)
                if change is Change.JOIN
                else translate("devices", "Remove {device} from this run").format(device=self._status.device)
            )
            self.change.setIcon(painting.icon("add" if change is Change.JOIN else "close", theme.MUTED))
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

    def show_status(self, status: DeviceStatus, share: float | None = None, pace: bottleneck.Pace = bottleneck.NO_PACE) -> None:
        """Show a status: text and figures of the row at once, charts at the next ``refresh``.

        share: of all work, 0..1, None = it is the only device. pace: of the run.
        """
        before, self._status, self._share = self._status, status, share
        shown = status.shown
        self.row.change(
            rate=shown.frames_per_second,
            p50=shown.latency_p50,
            p99=shown.latency_p99,
            share=share,
            pace=shown.frames_per_second / pace.fastest if pace.fastest else None,
            slow=status.device in pace.slow,
            limit=(status.bottleneck or "").partition(" ")[0] if shown.frames_per_second else "",
        )
        self._show_figures()
        if before is None or before.state != status.state:
            self._show_text(status)

    def _show_text(self, status: DeviceStatus) -> None:
        known, title = self._description, status_title(status)
        self.phase.setText(title)
        for widget in (self.hardware, self.engine):
            widget.setEnabled(status.phase is not Phase.LEFT)
        broken = status.phase in (Phase.FAILED, Phase.RESTARTING)
        progress = status.building[1] if status.building else 0.0
        say(self.message, status.message if broken else "")
        say(self.note, status.note)
        self.hardware.setText(hardware_name(status, known))
        self.hardware.setToolTip("\n".join(filter(None, (self.hardware.text(), hardware_facts(known), known.uuid if known else ""))))
        say(self.engine, engine_line(status, known))
        self.engine.setToolTip(engine_details(status, known))
        waits = of_engine(status.building[0]) if status.building else translate("devices", _ROW_MESSAGES.get(status.phase, ""))
        why_not = of_engine(known.problem, capital=True) if known is not None and known.problem is not None else ""
        self.row.change(
            name=str(replace(status.device, node="")),  # the heading above names the machine
            colour=status_colour(status),
            hardware=self.hardware.text(),
            size=formats.gib(known.memory) if known is not None and known.memory else "",
            off=status.phase is Phase.LEFT,
            message=(status.message or title) if broken else waits or why_not,
            progress=0.0 if broken else progress,
            serious=broken,
        )
        self._show_gauges()
        self.setAccessibleName(f"{status.device}, {title} {status.message}".rstrip())

    def show_telemetry(self, telemetry: Telemetry | None, problem: str | None = None) -> None:
        """Show the device's telemetry, None = unknown. problem: why values are missing."""
        if (telemetry, problem) == self._told:
            return
        self._told = telemetry, problem
        self.gauges.setToolTip(problem or (details(telemetry) if telemetry is not None else ""))
        self.row.change(metrics=metrics(telemetry) if telemetry is not None else ())
        self._show_gauges()
        self.row.setToolTip("\n".join(filter(None, (self.hardware.text(), self.gauges.toolTip()))))

    def set_columns(self, columns: rows.RowColumns) -> None:
        """Arrange the columns of the row."""
        self.row.set_columns(columns)
        self._show_gauges()

    def _show_gauges(self) -> None:
        """Show the metrics for which the row has no room."""
        shown = () if self.row.content.message else self.row.shown_columns()
        more = [metric for metric in self.row.content.metrics if metric.key not in shown]
        self.gauges.setVisible(bool(more))
        self.gauges.show_metrics(more)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width leaves room for another number of columns in the row."""
        super().resizeEvent(event)
        self._show_gauges()

    def show_members(self, telemetry: Mapping[DeviceId, Telemetry | None]) -> None:
        """Show the telemetry of the devices that share one engine."""
        self.members.show()
        self.members.show_members(telemetry)

    def refresh(self, now: float | None = None) -> None:
        """Redraw charts and figures that are shown. now: monotonic seconds."""
        status, now = self._status, time.monotonic() if now is None else now
        if status is not None and self.charts is not None:
            self.charts.charts.refresh(status, now)
        if status is not None and self.opened:
            self.phase.setText(status_title(status))
            self.figures.refresh(status, now)
