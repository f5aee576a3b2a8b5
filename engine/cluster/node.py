"""A node of a cluster, as the driver sees it."""

import threading
import time
from collections.abc import Callable

from framefleet.engine.cluster.library import NodeFacts
from framefleet.engine.cluster.messages import Hello, NodeState
from framefleet.engine.cluster.relay import Relay
from framefleet.engine.cluster.versions import own_versions
from framefleet.engine.errors import ClusterError
from framefleet.engine.notices import Notice
from framefleet.engine.pool.protocol import Setup
from framefleet.engine.pool.supervision.host import WorkerMain
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.restart_budget import RestartBudget


class Node:
    """A node. Its agent is started at once, and again if it ends while the node lives, five times in a minute at most.

    name: unique in the run. connect: starts an agent; takes ``may_return`` of ``Relay``. lives: whether the node is alive.

    Attributes: relay: the connection to the current agent.
    """

    def __init__(self, facts: NodeFacts, name: str, connect: Callable[[Callable[[], bool]], Relay], lives: Callable[[], bool]) -> None:
        self.facts = facts
        self.name = name
        self._connect = connect
        self._lives = lives
        self._budget = RestartBudget()
        self._lock = threading.Lock()
        self._past: list[Relay] = []
        self._measure = False
        self.relay = connect(self._returns)

    def hello(self) -> Hello:
        """The agent's first answer.

        Raises ClusterError if the agent does not start, or this machine and the node differ in what has to be the same.
        """
        hello = self.relay.hello.result()
        if differences := own_versions().differences(hello.versions):
            raise ClusterError(Notice("cluster.differs", differences=differences))
        return hello

    def measure(self, wanted: bool) -> None:
        """Let the node take telemetry, or stop."""
        self._measure = wanted
        self.relay.measure(wanted)

    @property
    def state(self) -> NodeState:
        """What the user sees of the node."""
        relays = [*self._past, self.relay]
        sent, received = sum(relay.sent for relay in relays), sum(relay.received for relay in relays)
        measured = None if self.relay.lost else self.relay.measured
        return NodeState(time.monotonic(), self.name, self.facts.address, self.relay.lost, sent, received, measured)

    def admit(self, setup: Setup, worker_main: WorkerMain, pipe: AnyConnection) -> None:
        """Start a worker. pipe: to the pool."""
        with self._lock:
            if self.relay.returns:
                self._past.append(self.relay)
                self.relay = self._connect(self._returns)
                self.relay.measure(self._measure)
            self.relay.admit(setup, worker_main, pipe)

    def close(self) -> None:
        """End the agent and its workers."""
        with self._lock:
            for relay in [*self._past, self.relay]:
                relay.close()

    def _returns(self) -> bool:
        try:
            return self._lives() and self._budget.spend(time.monotonic())
        except ClusterError:
            return False
