"""The devices of the current run: one card each, or one row each where there are many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.window.cluster.link import Machine
from app.window.cluster.machines import Machines
from app.window.devices.card import Change, DeviceCard
from app.window.devices.rows import RowColumns, RowHeading, headings
from app.window.devices.status import DeviceStatus, Phase, shares_of
from app.window.devices.telemetry import DeviceTelemetry
from app.window.devices.telemetry_text import metrics
from app.window.widgets.build import Panel, ScrollPane, column, label, row, say, tool_button, wrapped
from app.window.widgets.translation import translate
from engine.devices.description import DeviceDescription
from engine.devices.recording import Recording
from engine.pool.events import StrategyChosen
from engine.types import DeviceId

ROWS_FROM = 3
"""The number of devices from which each gets a row instead of a card."""
REPAINT_MS = 500
"""Time between repaints of the charts. The pool sends figures twice a second."""
_ADD = "Let another device take part"


class RunHeading(QWidget):
    """The strategy of the current run, and the devices that can join. join_requested: a DeviceId."""

    join_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._offered: tuple[DeviceDescription, ...] = ()
        self.strategy, self.reason = label(""), wrapped("small")
        self.add = tool_button("add", _ADD)
        self.add.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self)
        self.add.setMenu(self.menu)
        self.add.hide()
        words = column(self.strategy, self.reason, spacing=2)
        row((words, 1), (self.add, 0, Qt.AlignmentFlag.AlignTop), margins=(16, 6, 12, 8), of=self)
        self.hide()

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """Show the strategy and its reason."""
        self.show()
        self.strategy.setText(translate("devices", "Strategy: {strategy}").format(strategy=chosen.strategy))
        say(self.reason, f"{chosen.reason[:1].upper()}{chosen.reason[1:]}.")

    def offer(self, devices: Sequence[DeviceDescription], why_none: str | None) -> None:
        """Offer devices that can join the run. why_none: why no device can join; None = no run."""
        self.add.setVisible(bool(devices) or why_none is not None)
        self.add.setEnabled(bool(devices))
        self.add.setToolTip(_ADD if devices else why_none or "")
        if tuple(devices) == self._offered:
            return  # the menu may be open
        self._offered = tuple(devices)
        self.menu.clear()
        for description in devices:
            self.menu.addAction(f"{description.id}   {description.name}", partial(self.join_requested.emit, description.id))


class DevicePanel(Panel):
    """Shows the devices of the run, then recorded ones. It repaints and takes telemetry only while it is visible.

    join_requested, leave_requested: DeviceId; the user wants the device to join or leave the current run.
    """

    join_requested = Signal(object)
    leave_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._cards: dict[DeviceId, DeviceCard] = {}
        self._statuses: tuple[DeviceStatus, ...] = ()
        self._known: dict[DeviceId, DeviceDescription] = {}
        self._recording: Recording | None = None
        self.machines = Machines()
        self.telemetry = DeviceTelemetry()
        self._strategy: StrategyChosen | None = None
        self.run = RunHeading()
        self.run.join_requested.connect(self.join_requested)
        self.columns = RowHeading()
        self.columns.hide()
        self.hint = label("small", translate("devices", "Each device appears here when detection starts."), wrap=True)
        self.hint.setContentsMargins(8, 0, 8, 8)
        inside = QWidget()
        self._column = column(self.hint, self.columns, None, margins=(8, 0, 8, 8), of=inside)
        column(self.run, (ScrollPane(translate("devices", "Devices"), inside), 1), spacing=0, of=self)
        self._timer = QTimer(self, interval=REPAINT_MS)
        self._timer.timeout.connect(self.refresh)
        self._arrange()

    @property
    def cards(self) -> tuple[DeviceCard, ...]:
        """One card per device."""
        return tuple(self._cards.values())

    def know_devices(self, descriptions: Sequence[DeviceDescription]) -> None:
        """Add descriptions from discovery on this machine. Telemetry is taken only of described devices."""
        self._known |= {description.id: description for description in descriptions}
        self._arrange()

    def show_recording(self, recording: Recording) -> None:
        """Also show the devices of a recorded machine."""
        self._recording = recording
        self._arrange()

    def describe_cluster(self, devices: Iterable[DeviceDescription]) -> None:
        """Know the devices of a cluster."""
        self.machines.describe(devices)
        self._arrange()

    def show_machines(self, machines: Sequence[Machine]) -> None:
        """Show these machines of a cluster, and their devices, as they are now."""
        if self.machines.show_machines(machines):
            self._arrange()

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """Show the strategy of the current run."""
        self._strategy = chosen
        self.run.show_strategy(chosen)
        self._offer_changes()

    def show_devices(self, devices: Iterable[DeviceStatus]) -> None:
        """Show these devices of the run in place of the earlier ones."""
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
        for device in self.machines.waiting():
            if device not in current:
                current[device] = DeviceStatus(device, Phase.IDLE)
        if self.machines.headings:
            current = dict(sorted(current.items(), key=lambda each: each[0].node))
        known |= {device: described for device in current if (described := self._description(device)) is not None}
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
        if list(self._cards) != list(current):  # devices of the run come before recorded ones
            self._cards = {device: self._cards[device] for device in current}
            for place, card in enumerate(self._cards.values(), self._column.indexOf(self.columns) + 1):
                self._column.insertWidget(place, card)
        self._place_headings()
        self._choose_rows(current, bool(shares))
        self._offer_changes()
        self.hint.setVisible(not current)
        self._watch()
        if self.isVisible():
            self._show_telemetry()

    def _place_headings(self) -> None:
        """Put the heading of each machine above its first device."""
        first = {device.node: card for device, card in reversed(self._cards.items())}
        for name, heading in self.machines.headings.items():
            if (card := first.get(name)) is None:
                heading.hide()
            elif self._column.indexOf(heading) != self._column.indexOf(card) - 1:
                self._column.removeWidget(heading)
                self._column.insertWidget(self._column.indexOf(card), heading)
                heading.show()

    def _choose_rows(self, devices: Collection[DeviceId], shares: bool) -> None:
        """Show cards, or rows if there are many devices."""
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
        """Offer which devices can join or leave the current run."""
        taking_part = [status for status in self._statuses if status.takes_part]
        name, elastic = (self._strategy.strategy, self._strategy.elastic) if self._strategy is not None and taking_part else ("", False)
        for status in self._statuses:
            again = status.phase in (Phase.FAILED, Phase.LEFT)
            possible = again or (status.takes_part and len(taking_part) > 1)
            self._cards[status.device].set_change((Change.JOIN if again else Change.LEAVE) if elastic and possible else None)
        ours = {status.device for status in self._statuses}
        others = [known for known in self._known.values() if known.available and known.id not in ours] if elastic else []
        why_none = (
            translate("devices", "All devices of this machine take part")
            if elastic
            else translate("devices", "With {name} no device can join or leave while a run goes on").format(name=name)
        )
        self.run.offer(others, why_none if taking_part else None)

    def _description(self, device: DeviceId) -> DeviceDescription | None:
        """The description of a device of this machine, None if unknown. All CPU devices share that of cpu:0."""
        if device.node:
            return self.machines.description(device)
        known = self._known.get(DeviceId(device.kind, "0") if device.kind == "cpu" else device)
        return None if known is None else replace(known, id=device)

    def _watch(self) -> None:
        """Take telemetry of this machine's devices while they are visible."""
        here = [member for status in self._statuses if status.phase is not Phase.LEFT for member in status.device.members]
        wanted = [known for device in here if not device.node and (known := self._description(device)) is not None]
        self.telemetry.watch(wanted if self.isVisible() else ())

    def _show_telemetry(self) -> None:
        ours = {status.device for status in self._statuses}
        names = []
        for device, card in self._cards.items():
            if len(device.members) > 1:
                card.show_members({member: self.telemetry.of(member) for member in device.members})
                continue
            recorded = self._recording.telemetry.get(device) if self._recording is not None else None
            snapshot = self.telemetry.of(device) if device in ours and not device.node else recorded or self.machines.telemetry(device)
            card.show_telemetry(snapshot, self.telemetry.problem if device in ours else None)
            if snapshot is not None:
                names.append([metric.short for metric in metrics(snapshot)])
        self.columns.show_names(headings(names))

    def refresh(self) -> None:
        """Redraw every visible card."""
        self.telemetry.revive()
        self._show_telemetry()
        for card in self._cards.values():
            if not card.visibleRegion().isEmpty():
                card.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Start to repaint and to take telemetry."""
        super().showEvent(event)
        self._timer.start()
        self._watch()
        self._show_telemetry()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop repaints and telemetry."""
        super().hideEvent(event)
        self._timer.stop()
        self._watch()
