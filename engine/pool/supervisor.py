"""Starts, supervises, restarts and stops the workers of a run, and turns what they say about their devices into events.

A worker's device may be a group; events name its members.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import reduction
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from framefleet.engine.media.types import Sampling
from framefleet.engine.notices import Notice
from framefleet.engine.pool import protocol
from framefleet.engine.pool.events import (
    DeviceFailed,
    DeviceLeft,
    DeviceReady,
    DeviceStarting,
    DeviceStats,
    EngineBuilding,
    EpochStarted,
    Event,
    RunFigures,
    SourceFinished,
    StreamPicture,
)
from framefleet.engine.pool.hosts import Host, Hosts, RemoteWorker, WorkerMain, stop_all
from framefleet.engine.pool.live_sources import LiveSources
from framefleet.engine.pool.scheduling import strategies
from framefleet.engine.pool.scheduling.dispatcher import LEFT_UNFINISHED, Dispatcher
from framefleet.engine.processes.outcome import RESTART_SECONDS, RESTARTS, Failed, Outcome, RestartBudget
from framefleet.engine.settings import EngineSettings, Isolation, Precision, RunSettings
from framefleet.engine.types import AS_ASKED, DeviceId, EngineInfo, without_device


class DeviceStatistics:
    """Frames, throughput and latencies of one device since the start of the run."""

    def __init__(self, device: DeviceId) -> None:
        self._device = device
        self._frames = 0.0
        self._measured = 0
        self._run = RunFigures()
        self._stages: Counter[str] = Counter()
        self._busy: Counter[str] = Counter()
        self._feeding: Counter[str] = Counter()

    def frames(self, frames: protocol.Frames) -> None:
        """Count the frames with detections from this device."""
        if frames.devices:
            self._frames += sum(device == self._device and at not in frames.results.failures for at, device in frames.devices.items())
        else:
            self._frames += len(frames) - len(frames.results.failures)

    def interval(self, stats: protocol.Stats) -> DeviceStats:
        """The event for a worker's report."""
        count = len(stats.latencies)
        worth = count if stats.worth is None else stats.worth
        if count:
            self._frames += stats.worth or 0.0
            self._measured += count
            self._run = self._run.with_interval(worth, stats.seconds, stats.latencies)
            self._stages.update(stats.stages)
            self._busy.update(stats.busy)
            self._feeding.update(stats.feeding)
        p50, p99 = (float(np.percentile(stats.latencies, share)) if count else None for share in (50, 99))
        return self._event(count, worth / max(stats.seconds, 1e-9), p50, p99, stats.stages, stats.busy, stats.feeding)

    def final(self) -> DeviceStats:
        """The event with the statistics of the whole run. Latencies are exact within 1 %."""
        run = self._run
        return self._event(
            self._measured, run.rate, run.latency(0.5), run.latency(0.99), self._stages, self._busy, self._feeding, final=True
        )

    def _event(
        self, count: int, rate: float, p50: float | None, p99: float | None, *sums: Mapping[str, float], final: bool = False
    ) -> DeviceStats:
        """The event. count: number of frames measured. sums: over them, ``stages``, ``busy`` and ``feeding`` as in ``Stats``."""
        stages, busy, feeding = ({stage: total / count for stage, total in each.items()} if count else {} for each in sums)
        bottleneck = max(feeding, key=lambda name: feeding[name]) if any(feeding.values()) else None
        if bottleneck == "infer" and busy:  # the engine does not wait for the device's decoder
            bottleneck = max(busy, key=lambda name: busy[name] * (name != "decode"))
        return DeviceStats(self._device, round(self._frames), rate, p50, p99, stages, final, busy, bottleneck, self._run)


def _beside(device: DeviceId, why: Notice) -> Notice:
    """Why a device failed, without its name, which is shown beside it."""
    return without_device(why) if why.fields.get("device") == str(device) else why


class DeviceReports:
    """Creates the device events of one run."""

    def __init__(self, strategy: strategies.Strategy) -> None:
        self._strategy = strategy
        self._statistics: dict[DeviceId, DeviceStatistics] = {}
        self._working: set[DeviceId] = set()  # devices that were started and have not left
        self._given_up: set[DeviceId] = set()  # members of a group that are not restarted
        self._first: dict[DeviceId, EngineInfo] = {}  # the engine of each device's first worker

    def precision(self, device: DeviceId) -> Precision | None:
        """The precision that a worker's engines had before it was replaced. None: it had no engine, or its members differ."""
        before = {self._first[shown].precision for shown in self._shown(device) if shown in self._first}
        return Precision(before.pop()) if len(before) == 1 else None

    def starting(self, device: DeviceId, attempt: int) -> list[Event]:
        """Events for a worker that is started."""
        for shown in self._shown(device):
            self._statistics.setdefault(shown, DeviceStatistics(shown))
            self._working.add(shown)
        return [] if self._strategy.grouped else [DeviceStarting(device, attempt)]  # a group reports each member

    def reported(self, device: DeviceId, message: protocol.DeviceEvent) -> list[Event]:
        """Events for a worker's message about its device, or about a member of its group."""
        match message:
            case protocol.Stats():
                return [self._statistics[message.device].interval(message)]
            case DeviceReady(engine):
                if self._strategy.grouped and engine.device == device:  # each member reports its own engine
                    return []
                first = self._first.setdefault(engine.device, engine)
                return [DeviceReady(replace(engine, reason=first.reason)) if engine.reason == AS_ASKED else message]
            case DeviceFailed(member, _, restarting) if not restarting:
                self._given_up.add(member)
        return [message]

    def frames(self, device: DeviceId, frames: protocol.Frames) -> None:
        """Count results that have arrived."""
        for shown in () if self._strategy.splits_frames else self._shown(device):
            self._statistics[shown].frames(frames)

    def failed(self, device: DeviceId, why: Notice, restarting: bool) -> list[Event]:
        """Events for a worker that ended unexpectedly. Members that were given up before are not reported again."""
        shown = [each for each in self._shown(device) if restarting or each not in self._given_up]
        return [DeviceFailed(each, _beside(each, why), restarting) for each in shown]

    def left(self, device: DeviceId) -> list[Event]:
        """Events for a removed device whose worker has ended."""
        final: list[Event] = [self._statistics[device].final()] if device in self._working else []
        self._working.discard(device)
        return [*final, DeviceLeft(device)]

    def finals(self) -> list[Event]:
        """Final statistics of the devices that have not left."""
        return [statistics.final() for device, statistics in self._statistics.items() if device in self._working]

    def _shown(self, device: DeviceId) -> tuple[DeviceId, ...]:
        """The devices that events name for a worker's device: the members of a group, unless they share one engine."""
        return device.members if self._strategy.grouped else (device,)


CORES_BESIDE = 2
"""Cores that CPU devices leave free for each other device: an H200 at 2,330 frames/s of 1080p keeps 1.4 cores busy.

CPU devices also leave half of all cores free. With YOLOv4-tiny, an H200 reached half of its throughput beside a CPU engine on 14 of 16
cores, and 87 % beside one on 8 cores. With YOLOv4 it lost nothing (benchmarks/results/unequal.md).
"""


def setup_for(device: DeviceId, settings: RunSettings, devices: Sequence[DeviceId], stall_seconds: float, cores: int) -> protocol.Setup:
    """The setup for the worker of one of these devices. stall_seconds: see ``Setup``. cores: that its machine may use."""
    neighbours = [member for each in devices if each.node == device.node for member in each.members]
    engine = _sharing_cores(settings.engine, neighbours, cores)
    part = Sampling(settings.begin, settings.end, settings.every)
    sampling = None if part == Sampling() else part
    together = settings.parallel, settings.isolation, settings.tiles
    return protocol.Setup(device, settings.model, engine, stall_seconds, *together, sampling=sampling)


def _sharing_cores(settings: EngineSettings, devices: Sequence[DeviceId], cores: int) -> EngineSettings:
    """The settings, with a limited number of threads if a CPU device shares the cores with other devices."""
    sharing = sum(device.kind == "cpu" for device in devices)
    others = len(devices) - sharing
    if not sharing or len(devices) == 1 or settings.threads is not None:
        return settings
    free = min(cores // 2, cores - CORES_BESIDE * others) if others else cores
    return replace(settings, threads=max(1, free // sharing))


CHECK_SECONDS = 1.0
"""Interval at which the pool looks whether a source has to be opened by another worker."""


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
        strategy: strategies.Strategy,
        dispatcher: Dispatcher,
        streams: LiveSources,
        wanted: WantedDevices,
        worker_main: WorkerMain,
        stall_seconds: float,
        hosts: Hosts,
    ) -> None:
        self._settings = settings
        self._dispatcher = dispatcher
        self._streams = streams
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

    def send(self, device: DeviceId, message: protocol.ToWorker) -> None:
        """Send a message to a device's worker."""
        self._workers[device].send(message)

    def send_stream(self, device: DeviceId, stream: protocol.Stream, packets: Connection[Any, Any]) -> None:
        """Send a live source to a device's worker. packets: the worker's end of the connection with its packets, which is closed here."""
        worker = self._workers[device]
        worker.send(stream)
        with packets, suppress(OSError):  # it has ended, which its connection shows
            reduction.send_handle(worker.connection, packets.fileno(), 0)

    def wait(self, alarm: Connection[Any, Any]) -> list[Event]:
        """Wait for messages, the end of a worker, or the alarm, and handle them. Messages of live sources are left to ``LiveSources``."""
        awaited = {remote.connection: remote for remote in self._workers.values()}
        patience = min(
            (remote.leaving - time.monotonic() for remote in awaited.values() if remote.leaving is not None), default=CHECK_SECONDS
        )
        heard: set[RemoteWorker] = set()
        events: list[Event] = []
        for connection in wait([alarm, *self._streams.connections, *awaited], max(0.0, min(CHECK_SECONDS, patience))):
            remote = awaited.get(connection)  # type: ignore[call-overload]
            if remote is None or not remote.alive or remote.connection is not connection:
                continue  # it is the alarm or a live source, or the worker was reaped together with another one
            heard.add(remote)
            message = remote.receive()
            ended = message is None or remote.exit_message is not None
            events += self._reap(remote) if ended else self._receive(remote, message)
        now = time.monotonic()
        for connection, remote in awaited.items():
            if remote in heard or not remote.alive or remote.connection is not connection:
                continue
            if remote.leaving is not None and now >= remote.leaving:
                remote.exit_message = protocol.Stopped()  # other devices do the rest of its work
                events += self._reap(remote)
        return events

    def stop(self) -> list[Event]:
        """Stop all workers. Returns the last statistics."""
        events = [
            event
            for remote, message in stop_all(self._workers.values())
            if isinstance(message, protocol.Stats)
            for event in self._receive(remote, message)
        ]
        return events + self._reports.finals()

    def _receive(self, remote: RemoteWorker, message: protocol.FromWorker) -> list[Event]:
        match message:
            case DeviceStarting() | EngineBuilding() | DeviceReady() | DeviceFailed() | protocol.Stats():
                if isinstance(message, DeviceReady) and message.engine.device == remote.device:
                    self._dispatcher.ready(remote.device, message.engine.decode_threads)
                    self._streams.ready(remote.device)
                if isinstance(message, protocol.Stats):
                    self._streams.measured(remote.device, message)
                return self._reports.reported(remote.device, message)
            case Failed() | protocol.Stopped() | protocol.Inferred() | protocol.InferenceFailed():
                return []  # ``_reap`` handles exit messages, and only members of groups send the others
            case protocol.Frames():
                remote.without_frame = 0
                self._reports.frames(remote.device, message)
            case protocol.StreamBegan() | EpochStarted() | protocol.StreamCounts() | StreamPicture():
                return self._streams.heard(remote.device, message)
        if isinstance(message, protocol.Frames | protocol.Done) and self._streams.has(message.source):
            return self._streams.heard(remote.device, message)
        return self._dispatcher.receive(remote.device, message)

    def _new_worker(self, device: DeviceId) -> RemoteWorker:
        return RemoteWorker(device, self._common_host or self._hosts.host(device, self._worker_main))

    def _start(self, remote: RemoteWorker) -> list[Event]:
        cores = self._hosts.cores(remote.device)
        setup = setup_for(remote.device, self._settings, list(self._workers), self._stall_seconds, cores)
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
        events = [] if isinstance(remote.exit_message, protocol.Stopped) else self._reports.failed(device, why, restarting)
        self._dispatcher.join(staying)
        events += self._dispatcher.lost(
            device, gone=device not in staying, why=Notice("pool.removed") if leaving else why, suspect=suspect, external=outcome.external
        )
        why = Notice("pool.removed") if leaving else why
        events += self._streams.lost(device, None if staying else Notice("pool.no_device_left", device=str(device), why=why))
        if any(isinstance(event, SourceFinished) and event.error is not None and event.error.code == LEFT_UNFINISHED for event in events):
            for other in self._workers.values():
                if other.host is remote.host:  # the source was to blame, not the device
                    other.budget, other.without_frame = RestartBudget(), 0
        if leaving:
            events += self._left(remote)
        elif not restarting:
            del self._workers[device]
        return events

    def _left(self, remote: RemoteWorker) -> list[Event]:
        del self._workers[remote.device]
        return self._reports.left(remote.device)
