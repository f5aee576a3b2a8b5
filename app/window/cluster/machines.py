"""The machines of a cluster in the list of devices: a line for each, and the devices of those that are opened."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.widgets import build, formats, theme
from framefleet.app.window.widgets.painting import LEFT, RIGHT, draw_box, painting, pixmap, write
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.cluster.messages import NodeState
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.types import DeviceId

SIDE, LIGHT, GAP, PAD = 9, 13, 8, 3
CHEVRON = 12


def rate(value: float | None) -> str:
    """Traffic: ``1.2 MiB/s``; a dash for None."""
    return formats.DASH if value is None else f"{formats.size(value)}/s"


@dataclass(frozen=True)
class _Shown:
    """What a heading shows. count: of devices. rate: of all, frames/s. failed: devices."""

    machine: Machine
    opened: bool
    count: int
    rate: float
    failed: int


class MachineHeading(build.Clickable):
    """One machine. It paints itself: a cluster may have hundreds. A press shows or hides its devices."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: _Shown | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._bold, self._small = theme.font(0, bold=True), theme.font(-2)
        self._first, self._second = QFontMetrics(self._bold).height(), QFontMetrics(self._small).height()
        self.setFixedHeight(self._first + self._second + 3 * PAD)

    def show_machine(self, machine: Machine, opened: bool, count: int = 0, statuses: Sequence[DeviceStatus] = ()) -> None:
        """Show the machine as it is now. opened: its devices are shown. count: of its devices. statuses: of those in the run."""
        failed = sum(status.phase in (Phase.FAILED, Phase.RESTARTING) for status in statuses)
        shown = _Shown(machine, opened, max(count, len(statuses)), sum(status.rate for status in statuses), failed)
        if shown != self._shown:
            self._shown = shown
            self.update()

    @property
    def empty(self) -> bool:
        """Whether no machine was shown yet."""
        return self._shown is None

    @property
    def network(self) -> str:
        """What the machine's network cards receive and send."""
        if self._shown is None:
            return ""
        state = self._shown.machine.state
        return translate("cluster", "cannot be reached") if state.lost else "↓ {}  ↑ {}".format(*map(rate, _traffic(state)))

    @property
    def work(self) -> str:
        """How many devices the machine has, and their throughput."""
        if (shown := self._shown) is None:
            return ""
        parts = (
            formats.plural(shown.count, "device") if shown.count else "",
            translate("cluster", "{rate} frames/s").format(rate=formats.rate(shown.rate)) if shown.rate else "",
        )
        return " · ".join(filter(None, parts))

    @property
    def problem(self) -> str:
        """How many devices have failed, "" = none."""
        failed = self._shown.failed if self._shown is not None else 0
        return translate("cluster", "{count} failed").format(count=failed) if failed else ""

    def enterEvent(self, event: QEnterEvent) -> None:
        """Write the tooltip when it may be asked for."""
        self.setToolTip(self.details())
        super().enterEvent(event)

    def details(self) -> str:
        """The tooltip: the address and all traffic."""
        if self._shown is None:
            return ""
        machine, state = self._shown.machine, self._shown.machine.state
        rx, tx = map(rate, _traffic(state))
        lines = (
            state.address,
            translate("cluster", "The network cards of this machine receive {rx} and send {tx}.").format(rx=rx, tx=tx),
            translate("cluster", "Files from here: {rate}, {size} in all.").format(rate=rate(machine.sent), size=formats.size(state.sent)),
            translate("cluster", "Results to here: {rate}, {size} in all.").format(
                rate=rate(machine.received), size=formats.size(state.received)
            ),
        )
        return "\n".join(lines)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the two lines. Texts are made here, because few of the lines can be seen."""
        if (shown := self._shown) is None:
            return
        name, network, work = shown.machine.state.name, self.network, self.work
        colour = "DANGER" if shown.machine.state.lost else "WARNING" if shown.failed else "GOOD"
        self.setAccessibleName(f"{name}: {', '.join(filter(None, (work, self.problem, network)))}")
        with painting(self) as painter:
            if self.hasFocus():
                draw_box(painter, QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, None, theme.ACCENT)
            inside = QRectF(self.rect()).adjusted(SIDE, PAD, -SIDE, -PAD)
            first = QRectF(inside.x(), inside.y(), inside.width() - CHEVRON - GAP, self._first)
            second = QRectF(inside.x() + LIGHT, first.bottom() + PAD, inside.width() - LIGHT, self._second)
            chevron = QRectF(inside.right() - CHEVRON, first.center().y() - CHEVRON / 2, CHEVRON, CHEVRON)
            painter.drawPixmap(chevron.toRect(), pixmap("chevron-up" if shown.opened else "chevron-down", CHEVRON, theme.MUTED))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.colour(colour)))
            painter.drawEllipse(QRectF(first.x(), first.center().y() - 4, 8, 8))
            used = write(painter, first.adjusted(LIGHT, 0, 0, 0), name, LEFT, self._bold, theme.TEXT)
            write(painter, first.adjusted(LIGHT + used + GAP, 0, 0, 0), work, RIGHT, self._small, theme.MUTED)
            used = write(painter, second, network)
            write(painter, second.adjusted(used + GAP, 0, 0, 0), self.problem, RIGHT, colour=theme.WARNING)


def _traffic(state: NodeState) -> tuple[float | None, float | None]:
    return (state.measured.rx, state.measured.tx) if state.measured is not None else (None, None)


FEW = 4
"""With more machines than this, a machine's devices are hidden until the user opens it."""


class Folds(QObject):
    """The machines whose parts are shown. changed: the user has opened or closed one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.headings: dict[str, MachineHeading] = {}
        self._chosen: dict[str, bool] = {}

    def set_machines(self, names: Sequence[str]) -> bool:
        """Have a heading for each machine. Returns whether machines came or went."""
        if names == list(self.headings):
            return False
        for name in self.headings.keys() - set(names):
            self.headings.pop(name).deleteLater()
        self.headings = {name: self.headings.get(name) or self._heading(name) for name in names}
        return True

    def opened(self, name: str) -> bool:
        """Whether the devices of a machine are shown."""
        return self._chosen.get(name, len(self.headings) <= FEW)

    def _heading(self, name: str) -> MachineHeading:
        def toggle() -> None:
            self._chosen[name] = not self.opened(name)
            self.changed.emit()

        heading = MachineHeading()
        heading.clicked.connect(toggle)
        return heading


class Machines:
    """What the devices panel knows of the machines."""

    def __init__(self) -> None:
        self.folds = Folds()
        self._machines: Sequence[Machine] = ()
        self._described: dict[DeviceId, DeviceDescription] = {}
        self._counts: Counter[str] = Counter()
        self._telemetry: dict[DeviceId, Telemetry] = {}

    def show_machines(self, machines: Sequence[Machine]) -> bool:
        """Know these machines as they are now. Returns whether machines came or went."""
        self._machines = machines
        self._telemetry = {
            replace(snapshot.device, node=machine.state.name): snapshot
            for machine in machines
            if machine.state.measured is not None
            for snapshot in machine.state.measured.devices
        }
        changed = self.folds.set_machines([machine.state.name for machine in machines])
        if changed:
            self._count()
        return changed

    def show_work(self, statuses: Iterable[DeviceStatus]) -> None:
        """Show on the headings what the devices of the run do."""
        of: defaultdict[str, list[DeviceStatus]] = defaultdict(list)
        for status in statuses:
            of[status.device.node].append(status)
        for machine in self._machines:
            name, heading = machine.state.name, self.folds.headings[machine.state.name]
            if heading.empty or not heading.visibleRegion().isEmpty():
                heading.show_machine(machine, self.folds.opened(name), self._counts[name], of[name])

    def shows(self, device: DeviceId) -> bool:
        """Whether a device has a row: its machine is opened."""
        return device.node not in self.folds.headings or self.folds.opened(device.node)

    def describe(self, devices: Iterable[DeviceDescription]) -> None:
        """Know these devices."""
        self._described = {device.id: device for device in devices}
        self._count()

    def _count(self) -> None:
        self._counts = Counter(device.node for device in self.waiting())

    @property
    def devices(self) -> Collection[DeviceDescription]:
        """The devices of the machines that are shown."""
        return [known for known in self._described.values() if known.id.node in self.folds.headings]

    def description(self, device: DeviceId) -> DeviceDescription | None:
        """The description of a device, None if it is unknown. All CPU devices of a machine share one."""
        found = self._described.get(replace(device, name="0") if device.kind == "cpu" else device)
        return None if found is None else replace(found, id=device)

    def telemetry(self, device: DeviceId) -> Telemetry | None:
        """The latest snapshot of a device, None before the first."""
        return self._telemetry.get(replace(device, name="0") if device.kind == "cpu" else device)

    def snapshots(self) -> dict[str, dict[DeviceId, Telemetry]]:
        """The latest telemetry of each machine's devices, by the machine's name."""
        measured = {machine.state.name: machine.state.measured for machine in self._machines}
        return {name: {one.device: one for one in found.devices} for name, found in measured.items() if found is not None}

    def waiting(self) -> list[DeviceId]:
        """The devices that a run would use if the user chooses none."""
        usable = [known.id for known in self.devices if known.available]
        best = next((kind for kind in ("cuda", "openvino", "cpu") if any(device.kind == kind for device in usable)), "")
        return [device for device in usable if device.kind == best]
