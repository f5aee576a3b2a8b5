"""The devices of the current run, in one row each that opens to a card."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.window.cluster.link import Machine
from app.window.cluster.machines import Machines
from app.window.devices.bottleneck import Bottleneck, find_bottleneck
from app.window.devices.card import Change, DeviceCard
from app.window.devices.columns import InColumns, RowColumns, RowHeading, headings
from app.window.devices.heading import RunHeading
from app.window.devices.status import DeviceStatus, Phase, shares_of
from app.window.devices.telemetry import DeviceTelemetry
from app.window.widgets.build import Panel, ScrollPane, column, label
from app.window.widgets.engine_text import of_engine, strategy_name
from app.window.widgets.translation import translate
from engine.devices.description import DeviceDescription
from engine.devices.recording import Recording
from engine.pool.events import StrategyChosen
from engine.types import DeviceId

REPAINT_MS = 500
"""Time between repaints of the charts. The pool sends figures twice a second."""
FEW_DEVICES = 16
"""Most devices whose figures are shown at once, so that they equal those of the rest of the window at every moment."""
_HOST = DeviceId("cpu", "0")


class DevicePanel(Panel):
    """Shows the devices of the run, then recorded ones. It repaints and takes telemetry only while it is visible.

    join_requested, leave_requested: DeviceId; the user wants the device to join or leave the current run. bottleneck_changed:
    Bottleneck or None.
    """

    join_requested = Signal(object)
    leave_requested = Signal(object)
    bottleneck_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._cards: dict[DeviceId, DeviceCard] = {}
        self._statuses: tuple[DeviceStatus, ...] = ()
        self._known: dict[DeviceId, DeviceDescription] = {}
        self._recording: Recording | None = None
        self.machines = Machines()
        self.machines.folds.changed.connect(self._arrange)
        self.telemetry = DeviceTelemetry()
        self._strategy: StrategyChosen | None = None
        self._bottleneck: Bottleneck | None = None
        self.run = RunHeading()
        self.run.join_requested.connect(self.join_requested)
        self.columns = RowHeading()
        self.columns.hide()
        self.hint = label("small", translate("devices", "Each device appears here when detection starts."), wrap=True)
        self.hint.setContentsMargins(8, 2, 8, 4)
        self.recorded = label("small", translate("devices", "A recorded machine, not this one"), wrap=True)
        self.recorded.setContentsMargins(8, 2, 8, 4)
        self.recorded.hide()
        inside = QWidget()
        self._column = column(self.hint, self.recorded, self.columns, None, spacing=1, margins=(8, 0, 8, 6), of=inside)
        pane = ScrollPane(translate("devices", "Devices"), inside)
        pane.verticalScrollBar().valueChanged.connect(self.refresh)  # rows that cannot be seen are not kept up to date
        column(self.run, (pane, 1), spacing=0, of=self)
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

    def show_figures(self, devices: Sequence[DeviceStatus]) -> None:
        """Show the new figures of the same devices; those of many devices with the next repaint."""
        self._statuses = tuple(devices)
        if len(self._cards) <= FEW_DEVICES:
            self._show_statuses({status.device: status for status in devices})

    def _arrange(self) -> None:
        shows = self.machines.shows
        current = {status.device: status for status in self._statuses if shows(status.device)}
        known: dict[DeviceId, DeviceDescription] = {}
        if self._recording is not None:
            for description in self._recording.devices:
                if description.id not in current:
                    current[description.id] = DeviceStatus(description.id, Phase.RECORDED)
                    known[description.id] = description
        for device in self.machines.waiting():
            if device not in current and shows(device):
                current[device] = DeviceStatus(device, Phase.IDLE)
        if self.machines.headings:
            current = dict(sorted(current.items(), key=lambda each: each[0].node))
        known |= {device: described for device in current if (described := self._description(device)) is not None}
        for device in [device for device in self._cards if device not in current]:
            card = self._cards.pop(device)
            self._column.removeWidget(card)
            card.deleteLater()
        for device in current:
            if device not in self._cards:
                self._cards[device] = self._new_card()
            self._cards[device].describe(known.get(device))
        self._cards = {device: self._cards[device] for device in current}  # devices of the run come before recorded ones
        self._show_statuses(current)
        self._place()
        self._set_columns(current)
        self._offer_changes()
        self.hint.setVisible(not current and not self.machines.headings)
        self.recorded.setVisible(any(status.phase is Phase.RECORDED for status in current.values()))
        self._watch()
        if self.isVisible():
            self._show_telemetry()
        else:
            self._find_bottleneck()

    def _show_statuses(self, statuses: Mapping[DeviceId, DeviceStatus]) -> None:
        shares, fastest = shares_of(self._statuses), max((status.rate for status in self._statuses), default=0.0)
        for device, card in self._cards.items():
            if (status := statuses.get(device)) is not None:
                card.show_status(status, shares.get(device), fastest)
        self.machines.show_work(self._statuses)

    def _place(self) -> None:
        """Put the heading of each machine above its devices, which follow those of this machine."""
        placed: dict[str, list[QWidget]] = {"": []} | {name: [heading] for name, heading in self.machines.headings.items()}
        for device, card in self._cards.items():
            placed.setdefault(device.node, []).append(card)
        first = self._column.indexOf(self.columns) + 1
        for place, widget in enumerate((widget for widgets in placed.values() for widget in widgets), first):
            if self._column.indexOf(widget) != place:
                self._column.insertWidget(place, widget)

    def _set_columns(self, devices: Collection[DeviceId]) -> None:
        """Give all rows the same columns; open the card of the only device."""
        self.columns.setVisible(bool(devices))
        names = {str(replace(device, node="")) for device in devices}
        columns = RowColumns(max(names, key=len, default=""), rates=bool(self._statuses))
        rows: list[InColumns] = [self.columns, *(card.row for card in self._cards.values())]
        for row in rows:
            row.set_columns(columns)
        for card in self._cards.values():
            card.set_alone(len(devices) == 1)

    def _new_card(self) -> DeviceCard:
        card = DeviceCard()
        card.join_requested.connect(self.join_requested)
        card.leave_requested.connect(self.leave_requested)
        self._column.insertWidget(self._column.count() - 1, card)
        return card

    def _offer_changes(self) -> None:
        """Offer which devices can join or leave the current run."""
        taking_part = [status for status in self._statuses if status.takes_part]
        chosen = self._strategy if taking_part else None
        name, elastic = ("", False) if chosen is None else (strategy_name(chosen.strategy), chosen.elastic)
        for status in self._statuses:
            again = status.phase in (Phase.FAILED, Phase.LEFT)
            possible = again or (status.takes_part and len(taking_part) > 1)
            if (card := self._cards.get(status.device)) is not None:
                card.set_change((Change.JOIN if again else Change.LEAVE) if elastic and possible else None)
        ours = {status.device for status in self._statuses}
        known_here = self.machines.devices or self._known.values()
        others = [known for known in known_here if known.available and known.id not in ours] if elastic else []
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
        if here and _HOST not in here and (host := self._description(_HOST)) is not None:
            wanted.append(host)  # for the bottleneck
        self.telemetry.watch(wanted if self.isVisible() else ())

    def _show_telemetry(self) -> None:
        ours = {status.device for status in self._statuses}
        names = []
        for device, card in self._cards.items():
            if card.visibleRegion().isEmpty():
                continue
            if len(device.members) > 1:
                card.show_members({member: self.telemetry.of(member) for member in device.members})
                continue
            recorded = self._recording.telemetry.get(device) if self._recording is not None else None
            snapshot = self.telemetry.of(device) if device in ours and not device.node else recorded or self.machines.telemetry(device)
            card.show_telemetry(snapshot, of_engine(self.telemetry.problem or "") if device in ours else None)
            if snapshot is not None:
                names.append([metric.name for metric in card.row.content.metrics])
        self.columns.show_names(headings(names))
        self._find_bottleneck()

    def _find_bottleneck(self) -> None:
        known = {
            device: snapshot
            for status in self._statuses
            if not status.device.node
            for device in status.device.members
            if (snapshot := self.telemetry.of(device))
        }
        cpu = next((device for device in known if device.kind == "cpu"), _HOST)
        found = find_bottleneck(self._statuses, known, self.telemetry.of(cpu))
        if found != self._bottleneck:
            self._bottleneck = found
            self.run.show_bottleneck(found)
            self.bottleneck_changed.emit(found)

    def refresh(self) -> None:
        """Redraw every visible card."""
        self.telemetry.revive()
        self._show_statuses({status.device: status for status in self._statuses})
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
