"""The devices of this machine and of the current run: which are listed, the sums of the run, the topology, and a row each that opens."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import MappingProxyType

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QWidget

from framefleet.app.window.cluster import link
from framefleet.app.window.cluster.machines import Machines
from framefleet.app.window.context import Context, Feature, Place, Placed
from framefleet.app.window.devices.bottleneck import Bottleneck, find_bottleneck, pace_of
from framefleet.app.window.devices.card import Change, DeviceCard
from framefleet.app.window.devices.figures import LEAST_ROOM
from framefleet.app.window.devices.rows import AT_REST, OF_RUN, RowColumns, RowHeading, known_columns
from framefleet.app.window.devices.status import DeviceStatus, Phase, shares_of
from framefleet.app.window.devices.telemetry import DeviceTelemetry
from framefleet.app.window.floating import SIZE, Floating
from framefleet.app.window.topology.drawing import TopologyDrawing
from framefleet.app.window.topology.panel import SIDE_BY_SIDE, TopologyPanel
from framefleet.app.window.widgets import build, formats, painting
from framefleet.app.window.widgets.translation import of_engine, strategy_name, translate
from framefleet.engine.devices import telemetry, topology_search
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.devices.topology import Topology
from framefleet.engine.pool.events import RunFigures, StrategyChosen
from framefleet.engine.types import DeviceId

_HOST = DeviceId("cpu", "0")


class ListedDevices:
    """The devices of the run or, before one, of this machine; recorded ones; and those of a cluster that wait.

    statuses: of the run. recording: a recorded machine. strategy: of the run. used: those that a run will use.
    """

    def __init__(self) -> None:
        self.statuses: tuple[DeviceStatus, ...] = ()
        self.recording: Recording | None = None
        self.strategy: StrategyChosen | None = None
        self.used: frozenset[DeviceId] = frozenset()
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
        if not self.statuses and not self.machines.folds.headings:
            here = sorted(self._known, key=lambda device: device not in self.used)  # those of the next run first
            listed |= {device: DeviceStatus(device, Phase.IDLE) for device in here}
        for description in self.recording.devices if self.recording is not None else ():
            if description.id not in self.of_run:
                listed[description.id] = DeviceStatus(description.id, Phase.RECORDED)
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

    def watch(self, visible: bool, every_gpu: bool) -> None:
        """Take telemetry of the run's devices, before a run of all GPUs, and of the processors beside them, while the panel is visible.

        every_gpu: also take that of GPUs outside the run.
        """
        working = (member for status in self.statuses if status.phase is not Phase.LEFT for member in status.device.members)
        here = list(dict.fromkeys(working))  # several engines may share devices
        wanted = [known for device in here if not device.node and (known := self.description(device)) is not None]
        if every_gpu or not here:
            wanted += [known for known in self._known.values() if known.id.kind == "cuda" and known.available and known not in wanted]
        if wanted and _HOST not in here and (host := self._known.get(_HOST)) is not None:
            wanted.append(host)  # for the bottleneck
        self.telemetry.watch(wanted if visible else ())

    def snapshot(self, device: DeviceId) -> telemetry.Telemetry | None:
        """The latest telemetry of a device, None if unknown."""
        recorded = self.recording.telemetry.get(device) if self.recording is not None else None
        if not device.node and (device in self.of_run or recorded is None):
            return self.telemetry.of(device)
        return recorded or self.machines.telemetry(device)

    def snapshots(self) -> dict[DeviceId, telemetry.Telemetry]:
        """The latest telemetry of the machine whose topology is shown."""
        if self.recording is not None:
            return dict(self.recording.telemetry)
        return {known.id: found for known in self.telemetry.watched if (found := self.telemetry.of(known.id)) is not None}

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
    """The sums of the run in one line, and what limits it; before the first run, which devices it will use.

    join_requested: a DeviceId. choice_requested: the user wants to choose devices.
    """

    join_requested = Signal(object)
    choice_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._offered: tuple[DeviceDescription, ...] = ()
        self._strategy: StrategyChosen | None = None
        self._bottleneck: Bottleneck | None = None
        self._shows_choice = False
        self._add = translate("devices", "Add a device to this run")
        self.rate, self.unit, self.sums = build.label("figure"), build.label("small"), build.ElidedLabel("small")
        self.sums.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.title, self.text = build.wrapped("small"), build.wrapped("small")
        self.choose = build.push_button(translate("devices", "Choose…"), self.choice_requested, role="link")
        self.choose.setAccessibleName(translate("devices", "Choose devices…"))
        self.choose.setToolTip(translate("devices", "Choose the devices of the next run"))
        self.menu = QMenu(self)
        self.add = build.tool_button("add", self._add, menu=self.menu)
        self.add.setProperty("role", "small-flat")
        self.add.hide()
        base = Qt.AlignmentFlag.AlignBaseline
        self.figures = QWidget()
        build.row((self.rate, 0, base), (self.unit, 0, base), (self.sums, 1, base), spacing=6, of=self.figures)
        self.figures.hide()
        build.column(self.figures, self.title, self.text, spacing=1, margins=(16, 0, 16, 4), of=self)

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
        self._shows_choice = False
        strategy, found = self._strategy, self._bottleneck
        about = reason = ""
        if strategy is not None:
            about = translate("devices", "Strategy: {name}").format(name=strategy_name(strategy.strategy))
            reason = f"{of_engine(strategy.reason, capital=True)}."
        build.set_role(self.title, found.role if found is not None else "small")
        build.say(self.title, found.text if found is not None else about)
        build.say(self.text, found.advice if found is not None else reason)
        self.setToolTip(f"{about}\n{reason}".strip())

    def show_choice(self, found: Sequence[DeviceId], used: Collection[DeviceId], recorded: bool) -> None:
        """Say which of these devices a run will use, until it has begun. recorded: they are those of a recorded machine."""
        self._shows_choice = True
        chosen = [device for device in found if device in used]
        names = ", ".join(map(str, chosen)) if len(chosen) <= FEW_NAMES else formats.plural(len(chosen), "device")
        text = translate("devices", "On the recorded machine, a run would use {names}.") if recorded else ""
        text = text or translate("devices", "A run will use {names}.")
        build.say(self.title, text.format(names=names) if chosen else translate("devices", "No device can be used."))

    def show_sums(self, statuses: Sequence[DeviceStatus]) -> None:
        """Show the throughput and the latencies of several devices together, of the same time as in their rows."""
        if statuses and self._shows_choice:
            self._show()
        rate = sum(status.shown_rate for status in statuses)
        self.figures.setVisible(bool(rate) and len(statuses) > 1)
        self.rate.setText(formats.rate(rate))
        at_rest = all(status.at_rest for status in statuses)
        self.unit.setText(translate("devices", "frames/s, mean") if at_rest else translate("devices", "frames/s"))
        summed = RunFigures.total([status.run if at_rest else status.recent for status in statuses])
        p50, p99 = summed.latency(0.5), summed.latency(0.99)
        times = {"p50": formats.milliseconds(p50), "p99": formats.milliseconds(p99)}
        if p50 is None or p99 is None:
            self.sums.setText("")
        elif p99 >= formats.LONG_MS:
            short = translate("devices", "p50 {p50} · p99 {p99} s")
            self.sums.setText(short.format(p50=formats.rate(p50 / 1000), p99=formats.rate(p99 / 1000)))
        else:
            self.sums.setText(translate("devices", "p50 {p50} · p99 {p99} ms").format(**times))
        frames = formats.plural(sum(status.frames for status in statuses), "frame")
        about = translate("devices", "In this run: {frames}. Half of the frames took at most {p50} ms, 99 of 100 at most {p99} ms.")
        self.figures.setToolTip(about.format(frames=frames, **times))
        self.figures.setAccessibleName(f"{self.rate.text()} {self.unit.text()}, {self.sums.text()}")

    def offer(self, devices: Sequence[DeviceDescription], why_none: str | None) -> None:
        """Offer devices that can join the run. why_none: why no device can join; None = no run."""
        self.choose.setVisible(why_none is None)
        self.add.setVisible(bool(devices) or why_none is not None)
        self.add.setEnabled(bool(devices))
        self.add.setToolTip(self._add if devices else why_none or "")
        if tuple(devices) == self._offered:
            return  # the menu may be open
        self._offered = tuple(devices)
        self.menu.clear()
        for description in devices:
            self.menu.addAction(
                formats.verbatim(f"{description.id}   {description.name}"), partial(self.join_requested.emit, description.id)
            )


FEW_NAMES = 3
"""The largest number of devices that are named; more are only counted."""
REPAINT_MS = 500
"""Time between repaints of the charts. The pool sends figures twice a second."""
FEW_DEVICES = 16
"""Up to this number of devices, all rows are kept up to date; else those that can be seen."""


WHOLE = 16_777_215
"""Qt's largest size."""
MAX_TALL = 4
"""Up to this number of devices, rows are tall and their figures large."""


class DevicePanel(build.Panel):
    """Shows the devices and how they are joined. It repaints and takes telemetry only while it is visible.

    join_requested, leave_requested: DeviceId; the user wants the device to join or leave the current run. bottleneck_changed:
    Bottleneck or None. topology_wanted: there are GPUs whose topology is unknown.
    """

    join_requested = Signal(object)
    leave_requested = Signal(object)
    bottleneck_changed = Signal(object)
    topology_wanted = Signal()

    def __init__(self, cluster: QAction | None = None) -> None:
        super().__init__()
        self.device_cards: dict[DeviceId, DeviceCard] = {}
        self.drawings: dict[str, TopologyDrawing] = {}
        self.listed = ListedDevices()
        self.machines, self.telemetry = self.listed.machines, self.listed.telemetry
        self.machines.folds.changed.connect(self._arrange)
        self._topologies: Mapping[str, Topology] = {}
        self._bottleneck: Bottleneck | None = None
        self._asked = False
        self._stops: list[QWidget] = []
        self.run = RunHeading()
        self.run.join_requested.connect(self.join_requested)
        self.cluster, self.detach = build.tool_button("device", ""), build.tool_button("detach", "")
        if cluster is not None:
            self.cluster.setDefaultAction(cluster)
            self.cluster.setIcon(painting.icon("device"))
        for tool in (self.cluster, self.detach):
            tool.setProperty("role", "small-flat")
        head = build.row(
            build.label("section", translate("topology", "Devices")),
            None,
            self.run.choose,
            self.run.add,
            self.cluster,
            self.detach,
            margins=(16, 8, 8, 2),
            spacing=2,
        )
        self.columns = RowHeading()
        self.recorded = build.label("small", translate("devices", "A recorded machine, not this one"), wrap=True)
        self.here = build.label("small", translate("devices", "This machine"))
        self.hint = build.label("small", translate("devices", "Looking for devices…"))
        for line in (self.recorded, self.here, self.hint):
            line.setContentsMargins(8, 4, 8, 2)
        self.rows = QWidget()
        for widget in (self, self.rows):
            widget.installEventFilter(self)
        self._column = build.column(self.hint, self.columns, self.recorded, self.here, None, spacing=1, margins=(8, 0, 8, 6), of=self.rows)
        pane = build.ScrollPane(translate("devices", "Devices"), self.rows)
        pane.verticalScrollBar().valueChanged.connect(self.refresh)  # rows that cannot be seen are not kept up to date
        self.topology = TopologyPanel()
        self._joined = build.ScrollPane(translate("topology", "Topology"), self.topology)
        self._body = build.column(self._joined, (pane, 1), spacing=0)
        build.column(head, self.run, (self._body, 1), spacing=0, of=self)
        self._timer = QTimer(self, interval=REPAINT_MS)
        self._timer.timeout.connect(self._repaint)
        self._arrange()

    @property
    def cards(self) -> tuple[DeviceCard, ...]:
        """One card per device."""
        return tuple(self.device_cards.values())

    def know_devices(self, descriptions: Sequence[DeviceDescription]) -> None:
        """Add descriptions from discovery on this machine. Telemetry is taken only of described devices."""
        self.listed.know(descriptions)
        self._arrange()
        several = sum(known.id.kind == "cuda" and known.available for known in descriptions) > 1
        if several and self.topology.topology is None and not self._asked:
            self._asked = True
            self.topology_wanted.emit()

    def show_used(self, used: Iterable[DeviceId]) -> None:
        """Show which devices a run will use."""
        self.listed.used = frozenset(used)
        self._arrange()

    def show_recording(self, recording: Recording) -> None:
        """Also show the devices of a recorded machine, and its topology instead of that of this machine."""
        self.listed.recording, self._asked = recording, True
        self.topology.show_topology(recording.topology)
        self._arrange()

    def show_topology(self, topology: Topology) -> None:
        """Show how the GPUs of this machine are joined."""
        if self.listed.recording is None:
            self.topology.show_topology(topology)
            self._fit()

    def describe_cluster(self, devices: Iterable[DeviceDescription], topologies: Mapping[str, Topology] = MappingProxyType({})) -> None:
        """Know the devices of a cluster, and the topology of each machine by its name."""
        self.machines.describe(devices)
        self._topologies = topologies
        self._arrange()

    def show_machines(self, machines: Sequence[link.Machine]) -> None:
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
        shares, pace = shares_of(self.listed.statuses), pace_of(self.listed.statuses)
        for device, card in self.device_cards.items():
            card.describe(self.listed.description(device))
            card.show_status(current[device], shares.get(device), pace)
            waits = current[device].phase in (Phase.IDLE, Phase.RECORDED) and not device.node and device not in self.listed.of_run
            used = device in self.listed.used if waits and self.listed.used else None
            if self.listed.statuses:  # beside the figures of a run, there is no room for a mark
                used = used and None
            card.row.change(used=used)
            card.set_alone(len(current) == 1 and bool(self.listed.statuses))
        self.machines.show_work(self.listed.statuses)
        self._place(current)
        self._set_columns()
        self._show_sums()
        self._offer_changes()
        self.hint.setVisible(not current and not self.machines.folds.headings)
        self.listed.watch(self.isVisible(), self.topology.worth_showing)
        if self.isVisible():
            self._show_telemetry()
        else:
            self._find_bottleneck()
        self._fit()

    def _show_figures(self) -> None:
        """Show the figures of all devices; of many devices only those that can be seen."""
        shares, pace = shares_of(self.listed.statuses), pace_of(self.listed.statuses)
        few = len(self.device_cards) <= FEW_DEVICES
        for status in self.listed.statuses:
            card = self.device_cards.get(status.device)
            if card is not None and (few or not card.visibleRegion().isEmpty()):
                card.show_status(status, shares.get(status.device), pace)
        self.machines.show_work(self.listed.statuses)
        self._show_sums()

    def _show_sums(self) -> None:
        statuses = self.listed.statuses
        self.run.show_sums(statuses)
        if not statuses and not self.machines.folds.headings:
            listed = self.listed.all()
            recorded = [device for device, status in listed.items() if status.phase is Phase.RECORDED]
            if listed:
                self.run.show_choice(recorded or list(listed), self.listed.used, bool(recorded))

    def _place(self, devices: Mapping[DeviceId, DeviceStatus]) -> None:
        """Put the heading of each group above its devices: recorded ones, those of this machine, and the machines of a cluster."""
        recorded = [card for device, card in self.device_cards.items() if devices[device].phase is Phase.RECORDED]
        here = [card for device, card in self.device_cards.items() if not device.node and card not in recorded]
        groups: list[list[QWidget]] = [[self.recorded, *recorded], [self.here, *here]]
        if self.listed.statuses:
            groups.reverse()
        groups[0].insert(1, self.columns)
        self.recorded.setVisible(bool(recorded))
        self.here.setVisible(bool(recorded and here))
        for name, heading in self.machines.folds.headings.items():
            cards = [card for device, card in self.device_cards.items() if device.node == name]
            groups.append([heading, *self._drawing(name), *cards])
        for name in self.drawings.keys() - self.machines.folds.headings.keys():
            self.drawings.pop(name).deleteLater()
        for place, widget in enumerate((widget for group in groups for widget in group), 1):
            if self._column.indexOf(widget) != place:
                self._column.insertWidget(place, widget)
        stops = [self.detach, *(stop for group in groups for widget in group for stop in _stops(widget))]
        if stops != self._stops:  # Tab visits the rows from top to bottom, behind the buttons above them
            self._stops = stops
            for one, other in pairwise(stops):
                QWidget.setTabOrder(one, other)

    def _drawing(self, name: str) -> list[TopologyDrawing]:
        """The drawing of a machine's topology, if it is opened and has several GPUs."""
        topology = self._topologies.get(name)
        shown = topology is not None and len(topology.gpus) > 1 and self.machines.folds.opened(name)
        if shown and name not in self.drawings:
            self.drawings[name] = TopologyDrawing(strip=True)
            self._column.addWidget(self.drawings[name])
        if shown and topology is not None:
            self.drawings[name].show_topology(topology)
        if name in self.drawings:
            self.drawings[name].setVisible(shown)
        return [self.drawings[name]] if name in self.drawings else []

    def _set_columns(self) -> None:
        """Give all rows the same columns, without those that no device has."""
        cards, run = self.device_cards, bool(self.listed.statuses)
        contents = [card.row.content for card in cards.values()]
        keys = known_columns(OF_RUN if run else AT_REST, contents)
        if sum(content.share is not None for content in contents) < 2:
            keys = tuple(key for key in keys if key != "share")
        names = {str(replace(device, node="")) for device in cards}
        fast = any(content.rate >= 9999.5 for content in contents)
        columns = RowColumns(max(names, key=len, default=""), keys, tall=run and len(cards) <= MAX_TALL, fast=fast)
        self.columns.setVisible(bool(cards))
        self.columns.set_columns(columns)
        for card in cards.values():
            card.set_columns(columns)

    def _fit(self) -> None:
        """Put the topology beside the devices in a wide panel, else above them; without room for all rows, only its first line.

        Charts below all rows take the room that is left, if it is enough; lower ones below many rows.
        """
        wide, shown = self.width() >= SIDE_BY_SIDE, self.topology.worth_showing
        self._joined.setVisible(shown)
        if (layout := self.layout()) is not None:
            layout.activate()
        with_charts = [card.charts for card in self.cards if card.charts is not None]
        room = self._body.geometry().height() - self.rows.sizeHint().height() + sum(charts.sizeHint().height() for charts in with_charts)
        height = self._fit_topology(wide, room) if shown else 0
        wanting = [card for card in self.cards if card.wants_charts]
        each = (room - (0 if wide else height)) / max(len(wanting), 1)
        for card in self.cards:
            card.show_charts(each if each >= LEAST_ROOM and card in wanting else None)

    def _fit_topology(self, wide: bool, room: int) -> int:
        """Give the topology its height, and return it. wide: it is beside the devices. room: that they leave, logical pixels."""
        self._body.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)
        if self._body.stretch(self._body.indexOf(self._joined)) != wide:  # setting it asks for another layout
            self._body.setStretchFactor(self._joined, int(wide))
        height = self.topology.arrange(wide, self.width(), room)
        off = Qt.ScrollBarPolicy
        self._joined.setVerticalScrollBarPolicy(off.ScrollBarAsNeeded if wide else off.ScrollBarAlwaysOff)
        self._joined.setMinimumHeight(0 if wide else height)
        self._joined.setMaximumHeight(WHOLE if wide else height)
        return height

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the topology again."""
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the charts again when the height of the heading or of the rows changes."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def show_floating(self, floats: bool) -> None:
        """Name what the button at the top does. floats: the panel is in its own window."""
        title = translate("topology", "Put {panel} back here") if floats else translate("topology", "Show {panel} in its own window")
        title = title.format(panel=translate("topology", "Devices"))
        self.detach.setToolTip(title)
        self.detach.setAccessibleName(title)

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
        for device, card in self.device_cards.items():
            if card.visibleRegion().isEmpty():
                continue
            if len(device.members) > 1:
                card.show_members({member: self.telemetry.of(member) for member in device.members})
                continue
            card.show_telemetry(self.listed.snapshot(device), of_engine(self.telemetry.problem) if device in ours else None)
        self.topology.show_telemetry(self.listed.snapshots())
        measured = self.machines.snapshots()
        for name, drawing in self.drawings.items():
            drawing.show_telemetry(measured.get(name, {}))
        self._set_columns()
        self._find_bottleneck()

    def _find_bottleneck(self) -> None:
        """Find what limits the run. While the run rests, what limited it stays; devices that wait for frames of streams have no limit."""
        found, statuses = self.listed.bottleneck(), self.listed.statuses
        waiting = any(status.working and status.bottleneck == "sources" for status in statuses)
        if found is None and not waiting and any(status.run.frames for status in statuses):
            return
        if found != self._bottleneck:
            self._bottleneck = found
            self.run.show_bottleneck(found)
            self.bottleneck_changed.emit(found)

    def refresh(self) -> None:
        """Redraw every visible card."""
        self._repaint(at_once=True)

    def _repaint(self, at_once: bool = False) -> None:
        """Redraw every visible card. at_once: now; else one after the other, because the charts of eight devices take 30 ms together."""
        self.telemetry.revive()
        self._show_figures()
        self._fit()
        self._show_telemetry()
        visible = [card for card in self.device_cards.values() if not card.visibleRegion().isEmpty()]
        for place, card in enumerate(visible):
            if at_once:
                card.refresh()
            else:
                QTimer.singleShot(place * REPAINT_MS // len(visible), card, card.refresh)

    def showEvent(self, event: QShowEvent) -> None:
        """Start to repaint and to take telemetry."""
        super().showEvent(event)
        self._timer.start()
        self.listed.watch(self.isVisible(), self.topology.worth_showing)
        self._show_telemetry()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop repaints and telemetry."""
        super().hideEvent(event)
        self._timer.stop()
        self.listed.watch(self.isVisible(), self.topology.worth_showing)


def _stops(widget: QWidget) -> tuple[QWidget, ...]:
    """What Tab visits of a line of the list."""
    parts = (widget.row, widget.change) if isinstance(widget, DeviceCard) else (widget,)
    return tuple(part for part in parts if part.focusPolicy() is not Qt.FocusPolicy.NoFocus)


def attach(context: Context) -> Feature:
    """Add the panel to the window."""
    panel, run, settings = DevicePanel(context.actions.cluster), context.run, context.settings
    floating = Floating(panel, translate("topology", "Devices"), "devices", context.store, lambda: SIZE)
    panel.detach.clicked.connect(floating.toggle)
    floating.changed.connect(panel.show_floating)
    panel.show_floating(False)
    panel.bottleneck_changed.connect(context.requests.bottleneck)
    panel.join_requested.connect(run.add_device)
    panel.leave_requested.connect(run.remove_device)
    panel.run.choice_requested.connect(settings.open_devices)
    panel.topology_wanted.connect(
        lambda: context.background.start(panel, topology_search.find_topology, panel.show_topology, panel.topology.show_problem)
    )
    run.devices_changed.connect(panel.show_devices)
    run.figures_changed.connect(panel.show_figures)
    run.strategy_changed.connect(panel.show_strategy)
    settings.devices_found.connect(panel.know_devices)
    settings.used_changed.connect(panel.show_used)
    context.cluster.machines_changed.connect(panel.show_machines)
    context.cluster.described.connect(panel.describe_cluster)
    panel.cluster.setVisible(bool(context.cluster.address))
    if context.recording is not None:
        panel.show_recording(context.recording)
    return Feature([Placed(panel, Place.RIGHT, 560)], floating=[floating])
