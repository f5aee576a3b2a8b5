"""What the devices panel and the topology panel show of a cluster's machines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtWidgets import QWidget

from app.window.cluster.link import Machine
from app.window.topology.drawing import TopologyDrawing
from app.window.widgets import formats, theme
from app.window.widgets.build import Light, column, label, row, say
from app.window.widgets.translation import translate
from engine.devices.description import DeviceDescription
from engine.devices.telemetry.snapshot import Telemetry
from engine.devices.topology.types import Topology
from engine.types import DeviceId

MOST_DRAWN = 16
"""Most machines whose topology is drawn; further ones get a line only."""


def rate(value: float | None) -> str:
    """Traffic: ``1.2 MiB/s``; a dash for None."""
    return formats.DASH if value is None else f"{formats.size(value)}/s"


class MachineHeading(QWidget):
    """One machine: its name, its address, and its network's throughput."""

    def __init__(self) -> None:
        super().__init__()
        self.light, self.name, self.network = Light(), label("section"), label("small")
        row(self.light, self.name, None, self.network, spacing=8, margins=(4, 8, 4, 0), of=self)

    def show_machine(self, machine: Machine) -> None:
        """Show the machine as it is now."""
        state = machine.state
        self.name.setText(state.name)
        self.light.set_colour(theme.DANGER if state.lost else theme.GOOD)
        rx, tx = (state.measured.rx, state.measured.tx) if state.measured is not None else (None, None)
        text = translate("cluster", "cannot be reached") if state.lost else f"↓ {rate(rx)}   ↑ {rate(tx)}"
        say(self.network, text)
        self.setToolTip(
            "\n".join(
                (
                    state.address,
                    translate("cluster", "The network cards of this machine receive {rx} and send {tx}.").format(rx=rate(rx), tx=rate(tx)),
                    translate("cluster", "Files from here: {rate}, {size} so far.").format(
                        rate=rate(machine.sent), size=formats.size(state.sent)
                    ),
                    translate("cluster", "Results to here: {rate}, {size} so far.").format(
                        rate=rate(machine.received), size=formats.size(state.received)
                    ),
                )
            )
        )
        self.setAccessibleName(f"{state.name}: {text}")


class Machines:
    """The machines of a cluster for the devices panel: headings, descriptions of devices, and telemetry."""

    def __init__(self) -> None:
        self.headings: dict[str, MachineHeading] = {}
        self._described: dict[DeviceId, DeviceDescription] = {}
        self._telemetry: dict[DeviceId, Telemetry] = {}

    def show_machines(self, machines: Sequence[Machine]) -> bool:
        """Show these machines as they are now. Returns whether machines came or went."""
        names = [machine.state.name for machine in machines]
        changed = names != list(self.headings)
        for name in [name for name in self.headings if name not in names]:
            self.headings.pop(name).deleteLater()
        self.headings = {name: self.headings.get(name) or MachineHeading() for name in names}
        self._telemetry = {
            replace(snapshot.device, node=machine.state.name): snapshot
            for machine in machines
            if machine.state.measured is not None
            for snapshot in machine.state.measured.devices
        }
        for machine in machines:
            self.headings[machine.state.name].show_machine(machine)
        return changed

    def describe(self, devices: Iterable[DeviceDescription]) -> None:
        """Know these devices."""
        self._described = {device.id: device for device in devices}

    @property
    def devices(self) -> Collection[DeviceDescription]:
        """The devices of the machines that are shown."""
        return [known for known in self._described.values() if known.id.node in self.headings]

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


class ClusterTopology(QWidget):
    """The machines with their topologies, one below the other."""

    def __init__(self) -> None:
        super().__init__()
        self._headings: dict[str, MachineHeading] = {}
        self._drawings: dict[str, TopologyDrawing] = {}
        self._topologies: Mapping[str, Topology] = {}
        self._column = column(None, spacing=theme.SPACE, of=self)
        self.hide()

    def show_topologies(self, topologies: Mapping[str, Topology]) -> None:
        """Draw these topologies, by the machine's name."""
        self._topologies = topologies
        for name, drawing in self._drawings.items():
            if name in topologies:
                drawing.show_topology(topologies[name])
                drawing.show()

    def show_machines(self, machines: Sequence[Machine]) -> None:
        """Show these machines as they are now."""
        names = [machine.state.name for machine in machines]
        if names != list(self._headings):
            self._arrange(names)
        self.setVisible(bool(machines))
        for machine in machines:
            name, measured = machine.state.name, machine.state.measured
            self._headings[name].show_machine(machine)
            if name in self._drawings and measured is not None:
                self._drawings[name].show_telemetry({snapshot.device: snapshot for snapshot in measured.devices})

    def _arrange(self, names: Sequence[str]) -> None:
        for widget in (*self._headings.values(), *self._drawings.values()):
            self._column.removeWidget(widget)
            widget.deleteLater()
        self._headings = {name: MachineHeading() for name in names}
        self._drawings = {name: TopologyDrawing() for name in names[:MOST_DRAWN]}
        for name in names:
            parts = [self._headings[name], *([self._drawings[name]] if name in self._drawings else [])]
            for part in parts:
                self._column.insertWidget(self._column.count() - 1, part)
        for drawing in self._drawings.values():
            drawing.hide()
        self.show_topologies(self._topologies)
