"""``EnginePool``: sources in, ordered results out, by every device at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from engine.errors import UsageError
from engine.pool.device_reports import DeviceReports
from engine.pool.events import Event, SourceFinished, StrategyChosen
from engine.pool.host import Host, WorkerMain
from engine.pool.outcome import RESTART_SECONDS, RESTARTS, WorkerOutcome
from engine.pool.process import RemoteWorker, stop_all
from engine.pool.protocol import Building, Failed, Frames, FromWorker, Member, Ready, Stats, Stopped
from engine.pool.scheduling.dispatcher import Dispatcher
from engine.pool.scheduling.strategies.choose import choose, explain
from engine.pool.setup import setup_for
from engine.pool.worker import worker
from engine.settings import Isolation, RunSettings, check_decode
from engine.types import DeviceId

LOOKS = 60
"""So many times while ``stall_seconds`` pass, the pool looks whether a worker has fallen silent."""


class EnginePool:
    """One engine per device, each in its own process or in a thread of a common one, sharing the work.

    ``events`` does everything, in the thread that iterates over it; no thread is started. The other methods may be
    called from any thread. A consumer that takes events slowly slows the workers down, down to the decoders.

    devices: where to run at first, each once. stall_seconds: a worker that gives no sign of life for so long, or does not get on with
    one frame or batch, is started again.

    Raises:
        UsageError: no device, one of them twice, or devices that do not suit the strategy or the decoder of the settings.
    """

    stall_seconds: ClassVar[float] = 60.0
    worker_main: ClassVar[WorkerMain] = staticmethod(worker.main)

    def __init__(self, settings: RunSettings, devices: Sequence[DeviceId]) -> None:
        if not devices:
            raise UsageError("no device to run on: 'framefleet devices' lists yours")
        if len(set(devices)) != len(devices):
            raise UsageError(f"a device is named twice: {', '.join(map(str, devices))}")
        check_decode(settings.engine.decode, devices)
        self._settings = settings
        self._strategy = choose(settings, devices)
        self._chosen = StrategyChosen(self._strategy.name, explain(settings, devices))
        self._uncut: int | None = None
        devices = self._strategy.workers(devices)
        together = settings.isolation is Isolation.THREAD
        self._dispatcher = Dispatcher(self._strategy, devices, together=together)
        self._common_host = Host("devices", type(self).worker_main) if together else None
        self._workers = {device: self._new_worker(device) for device in devices}
        self._reports = DeviceReports(self._strategy)
        # held while the state above is worked on; ``close`` may come from another thread
        self._driving = threading.Lock()
        # what the other threads want, and the pipe that wakes the driving one
        self._commanding = threading.Lock()
        self._commands: list[Callable[[], list[Event]]] = []
        self._wanted = list(devices)
        self._sources = 0
        self._unfinished: set[int] = set()
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
            self._unfinished.add(number)
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

    def add_device(self, device: DeviceId) -> None:
        """One more device takes part as soon as its engine is built: ``DeviceStarting`` follows. It may be one that has left or failed.

        Where several CPU devices share the cores, it gets its share of them; those at work keep theirs until they are started again.

        Raises:
            UsageError: the run has this device, its strategy does not allow another one, or it is a group of devices.
            RuntimeError: the run is over.
        """
        with self._commanding:
            self._check_elastic(device)
            if device.kind == "group":
                raise UsageError(f"{device} are several devices: add each of them")
            if device in self._wanted:
                raise UsageError(f"{device} takes part already")
            self._wanted.append(device)
            self._command(list)

    def remove_device(self, device: DeviceId) -> None:
        """A device ends what is in its engine and gives the rest of its work to the others: ``DeviceLeft`` follows within about a second.

        Raises:
            UsageError: the run does not have this device, has work left and no other device, or its strategy does not allow it.
            RuntimeError: the run is over.
        """
        with self._commanding:
            self._check_elastic(device)
            if device not in self._wanted:
                raise UsageError(f"{device} does not take part: there is {', '.join(map(str, self._wanted)) or 'no device'}")
            if self._unfinished and len(self._wanted) == 1:
                raise UsageError(f"{device} is the last device, and there is work left: add another device first, or cancel the work")
            self._wanted.remove(device)
            self._command(list)

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
            yield self._chosen
            while (events := self._step()) is not None:
                with self._commanding:
                    self._unfinished -= {event.source for event in events if isinstance(event, SourceFinished)}
                yield from events
        finally:
            self.close()

    def _command(self, command: Callable[[], list[Event]]) -> None:
        """Leave something for the driving thread to do. Called with ``_commanding`` held."""
        self._commands.append(command)
        if not self._awake and not self._alarm_in.closed:
            self._alarm_in.send_bytes(b"!")  # at most one byte is under way, so this never blocks
            self._awake = True

    def _check_elastic(self, device: DeviceId) -> None:
        if self._closing or self._alarm_in.closed:
            raise RuntimeError(f"{device} comes too late: the run is over")
        if not self._strategy.elastic:
            raise UsageError(f"with the strategy {self._strategy.name} no device can join or leave a run: start another one")

    def _step(self) -> list[Event] | None:
        """Do what can be done now, or else wait for something to happen. None: it is over."""
        with self._driving:
            with self._commanding:
                if self._closing or self._alarm.closed:
                    return None
                commands, self._commands = self._commands, []
                wanted = list(self._wanted)
                finishing = self._finishing
                if self._awake:
                    self._alarm.recv_bytes()
                    self._awake = False
            events = self._join_and_leave(wanted)
            events += self._explain(wanted)
            events += [event for command in commands for event in command()]
            if finishing and self._dispatcher.finished:
                return events + self._shut_down()
            events += [event for remote in self._workers.values() if not remote.attempt for event in self._start(remote)]
            for device, message in self._dispatcher.assignments():
                self._workers[device].send(message)
            return events or self._wait()

    def _join_and_leave(self, wanted: Sequence[DeviceId]) -> list[Event]:
        """Bring the workers in line with the devices that are wanted. One that comes back while it leaves has to leave first."""
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

    def _explain(self, wanted: Sequence[DeviceId]) -> list[Event]:
        """The strategy again, where the devices that have joined or left, or the sources, give another reason."""
        if self._uncut is None:
            self._uncut = self._dispatcher.uncut
        reason = explain(self._settings, wanted, self._uncut or 0) if wanted else self._chosen.reason
        if reason == self._chosen.reason:
            return []
        self._chosen = replace(self._chosen, reason=reason)
        return [self._chosen]

    def _wait(self) -> list[Event]:
        awaited = {remote.connection: remote for remote in self._workers.values()}
        look = self.stall_seconds / LOOKS
        patience = min((remote.leaving - time.monotonic() for remote in awaited.values() if remote.leaving is not None), default=look)
        heard: set[RemoteWorker] = set()
        events: list[Event] = []
        for connection in wait([self._alarm, *awaited], max(0.0, min(look, patience))):
            remote = awaited.get(connection)  # type: ignore[call-overload]
            if remote is None or not remote.alive or remote.connection is not connection:
                continue  # it is the alarm, or the worker has been buried with another one meanwhile
            heard.add(remote)
            message = remote.receive()
            ended = message is None or remote.exit_message is not None
            events += self._reap(remote) if ended else self._receive(remote, message)
        now = time.monotonic()
        # longer: the pool's owner was busy, this process was stopped, or the machine slept
        passed, self._listened = min(now - self._listened, 2 * look), now
        for connection, remote in awaited.items():
            if remote in heard or not remote.alive or remote.connection is not connection:
                continue
            if remote.leaving is not None and now >= remote.leaving:
                remote.exit_message = Stopped()  # what it still has will be done by others
                events += self._reap(remote)
            elif remote.silent(passed):
                remote.kill()
                events += self._reap(remote)
        return events

    def _receive(self, remote: RemoteWorker, message: FromWorker) -> list[Event]:
        match message:
            case Building() | Stats() | Member():
                return self._reports.said(remote.device, message)
            case Ready():
                self._dispatcher.ready(remote.device, message.engine.decode_threads)
                return self._reports.said(remote.device, message)
            case Failed() | Stopped():
                return []  # these are its exit message, and whoever buries it looks at them
            case Frames():
                self._reports.frames(remote.device, message)
        return self._dispatcher.receive(remote.device, message)

    def _new_worker(self, device: DeviceId) -> RemoteWorker:
        return RemoteWorker(device, self._common_host or Host(str(device), type(self).worker_main))

    def _start(self, remote: RemoteWorker) -> list[Event]:
        remote.start(setup_for(remote.device, self._settings, list(self._workers), self.stall_seconds))
        self._dispatcher.started(remote.device)
        return self._reports.starting(remote.device, remote.attempt)

    def _reap(self, remote: RemoteWorker) -> list[Event]:
        """A worker ended, alone or with all in its process: take what they left, and start them again if there is hope."""
        dead, exit_code = [remote], None
        if remote.ended_alone:
            remote.host.dismiss()
        else:
            dead = [other for other in self._workers.values() if other.alive and other.host is remote.host]
            exit_code = remote.host.end()
        events = [event for other in dead for message in other.remaining() for event in self._receive(other, message)]
        culprit = next((other for other in dead if not other.ended_alone and other.exit_message is not None), None)
        for other in dead:
            outcome = other.reap(exit_code)
            if culprit is not None and other.exit_message is None:
                why = f"the process that it shares with {culprit.device} was ended by that one"
                events += self._settle(other, WorkerOutcome(exit_code, why), innocent=True)
            else:
                events += self._settle(other, outcome, innocent=other.ended_alone)
        return events + [event for other in dead if self._workers.get(other.device) is other for event in self._start(other)]

    def _settle(self, remote: RemoteWorker, outcome: WorkerOutcome, *, innocent: bool) -> list[Event]:
        """What becomes of a device whose worker has ended. innocent: whoever ended it, it was not this worker."""
        device, why = remote.device, outcome.words
        with self._commanding:
            leaving = remote.leaving is not None or device not in self._wanted
            restarting = not leaving and outcome.retry and (innocent or remote.budget.spend(time.monotonic()))
            if not (restarting or leaving):
                self._wanted.remove(device)
            wanted = list(self._wanted)  # also one that comes back as soon as it has left
        if outcome.retry and not (restarting or leaving):
            why += f"; {RESTARTS} restarts within {RESTART_SECONDS:.0f} s did not help"
        events = [] if isinstance(remote.exit_message, Stopped) else self._reports.failed(device, why, restarting)
        self._dispatcher.join(wanted)
        events += self._dispatcher.lost(device, gone=device not in wanted, why="it was removed" if leaving else why, innocent=innocent)
        if leaving:
            events += self._left(remote)
        elif not restarting:
            del self._workers[device]
        return events

    def _left(self, remote: RemoteWorker) -> list[Event]:
        del self._workers[remote.device]
        return self._reports.left(remote.device)

    def _shut_down(self) -> list[Event]:
        """Stop the workers, then close the pipe. Called with ``_driving`` held. Returns the last statistics."""
        if self._alarm.closed:
            return []
        events: list[Event] = [
            event
            for remote, message in stop_all(self._workers.values())
            if isinstance(message, Stats) or (isinstance(message, Member) and isinstance(message.message, Stats))
            for event in self._receive(remote, message)
        ]
        with self._commanding:
            self._alarm.close()
            self._alarm_in.close()
        return events + self._reports.finals()
