"""``EnginePool``: takes sources, infers them on all devices at once and yields ordered results. ``CpuFallback`` helps at the start."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar

from framefleet.engine.media.live.messages import RecordSettings
from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.pool import live_sources, supervisor
from framefleet.engine.pool.events import DeviceReady, EngineBuilding, Event, Position, SourceFinished, StrategyChosen
from framefleet.engine.pool.hosts import Hosts, WorkerMain
from framefleet.engine.pool.protocol import FromWorker, Setup, ToWorker, Watch
from framefleet.engine.pool.scheduling.dispatcher import Dispatcher
from framefleet.engine.pool.scheduling.strategies import create_strategy, explain
from framefleet.engine.settings import Isolation, Parallel, RunSettings, check_decode
from framefleet.engine.types import Closing, DeviceId

BY_SOURCE = Parallel.AUTO, Parallel.SEGMENTS, Parallel.STREAMS
"""The ways of sharing the work in which a live source has one device."""


def _work(connection: Connection[FromWorker, ToWorker], setup: Setup) -> None:
    """Run a worker. Only its process imports it."""
    from framefleet.engine.pool.worker import worker

    worker.main(connection, setup)


class EnginePool(Closing):
    """One engine per device, each in its own process or in a thread of a common process. The devices share the work.

    The thread that iterates over ``events`` does all the work; the pool starts no thread. The other methods may be called from any thread.
    A consumer that takes events slowly slows the workers down, including their decoders.

    Parameters
    ----------
    settings : RunSettings
        The model, the engines and the strategy.
    devices : sequence of DeviceId
        The devices at the start, without duplicates.
    hosts : Hosts, optional
        Provides the workers' processes. None: this machine.

    Attributes
    ----------
    stall_seconds : float
        A worker that is silent for this long, or that spends this long on one frame or batch, is restarted.
    worker_main : callable
        What a worker runs.

    Raises
    ------
    UsageError
        There is no device or a duplicate, or devices do not suit the strategy or the decoder of the settings.
    """

    stall_seconds: ClassVar[float] = 60.0
    worker_main: ClassVar[WorkerMain] = staticmethod(_work)

    def __init__(self, settings: RunSettings, devices: Sequence[DeviceId], hosts: Hosts | None = None) -> None:
        if not devices:
            raise UsageError(Notice("pool.no_device"))
        if len(set(devices)) != len(devices):
            raise UsageError(Notice("settings.device_twice", devices=tuple(map(str, devices))))
        check_decode(settings.engine.decode, devices)
        hosts = hosts or Hosts()
        hosts.check(settings, devices)
        self._settings = settings
        self._strategy = create_strategy(settings, devices)
        self._chosen = StrategyChosen(self._strategy.name, explain(settings, devices), self._strategy.elastic)
        self._uncut: int | None = None
        self._live: set[int] = set()
        self._only_live = False
        self._wanted = supervisor.WantedDevices(self._strategy.workers)
        self._dispatcher = Dispatcher(self._strategy, self._strategy.workers, together=settings.isolation is Isolation.THREAD)
        self._streams = live_sources.LiveSources()
        kind = type(self)
        self._supervisor = supervisor.Supervisor(
            settings, self._strategy, self._dispatcher, self._streams, self._wanted, kind.worker_main, kind.stall_seconds, hosts
        )
        # held while the state above is used; another thread may call ``close``
        self._driving = threading.Lock()
        # commands from other threads, and the pipe that wakes the driving thread
        self._commanding = self._wanted.lock
        self._commands: list[Callable[[], list[Event]]] = []
        self._sources = 0
        self._unfinished: set[int] = set()
        self._driven = False
        self._finishing = False
        self._closing = False
        self._awake = False
        self._alarm, self._alarm_in = Pipe(duplex=False)
        hosts.watch(self.add_device)

    def add(self, path: Path, number: int | None = None, position: Position | None = None) -> int:
        """Queue a source: a video, a picture or a folder of pictures.

        Parameters
        ----------
        path : Path
            The file or folder.
        number : int, optional
            Its number, if that is not the next one: 0, 1, ….
        position : Position, optional
            Where an earlier run stopped; this one begins there.

        Returns
        -------
        int
            The number of the source, which its events have.

        Raises
        ------
        RuntimeError
            ``finish`` or ``close`` was called.
        """
        with self._commanding:
            if self._finishing or self._closing:
                raise RuntimeError(f"{path} cannot be added: the pool accepts no more sources")
            chosen = self._sources if number is None else number
            self._sources = max(self._sources, chosen + 1)
            self._unfinished.add(chosen)
            self._command(lambda: self._dispatcher.add(chosen, path, position))
            return chosen

    def add_stream(self, source: live_sources.LiveSource, number: int) -> None:
        """Add a live source, which is read at once. Raises RuntimeError if ``finish`` or ``close`` was called."""
        with self._commanding:
            if self._finishing or self._closing:
                raise RuntimeError(f"{source.address} cannot be added: the pool accepts no more sources")
            self._sources = max(self._sources, number + 1)
            self._unfinished.add(number)
            self._live.add(number)
            self._command(lambda: self._streams.add(number, source))

    def record(self, source: int, settings: RecordSettings | None) -> None:
        """Record a live source from its next keyframe on, or stop recording it (None). ``StreamRecording`` follows."""
        with self._commanding:
            self._command(lambda: self._streams.record(source, settings))

    def watch(self, source: int, size: tuple[int, int], interval: float) -> None:
        """Let ``StreamPicture`` of a live source come from now on, also on another device. size, interval: see ``Watch``."""
        with self._commanding:
            self._command(lambda: self._streams.watch(Watch(source, size, interval)))

    def snapshot(self, source: int, seconds: float) -> None:
        """Ask for the picture of a moment of a live source: see ``LiveSources.snapshot``."""
        with self._commanding:
            self._command(lambda: self._streams.snapshot(source, seconds))

    def finish(self) -> None:
        """Accept no more sources. ``events`` ends when all are finished."""
        with self._commanding:
            self._finishing = True
            self._command(list)

    def cancel(self, source: int | None = None) -> None:
        """Cancel one source, or all that were added. ``SourceFinished(cancelled=True)`` follows for each unfinished one."""
        with self._commanding:
            self._command(lambda: self._dispatcher.cancel(source) + self._streams.cancel(source))

    def seek(self, source: int, seconds: float) -> None:
        """Detect the segment of a video that contains this time next, and those behind it. ``FramesAhead`` follows.

        The results keep their order: ``FramesDone`` comes when the frames before are done. Until then they wait in memory, so only a
        limited number of frames is done ahead. Does nothing if the source is not open, is not cut, or the place is done.

        Parameters
        ----------
        source : int
            Its number.
        seconds : float
            The time, as in ``FrameRef.pts``.
        """
        with self._commanding:
            self._command(lambda: self._dispatcher.seek(source, seconds))

    def add_device(self, device: DeviceId) -> None:
        """Add a device to the run; it works as soon as its engine is built. ``DeviceStarting`` follows.

        The device may have left or failed before. If several CPU devices share the cores, the new device gets its share. The others
        keep their cores until they are restarted.

        Raises
        ------
        UsageError
            The device is already in the run or is a group of devices, or the strategy does not let devices join.
        RuntimeError
            The run is over.
        """
        with self._commanding:
            self._check_elastic(device)
            if device.kind == "group":
                raise UsageError(Notice("pool.group_cannot_join", device=str(device)))
            if device in self._wanted.devices:
                raise UsageError(Notice("pool.takes_part", device=str(device)))
            self._wanted.devices.append(device)
            self._command(list)

    def remove_device(self, device: DeviceId) -> None:
        """Remove a device from the run. ``DeviceLeft`` follows in about a second.

        The device finishes what is in its engine; the others do the rest of its work.

        Raises
        ------
        UsageError
            The device is not in the run, is the last one with work left, or the strategy does not let devices leave.
        RuntimeError
            The run is over.
        """
        with self._commanding:
            self._check_elastic(device)
            devices = self._wanted.devices
            if device not in devices:
                others = tuple(map(str, devices)) or Notice("pool.no_devices")
                raise UsageError(Notice("pool.takes_no_part", device=str(device), devices=others))
            if self._unfinished and len(devices) == 1:
                raise UsageError(Notice("pool.last_device", device=str(device)))
            devices.remove(device)
            self._command(list)

    def close(self) -> None:
        """Stop the run and all its processes now; harmless when repeated. Ends an ``events`` iteration in another thread."""
        with self._commanding:
            self._closing = True
            self._command(list)
        with self._driving:
            self._shut_down()

    def events(self) -> Iterator[Event]:
        """Start the workers and run until ``finish`` was called and all sources are finished, or until ``close``.

        Raises RuntimeError if it is called a second time.
        """
        with self._commanding:
            if self._driven:
                raise RuntimeError("events() was called before: one consumer drives the pool")
            self._driven = True
        return self._drive()

    def _drive(self) -> Iterator[Event]:
        try:
            self._explain()
            yield self._chosen
            while (events := self._step()) is not None:
                with self._commanding:
                    self._unfinished -= {event.source for event in events if isinstance(event, SourceFinished)}
                yield from events
        finally:
            self.close()

    def _command(self, command: Callable[[], list[Event]]) -> None:
        """Queue a command for the driving thread. Called with ``_commanding`` held."""
        self._commands.append(command)
        if not self._awake and not self._alarm_in.closed:
            self._alarm_in.send_bytes(b"!")  # at most one byte is under way, so this never blocks
            self._awake = True

    def _check_elastic(self, device: DeviceId) -> None:
        if self._closing or self._alarm_in.closed:
            raise RuntimeError(f"{device} cannot join or leave: the run is over")
        if not self._strategy.elastic:
            raise UsageError(Notice("pool.not_elastic", strategy=self._strategy.name))

    def _step(self) -> list[Event] | None:
        """Do the work that is due, or else wait for an event. None: the run is over."""
        with self._driving:
            with self._commanding:
                if self._closing or self._alarm.closed:
                    return None
                commands, self._commands = self._commands, []
                finishing = self._finishing
                if self._awake:
                    self._alarm.recv_bytes()
                    self._awake = False
            events = self._supervisor.join_and_leave()
            events += self._explain()
            events += [event for command in commands for event in command()]
            events += self._streams.receive()
            if finishing and self._dispatcher.finished and self._streams.finished:
                return events + self._shut_down()
            events += self._supervisor.start_new()
            for device, message in chain(self._dispatcher.assignments(), self._streams.moves()):
                self._supervisor.send(device, message)
            for device, stream, packets in self._streams.assignments():
                self._supervisor.send_stream(device, stream, packets)
            for device, watch in self._streams.watches():
                self._supervisor.send(device, watch)
            return events or self._supervisor.wait(self._alarm)

    def _explain(self) -> list[Event]:
        """``StrategyChosen`` again, if changed devices or sources give another reason."""
        if self._uncut is None:
            self._uncut = self._dispatcher.uncut
        with self._commanding:
            if self._unfinished:
                self._only_live = self._unfinished <= self._live
        devices, settings, chosen = self._wanted.snapshot(), self._settings, self._chosen
        if self._only_live and settings.parallel in BY_SOURCE:
            chosen = replace(chosen, strategy=str(Parallel.STREAMS), reason=Notice("pool.live_sources"))
        elif devices:
            chosen = replace(chosen, strategy=self._strategy.name, reason=explain(settings, devices, self._uncut or 0))
        if chosen == self._chosen:
            return []
        self._chosen = chosen
        return [chosen]

    def _shut_down(self) -> list[Event]:
        """Stop the workers, then close the pipe. Called with ``_driving`` held. Returns the last statistics."""
        if self._alarm.closed:
            return []
        self._streams.close()
        events = self._supervisor.stop()
        with self._commanding:
            self._alarm.close()
            self._alarm_in.close()
        return events


CPU = DeviceId("cpu", "0")

PATIENCE_SECONDS = 2.0
"""Building the CPU's own engine takes about this long, so the CPU cannot help while faster builds run."""


class CpuFallback:
    """Lets the CPU join a run while engines are being built, and leave it when the first one is ready.

    If no engine becomes ready, the CPU stays and the run continues; events show the failures and the device in use. Does nothing if
    the strategy does not let devices join, or if the run's ``devices`` include a CPU.
    """

    def __init__(self, pool: EnginePool, devices: Sequence[DeviceId]) -> None:
        self._pool = pool
        self._needed = all(device.kind != "cpu" for device in devices)
        self._since: float | None = None
        self._joined = False

    def see(self, event: Event) -> None:
        """Handle an event of the pool, in the thread that iterates over the events."""
        match event:
            case EngineBuilding() if self._needed:
                now = time.monotonic()
                self._since = now if self._since is None else self._since
                if now - self._since >= PATIENCE_SECONDS:
                    self._needed = False
                    with suppress(UsageError, RuntimeError):
                        self._pool.add_device(CPU)
                        self._joined = True
            case DeviceReady(engine) if engine.device != CPU:
                self._needed = False
                if self._joined:
                    self._joined = False
                    with suppress(UsageError, RuntimeError):  # the user has removed it, or the run is over
                        self._pool.remove_device(CPU)
