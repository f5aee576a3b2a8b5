"""The window's connection to a cluster: made in the background, watched, and ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self

from PySide6.QtCore import QObject, QSettings, QTimer, Signal

from framefleet.app.window.run.background import Background
from framefleet.app.window.run.controller import DetectionController
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.cluster.messages import NodeState
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.topology import Topology
from framefleet.engine.notices import Notice

LOOK_MS = 1000
"""Interval at which the window looks at the states of the nodes."""

_ADDRESS = "cluster/address"


@dataclass(frozen=True)
class Machine:
    """A node, as the window shows it. sent, received: Framefleet's own traffic with it, bytes/s; None before two looks."""

    state: NodeState
    sent: float | None = None
    received: float | None = None

    @classmethod
    def of(cls, state: NodeState, before: Self | None) -> Self:
        """The node with its traffic since an earlier look, None at the first one. Without news, the earlier look stays."""
        if before is None:
            return cls(state)
        seconds = state.time - before.state.time
        if seconds <= 0:
            return before
        return cls(state, (state.sent - before.state.sent) / seconds, (state.received - before.state.received) / seconds)


class ClusterLink(QObject):
    """Connects to a cluster and makes the controller use it. One at a time.

    connecting, connected: nothing. refused: why it cannot be connected. lost: why the connection has ended. disconnected: nothing.
    said: a sentence about a node. machines_changed: tuple of Machine, about once a second. described: tuple of DeviceDescription and the
    topologies by the machine's name.
    """

    connecting = Signal()
    connected = Signal()
    refused = Signal(object)
    lost = Signal(object)
    disconnected = Signal()
    said = Signal(object)
    machines_changed = Signal(object)
    described = Signal(object, object)

    def __init__(self, store: QSettings, background: Background, controller: DetectionController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store, self._background, self._controller = store, background, controller
        self.cluster: ClusterConnection | None = None
        self.busy = False
        self._stopped = False
        self._machines: dict[str, Machine] = {}
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    @property
    def address(self) -> str:
        """The address that was connected last, "" before the first time."""
        return str(self._store.value(_ADDRESS, ""))

    @property
    def machines(self) -> tuple[Machine, ...]:
        """The nodes, by name."""
        return tuple(self._machines.values())

    def connect_to(self, address: str) -> None:
        """Connect in the background. ``connected`` or ``refused`` follows."""
        if self.busy or self.cluster is not None:
            return
        self.busy = True
        self.connecting.emit()
        self._background.start(self, partial(self._connect, address), self._connected, self._refused)

    def disconnect_(self) -> None:
        """Leave the cluster. Unfinished files go on with the devices of this machine."""
        if self.cluster is not None:
            self._leave()
            self.disconnected.emit()

    def stop(self) -> None:
        """End the connection, when the window closes. The controller has to be stopped before."""
        self._stopped = True
        self._timer.stop()
        if self.cluster is not None:
            self.cluster.close()
            self.cluster = None

    def _leave(self) -> None:
        cluster, self.cluster = self.cluster, None
        assert cluster is not None
        self._timer.stop()
        self._machines = {}
        self.machines_changed.emit(())
        self._controller.set_cluster(None, partial(self._background.start, self, cluster.close, lambda _: None, lambda _: None))

    def _connect(self, address: str) -> ClusterConnection:
        cluster = ClusterConnection(address, self.said.emit)
        if self._stopped:  # the window has closed meanwhile
            cluster.close()
        return cluster

    def _connected(self, cluster: ClusterConnection) -> None:
        self.busy = False
        self.cluster = cluster
        self._store.setValue(_ADDRESS, cluster.address)
        self._controller.set_cluster(cluster)
        cluster.measure(True)
        self._timer.start()
        self._look()
        self._describe()
        self.connected.emit()

    def _refused(self, why: Notice) -> None:
        self.busy = False
        self.refused.emit(why)

    def _describe(self) -> None:
        if (cluster := self.cluster) is not None:

            def ask() -> tuple[tuple[DeviceDescription, ...], Mapping[str, Topology]]:
                return cluster.describe(), cluster.topologies()

            self._background.start(self, ask, lambda found: self.described.emit(*found), lambda _: None)

    def _look(self) -> None:
        cluster = self.cluster
        if cluster is None:
            return
        if (problem := cluster.problem) is not None:
            self._leave()
            self.lost.emit(problem)
            return
        before, nodes = self._machines, cluster.nodes
        self._machines = {state.name: Machine.of(state, before.get(state.name)) for state in cluster.states}
        if before and any(name not in before for name in self._machines if name in nodes):
            self._describe()  # a node has joined
        self.machines_changed.emit(self.machines)
