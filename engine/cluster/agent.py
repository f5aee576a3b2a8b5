"""The program on a node: an actor that starts the node's workers, relays their messages, and takes telemetry while the driver wants it.

Ray calls ``send``, ``receive`` and the methods for files in separate threads. ``receive`` waits for messages, so that one call brings
all that have come meanwhile.
"""

import os
import queue
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from framefleet.engine.cluster.files import Cache, Content, Store, default_folder
from framefleet.engine.cluster.messages import End, FromAgent, Hello, Measure, Measured, Message, Start, Task, ToAgent, Wanted, own_versions
from framefleet.engine.cluster.worker_link import WorkerLink
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.devices.discovery import DeviceDescription, default_devices, discover
from framefleet.engine.devices.telemetry import TelemetryMonitor, rate
from framefleet.engine.devices.topology import Topology
from framefleet.engine.devices.topology_search import find_topology
from framefleet.engine.errors import ClusterError, DeviceError, FramefleetError, SourceError
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId

INTERVAL_SECONDS = 0.5
"""Shortest time between two snapshots."""


class NodeTelemetry:
    """Takes telemetry. A process reads the devices, as on the user's machine. network: Linux's list of network cards."""

    def __init__(self, network: Path = Path("/sys/class/net")) -> None:
        self._network = network
        self._lock = threading.Lock()
        self._devices: tuple[DeviceDescription, ...] | None = None
        self._monitor: TelemetryMonitor | None = None
        self._wanted = False
        self._time, self._counters = time.monotonic(), self.count()

    def know(self, devices: Sequence[DeviceDescription]) -> None:
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
        rx, tx = (rate(then, at, now - before) for then, at in zip(earlier, self._counters, strict=True))
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
                    self._devices = discover()
                self._monitor = TelemetryMonitor(device for device in self._devices if device.available)
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
            devices, problem = default_devices(), None
        except DeviceError as error:
            devices, problem = (), error.notice
        return Hello(own_versions(), devices, usable_cores(), problem)

    def describe(self) -> tuple[DeviceDescription, ...]:
        """All devices of this node. Takes a few seconds."""
        self._telemetry.know(found := discover())
        return found

    def topology(self) -> Topology:
        """The topology of this node. Takes a few seconds."""
        return find_topology()

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
