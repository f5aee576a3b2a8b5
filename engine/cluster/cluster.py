"""The nodes of a Ray cluster and their agents. Runs in the process that is connected to the cluster: see ``connection``."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from framefleet.engine.cluster.files import Contents
from framefleet.engine.cluster.library import Library, NodeFacts
from framefleet.engine.cluster.messages import Hello, NodeState, own_versions
from framefleet.engine.cluster.relay import Relay
from framefleet.engine.notices import ClusterError, Notice
from framefleet.engine.pool import hosts, protocol
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.outcome import RestartBudget
from framefleet.engine.types import Closing


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

    def admit(self, setup: protocol.Setup, worker_main: hosts.WorkerMain, pipe: AnyConnection) -> None:
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


LOOK_SECONDS = 2.0
"""Interval at which the cluster is asked for nodes that have joined or left."""

RETURN_SECONDS = 30.0
"""A node that joins a run under the name of another one waits this long for the other one's end: it may be the same machine."""

HEAD_SECONDS = 10.0
"""After this time without the head, all nodes count as lost. After a minute, Ray would end this process without a word."""

_log = logging.getLogger(__name__)


class Cluster(Closing):
    """The nodes of a cluster that can take part.

    address: HOST:PORT, or "auto" = the cluster of this machine. say: takes what to tell the user, for example why a node is left out.
    joined: takes nodes that join after the start. Both may be called in another thread. cache: of the nodes, see ``Cache``; None = the
    usual one. patience: after this time without an answer, seconds, a node counts as lost. Ray notices most losses earlier.

    Raises
    ------
    ClusterError
        The cluster cannot be reached, or none of its nodes can take part.
    UsageError
        The address is not usable.
    """

    def __init__(
        self,
        address: str,
        say: Callable[[Notice], None],
        joined: Callable[[Mapping[str, Hello]], None],
        cache: Path | None,
        patience: float,
    ) -> None:
        self._say, self._joined = say, joined
        self._patience = patience
        self._cache = cache
        self._contents = Contents()
        self._lock = threading.Lock()
        self._nodes: dict[str, Node] = {}
        self._hellos: dict[str, Hello] = {}
        self._refused: dict[str, Notice] = {}  # why, by Ray's id
        self._seen: dict[str, float] = {}  # since when, by Ray's id
        self._measuring = False
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None
        self._library = Library(address)
        try:
            self._look()
            if not self._hellos:
                reasons = tuple(self._refused.values()) or Notice("cluster.nothing_offered")
                raise ClusterError(Notice("cluster.no_node", address=address, reasons=reasons))
        except BaseException:
            self.close()
            raise
        self._watcher = threading.Thread(target=self._watch, name="watch cluster", daemon=True)
        self._watcher.start()

    @property
    def hellos(self) -> dict[str, Hello]:
        """The first answers of the nodes that take part, by name."""
        with self._lock:
            return dict(self._hellos)

    @property
    def states(self) -> tuple[NodeState, ...]:
        """All nodes that take part, by name."""
        return tuple(node.state for _, node in sorted(self._taking_part().items()))

    def ask(self, method: str) -> dict[str, Any]:
        """Call a method of each agent. Returns the results by name. A node without an answer is left out, and the user told."""
        nodes = self._taking_part()

        def call(node: Node) -> Any:
            try:
                return node.relay.ask(method)
            except ClusterError as error:
                self._say(Notice("cluster.does_not_answer", name=node.name, problem=error.notice))
                return None

        with ThreadPoolExecutor(max(1, len(nodes))) as threads:
            found = zip(nodes, threads.map(call, nodes.values()), strict=True)
            return {name: value for name, value in found if value is not None}

    def measure(self, wanted: bool) -> None:
        """Let all nodes take telemetry, or stop."""
        self._measuring = wanted
        for node in self._taking_part().values():
            node.measure(wanted)

    def admit(self, setup: protocol.Setup, worker_main: hosts.WorkerMain, pipe: AnyConnection) -> None:
        """Start a worker on the node of its device. pipe: to the pool."""
        self._node(setup.device.node).admit(setup, worker_main, pipe)

    def close(self) -> None:
        """End all agents and leave the cluster; harmless when repeated. The pool has to be closed before."""
        self._closing.set()
        if self._watcher is not None:
            self._watcher.join()
        with self._lock:
            nodes, self._nodes = list(self._nodes.values()), {}
        for state in (node.state for node in nodes):
            _log.info("%s: %.1f MB of files sent, %.1f MB of results received", state.name, state.sent / 1e6, state.received / 1e6)
        if nodes:
            with ThreadPoolExecutor(len(nodes)) as threads:
                list(threads.map(lambda node: node.close(), nodes))
        self._library.close()

    def _taking_part(self) -> dict[str, Node]:
        with self._lock:
            return {name: node for name, node in self._nodes.items() if name in self._hellos}

    def _node(self, name: str) -> Node:
        with self._lock:
            return self._nodes[name]

    def _look(self) -> list[str]:
        """Take in the nodes that have joined. Returns their names."""
        alive = self._library.nodes()
        with self._lock:
            known = {node.facts.id for node in self._nodes.values()}
            gone = {node.name for node in self._nodes.values() if node.relay.lost and node.facts not in alive}
            new = [facts for facts in alive if facts.id not in known and facts.id not in self._refused]
            added, replaced = [], []
            for facts in sorted(new, key=lambda facts: (facts.name, facts.id)):
                name = _free_name(facts.name, self._nodes.keys() - gone)
                seen = self._seen.setdefault(facts.id, time.monotonic())
                if name != facts.name and self._watcher is not None and time.monotonic() < seen + RETURN_SECONDS:
                    continue
                if name in gone:
                    gone.discard(name)
                    self._hellos.pop(name, None)
                    replaced.append(self._nodes[name])
                self._nodes[name] = self._new_node(facts, name)
                added.append(name)
        for node in replaced:
            node.close()
        return [name for name in added if self._greet(name)]

    def _new_node(self, facts: NodeFacts, name: str) -> Node:
        def lives() -> bool:
            return not self._closing.is_set() and any(each.id == facts.id for each in self._library.nodes())

        def connect(may_return: Callable[[], bool]) -> Relay:
            return Relay(name, self._library.start_agent(facts.id, self._cache), self._patience, self._contents, may_return)

        return Node(facts, name, connect, lives)

    def _greet(self, name: str) -> bool:
        """Whether a node can take part. If not, the user is told why."""
        node = self._node(name)
        try:
            hello = node.hello()
        except ClusterError as error:
            node.close()
            with self._lock:
                del self._nodes[name]
                self._refused[node.facts.id] = Notice("cluster.node", name=name, problem=error.notice)
            self._say(Notice("cluster.left_out", name=name, problem=error.notice))
            return False
        with self._lock:
            self._hellos[name] = replace(hello, devices=tuple(replace(device, node=name) for device in hello.devices))
        node.measure(self._measuring)
        return True

    def _watch(self) -> None:
        answered = time.monotonic()
        while not self._closing.wait(LOOK_SECONDS):
            if not self._library.reachable():
                if time.monotonic() > answered + HEAD_SECONDS:
                    for node in self._taking_part().values():
                        node.relay.give_up(Notice("cluster.head_has_ended"))
                    return
                continue
            answered = time.monotonic()
            try:
                names = self._look()
            except ClusterError as error:
                _log.info("%s", error)
                continue
            if names:
                self._joined({name: self._hellos[name] for name in names})


def _free_name(name: str, taken: set[str]) -> str:
    """The name, with a number if another node has it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
