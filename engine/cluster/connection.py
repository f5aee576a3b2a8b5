"""The user's side of a cluster: a source of devices for the pool, and what is known of the nodes.

A process of its own is connected to the cluster. The pool's pipes to its workers end in that process, so that neither the window nor the
command line imports Ray.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from framefleet.engine.cluster import agent, connection_process, messages
from framefleet.engine.devices import discovery, topology
from framefleet.engine.notices import ClusterError, Notice, Option, UsageError
from framefleet.engine.pool.hosts import Hosts, WorkerHost, WorkerMain
from framefleet.engine.pool.protocol import FromWorker, Setup, ToWorker, Unreachable
from framefleet.engine.processes import child, outcome
from framefleet.engine.settings import Isolation, Parallel, RunSettings
from framefleet.engine.types import Closing, DeviceId


class ClusterHost:
    """A ``WorkerHost``. admit: starts a worker. problem: says why the connection to the cluster has ended, None while it lives."""

    def __init__(self, admit: Callable[[Setup], Connection[ToWorker, FromWorker]], problem: Callable[[], Notice | None]) -> None:
        self._admit = admit
        self._problem = problem

    def admit(self, setup: Setup) -> Connection[ToWorker, FromWorker]:
        """Start a worker and return the connection to it."""
        return self._admit(setup)

    def dismiss(self) -> None:
        """Note that a worker has ended by itself. The pool closes the connection, and the agent then ends the process."""

    def release(self) -> None:
        """Let the process end, without waiting for it: see ``dismiss``."""

    def end(self) -> outcome.Outcome:
        """Return how the process ended. Does not wait for the process: the agent ends it before it starts another one for the device.

        The worker's last message says how the process ended.
        """
        problem = self._problem()
        return outcome.Outcome(None, None if problem is None else Unreachable(problem, retry=False))


def choose(asked: Sequence[DeviceId], nodes: Mapping[str, messages.Hello]) -> tuple[DeviceId, ...]:
    """The devices to use. asked: as for ``ClusterConnection.devices``. nodes: their first answers, by name.

    Raises
    ------
    UsageError
        A device's node is not in the cluster.
    ClusterError
        No node has a device.
    """
    if unknown := [device for device in asked if device.node and device.node not in nodes]:
        device = unknown[0]
        raise UsageError(Notice("cluster.no_such_node", device=str(device), node=device.node, nodes=tuple(sorted(nodes))))
    chosen = [device for name in sorted(nodes) for device in devices_of(name, asked, nodes)]
    if not chosen:
        problems = tuple(Notice("cluster.node", name=name, problem=hello.problem) for name, hello in sorted(nodes.items()))
        raise ClusterError(Notice("cluster.no_device", problems=problems))
    return tuple(dict.fromkeys(chosen))


def devices_of(name: str, asked: Sequence[DeviceId], nodes: Mapping[str, messages.Hello]) -> list[DeviceId]:
    """The devices of one node that take part."""
    if asked:
        return [replace(device, node=name) for device in asked if device.node in ("", name)]
    kinds = {device.kind for hello in nodes.values() for device in hello.devices}
    best = next((kind for kind in ("cuda", "openvino", "cpu") if kind in kinds), "")
    return [device for device in nodes[name].devices if device.kind == best]


WITHIN_MACHINES = (Parallel.FRAMES, Parallel.TILES, Parallel.DEPTH)

END_SECONDS = agent.STOP_SECONDS + 6
"""How long ``close`` waits for the agents, and for the process that is connected to them."""


class ClusterConnection(Hosts, Closing):
    """A connection to a cluster, and the nodes of it that can take part.

    address, cache, patience: see ``Cluster``. say: takes what to tell the user, in another thread. main: what the process runs.

    Raises ClusterError or UsageError: see ``Cluster``.
    """

    def __init__(
        self,
        address: str,
        say: Callable[[Notice], None],
        *,
        cache: Path | None = None,
        patience: float = 60.0,
        main: Callable[..., None] = connection_process.main,
    ) -> None:
        self.address = address
        self.states: tuple[messages.NodeState, ...] = ()
        self._say = say
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._numbers = itertools.count()
        self._hellos: dict[str, messages.Hello] = {}
        self._answers: dict[int, Future[messages.Answer]] = {}
        self._asked: tuple[DeviceId, ...] = ()
        self._join: Callable[[DeviceId], None] | None = None
        self._joining: list[DeviceId] = []
        self._closed = False
        self._greeted: Future[None] = Future()
        try:
            self._process = child.ChildProcess("cluster", main, address, cache, patience, words=Notice("cluster.process"), nice=0)
        except OSError as error:
            raise ClusterError(Notice("cluster.process_not_started", error=str(error))) from error
        self._reader = threading.Thread(target=self._read, name="framefleet cluster", daemon=True)
        self._reader.start()
        try:
            self._greeted.result()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process that is connected to the cluster."""
        return self._process.pid

    @property
    def problem(self) -> Notice | None:
        """Why the connection has ended, None while it lives."""
        return self._problem() if self._greeted.done() and not self._reader.is_alive() and not self._closed else None

    @property
    def nodes(self) -> dict[str, messages.Hello]:
        """The first answers of the nodes that take part, by name."""
        with self._lock:
            return dict(self._hellos)

    def devices(self, asked: Sequence[DeviceId] = ()) -> tuple[DeviceId, ...]:
        """The devices to use. Nodes that join later add theirs by the same rule.

        asked: a device of a node, ``a/cpu:0``, or of each node, ``cpu:0``. None: all CUDA devices of the cluster, else OpenVINO's GPUs,
        else the CPUs.

        Raises
        ------
        UsageError
            A device's node is not in the cluster.
        ClusterError
            No node has a device.
        """
        with self._lock:
            self._asked, self._join, self._joining = tuple(asked), None, []
            return choose(self._asked, self._hellos)

    def describe(self) -> tuple[discovery.DeviceDescription, ...]:
        """All devices of all nodes, which are asked for them. Raises ClusterError."""
        found = sorted(self._ask("describe").items())
        return tuple(replace(device, id=replace(device.id, node=name)) for name, devices in found for device in devices)

    def topologies(self) -> dict[str, topology.Topology]:
        """The topology of each node, which is asked for it. Raises ClusterError."""
        found: dict[str, topology.Topology] = self._ask("topology")
        return found

    def measure(self, wanted: bool) -> None:
        """Let the nodes take telemetry, or stop. ``states`` has it."""
        self._send(messages.Measure(wanted))

    def watch(self, join: Callable[[DeviceId], None]) -> None:
        """Let the devices of nodes that have joined since ``devices`` join the run. join: see ``EnginePool.add_device``."""
        self._join = join

    def check(self, settings: RunSettings, devices: Sequence[DeviceId]) -> None:
        """Check that the devices can run here with these settings. Raises UsageError if they cannot."""
        if settings.parallel in WITHIN_MACHINES:
            raise UsageError(Notice("cluster.within_machine", option=Option("parallel", settings.parallel)))
        if settings.isolation is Isolation.THREAD:
            raise UsageError(Notice("cluster.thread_isolation", option=Option("isolation", "thread")))
        if here := [device for device in devices if not device.node]:
            raise UsageError(Notice("cluster.not_of_cluster", device=str(here[0])))

    def host(self, device: DeviceId, worker_main: WorkerMain) -> WorkerHost:  # noqa: ARG002
        """The host for a device's workers. worker_main: what a worker runs."""
        return ClusterHost(partial(self.admit, worker_main=worker_main), lambda: self.problem)

    def cores(self, device: DeviceId) -> int:
        """Number of processor cores that the device's machine may use."""
        return self.nodes[device.node].cores

    def admit(self, setup: Setup, worker_main: WorkerMain) -> Connection[Any, Any]:
        """Start a worker. Returns the pool's end of its pipe."""
        ours, theirs = Pipe()
        with theirs, self._sending, suppress(OSError):  # if the process has ended, the worker's pipe ends, too
            self._process.connection.send(messages.Admit(setup, worker_main))
            reduction.send_handle(self._process.connection, theirs.fileno(), self._process.pid)
        return ours

    def close(self) -> None:
        """End all agents and leave the cluster; harmless when repeated. The pool has to be closed before."""
        self._closed = True
        if self._greeted.done():
            self._send(messages.Leave())
        else:
            self._process.kill()
        self._reader.join(END_SECONDS)
        self._process.kill()
        self._reader.join()
        self._process.end()

    def _send(self, message: messages.ToConnection) -> None:
        with self._sending, suppress(OSError):  # the reader notices that the process has ended
            self._process.connection.send(message)

    def _ask(self, what: str) -> Any:
        number, answer = next(self._numbers), Future[messages.Answer]()
        with self._lock:
            self._answers[number] = answer
        if not self._reader.is_alive():
            raise ClusterError(self._problem())
        self._send(messages.Ask(number, what))
        reply = answer.result()
        if reply.error is not None:
            raise reply.error
        return reply.values

    def _read(self) -> None:
        try:
            for message in self._process.messages():
                self._take(message)
        finally:  # whatever goes wrong here, no other thread waits for ever
            self._end()

    def _take(self, message: messages.FromConnection) -> None:
        match message:
            case messages.Joined(nodes):
                self._take_in(nodes)
            case messages.Refused(error):
                self._greeted.set_exception(error)
            case messages.Say(said):
                self._say(said)
            case messages.Answer(number):
                with self._lock:
                    answer = self._answers.pop(number)
                answer.set_result(message)
            case messages.States(nodes):
                self.states = nodes
                self._let_join()

    def _end(self) -> None:
        problem = ClusterError(self._problem())
        with suppress(InvalidStateError):
            self._greeted.set_exception(problem)
        with self._lock:
            answers, self._answers = self._answers, {}
        for number, answer in answers.items():
            answer.set_result(messages.Answer(number, {}, problem))

    def _problem(self) -> Notice:
        if (last := self._process.exit_message) is None:
            return Notice("cluster.connection_has_ended")
        return Notice("cluster.connection_has_ended_because", problem=last.message)

    def _take_in(self, nodes: Mapping[str, messages.Hello]) -> None:
        first = not self._greeted.done()
        with self._lock:
            self._hellos |= nodes
            if not first:
                self._joining += [device for name in nodes for device in devices_of(name, self._asked, self._hellos)]
        if first:
            self._greeted.set_result(None)
            return
        for name in nodes:
            self._say(Notice("cluster.joined", name=name))

    def _let_join(self) -> None:
        with self._lock:
            if (join := self._join) is None:
                return
            joining, self._joining = self._joining, []
        for device in joining:
            try:
                join(device)
            except UsageError:  # the pool has not noticed yet that an earlier node of this name was lost
                with self._lock:
                    if self._join is join:
                        self._joining.append(device)
            except RuntimeError:  # the run is over
                continue
