"""The devices of the current run, in one row each that opens to a card."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.devices.bottleneck import Bottleneck
from framefleet.app.window.devices.card import DeviceCard
from framefleet.app.window.devices.columns import InColumns, RowColumns, RowHeading, headings
from framefleet.app.window.devices.heading import RunHeading
from framefleet.app.window.devices.listed import ListedDevices
from framefleet.app.window.devices.status import DeviceStatus, Phase, shares_of
from framefleet.app.window.widgets.build import Panel, ScrollPane, column, label
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.types import DeviceId

REPAINT_MS = 500
"""Time between repaints of the charts. The pool sends figures twice a second."""
FEW_DEVICES = 16
"""Up to this number of devices, all rows are kept up to date; else those that can be seen."""


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
        self.listed = ListedDevices()
        self.machines, self.telemetry = self.listed.machines, self.listed.telemetry
        self.machines.folds.changed.connect(self._arrange)
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
        self.listed.know(descriptions)
        self._arrange()

    def show_recording(self, recording: Recording) -> None:
        """Also show the devices of a recorded machine."""
        self.listed.recording = recording
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
        self.listed.strategy = chosen
        self.run.show_strategy(chosen)
        self._offer_changes()

    def show_devices(self, devices: Iterable[DeviceStatus]) -> None:
        """Show these devices of the run in place of the earlier ones."""
        self.listed.statuses = tuple(devices)
        self._arrange()

    def show_figures(self, devices: Sequence[DeviceStatus]) -> None:
        """Show the new figures of the same devices."""
        self.listed.statuses = tuple(devices)
        self._show_figures()

    def _arrange(self) -> None:
        current = self.listed.all()
        for device in [device for device in self._cards if device not in current]:
            card = self._cards.pop(device)
            self._column.removeWidget(card)
            card.deleteLater()
        self._cards = {device: self._cards.get(device) or self._new_card() for device in current}
        shares, fastest = self._work()
        for device, card in self._cards.items():
            card.describe(self.listed.description(device))
            card.show_status(current[device], shares.get(device), fastest)
        self.machines.show_work(self.listed.statuses)
        self._place()
        self._set_columns(current)
        self._offer_changes()
        self.hint.setVisible(not current and not self.machines.folds.headings)
        self.recorded.setVisible(any(status.phase is Phase.RECORDED for status in current.values()))
        self.listed.watch(self.isVisible())
        if self.isVisible():
            self._show_telemetry()
        else:
            self._find_bottleneck()

    def _work(self) -> tuple[Mapping[DeviceId, float], float]:
        """The share of the work of each device, and the throughput of the fastest one, frames/s."""
        return shares_of(self.listed.statuses), max((status.rate for status in self.listed.statuses), default=0.0)

    def _show_figures(self) -> None:
        """Show the figures of all devices; of many devices only those that can be seen."""
        shares, fastest = self._work()
        few = len(self._cards) <= FEW_DEVICES
        for status in self.listed.statuses:
            card = self._cards.get(status.device)
            if card is not None and (few or not card.visibleRegion().isEmpty()):
                card.show_status(status, shares.get(status.device), fastest)
        self.machines.show_work(self.listed.statuses)

    def _place(self) -> None:
        """Put the heading of each machine above its devices, which follow those of this machine."""
        placed: dict[str, list[QWidget]] = {"": []} | {name: [heading] for name, heading in self.machines.folds.headings.items()}
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
        columns = RowColumns(max(names, key=len, default=""), rates=bool(self.listed.statuses))
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
        for device, change in self.listed.changes().items():
            if (card := self._cards.get(device)) is not None:
                card.set_change(change)
        self.run.offer(*self.listed.joinable())

    def _show_telemetry(self) -> None:
        ours = self.listed.of_run
        names = []
        for device, card in self._cards.items():
            if card.visibleRegion().isEmpty():
                continue
            if len(device.members) > 1:
                card.show_members({member: self.telemetry.of(member) for member in device.members})
                continue
            snapshot = self.listed.snapshot(device)
            card.show_telemetry(snapshot, of_engine(self.telemetry.problem or "") if device in ours else None)
            if snapshot is not None:
                names.append([metric.name for metric in card.row.content.metrics])
        self.columns.show_names(headings(names))
        self._find_bottleneck()

    def _find_bottleneck(self) -> None:
        found = self.listed.bottleneck()
        if found != self._bottleneck:
            self._bottleneck = found
            self.run.show_bottleneck(found)
            self.bottleneck_changed.emit(found)

    def refresh(self) -> None:
        """Redraw every visible card."""
        self.telemetry.revive()
        self._show_figures()
        self._show_telemetry()
        for card in self._cards.values():
            if not card.visibleRegion().isEmpty():
                card.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Start to repaint and to take telemetry."""
        super().showEvent(event)
        self._timer.start()
        self.listed.watch(self.isVisible())
        self._show_telemetry()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop repaints and telemetry."""
        super().hideEvent(event)
        self._timer.stop()
        self.listed.watch(self.isVisible())
