"""A node of a cluster, as the driver sees it, and the host of its workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from engine.cluster.library import AgentHandle, NodeFacts
from engine.cluster.messages import Hello
from engine.cluster.relay import Contents, Relay, Remote
from engine.cluster.versions import own_versions
from engine.devices.description import DeviceDescription
from engine.errors import ClusterError
from engine.pool.protocol import FromWorker, Setup, ToWorker
from engine.pool.supervision.host import WorkerMain
from engine.processes.outcome import Outcome
from engine.processes.restart_budget import RestartBudget


class Node:
    """A node. Its agent is started at once, and again if it ends while the node lives, five times in a minute at most.

    name: unique in the run. start: starts an agent. lives: whether the node is alive. patience, contents: see ``Relay``.
    """

    def __init__(
        self,
        facts: NodeFacts,
        name: str,
        start: Callable[[], AgentHandle],
        lives: Callable[[], bool],
        patience: float,
        contents: Contents,
    ) -> None:
        self.facts = facts
        self.name = name
        self._start = start
        self._lives = lives
        self._patience = patience
        self._contents = contents
        self._budget = RestartBudget()
        self._lock = threading.Lock()
        self._past: list[Relay] = []
        self._relay = self._new_relay()

    def hello(self) -> Hello:
        """The agent's first answer.

        Raises:
            ClusterError: the agent does not start, or this machine and the node differ in what has to be the same.
        """
        hello = self._relay.hello.result()
        if differences := own_versions().differences(hello.versions):
            raise ClusterError(f"{', '.join(differences)}: install the same on both")
        return hello

    @property
    def lost(self) -> bool:
        """Whether its agent has ended."""
        return self._relay.lost

    @property
    def traffic(self) -> tuple[int, int]:
        """Bytes of files sent to the node, and bytes of messages received from it."""
        relays = [*self._past, self._relay]
        return sum(relay.sent for relay in relays), sum(relay.received for relay in relays)

    def describe(self) -> tuple[DeviceDescription, ...]:
        """All devices of the node, which is asked for them. Raises ClusterError."""
        found: tuple[DeviceDescription, ...] = self._relay.describe()
        return found

    def admit(self, setup: Setup, worker_main: WorkerMain) -> tuple[Remote, Connection[Any, Any]]:
        """Start a worker. Returns it, and the pool's end of its pipe."""
        with self._lock:
            if self._relay.lost and self._relay.returns:
                self._past.append(self._relay)
                self._relay = self._new_relay()
            return self._relay.admit(setup, worker_main)

    def give_up(self, why: str) -> None:
        """Tell the pool that the node is lost for good."""
        self._relay.give_up(why)

    def close(self) -> None:
        """End the agent and its workers."""
        with self._lock:
            for relay in [*self._past, self._relay]:
                relay.close()

    def _new_relay(self) -> Relay:
        return Relay(self.name, self._start(), self._patience, self._contents, self._returns)

    def _returns(self) -> bool:
        try:
            return self._lives() and self._budget.spend(time.monotonic())
        except ClusterError:
            return False


class ClusterHost:
    """The host of one device's workers: see ``WorkerHost``. node: returns the node now; one that was lost may have come back."""

    def __init__(self, node: Callable[[], Node], worker_main: WorkerMain) -> None:
        self._node = node
        self._worker_main = worker_main
        self._remote: Remote | None = None

    def admit(self, setup: Setup) -> Connection[ToWorker, FromWorker]:
        """See ``WorkerHost``."""
        self._remote, connection = self._node().admit(setup, self._worker_main)
        return connection

    def dismiss(self) -> None:
        """See ``WorkerHost``. The pool closes the connection, and the agent then ends the process."""

    def release(self) -> None:
        """See ``WorkerHost`` and ``dismiss``."""

    def end(self) -> Outcome:
        """See ``WorkerHost``. Does not wait for the process: the agent ends it before it starts another one for the device."""
        return (self._remote and self._remote.outcome) or Outcome(None)
