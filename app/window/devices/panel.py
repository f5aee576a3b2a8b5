"""The devices of the current run: which are listed and what is known of each, the heading, and one row each that opens to a card."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.cluster.machines import Machines
from framefleet.app.window.context import Context, Feature, Place, Placed
from framefleet.app.window.devices.bottleneck import Bottleneck, find_bottleneck
from framefleet.app.window.devices.card import Change, DeviceCard
from framefleet.app.window.devices.rows import InColumns, RowColumns, RowHeading, headings
from framefleet.app.window.devices.status import DeviceStatus, Phase, shares_of
from framefleet.app.window.devices.telemetry import DeviceTelemetry
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import Panel, ScrollPane, column, label, row, say, set_role, tool_button, wrapped
from framefleet.app.window.widgets.engine_text import of_engine, strategy_name
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.types import DeviceId

_HOST = DeviceId("cpu", "0")


class ListedDevices:
    """The devices of the run, then recorded ones, then those of a cluster that wait.

    ``statuses``: of the run. ``recording``: a recorded machine. ``strategy``: of the run.
    """

    def __init__(self) -> None:
        self.statuses: tuple[DeviceStatus, ...] = ()
        self.recording: Recording | None = None
        self.strategy: StrategyChosen | None = None
        self.machines = Machines()
        self.telemetry = DeviceTelemetry()
        self._known: dict[DeviceId, DeviceDescription] = {}

    @property
    def of_run(self) -> set[DeviceId]:
        """The devices of the run."""
        return {status.device for status in self.statuses}

    def know(self, descriptions: Iterable[DeviceDescription]) -> None:
        """Add descriptions of devices of this machine."""
        self._known |= {description.id: description for description in descriptions}

    def all(self) -> dict[DeviceId, DeviceStatus]:
        """The status of each listed device, in order."""
        shows = self.machines.shows
        listed = {status.device: status for status in self.statuses if shows(status.device)}
        for description in self.recording.devices if self.recording is not None else ():
            listed.setdefault(description.id, DeviceStatus(description.id, Phase.RECORDED))
        for device in filter(shows, self.machines.waiting()):
            listed.setdefault(device, DeviceStatus(device, Phase.IDLE))
        return dict(sorted(listed.items(), key=lambda each: each[0].node)) if self.machines.folds.headings else listed

    def description(self, device: DeviceId) -> DeviceDescription | None:
        """The description of a device, None if unknown. All CPU devices of this machine share that of cpu:0."""
        if device.node:
            return self.machines.description(device)
        known = self._known.get(DeviceId(device.kind, "0") if device.kind == "cpu" else device)
        if known is None and self.recording is not None and device not in self.of_run:
            known = next((described for described in self.recording.devices if described.id == device), None)
        return None if known is None else replace(known, id=device)

    def watch(self, visible: bool) -> None:
        """Take telemetry of this machine's devices, and of the processors, while the panel is visible."""
        here = [member for status in self.statuses if status.phase is not Phase.LEFT for member in status.device.members]
        wanted = [known for device in here if not device.node and (known := self.description(device)) is not None]
        if here and _HOST not in here and (host := self.description(_HOST)) is not None:
            wanted.append(host)  # for the bottleneck
        self.telemetry.watch(wanted if visible else ())

    def snapshot(self, device: DeviceId) -> Telemetry | None:
        """The latest telemetry of a device, None if unknown."""
        if not device.node and device in self.of_run:
            return self.telemetry.of(device)
        recorded = self.recording.telemetry.get(device) if self.recording is not None else None
        return recorded or self.machines.telemetry(device)

    def bottleneck(self) -> Bottleneck | None:
        """What limits the run, None while no device works."""
        here = (device for status in self.statuses if not status.device.node for device in status.device.members)
        known = {device: snapshot for device in here if (snapshot := self.telemetry.of(device))}
        cpu = next((device for device in known if device.kind == "cpu"), _HOST)
        return find_bottleneck(self.statuses, known, self.telemetry.of(cpu))

    def changes(self) -> dict[DeviceId, Change | None]:
        """How the user can change the part of each device in the run, None = not at all."""
        last = sum(status.takes_part for status in self.statuses) < 2
        changes: dict[DeviceId, Change | None] = {}
        for status in self.statuses:
            again = status.phase in (Phase.FAILED, Phase.LEFT)
            possible = self._elastic and (again or (status.takes_part and not last))
            changes[status.device] = (Change.JOIN if again else Change.LEAVE) if possible else None
        return changes

    def joinable(self) -> tuple[Sequence[DeviceDescription], str | None]:
        """The devices that can join the run, and why none can; None = nothing runs."""
        if not any(status.takes_part for status in self.statuses):
            return (), None
        if not self._elastic:
            name = strategy_name(self.strategy.strategy) if self.strategy is not None else ""
            text = translate("devices", "With {name}, devices cannot join or leave during a run")
            return (), text.format(name=name)
        known_here, ours = self.machines.devices or self._known.values(), self.of_run
        others = [known for known in known_here if known.available and known.id not in ours]
        return others, translate("devices", "All devices of this machine are in this run")

    @property
    def _elastic(self) -> bool:
        """Whether devices can join and leave the current run."""
        running = any(status.takes_part for status in self.statuses)
        return running and self.strategy is not None and self.strategy.elastic


class RunHeading(QWidget):
    """Shows the state of the current run in two or three lines. join_requested: a DeviceId."""

    join_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._offered: tuple[DeviceDescription, ...] = ()
        self._strategy: StrategyChosen | None = None
        self._bottleneck: Bottleneck | None = None
        self._add = translate("devices", "Add a device to this run")
        self.title, self.text = label("", wrap=True), wrapped("small")
        self.menu = QMenu(self)
        self.add = tool_button("add", self._add, menu=self.menu)
        self.add.setProperty("role", "small-flat")
        self.add.hide()
        words = column(self.title, self.text, spacing=0)
        row((words, 1), (self.add, 0, Qt.AlignmentFlag.AlignTop), margins=(16, 2, 12, 4), of=self)
        self.hide()

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """Show the strategy and its reason."""
        self._strategy = chosen
        self._show()

    def show_bottleneck(self, found: Bottleneck | None) -> None:
        """Show what limits the run, None = nothing is known; then the strategy is shown."""
        if found != self._bottleneck:
            self._bottleneck = found
            self._show()

    def _show(self) -> None:
        strategy, found = self._strategy, self._bottleneck
        about = ""
        if strategy is not None:
            about = translate("devices", "Strategy: {name}").format(name=strategy_name(strategy.strategy))
            reason = f"{formats.capitalised(strategy.reason)}."
        self.setVisible(strategy is not None or found is not None)
        set_role(self.title, found.role if found is not None else "")
        self.title.setText(found.text if found is not None else about)
        say(self.text, found.advice if found is not None else reason if strategy is not None else "")
        self.setToolTip(f"{about}\n{reason}" if strategy is not None else "")
        self.setAccessibleName(f"{self.title.text()} {self.text.text()}")

    def offer(self, devices: Sequence[DeviceDescription], why_none: str | None) -> None:
        """Offer devices that can join the run. why_none: why no device can join; None = no run."""
        self.add.setVisible(bool(devices) or why_none is not None)
        self.add.setEnabled(bool(devices))
        self.add.setToolTip(self._add if devices else why_none or "")
        if tuple(devices) == self._offered:
            return  # the menu may be open
        self._offered = tuple(devices)
        self.menu.clear()
        for description in devices:
            self.menu.addAction(f"{description.id}   {description.name}", partial(self.join_requested.emit, description.id))


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
        self.device_cards: dict[DeviceId, DeviceCard] = {}
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
        return tuple(self.device_cards.values())

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
        for device in [device for device in self.device_cards if device not in current]:
            card = self.device_cards.pop(device)
            self._column.removeWidget(card)
            card.deleteLater()
        self.device_cards = {device: self.device_cards.get(device) or self._new_card() for device in current}
        shares, fastest = self._work()
        for device, card in self.device_cards.items():
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
        few = len(self.device_cards) <= FEW_DEVICES
        for status in self.listed.statuses:
            card = self.device_cards.get(status.device)
            if card is not None and (few or not card.visibleRegion().isEmpty()):
                card.show_status(status, shares.get(status.device), fastest)
        self.machines.show_work(self.listed.statuses)

    def _place(self) -> None:
        """Put the heading of each machine above its devices, which follow those of this machine."""
        placed: dict[str, list[QWidget]] = {"": []} | {name: [heading] for name, heading in self.machines.folds.headings.items()}
        for device, card in self.device_cards.items():
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
        widgets: list[InColumns] = [self.columns, *(card.row for card in self.device_cards.values())]
        for widget in widgets:
            widget.set_columns(columns)
        for card in self.device_cards.values():
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
            if (card := self.device_cards.get(device)) is not None:
                card.set_change(change)
        self.run.offer(*self.listed.joinable())

    def _show_telemetry(self) -> None:
        ours = self.listed.of_run
        names = []
        for device, card in self.device_cards.items():
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
        for card in self.device_cards.values():
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


def attach(context: Context) -> Feature:
    """Add the panel to the window."""
    panel, run = DevicePanel(), context.run
    panel.bottleneck_changed.connect(context.requests.bottleneck)
    panel.join_requested.connect(run.add_device)
    panel.leave_requested.connect(run.remove_device)
    run.devices_changed.connect(panel.show_devices)
    run.figures_changed.connect(panel.show_figures)
    run.strategy_changed.connect(panel.show_strategy)
    context.settings.devices_found.connect(panel.know_devices)
    context.cluster.machines_changed.connect(panel.show_machines)
    context.cluster.described.connect(lambda found, _: panel.describe_cluster(found))
    if context.recording is not None:
        panel.show_recording(context.recording)
    return Feature([Placed(panel, Place.TAB, title=translate("topology", "Devices"), name="devices")])
