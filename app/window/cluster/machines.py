"""The machines of a cluster for the devices panel: headings, descriptions of devices, and telemetry."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from framefleet.app.window.cluster.heading import MachineHeading
from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.devices.status import DeviceStatus
from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.telemetry.snapshot import Telemetry
from framefleet.engine.types import DeviceId

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

    def waiting(self) -> list[DeviceId]:
        """The devices that a run would use if the user chooses none."""
        usable = [known.id for known in self.devices if known.available]
        best = next((kind for kind in ("cuda", "openvino", "cpu") if any(device.kind == kind for device in usable)), "")
        return [device for device in usable if device.kind == best]
