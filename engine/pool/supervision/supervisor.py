"""Starts, supervises, restarts and stops the workers of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from framefleet.engine.notices import Notice
from framefleet.engine.pool.device_reports import DeviceReports
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, EngineBuilding, Event
from framefleet.engine.pool.groups.protocol import InferenceFailed, Inferred
from framefleet.engine.pool.protocol import FromWorker, Stats, Stopped, ToWorker
from framefleet.engine.pool.results import Frames
from framefleet.engine.pool.scheduling.dispatcher import Dispatcher
from framefleet.engine.pool.scheduling.strategies.base import Strategy
from framefleet.engine.pool.supervision.host import Host, WorkerMain
from framefleet.engine.pool.supervision.hosts import Hosts
from framefleet.engine.pool.supervision.remote_worker import RemoteWorker, stop_all
from framefleet.engine.pool.supervision.setup import setup_for
from framefleet.engine.processes.outcome import Failed, Outcome
from framefleet.engine.processes.restart_budget import RESTART_SECONDS, RESTARTS
from framefleet.engine.settings import Isolation, RunSettings
from framefleet.engine.types import DeviceId

CHECK_SECONDS = 1.0
"""Interval at which the pool looks whether a source has to be opened by another worker."""

EXAMPLES = 8
"""Most sources on which a precision is tried: the first ones may show nothing."""


class WantedDevices:
    """The devices that should be in the run. Other threads change ``devices`` while they hold ``lock``."""

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        self.lock = threading.Lock()
        self.devices = list(devices)

    def snapshot(self) -> tuple[DeviceId, ...]:
        """The devices now."""
        with self.lock:
            return tuple(self.devices)


class Supervisor:
    """Keeps one worker for each wanted device. Methods return the resulting events.

    All methods belong to the thread that drives the pool. worker_main, stall_seconds, hosts: see ``EnginePool``.
    """

    def __init__(
        self,
        settings: RunSettings,
        strategy: Strategy,
        dispatcher: Dispatcher,
        wanted: WantedDevices,
        worker_main: WorkerMain,
        stall_seconds: float,
        hosts: Hosts,
    ) -> None:
        self._settings = settings
        self._dispatcher = dispatcher
        self._wanted = wanted
        self._worker_main = worker_main
        self._stall_seconds = stall_seconds
        self._hosts = hosts
        self._reports = DeviceReports(strategy)
        self._common_host = Host("devices", worker_main) if settings.isolation is Isolation.THREAD else None
        self._workers = {device: self._new_worker(device) for device in wanted.devices}

    def join_and_leave(self) -> list[Event]:
        """Adjust the workers to the wanted devices. A device that is leaving can join again only after it has left."""
        wanted = self._wanted.snapshot()
        self._dispatcher.join(wanted)
        for device in wanted:
            if device not in self._workers:
                self._workers[device] = self._new_worker(device)
        events: list[Event] = []
        for device, remote in list(self._workers.items()):
            if device in wanted or remote.leaving is not None:
                continue
            events += self._dispatcher.leave(device)
            if remote.attempt:
                remote.leave()
            else:
                events += self._left(remote)
        return events

    def start_new(self) -> list[Event]:
        """Start the workers that have not been started yet."""
        return [event for remote in self._workers.values() if not remote.attempt for event in self._start(remote)]

    def send(self, device: DeviceId, message: ToWorker) -> None:
        """Send a message to a device's worker."""
        self._workers[device].send(message)

    def wait(self, alarm: Connection[Any, Any]) -> list[Event]:
        """Wait for messages, the end of a worker, or the alarm, and handle them."""
        awaited = {remote.connection: remote for remote in self._workers.values()}
        patience = min(
            (remote.leaving - time.monotonic() for remote in awaited.values() if remote.leaving is not None), default=CHECK_SECONDS
        )
        heard: set[RemoteWorker] = set()
        events: list[Event] = []
        for connection in wait([alarm, *awaited], max(0.0, min(CHECK_SECONDS, patience))):
            remote = awaited.get(connection)  # type: ignore[call-overload]
            if remote is None or not remote.alive or remote.connection is not connection:
                continue  # it is the alarm, or the worker was reaped together with another one
            heard.add(remote)
            message = remote.receive()
            ended = message is None or remote.exit_message is not None
            events += self._reap(remote) if ended else self._receive(remote, message)
        now = time.monotonic()
        for connection, remote in awaited.items():
            if remote in heard or not remote.alive or remote.connection is not connection:
                continue
            if remote.leaving is not None and now >= remote.leaving:
                remote.exit_message = Stopped()  # other devices do the rest of its work
                events += self._reap(remote)
        return events

    def stop(self) -> list[Event]:
        """Stop all workers. Returns the last statistics."""
        events = [
            event
            for remote, message in stop_all(self._workers.values())
            if isinstance(message, Stats)
            for event in self._receive(remote, message)
        ]
        return events + self._reports.finals()

    def _receive(self, remote: RemoteWorker, message: FromWorker) -> list[Event]:
        match message:
            case DeviceStarting() | EngineBuilding() | DeviceReady() | DeviceFailed() | Stats():
                if isinstance(message, DeviceReady) and message.engine.device == remote.device:
                    self._dispatcher.ready(remote.device, message.engine.decode_threads)
                return self._reports.reported(remote.device, message)
            case Failed() | Stopped() | Inferred() | InferenceFailed():
                return []  # ``_reap`` handles exit messages, and only members of groups send the others
            case Frames():
                remote.without_frame = 0
                self._reports.frames(remote.device, message)
        return self._dispatcher.receive(remote.device, message)

    def _new_worker(self, device: DeviceId) -> RemoteWorker:
        return RemoteWorker(device, self._common_host or self._hosts.host(device, self._worker_main))

    def _start(self, remote: RemoteWorker) -> list[Event]:
        # only at the first start: a file may have ended the worker
        examples = () if remote.attempt else self._dispatcher.first_paths(EXAMPLES)
        cores = self._hosts.cores(remote.device)
        setup = setup_for(remote.device, self._settings, list(self._workers), self._stall_seconds, cores, examples)
        if (precision := self._reports.precision(remote.device)) is not None:  # without trials, which may end differently
            setup = replace(setup, engine=replace(setup.engine, precision=precision))
        remote.start(setup)
        self._dispatcher.started(remote.device)
        return self._reports.starting(remote.device, remote.attempt)

    def _reap(self, remote: RemoteWorker) -> list[Event]:
        """Handle the end of a worker, alone or with all workers in its process: read their last messages, and restart them if possible."""
        ended, process = [remote], Outcome(None)
        if remote.ended_alone:
            remote.host.dismiss()
        else:
            ended = [other for other in self._workers.values() if other.alive and other.host is remote.host]
            process = remote.host.end()
        events = [event for other in ended for message in other.remaining() for event in self._receive(other, message)]
        cause = next((other for other in ended if not other.ended_alone and other.exit_message is not None), None)
        for other in ended:
            outcome = other.reap(process)
            suspect = not other.ended_alone
            if cause is not None and other.exit_message is None:
                why = Notice("pool.ended_by_neighbour", device=str(cause.device))
                outcome, suspect = replace(process, exit_message=Failed(why, retry=True)), False
            events += self._settle(other, outcome, suspect=suspect)
        return events + [event for other in ended if self._workers.get(other.device) is other for event in self._start(other)]

    def _settle(self, remote: RemoteWorker, outcome: Outcome, *, suspect: bool) -> list[Event]:
        """Restart the worker of a device or give the device up. suspect: whether the worker may have ended its process."""
        device, why = remote.device, outcome.reason
        remote.without_frame += outcome.external
        with self._wanted.lock:
            wanted = self._wanted.devices
            leaving = remote.leaving is not None or device not in wanted
            restarting = not leaving and outcome.retry and (not suspect or remote.budget.spend(time.monotonic(), outcome.waited))
            # a worker that itself lacks something at its start will lack it again. Kills may be further apart than the budget counts.
            lacking = outcome.external and not outcome.crashed
            restarting = restarting and remote.without_frame <= (0 if lacking else RESTARTS)
            if not (restarting or leaving):
                wanted.remove(device)
            staying = list(wanted)  # also a device that joins again as soon as it has left
        if outcome.retry and not (restarting or leaving or lacking):
            why = Notice("pool.restarts_did_not_help", why=why, restarts=RESTARTS, seconds=RESTART_SECONDS)
        events = [] if isinstance(remote.exit_message, Stopped) else self._reports.failed(device, why, restarting)
        self._dispatcher.join(staying)
        events += self._dispatcher.lost(
            device, gone=device not in staying, why=Notice("pool.removed") if leaving else why, suspect=suspect and not outcome.external
        )
        if leaving:
            events += self._left(remote)
        elif not restarting:
            del self._workers[device]
        return events

    def _left(self, remote: RemoteWorker) -> list[Event]:
        del self._workers[remote.device]
        return self._reports.left(remote.device)
