"""``EnginePool``: sources in, ordered results out, by every device at once."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from engine.errors import UsageError
from engine.pool import worker
from engine.pool.device_statistics import DeviceStatistics
from engine.pool.dispatcher import Dispatcher
from engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, EngineBuilding, Event, StrategyChosen
from engine.pool.outcome import RESTART_SECONDS, RESTARTS
from engine.pool.process import WorkerProcess, stop_all
from engine.pool.protocol import Building, Failed, Frames, FromWorker, Ready, Setup, Stats, ToWorker
from engine.pool.strategies import choose
from engine.settings import EngineSettings, RunSettings
from engine.types import DeviceId

LOOKS = 60
"""So many times while ``stall_seconds`` pass, the pool looks whether a worker has fallen silent."""


class EnginePool:
    """One engine per device, each in its own process, sharing the work.

    ``events`` does everything, in the thread that iterates over it; no thread is started. The other methods may be
    called from any thread. A consumer that takes events slowly slows the workers down, down to the decoders.

    devices: where to run, each once. stall_seconds: a worker that gives no sign of life for so long, or does not get on with one
    frame or batch, is started again.

    Raises:
        UsageError: no device, or one of them twice.
    """

    stall_seconds: ClassVar[float] = 60.0
    worker_main: ClassVar[Callable[[Connection[FromWorker, ToWorker], Setup], None]] = staticmethod(worker.main)

    def __init__(self, settings: RunSettings, devices: Sequence[DeviceId]) -> None:
        if not devices:
            raise UsageError("no device to run on: 'framefleet devices' lists yours")
        if len(set(devices)) != len(devices):
            raise UsageError(f"a device is named twice: {', '.join(map(str, devices))}")
        strategy, self._reason = choose(settings.parallel, devices)
        self._strategy = strategy.name
        self._dispatcher = Dispatcher(strategy, devices)
        engine = _engine_settings(settings.engine, devices)
        self._workers = {
            device: WorkerProcess(Setup(device, settings.model, engine, self.stall_seconds), type(self).worker_main) for device in devices
        }
        self._statistics = {device: DeviceStatistics(device) for device in devices}
        # held while the state above is worked on; ``close`` may come from another thread
        self._driving = threading.Lock()
        # what the other threads want, and the pipe that wakes the driving one
        self._commanding = threading.Lock()
        self._commands: list[Callable[[], list[Event]]] = []
        self._sources = 0
        self._driven = False
        self._finishing = False
        self._closing = False
        self._awake = False
        self._listened = time.monotonic()
        self._alarm, self._alarm_in = Pipe(duplex=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def add(self, path: Path) -> int:
        """Queue a source: a video, a picture or a folder of pictures. Returns its number, 0, 1, ….

        Raises:
            RuntimeError: after ``finish`` or ``close``.
        """
        with self._commanding:
            if self._finishing or self._closing:
                raise RuntimeError(f"{path} comes too late: the pool was told that there are no more sources")
            number = self._sources
            self._sources += 1
            self._command(lambda: self._dispatcher.add(number, path))
            return number

    def finish(self) -> None:
        """No more sources: ``events`` ends when all are finished."""
        with self._commanding:
            self._finishing = True
            self._command(list)

    def cancel(self, source: int | None = None) -> None:
        """Give up one source, or all that were added so far: ``SourceFinished(cancelled=True)`` follows, unless it is finished."""
        with self._commanding:
            self._command(lambda: self._dispatcher.cancel(source))

    def close(self) -> None:
        """Stop everything now and leave nothing behind; harmless when repeated. An ``events`` under way in another thread ends."""
        with self._commanding:
            self._closing = True
            self._command(list)
        with self._driving:
            self._shut_down()

    def events(self) -> Iterator[Event]:
        """Start the workers and run until ``finish`` was called and all sources are finished, or until ``close``.

        Raises:
            RuntimeError: called a second time.
        """
        with self._commanding:
            if self._driven:
                raise RuntimeError("events() was called before: one consumer drives the pool")
            self._driven = True
        return self._drive()

    def _drive(self) -> Iterator[Event]:
        try:
            yield StrategyChosen(self._strategy, self._reason)
            while (events := self._step()) is not None:
                yield from events
        finally:
            self.close()

    def _command(self, command: Callable[[], list[Event]]) -> None:
        """Leave something for the driving thread to do. Called with ``_commanding`` held."""
        self._commands.append(command)
        if not self._awake and not self._alarm_in.closed:
            self._alarm_in.send_bytes(b"!")  # at most one byte is under way, so this never blocks
            self._awake = True

    def _step(self) -> list[Event] | None:
        """Do what can be done now, or else wait for something to happen. None: it is over."""
        with self._driving:
            with self._commanding:
                if self._closing or self._alarm.closed:
                    return None
                commands, self._commands = self._commands, []
                finishing = self._finishing
                if self._awake:
                    self._alarm.recv_bytes()
                    self._awake = False
            events = [event for command in commands for event in command()]
            if finishing and self._dispatcher.finished:
                return events + self._shut_down()
            events += [self._start(process) for process in self._workers.values() if not process.attempt]
            for device, message in self._dispatcher.assignments():
                self._workers[device].send(message)
            return events or self._wait()

    def _wait(self) -> list[Event]:
        awaited: dict[Any, WorkerProcess] = {
            thing: process for process in self._workers.values() if process.alive for thing in process.awaited
        }
        look = self.stall_seconds / LOOKS
        ready = wait([self._alarm, *awaited], look)
        heard = {awaited[thing] for thing in ready if thing is not self._alarm}
        events = []
        for process in heard:
            message = process.receive() if process.awaited[0] in ready else None
            events += self._bury(process) if message is None else self._receive(process, message)
        now = time.monotonic()
        # longer: the pool's owner was busy, this process was stopped, or the machine slept
        passed, self._listened = min(now - self._listened, 2 * look), now
        for process in set(awaited.values()) - heard:
            if process.silent(passed):
                process.kill()
                events += self._bury(process)
        return events

    def _receive(self, process: WorkerProcess, message: FromWorker) -> list[Event]:
        match message:
            case Building():
                return [EngineBuilding(process.device, message.phase, message.fraction)]
            case Ready():
                self._dispatcher.ready(process.device, message.engine.lanes)
                return [DeviceReady(message.engine)]
            case Stats():
                return [self._statistics[process.device].interval(message)]
            case Failed():
                return []  # the process ends now, and then this is in its outcome
            case Frames():
                self._statistics[process.device].frames(message)
        return self._dispatcher.receive(process.device, message)

    def _start(self, process: WorkerProcess) -> Event:
        process.start()
        self._dispatcher.started(process.device)
        return DeviceStarting(process.device, process.attempt)

    def _bury(self, process: WorkerProcess) -> list[Event]:
        """A worker ended: take what it left, and start it again if there is hope."""
        events = [event for message in process.remaining() for event in self._receive(process, message)]
        outcome = process.bury()
        restarting = outcome.retry and process.budget.spend(time.monotonic())
        why = outcome.words
        if outcome.retry and not restarting:
            why += f"; {RESTARTS} restarts within {RESTART_SECONDS:.0f} s did not help"
        events.append(DeviceFailed(process.device, why, restarting))
        events += self._dispatcher.lost(process.device, gone=not restarting, why=why)
        if restarting:
            events.append(self._start(process))
        return events

    def _shut_down(self) -> list[Event]:
        """Stop the workers, then close the pipe. Called with ``_driving`` held. Returns the last statistics."""
        if self._alarm.closed:
            return []
        events: list[Event] = [
            self._statistics[process.device].interval(message)
            for process, message in stop_all(self._workers.values())
            if isinstance(message, Stats)
        ]
        with self._commanding:
            self._alarm.close()
            self._alarm_in.close()
        return events + [self._statistics[process.device].final() for process in self._workers.values() if process.attempt]


def _engine_settings(settings: EngineSettings, devices: Sequence[DeviceId]) -> EngineSettings:
    """The same, with the cores shared evenly where several CPU devices would each take all of them."""
    sharing = sum(device.kind == "cpu" for device in devices)
    if sharing < 2 or settings.threads is not None:
        return settings
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return replace(settings, threads=max(1, cores // sharing))
