"""A Ray cluster as a source of devices for the pool."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.cluster.library import Library, NodeFacts
from engine.cluster.messages import Hello
from engine.cluster.node import ClusterHost, Node
from engine.cluster.relay import Contents
from engine.devices.description import DeviceDescription
from engine.errors import ClusterError, UsageError
from engine.pool.supervision.host import WorkerHost, WorkerMain
from engine.pool.supervision.hosts import Hosts
from engine.settings import Isolation, Parallel, RunSettings
from engine.types import Closing, DeviceId

LOOK_SECONDS = 2.0
"""Interval at which the cluster is asked for nodes that have joined or left."""

PATIENCE_SECONDS = 60.0
"""After this time without an answer, a node counts as lost. Ray notices most losses earlier."""

RETURN_SECONDS = 30.0
"""A node that joins a run under the name of another one waits this long for the other one's end: it may be the same machine."""

WITHIN_MACHINES = (Parallel.FRAMES, Parallel.TILES, Parallel.DEPTH)

HEAD_SECONDS = 10.0
"""After this time without the head, all nodes count as lost. After a minute, Ray would end this program without a word."""

_log = logging.getLogger(__name__)


class Cluster(Hosts, Closing):
    """The nodes of a cluster that can take part.

    address: HOST:PORT, or "auto" = the cluster of this machine. say: takes sentences for the user, for example why a node is left out;
    may be called in another thread. cache, limit: of the nodes' caches, see ``Cache``; None = the usual ones.

    Raises:
        ClusterError: the cluster cannot be reached, or none of its nodes can take part.
        UsageError: the address is not usable.
    """

    def __init__(
        self,
        address: str,
        say: Callable[[str], None],
        *,
        patience: float = PATIENCE_SECONDS,
        cache: Path | None = None,
        limit: int | None = None,
    ) -> None:
        self._say = say
        self._patience = patience
        self._cache, self._limit = cache, limit
        self._contents = Contents()
        self._lock = threading.Lock()
        self._nodes: dict[str, Node] = {}
        self._hellos: dict[str, Hello] = {}
        self._refused: dict[str, str] = {}  # why, by Ray's id
        self._seen: dict[str, float] = {}  # since when, by Ray's id
        self._asked: tuple[DeviceId, ...] = ()
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None
        self._library = Library(address)
        try:
            self._look()
            if not self._hellos:
                reasons = "; ".join(self._refused.values()) or "no node offers processors or GPUs"
                raise ClusterError(f"no node of the cluster at {address} can take part: {reasons}")
        except BaseException:
            self.close()
            raise

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes that take part, by name."""
        with self._lock:
            return {name: node for name, node in self._nodes.items() if name in self._hellos}

    def devices(self, asked: Sequence[DeviceId] = ()) -> tuple[DeviceId, ...]:
        """The devices to use. Nodes that join later add theirs by the same rule.

        asked: a device of a node, ``a/cpu:0``, or of each node, ``cpu:0``. None: all CUDA devices of the cluster, else OpenVINO's GPUs,
        else the CPUs.

        Raises:
            UsageError: a device's node is not in the cluster.
            ClusterError: no node has a device.
        """
        self._asked = tuple(asked)
        with self._lock:
            names = list(self._hellos)
        if unknown := [device for device in asked if device.node and device.node not in names]:
            raise UsageError(f"{unknown[0]}: the cluster has no node {unknown[0].node}; its nodes are {', '.join(sorted(names))}")
        chosen = [device for name in sorted(names) for device in self._devices_of(name)]
        if not chosen:
            problems = "; ".join(f"{name}: {hello.problem}" for name, hello in sorted(self._hellos.items()))
            raise ClusterError(f"no node of the cluster has a device that can be used ({problems})")
        return tuple(dict.fromkeys(chosen))

    def describe(self) -> tuple[DeviceDescription, ...]:
        """All devices of all nodes. Raises ClusterError."""
        nodes = sorted(self.nodes.items())
        with ThreadPoolExecutor(max(1, len(nodes))) as threads:
            found = list(threads.map(lambda each: each[1].describe(), nodes))
        return tuple(
            replace(device, id=replace(device.id, node=name)) for (name, _), devices in zip(nodes, found, strict=True) for device in devices
        )

    def watch(self, join: Callable[[DeviceId], None]) -> None:
        """From now on, let devices of nodes that join the cluster join the run. join: see ``EnginePool.add_device``."""
        self._watcher = threading.Thread(target=self._watch, args=(join,), name="watch cluster", daemon=True)
        self._watcher.start()

    def check(self, settings: RunSettings, devices: Sequence[DeviceId]) -> None:
        """See ``Hosts.check``."""
        if settings.parallel in WITHIN_MACHINES:
            raise UsageError(
                f"--parallel {settings.parallel} shares pictures within one machine, and a cluster shares segments: choose auto or streams"
            )
        if settings.isolation is Isolation.THREAD:
            raise UsageError("--isolation thread is for one machine: on a cluster, each device has its own process")
        if here := [device for device in devices if not device.node]:
            raise UsageError(f"{here[0]} is no device of the cluster: write NODE/{here[0]}")

    def host(self, device: DeviceId, worker_main: WorkerMain) -> WorkerHost:
        """See ``Hosts.host``."""
        return ClusterHost(partial(self._node, device.node), worker_main)

    def cores(self, device: DeviceId) -> int:
        """See ``Hosts.cores``."""
        return self._hellos[device.node].cores

    def close(self) -> None:
        """End all agents and leave the cluster; harmless when repeated. The pool has to be closed before."""
        self._closing.set()
        if self._watcher is not None:
            self._watcher.join()
        with self._lock:
            nodes, self._nodes = list(self._nodes.values()), {}
        for node in nodes:
            sent, received = node.traffic
            _log.info("%s: %.1f MB of files sent, %.1f MB of results received", node.name, sent / 1e6, received / 1e6)
        if nodes:
            with ThreadPoolExecutor(len(nodes)) as threads:
                list(threads.map(lambda node: node.close(), nodes))
        self._library.close()

    def _node(self, name: str) -> Node:
        with self._lock:
            return self._nodes[name]

    def _look(self) -> list[str]:
        """Take in the nodes that have joined. Returns their names."""
        alive = self._library.nodes()
        with self._lock:
            known = {node.facts.id for node in self._nodes.values()}
            gone = {node.name for node in self._nodes.values() if node.lost and node.facts not in alive}
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

        start = partial(self._library.start_agent, facts.id, self._cache, self._limit)
        return Node(facts, name, start, lives, self._patience, self._contents)

    def _greet(self, name: str) -> bool:
        """Whether a node can take part. If not, the user is told why."""
        node = self._node(name)
        try:
            hello = node.hello()
        except ClusterError as error:
            node.close()
            with self._lock:
                del self._nodes[name]
                self._refused[node.facts.id] = f"node {name}: {error}"
            self._say(f"node {name} is left out: {error}")
            return False
        with self._lock:
            self._hellos[name] = replace(hello, devices=tuple(replace(device, node=name) for device in hello.devices))
        return True

    def _devices_of(self, name: str) -> list[DeviceId]:
        """The devices of a node that take part."""
        if self._asked:
            return [replace(device, node=name) for device in self._asked if device.node in ("", name)]
        with self._lock:
            kinds = {device.kind for hello in self._hellos.values() for device in hello.devices}
            best = next((kind for kind in ("cuda", "openvino", "cpu") if kind in kinds), "")
            return [device for device in self._hellos[name].devices if device.kind == best]

    def _watch(self, join: Callable[[DeviceId], None]) -> None:
        waiting: list[DeviceId] = []
        answered = time.monotonic()
        while not self._closing.wait(LOOK_SECONDS):
            if not self._library.reachable():
                if time.monotonic() > answered + HEAD_SECONDS:
                    for node in self.nodes.values():
                        node.give_up("the head of the cluster has ended")
                    return
                continue
            answered = time.monotonic()
            try:
                for name in self._look():
                    self._say(f"node {name} has joined")
                    waiting += self._devices_of(name)
            except ClusterError as error:
                _log.info("%s", error)
                continue
            still: list[DeviceId] = []
            for device in waiting:
                try:
                    join(device)
                except UsageError as error:  # the pool has not noticed yet that an earlier node of this name was lost
                    _log.info("%s does not join yet: %s", device, error)
                    still.append(device)
                except RuntimeError:  # the run is over
                    return
            waiting = still


def _free_name(name: str, taken: set[str]) -> str:
    """The name, with a number if another node has it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
