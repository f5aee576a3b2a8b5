"""The program on a node: an actor that starts the node's workers, relays their messages, and takes telemetry while the driver wants it.

Ray calls ``send``, ``receive`` and the methods for files in separate threads. ``receive`` waits for messages, so that one call brings
all that have come meanwhile. A ``WorkerLink`` is the agent's side of one worker: its process, its messages, and its tasks' files.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from framefleet.engine.cluster.files import Cache, Content, Store, default_folder
from framefleet.engine.cluster.messages import End, FromAgent, Hello, Measure, Measured, Message, Start, Task, ToAgent, Wanted, own_versions
from framefleet.engine.devices import affinity, discovery, telemetry, topology, topology_search
from framefleet.engine.notices import ClusterError, DeviceError, FramefleetError, Notice, SourceError
from framefleet.engine.pool.hosts import Host
from framefleet.engine.pool.protocol import Detect, Done, Drop, Failed, Probe, Probed, ProbeFailed, Revoke, Setup, Stopped
from framefleet.engine.settings import ModelFiles
from framefleet.engine.types import DeviceId

Key = tuple[int, int | None]
"""The numbers of a task's source and segment, None = a probe."""


class WorkerLink:
    """Connects the driver to a worker on this node.

    put: takes a message for the driver, and whether to wait until there is room. store: the node's files. before: the earlier worker of
    the same device, which has to end first.
    """

    def __init__(self, start: Start, put: Callable[[FromAgent, bool], None], store: Store, before: WorkerLink | None) -> None:
        self._start = start
        self._put = put
        self._store = store
        self._before = before
        self._lock = threading.Lock()
        self._host: Host | None = None
        self._connection: Connection[Any, Any] | None = None
        self._early: list[bytes] = []  # messages that came before the worker was started
        self._over = self._said_why = False
        self._held: dict[Key, Task] = {}  # tasks whose file is not here yet
        self._tasks: dict[Key, Task] = {}  # all unfinished tasks
        self._files: list[Content] = []  # that the setup needs
        self._names: dict[str, str] = {}  # paths on this node, and on the driver
        self._thread = threading.Thread(target=self._run, name=f"worker {start.worker}", daemon=True)
        self._thread.start()

    def join(self, seconds: float | None = None) -> None:
        """Wait until the worker's process has ended."""
        self._thread.join(seconds)

    def end(self) -> None:
        """End the worker's process, without waiting for it."""
        with self._lock:
            self._over = True
            if self._host is not None:
                self._host.release()

    def take(self, task: Task) -> None:
        """Pass a task on when its file is here."""
        key = task.task.source, None if isinstance(task.task, Probe) else task.task.segment.number
        with self._lock:
            self._held[key] = self._tasks[key] = task
        self._store.obtain(task.content, lambda found: self._found(key, task, found))

    def pass_on(self, data: bytes) -> None:
        """Pass any other message on. A held task that it revokes or drops ends here."""
        message = pickle.loads(data)
        if isinstance(message, Drop | Revoke):
            with self._lock:
                held = [key for key in self._held if key[0] == message.source and (isinstance(message, Drop) or key[1] == message.segment)]
                ended = [self._held.pop(key).task for key in held]
            for task in ended:
                self._answer(_unfinished(task, Notice("cluster.cancelled"), complete=False))
        self._send(data)

    def _found(self, key: Key, task: Task, found: Path | FramefleetError) -> None:
        with self._lock:
            if self._held.get(key) is not task:
                return  # it was revoked or dropped meanwhile
            del self._held[key]
        if isinstance(found, ClusterError):
            self._fail(found)
        elif isinstance(found, FramefleetError):
            self._answer(_unfinished(task.task, found.notice, complete=True))
        else:
            self._send(pickle.dumps(self._localized(task.task, str(found))))

    def _localized(self, task: Probe | Detect, path: str) -> Probe | Detect:
        original = str(task.path) if isinstance(task, Probe) else task.info.path
        if path != original:
            self._names[path] = original
        return replace(task, path=Path(path)) if isinstance(task, Probe) else replace(task, info=replace(task.info, path=path))

    def _send(self, data: bytes) -> None:
        with self._lock:
            if self._connection is None:
                self._early.append(data)
                return
        with suppress(OSError):  # the worker has ended; its thread notices that
            self._connection.send_bytes(data)

    def _answer(self, message: Any) -> None:
        """Answer the driver in the worker's place."""
        self._put(Message(self._start.worker, pickle.dumps(self._returned(message))), False)

    def _fail(self, problem: FramefleetError) -> None:
        """Give this worker's device up: the node cannot have a file."""
        self._answer(Failed(problem.notice, retry=False))
        self.end()

    def _run(self) -> None:
        if self._before is not None:
            self._before.join()
            self._before = None
        try:
            setup = self._with_files()
        except FramefleetError as problem:
            self._fail(problem)
            setup = None
        if setup is not None and (connection := self._begin(setup)) is not None:
            while (data := _receive(connection)) is not None:
                self._put(Message(self._start.worker, self._handed_on(data)), True)
            assert self._host is not None
            outcome = self._host.end()
            connection.close()
            if not self._said_why:
                self._answer(Failed(outcome.reason, outcome.retry, outcome.waited, outcome.external, outcome.crashed))
        with self._lock:
            self._over = True
            tasks, self._tasks, self._held = self._tasks, {}, {}
        for task in tasks.values():
            self._store.release(task.content)
        for content in self._files:
            self._store.release(content)
        self._put(End(self._start.worker), False)

    def _with_files(self) -> Setup:
        """The setup, with the paths of its files on this node. Waits for files that are sent."""
        setup, model = self._start.setup, self._start.setup.model
        paths = {content.path: self._await(content) for content in self._start.model}
        weights = paths[model.weights.absolute()] if isinstance(model.weights, Path) else model.weights
        labels = None if model.labels is None else paths[model.labels.absolute()]
        return replace(setup, model=ModelFiles(paths[model.cfg.absolute()], weights, labels, model.size, model.reading))

    def _await(self, content: Content) -> Path:
        """Wait for a file. Raises ClusterError, SourceError."""
        self._files.append(content)
        found: queue.SimpleQueue[Path | FramefleetError] = queue.SimpleQueue()
        self._store.obtain(content, found.put)
        path = found.get()
        if isinstance(path, FramefleetError):
            raise path
        return path

    def _begin(self, setup: Setup) -> Connection[Any, Any] | None:
        """Start the worker. None: it is not wanted any more."""
        host = Host(str(setup.device), self._start.worker_main, nice=0)  # Ray's own processes have a niceness already
        with self._lock:
            if self._over:
                return None
            self._host = host
            connection = host.admit(setup)
            for data in self._early:
                connection.send_bytes(data)
            self._early = []
            self._connection = connection
        return connection

    def _handed_on(self, data: bytes) -> bytes:
        """A worker's message, with the paths of the driver."""
        message = pickle.loads(data)
        returned = self._returned(message)
        return data if returned is message else pickle.dumps(returned)

    def _returned(self, message: Any) -> Any:
        """The message with the paths of the driver. Notes the end of tasks."""
        match message:
            case Probed(source) | ProbeFailed(source):
                key: Key = (source, None)
            case Done(source, segment):
                key = (source, segment)
            case Stopped():
                self._said_why = True
                return message
            case Failed():
                self._said_why = True
                return replace(message, message=self._renamed(message.message))
            case _:
                return message
        with self._lock:
            task = self._tasks.pop(key, None)
        if task is not None:
            self._store.release(task.content)
        if isinstance(message, Probed):
            path = message.info.path
            return replace(message, info=replace(message.info, path=self._names[path])) if path in self._names else message
        return message if message.error is None else replace(message, error=self._renamed(message.error))

    def _renamed(self, notice: Notice) -> Notice:
        return notice.map(lambda value: self._on_driver(value) if isinstance(value, Path) else value)

    def _on_driver(self, path: Path) -> Path:
        """A path of this node as the driver knows it: that of a source, or of a picture in one."""
        for here, there in self._names.items():
            if path.is_relative_to(here):
                return Path(there) / path.relative_to(here)
        return path


def _unfinished(task: Probe | Detect, why: Notice, complete: bool) -> ProbeFailed | Done:
    """The answer to a task that never reached the worker. complete: no other worker can do it, because its file cannot be read."""
    if isinstance(task, Probe):
        return ProbeFailed(task.source, why)
    return Done(task.source, task.segment.number, task.skip, complete, why if complete else None)


def _receive(connection: Connection[Any, Any]) -> bytes | None:
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return None


INTERVAL_SECONDS = 0.5
"""Shortest time between two snapshots."""


class NodeTelemetry:
    """Takes telemetry. A process reads the devices, as on the user's machine. network: Linux's list of network cards."""

    def __init__(self, network: Path = Path("/sys/class/net")) -> None:
        self._network = network
        self._lock = threading.Lock()
        self._devices: tuple[discovery.DeviceDescription, ...] | None = None
        self._monitor: telemetry.TelemetryMonitor | None = None
        self._wanted = False
        self._time, self._counters = time.monotonic(), self.count()

    def know(self, devices: Sequence[discovery.DeviceDescription]) -> None:
        """Use these descriptions, so that the devices need not be found again."""
        self._devices = tuple(devices)

    def want(self, wanted: bool) -> None:
        """Begin to take telemetry, or stop. Does not wait for the devices to be found."""
        self._wanted = wanted
        threading.Thread(target=self._begin_or_stop, name="telemetry", daemon=True).start()

    def take(self) -> Measured | None:
        """A new snapshot; None if none is wanted, or the last one is too young."""
        now, before = time.monotonic(), self._time
        if not self._wanted or now < before + INTERVAL_SECONDS:
            return None
        earlier, self._time, self._counters = self._counters, now, self.count()
        rx, tx = (telemetry.rate(then, at, now - before) for then, at in zip(earlier, self._counters, strict=True))
        monitor = self._monitor
        return Measured(tuple(monitor.latest.values()) if monitor is not None else (), rx, tx)

    def close(self) -> None:
        """Stop."""
        self._wanted = False
        self._begin_or_stop()

    def _begin_or_stop(self) -> None:
        with self._lock:
            if self._wanted and self._monitor is None:
                if self._devices is None:
                    self._devices = discovery.discover()
                self._monitor = telemetry.TelemetryMonitor(device for device in self._devices if device.available)
            elif not self._wanted and self._monitor is not None:
                self._monitor.close()
                self._monitor = None

    def count(self) -> tuple[int | None, int | None]:
        """Bytes that the network cards have received and sent since the machine started.

        A card without a device below is virtual. It counts only in a container, which has no other one.
        """
        try:
            cards = [card for card in self._network.iterdir() if card.name != "lo"]
            cards = [card for card in cards if (card / "device").exists()] or cards
            received, sent = (sum(int((card / "statistics" / f"{way}_bytes").read_text()) for card in cards) for way in ("rx", "tx"))
        except (OSError, ValueError):
            return None, None
        return received, sent


QUEUED = 256
"""Most messages of workers that wait for the driver. Then the workers wait, as they do for a pool on their own machine."""

POLL_SECONDS = 1.0
"""The longest that ``receive`` waits, so that the driver can tell a quiet node from one that does not answer."""

STOP_SECONDS = 6.0
"""How long ``stop`` waits for the workers' processes."""


class Agent:
    """One node's agent. It ends with the driver: Ray ends the actors of a driver that has ended. cache: see ``Cluster``."""

    def __init__(self, cache: Path | None) -> None:
        # Ray sets it to 1 for actors without processors; workers limit their threads by their settings
        os.environ.pop("OMP_NUM_THREADS", None)
        # a spawned process would import the main module, which is Ray's
        vars(sys.modules["__main__"]).pop("__file__", None)
        self._messages: queue.SimpleQueue[tuple[FromAgent, bool]] = queue.SimpleQueue()
        self._room = threading.Semaphore(QUEUED)
        self._workers: dict[int, WorkerLink] = {}
        self._latest: dict[DeviceId, WorkerLink] = {}
        self._cache = Cache(cache or default_folder())
        self._telemetry = NodeTelemetry()
        self._store = Store(self._cache, lambda content: self._put(Wanted(content), False))

    def hello(self) -> Hello:
        """The versions and the best devices of this node."""
        try:
            devices, problem = discovery.default_devices(), None
        except DeviceError as error:
            devices, problem = (), error.notice
        return Hello(own_versions(), devices, affinity.usable_cores(), problem)

    def describe(self) -> tuple[discovery.DeviceDescription, ...]:
        """All devices of this node. Takes a few seconds."""
        self._telemetry.know(found := discovery.discover())
        return found

    def topology(self) -> topology.Topology:
        """The topology of this node. Takes a few seconds."""
        return topology_search.find_topology()

    def send(self, messages: Sequence[ToAgent]) -> None:
        """Take messages to workers, in order."""
        for message in messages:
            if isinstance(message, Measure):
                self._telemetry.want(message.wanted)
            elif isinstance(message, Start):
                device = message.setup.device
                link = WorkerLink(message, self._put, self._store, self._latest.get(device))
                self._workers[message.worker] = self._latest[device] = link
            elif (worker := self._workers.get(message.worker)) is not None:
                match message:
                    case Task():
                        worker.take(message)
                    case Message(_, data):
                        worker.pass_on(data)
                    case End():
                        worker.end()

    def receive(self) -> list[FromAgent]:
        """The messages for the driver. Waits for the first one, ``POLL_SECONDS`` at most."""
        messages: list[FromAgent] = []
        with suppress(queue.Empty):
            while True:
                message, counted = self._messages.get_nowait() if messages else self._messages.get(timeout=POLL_SECONDS)
                messages.append(message)
                if counted:
                    self._room.release()
        if (measured := self._telemetry.take()) is not None:
            messages.append(measured)
        return messages

    def begin_file(self, content: Content, sizes: Sequence[int]) -> None:
        """Take a content that the driver sends. sizes: of its files, bytes. Raises OSError."""
        self._cache.begin(content, sizes)

    def write_file(self, content: Content, name: str, offset: int, data: bytes) -> None:
        """Take a part of one of its files. Raises OSError."""
        self._cache.write(content, name, offset, data)

    def finish_file(self, content: Content, digests: Sequence[tuple[str, int, str]]) -> None:
        """Check what has arrived, and let the tasks that wait for it begin. digests: see ``Cache.finish``. Raises OSError."""
        self._cache.finish(content, digests)
        self._store.arrived(content, None)

    def abandon_file(self, content: Content, problem: Notice, *, here: bool) -> None:
        """End a transfer that failed. here: because of this node, not of the file."""
        self._cache.abandon(content)
        kind: type[FramefleetError] = ClusterError if here else SourceError
        self._store.arrived(content, kind(problem))

    def stop(self) -> None:
        """End all workers."""
        self._telemetry.close()
        for worker in self._workers.values():
            worker.end()
        deadline = time.monotonic() + STOP_SECONDS
        for worker in self._workers.values():
            worker.join(max(0.0, deadline - time.monotonic()))

    def _put(self, message: FromAgent, wait: bool) -> None:
        if wait:
            self._room.acquire()
        self._messages.put((message, wait))
        if isinstance(message, End):
            self._workers.pop(message.worker, None)
