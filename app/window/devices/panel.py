"""All devices at work, one card each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.window.devices.card import Change, DeviceCard
from app.window.devices.row_columns import RowColumns, RowHeading, headings
from app.window.devices.run_heading import RunHeading
from app.window.devices.status import DeviceStatus, Phase, shares_of
from app.window.devices.telemetry import DeviceTelemetry
from app.window.devices.telemetry_text import readings
from app.window.widgets import theme
from app.window.widgets.scroll_pane import ScrollPane
from engine.devices.description import DeviceDescription
from engine.devices.recording import Recording
from engine.pool.events import StrategyChosen
from engine.types import DeviceId

ROWS_FROM = 3
"""Devices from which on each is a row, which opens to a card."""
REPAINT_MS = 500
"""Time between repaints of the charts: what they show comes twice a second, and the CPU has better things to do."""


class DevicePanel(QWidget):
    """Cards in the order in which the devices were first heard of. It repaints, and telemetry is taken, only while it can be seen.

    join_requested, leave_requested: a DeviceId, of a device that shall take part in the run that goes on, or no longer.
    """

    join_requested = Signal(object)
    leave_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._cards: dict[DeviceId, DeviceCard] = {}
        self._statuses: tuple[DeviceStatus, ...] = ()
        self._known: dict[DeviceId, DeviceDescription] = {}
        self._recording: Recording | None = None
        self.telemetry = DeviceTelemetry()
        self._strategy: StrategyChosen | None = None
        self.run = RunHeading()
        self.run.join_requested.connect(self.join_requested)
        self.columns = RowHeading()
        self.columns.hide()
        self.hint = QLabel("Each device appears here when detection starts.")
        self.hint.setProperty("role", "small")
        self.hint.setWordWrap(True)
        self.hint.setContentsMargins(8, 0, 8, 8)
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(8, 0, 8, 8)
        self._column.addWidget(self.hint)
        self._column.addWidget(self.columns)
        self._column.addStretch()
        inside.setObjectName("inside")
        inside.setStyleSheet(f"#inside {{ background: {theme.SURFACE}; }}")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.run)
        column.addWidget(ScrollPane("Devices", inside), 1)
        self._timer = QTimer(self, interval=REPAINT_MS)
        self._timer.timeout.connect(self.refresh)
        self._arrange()

    @property
    def cards(self) -> tuple[DeviceCard, ...]:
        """One per device."""
        return tuple(self._cards.values())

    @Slot(object)
    def know_devices(self, descriptions: Sequence[DeviceDescription]) -> None:
        """What this machine has: by it the devices at work are described, and their telemetry is found."""
        self._known |= {description.id: description for description in descriptions}
        self._arrange()

    def show_recording(self, recording: Recording) -> None:
        """Show the devices of another machine, too, as they were when it was recorded."""
        self._recording = recording
        self._arrange()

    @Slot(object)
    def show_strategy(self, chosen: StrategyChosen) -> None:
        """How the devices share the work."""
        self._strategy = chosen
        self.run.show_strategy(chosen)
        self._offer_changes()

    @Slot(object)
    def show_devices(self, devices: Iterable[DeviceStatus]) -> None:
        """These are the devices now; others go."""
        self._statuses = tuple(devices)
        self._arrange()

    def _arrange(self) -> None:
        current = {status.device: status for status in self._statuses}
        known = {device: described for device in current if (described := self._description(device)) is not None}
        if self._recording is not None:
            for description in self._recording.devices:
                if description.id not in current:
                    current[description.id] = DeviceStatus(description.id, Phase.RECORDED)
                    known[description.id] = description
        for device in [device for device in self._cards if device not in current]:
            card = self._cards.pop(device)
            self._column.removeWidget(card)
            card.deleteLater()
        shares = shares_of(self._statuses)
        for device, status in current.items():
            if device not in self._cards:
                self._cards[device] = self._new_card()
            self._cards[device].describe(known.get(device))
            self._cards[device].show_status(status, shares.get(device))
        if list(self._cards) != list(current):  # devices at work come before recorded ones
            self._cards = {device: self._cards[device] for device in current}
            for place, card in enumerate(self._cards.values(), self._column.indexOf(self.columns) + 1):
                self._column.insertWidget(place, card)
        self._lay_out(current, bool(shares))
        self._offer_changes()
        self.hint.setVisible(not current)
        self._watch()
        if self.isVisible():
            self._show_telemetry()

    def _lay_out(self, devices: Collection[DeviceId], shares: bool) -> None:
        """As cards, or, where there are many, as rows."""
        rows = len(devices) >= ROWS_FROM
        columns = RowColumns(max(map(str, devices), key=len), rates=bool(self._statuses), shares=shares) if rows else None
        if self.columns.isHidden() is rows:
            self._column.setSpacing(4 if rows else 8)
            self.columns.setVisible(rows)
        if columns is not None:
            self.columns.set_columns(columns)
        for card in self._cards.values():
            card.set_row(columns)

    def _new_card(self) -> DeviceCard:
        card = DeviceCard()
        card.join_requested.connect(self.join_requested)
        card.leave_requested.connect(self.leave_requested)
        self._column.insertWidget(self._column.count() - 1, card)
        return card

    def _offer_changes(self) -> None:
        """What the user can do about each device while a run goes on."""
        taking_part = [status for status in self._statuses if status.takes_part]
        name, elastic = (self._strategy.strategy, self._strategy.elastic) if self._strategy is not None and taking_part else ("", False)
        for status in self._statuses:
            again = status.phase in (Phase.FAILED, Phase.LEFT)
            possible = again or (status.takes_part and len(taking_part) > 1)
            self._cards[status.device].set_change((Change.JOIN if again else Change.LEAVE) if elastic and possible else None)
        ours = {status.device for status in self._statuses}
        others = [known for known in self._known.values() if known.available and known.id not in ours] if elastic else []
        why_none = "All devices of this machine take part" if elastic else f"With {name} no device can join or leave while a run goes on"
        self.run.offer(others, why_none if taking_part else None)

    def _description(self, device: DeviceId) -> DeviceDescription | None:
        """What is known of this machine's device; all CPU devices are the same processors."""
        known = self._known.get(DeviceId(device.kind, "0") if device.kind == "cpu" else device)
        return None if known is None else replace(known, id=device)

    def _watch(self) -> None:
        """Take telemetry of the devices that are this machine's, if they can be seen."""
        here = [member for status in self._statuses if status.phase is not Phase.LEFT for member in status.device.members]
        wanted = [known for device in here if (known := self._description(device)) is not None]
        self.telemetry.watch(wanted if self.isVisible() else ())

    def _show_telemetry(self) -> None:
        ours = {status.device for status in self._statuses}
        names = []
        for device, card in self._cards.items():
            if len(device.members) > 1:
                card.show_members({member: self.telemetry.of(member) for member in device.members})
                continue
            recorded = self._recording.telemetry.get(device) if self._recording is not None else None
            snapshot = self.telemetry.of(device) if device in ours else recorded
            card.show_telemetry(snapshot, self.telemetry.problem if device in ours else None)
            if snapshot is not None:
                names.append([reading.short for reading in readings(snapshot)])
        self.columns.show_names(headings(names))

    @Slot()
    def refresh(self) -> None:
        """Redraw every card that can be seen."""
        self.telemetry.revive()
        self._show_telemetry()
        for card in self._cards.values():
            if not card.visibleRegion().isEmpty():
                card.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to repaint, and to take telemetry."""
        super().showEvent(event)
        self._timer.start()
        self._watch()
        self._show_telemetry()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop both."""
        super().hideEvent(event)
        self._timer.stop()
        self._watch()
