"""The topologies of a cluster's machines, for the topology panel."""

from collections.abc import Mapping, Sequence

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.cluster.machines import Folds
from framefleet.app.window.topology.drawing import TopologyDrawing
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import column
from framefleet.engine.devices.topology.types import Topology


class ClusterTopology(QWidget):
    """The machines, one below the other. A machine that is opened has a drawing of its topology."""

    def __init__(self) -> None:
        super().__init__()
        self._folds = Folds()
        self._folds.changed.connect(self._show)
        self._drawings: dict[str, TopologyDrawing] = {}
        self._topologies: Mapping[str, Topology] = {}
        self._machines: Sequence[Machine] = ()
        self._column = column(None, spacing=theme.SPACE, of=self)
        self.hide()

    def show_topologies(self, topologies: Mapping[str, Topology]) -> None:
        """Draw these topologies, by the machine's name."""
        self._topologies = topologies
        for name, drawing in self._drawings.items():
            if name in topologies:
                drawing.show_topology(topologies[name])
        self._show()

    def show_machines(self, machines: Sequence[Machine]) -> None:
        """Show these machines as they are now."""
        self._machines = machines
        if self._folds.set_machines([machine.state.name for machine in machines]):
            for name in self._drawings.keys() - self._folds.headings.keys():
                self._drawings.pop(name).deleteLater()
            for place, heading in enumerate(self._folds.headings.values()):
                self._column.insertWidget(place, heading)
            for name, drawing in self._drawings.items():
                self._place(name, drawing)
        self.setVisible(bool(machines))
        self._show()

    def _place(self, name: str, drawing: TopologyDrawing) -> None:
        self._column.insertWidget(self._column.indexOf(self._folds.headings[name]) + 1, drawing)

    def _show(self) -> None:
        if not self.isVisible():
            return
        for machine in self._machines:
            name, measured = machine.state.name, machine.state.measured
            opened = self._folds.opened(name)
            self._folds.headings[name].show_machine(machine, opened)
            if opened and name in self._topologies and name not in self._drawings:
                self._drawings[name] = drawing = TopologyDrawing()
                drawing.show_topology(self._topologies[name])
                self._place(name, drawing)
            if name in self._drawings:
                self._drawings[name].setVisible(opened)
                if opened and measured is not None:
                    self._drawings[name].show_telemetry({snapshot.device: snapshot for snapshot in measured.devices})

    def showEvent(self, event: QShowEvent) -> None:
        """Show what has changed meanwhile."""
        super().showEvent(event)
        self._show()
