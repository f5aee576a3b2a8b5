"""The live sources of a run: their capture processes, the devices that decode them, and their ledgers.

A source belongs to one device. Its packets go from the capture process to that device's worker, past the pool. Of each capture process,
received = inferred + dropped + failed: the worker counts what it was given, and gaps in the numbers show what it was not given.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from multiprocessing import reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.live import messages
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.capture import Job
from framefleet.engine.media.live.capture import main as capture
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import (
    EpochStarted,
    Event,
    FramesDone,
    Ledger,
    RunFigures,
    SourceFinished,
    SourceOpened,
    StreamChanged,
    StreamCounted,
    StreamFile,
    StreamPicture,
    StreamRecording,
    StreamSnapshot,
)
from framefleet.engine.pool.protocol import Done, Frames, LiveMessage, Revoke, Stats, Stream, StreamBegan, StreamCounts, Watch
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.types import DeviceId

STOP_SECONDS = 2.0
"""How long a stopped source may take to hand over what is under way. Then its processes are ended."""

MAX_STARTING = max(2, os.cpu_count() or 1)
"""The most capture processes that load their libraries at once. Each needs a processor for half a second, and engines start meanwhile."""

MOVE_SECONDS = 30.0
"""Least time between two moves, unless a device has two streams more than another one: each move costs frames up to a keyframe."""

_RATE_SECONDS = 2.0

_WORTH = 0.8
"""A stream moves if the highest load falls below this share of it."""

NO_DEVICE, DEVICE_FAILED = Notice("live.no_device"), Notice("live.device_failed")
MOVING = Notice("live.moving")
NOT_DELIVERED, BEFORE_KEYFRAME = Notice("live.not_delivered"), Notice("live.before_keyframe")


@dataclass(frozen=True)
class LiveSource:
    """A live source and how to read it.

    retries: see ``Job``. seconds: when to stop after the first frame, None: never. record: how it is recorded, None: not.
    record_from: the address that is recorded instead, such as that of a camera's main stream. snapshots: whether single pictures can be
    asked for. watched: whether ``watch`` shall get pictures, which only a decoder on the CPU has; a GPU decodes the source only if the
    settings require that.
    """

    address: LiveAddress
    retries: int | None = None
    seconds: float | None = None
    record: messages.RecordSettings | None = None
    record_from: LiveAddress | None = None
    snapshots: bool = False
    watched: bool = False


@dataclass(eq=False)
class OpenStream:
    """An unfinished live source. origin: ``perf_counter`` at its time 0."""

    number: int
    source: LiveSource
    origin: float

    # its processes, and the device whose worker decodes it
    process: ChildProcess | None = None
    ended: messages.Ended | None = None  # the last message of the capture process
    recorder: ChildProcess | None = None  # records another address
    device: DeviceId | None = None
    target: DeviceId | None = None  # gets it next; None: the device with the least load
    moving: bool = False  # its device was told to end
    stopping: bool = False
    stop_by: float = math.inf
    cancelled: bool = False
    error: Notice | None = None

    # what it is, and what was found in it
    state: messages.LiveState = messages.LiveState.CONNECTING
    info: SourceInfo | None = None
    decoder: DecoderUse = DecoderUse()  # noqa: RUF009
    epoch: int = 0  # the next one
    frames: int = 0
    first: float | None = None  # times of the first and the last inferred frame
    last: float = 0.0

    # of the frames of this capture process
    received: int = 0
    accounted: int = 0  # in ``inferred``, ``dropped`` and ``failed``
    unassigned: int = 0  # of these, how many came while no device was ready
    missing: Notice = NO_DEVICE  # why frames are missing until the next worker begins

    # of all frames
    decoded: int = 0
    inferred: int = 0
    dropped: Counter[Notice] = field(default_factory=Counter)
    failed: Counter[Notice] = field(default_factory=Counter)
    figures: RunFigures = field(default_factory=RunFigures)  # latencies
    rate: float = 0.0  # received frames/s
    counted: tuple[float, int] | None = None  # when and how many were received at the last count

    # what the user wants
    record: messages.RecordSettings | None = None
    file: messages.RecordedFile | None = None  # that is written now
    watch: Watch | None = None  # which pictures are wanted
    watched: DeviceId | None = None  # whose worker has been told so

    @property
    def ledger(self) -> Ledger:
        """Its frames up to now. Those under way are not counted."""
        received = self.inferred + self.dropped.total() + self.failed.total()
        decoded = max(self.decoded, self.inferred)  # the worker counts later, and the last count of one that is ended is missing
        return Ledger(decoded, self.inferred, dict(+self.dropped), dict(+self.failed), 0, received)

    def note_rate(self, frames: int) -> None:
        """Note how many frames the capture process has received."""
        now = time.monotonic()
        if self.counted is None or frames < self.counted[1]:
            self.counted = now, frames
        elif now - self.counted[0] >= _RATE_SECONDS:
            self.rate = (frames - self.counted[1]) / (now - self.counted[0])
            self.counted = now, frames

    @property
    def latency(self) -> tuple[float, float] | None:
        """From the arrival of a frame to its boxes, ms: p50 and p99 of the whole run; None without a frame."""
        p50, p99 = self.figures.latency(0.5), self.figures.latency(0.99)
        return None if p50 is None or p99 is None else (p50, p99)

    def lose(self, count: int, reason: Notice) -> None:
        """Account for frames that were not inferred."""
        if count < 0:
            raise RuntimeError(f"more frames of stream {self.number} are accounted for than were received: {self.ledger}")
        if count:
            (self.failed if reason == DEVICE_FAILED else self.dropped)[reason] += count
            self.accounted += count


@dataclass
class DeviceLoad:
    """What a device needs for a frame of a live source. cost: seconds, None: not measured."""

    cost: float | None = None

    def measured(self, stats: Stats) -> None:
        """Take over a worker's statistics."""
        if frames := len(stats.latencies):
            cost = (stats.stages.get("preprocess", 0.0) + stats.stages.get("infer", 0.0)) / 1000 / frames
            self.cost = cost if self.cost is None else 0.8 * self.cost + 0.2 * cost


def best_move(costs: Mapping[DeviceId, float | None], owned: Mapping[DeviceId, Mapping[int, float]]) -> tuple[int, DeviceId] | None:
    """Choose the stream that should go to another device, so that the device with the highest load has less.

    The load of a device is the time that it needs for the frames of a second. If the cost of a device is not known, streams count alike.

    costs: seconds for a frame on each device. owned: the streams of each device and their rates, frames/s. Returns the stream, and the
    device that should get it.
    """
    if len(owned) < 2:
        return None
    known = all(costs.get(device) for device in owned) and all(rate > 0 for streams in owned.values() for rate in streams.values())

    def load(device: DeviceId, more: float = 0.0, streams: int = 0) -> float:
        if not known:
            return len(owned[device]) + streams
        return (costs.get(device) or 0.0) * (sum(owned[device].values()) + more)

    highest = max(owned, key=load)
    best, least = None, load(highest) * (_WORTH if known else 1.0)
    for stream, rate in owned[highest].items():
        for device in owned:
            if device != highest:
                after = max(load(device, rate, 1), load(highest, -rate, -1))
                if after < least:
                    best, least = (stream, device), after
    return best


class LiveSources:
    """The live sources of a run. Methods return the resulting events. All belong to the thread that drives the pool."""

    def __init__(self) -> None:
        self._open: dict[int, OpenStream] = {}
        self._numbers: set[int] = set()
        self._devices: list[DeviceId] = []  # with an engine
        self._loads: dict[DeviceId, DeviceLoad] = {}
        self._move_due = 0.0
        self._count_due = 0.0
        self._due: deque[tuple[OpenStream, Job, bool]] = deque()  # capture processes to start, and whether each only records
        self._starting: set[ChildProcess] = set()  # have not sent anything yet

    @property
    def finished(self) -> bool:
        """Whether every source that was added is finished."""
        return not self._open

    @property
    def connections(self) -> list[Connection[Any, Any]]:
        """The connections to the capture processes, for ``multiprocessing.connection.wait``."""
        return [
            process.connection for stream in self._open.values() for process in (stream.process, stream.recorder) if process is not None
        ]

    def has(self, source: int) -> bool:
        """Whether a number is that of a live source, also of one that is finished: a worker may still have messages about it."""
        return source in self._numbers

    def add(self, number: int, source: LiveSource) -> list[Event]:
        """Add a source and start to read it."""
        self._numbers.add(number)
        stream = self._open[number] = OpenStream(number, source, time.perf_counter(), record=source.record)
        return self._capture(stream, Notice("live.asked"), 0, 0.0) + self._start_recorder(stream, Notice("live.asked"))

    def record(self, number: int, settings: messages.RecordSettings | None) -> list[Event]:
        """Record a source from its next keyframe on, or stop recording it (None)."""
        stream = self._open.get(number)
        if stream is None or stream.stopping:
            return []
        stream.record = settings
        if stream.source.record_from is None:
            if stream.process is not None:
                stream.process.send(messages.Record(settings))
        elif stream.recorder is not None:
            stream.recorder.send(messages.Record(settings) if settings is not None else messages.StopCapture())
        return self._start_recorder(stream, Notice("live.asked"))

    def snapshot(self, number: int, seconds: float) -> list[Event]:
        """Ask for the picture of a moment that was received in the last seconds. ``StreamSnapshot`` follows, if it is still there."""
        stream = self._open.get(number)
        if stream is not None and stream.process is not None and stream.source.snapshots:
            stream.process.send(messages.TakeSnapshot(seconds))
        return []

    def _start_recorder(self, stream: OpenStream, why: Notice, attempts: int = 0, limit: float = 0.0) -> list[Event]:
        """Start the process that records another address, if there is one and it is not there."""
        recorded = stream.source.record_from
        if recorded is None or stream.record is None or stream.recorder is not None or stream.stopping or self._waits(stream, True):
            return []
        self._due.append((stream, Job(recorded, stream.origin, None, attempts, limit, 0.0, why, detect=False), True))
        return self._start_due()

    def _waits(self, stream: OpenStream, records: bool) -> bool:
        """Whether a capture process of a source waits for its start. records: the one that only records."""
        return any(due is stream and records is other for due, _, other in self._due)

    def _start_due(self) -> list[Event]:
        """Start the capture processes that wait, while few others load their libraries."""
        events: list[Event] = []
        while self._due and len(self._starting) < MAX_STARTING:
            stream, job, records = self._due.popleft()
            job = replace(job, record=stream.record if records or stream.source.record_from is None else None)  # as it is wanted now
            name = f"{'recording' if records else 'stream'} {stream.number}"
            try:
                process = ChildProcess(name, capture, job, words=Notice("live.process"))
            except OSError as error:
                why = Notice("general.detail", detail=error.strerror or str(error))
                if records:
                    events.append(self._rests(stream, why))
                else:
                    stream.error = Notice("live.capture_ended", why=why)
                    events += self._settle(stream)
                continue
            self._starting.add(process)
            if records:
                stream.recorder = process
            else:
                stream.process = process
        return events

    def cancel(self, number: int | None) -> list[Event]:
        """Stop a source, or all (None). ``SourceFinished`` follows when what is under way has been inferred."""
        for stream in list(self._open.values()):
            if number in (None, stream.number):
                stream.cancelled = True
                self._stop(stream)
        return []

    def _stop(self, stream: OpenStream) -> None:
        if not stream.stopping:
            self._due = deque(each for each in self._due if each[0] is not stream)
            idle = stream.process is None and stream.recorder is None and stream.device is None
            stream.stopping, stream.stop_by = True, 0.0 if idle else time.monotonic() + STOP_SECONDS
            for process in (stream.process, stream.recorder):
                if process is not None:
                    process.send(messages.StopCapture())

    def ready(self, device: DeviceId) -> None:
        """Note that a device has an engine."""
        if device not in self._devices:
            self._devices.append(device)
            self._loads[device] = DeviceLoad()

    def lost(self, device: DeviceId, last: Notice | None) -> list[Event]:
        """Note that the worker of a device has ended, and all its messages have come. last: why, if no device is left."""
        if device in self._devices:
            self._devices.remove(device)
        for stream in self._open.values():
            if stream.device == device:
                stream.device, stream.missing, stream.moving = None, DEVICE_FAILED, False
        if last is None:
            return []
        for stream in self._open.values():
            stream.error, stream.cancelled = stream.error or last, True
            self._stop(stream)
        return []

    def moves(self) -> Iterator[tuple[DeviceId, Revoke]]:
        """Yield what to send to workers so that streams move to devices with less load, one at a time: see ``best_move``."""
        if not all(stream.device is not None and not (stream.moving or stream.stopping) for stream in self._open.values()):
            return
        owned = self._owned()
        if (move := best_move({device: load.cost for device, load in self._loads.items()}, owned)) is None:
            return
        stream, target = self._open[move[0]], move[1]
        device, now = stream.device, time.monotonic()
        if device is None or (now < self._move_due and len(owned[device]) - len(owned[target]) < 2):
            return
        self._move_due = now + MOVE_SECONDS
        stream.moving, stream.target = True, target
        yield device, Revoke(stream.number, stream.epoch)

    def _owned(self) -> dict[DeviceId, dict[int, float]]:
        """The streams of each device, and their rates."""
        found: dict[DeviceId, dict[int, float]] = {device: {} for device in self._devices}
        for stream in self._open.values():
            if stream.device in found:
                found[stream.device][stream.number] = stream.rate
        return found

    def measured(self, device: DeviceId, stats: Stats) -> None:
        """Take over a worker's statistics."""
        if device in self._loads:
            self._loads[device].measured(stats)
        for number, latencies in stats.live.items():
            if (stream := self._open.get(number)) is not None:
                stream.figures = stream.figures.with_interval(len(latencies), stats.seconds, latencies)

    def assignments(self) -> Iterator[tuple[DeviceId, Stream, Connection[Any, Any]]]:
        """Yield what to send to workers now: the message, and the connection whose descriptor has to follow. The caller closes it."""
        for stream in self._open.values():
            if stream.device is not None or stream.info is None or stream.process is None or stream.ended is not None or not self._devices:
                continue
            device = self._place(stream)
            stream.device, stream.watched = device, None
            packets, theirs = multiprocessing.Pipe()
            with theirs:
                try:
                    stream.process.connection.send(messages.Attach(stream.number))
                    reduction.send_handle(stream.process.connection, theirs.fileno(), stream.process.pid)
                except OSError:  # it has ended, which its connection shows
                    pass
            yield device, Stream(stream.number, stream.info, stream.epoch, stream.source.watched), packets

    def watch(self, watch: Watch) -> list[Event]:
        """Set which pictures of a source are wanted."""
        if (stream := self._open.get(watch.source)) is not None:
            stream.watch, stream.watched = watch, None
        return []

    def watches(self) -> Iterator[tuple[DeviceId, Watch]]:
        """Yield what to tell workers about pictures, after ``assignments``."""
        for stream in self._open.values():
            if stream.watch is not None and stream.device is not None and stream.watched != stream.device:
                stream.watched = stream.device
                yield stream.device, stream.watch

    def _place(self, stream: OpenStream) -> DeviceId:
        """The device that gets a stream: where it should go, or the one with the least load."""
        target, stream.target = stream.target, None
        if target in self._devices:
            return target
        owned = self._owned()
        known = all(self._loads[device].cost for device in self._devices) and all(other.rate > 0 for other in self._open.values())

        def load(device: DeviceId) -> float:
            return (self._loads[device].cost or 0.0) * (sum(owned[device].values()) + stream.rate) if known else len(owned[device])

        return min(self._devices, key=load)

    def heard(self, device: DeviceId, message: LiveMessage | Frames | Done) -> list[Event]:
        """Handle a worker's message about a live source."""
        stream = self._open.get(message.source)
        if stream is None or stream.device != device:
            return []
        match message:
            case StreamBegan():
                if stream.missing == NO_DEVICE:
                    stream.unassigned += message.number - stream.accounted
                stream.lose(message.number - stream.accounted, stream.missing)
            case EpochStarted():
                stream.epoch = message.number + 1
                return [message]
            case StreamPicture():
                return [message]
            case StreamCounts():
                stream.decoded += message.decoded
                for reason, count in message.dropped.items():
                    stream.dropped[reason] += count
                stream.accounted += sum(message.dropped.values())
            case Frames():
                return self._frames(device, stream, message)
            case Done():
                stream.decoder += message.decoder
                if message.complete:
                    stream.device, stream.missing = None, MOVING if stream.moving else NOT_DELIVERED
                    stream.moving = False
                    if message.error is not None:
                        stream.error = message.error
                        self._stop(stream)
                    return self._settle(stream)
        return []

    def _frames(self, device: DeviceId, stream: OpenStream, message: Frames) -> list[Event]:
        frames = tuple(message.unpack(device, stream.frames, stream.last, 0.0))
        stream.accounted += len(frames)
        stream.last = frames[-1].ref.pts
        if stream.first is None:
            stream.first = frames[0].ref.pts
        if stream.source.seconds is not None and stream.last - stream.first >= stream.source.seconds:
            wanted = tuple(frame for frame in frames if frame.ref.pts - stream.first < stream.source.seconds)
            stream.dropped[NOT_DELIVERED] += len(frames) - len(wanted)
            self._stop(stream)
            if not wanted:
                return []
            frames = wanted
        stream.frames += len(frames)
        for frame in frames:
            if frame.failure is None:
                stream.inferred += 1
            else:
                stream.failed[frame.failure] += 1
        return [FramesDone(stream.number, frames, message.segment)]

    def receive(self) -> list[Event]:
        """Handle what the capture processes have sent, and end what takes too long."""
        events: list[Event] = []
        for stream in list(self._open.values()):
            process = stream.process
            while process is not None and stream.process is process and process.connection.poll():
                message = process.receive()
                self._starting.discard(process)
                if message is None or process.exit_message is not None:
                    events += self._process_ended(stream)
                else:
                    events += self._captured(stream, message)
            events += self._recorder_messages(stream)
            if time.monotonic() > stream.stop_by:
                events += self._give_up(stream)
        events += self._start_due()
        now = time.monotonic()
        if now >= self._count_due:
            self._count_due = now + 0.5
            events += [StreamCounted(stream.number, stream.ledger, stream.latency) for stream in self._open.values()]
        return events

    def _recorder_messages(self, stream: OpenStream) -> list[Event]:
        """Handle what the process that records another address has sent."""
        events: list[Event] = []
        while (process := stream.recorder) is not None and process.connection.poll():
            message = process.receive()
            self._starting.discard(process)
            match message:
                case messages.FileRecorded() | messages.RecordingChanged():
                    events += self._captured(stream, message)
                case messages.StateChanged(messages.LiveState.WAITING_TO_RECONNECT, reason):
                    events.append(self._rests(stream, reason))
            if message is None or isinstance(message, messages.Ended) or process.exit_message is not None:
                outcome = process.end(0.5)
                stream.recorder = None
                events += self._close_file(stream)
                ended = (
                    message
                    if isinstance(message, messages.Ended)
                    else messages.Ended(True, Notice("live.capture_ended", why=outcome.reason), 0, 1)
                )
                if not ended.again and ended.error is not None:
                    events.append(self._rests(stream, ended.error))
                if ended.again and ended.error is not None:
                    events += self._start_recorder(stream, ended.error, ended.attempts, ended.limit)
                events += self._settle(stream)
        return events

    def _rests(self, stream: OpenStream, why: Notice) -> Event:
        return StreamRecording(stream.number, False, Notice("live.recording_lost", why=why), self._now(stream))

    def _close_file(self, stream: OpenStream) -> list[Event]:
        """Note the end of a file whose process could not tell it."""
        file, stream.file = stream.file, None
        if file is None:
            return []
        with suppress(OSError):
            file = replace(file, size=Path(file.path).stat().st_size)
        return [StreamFile(stream.number, replace(file, end=max(file.begin, self._now(stream))))]

    def _captured(self, stream: OpenStream, message: messages.FromCapture) -> list[Event]:
        match message:
            case messages.FileRecorded(file):
                stream.file = file if file.end is None else None
                return [StreamFile(stream.number, file)]
            case messages.Snapshot(seconds, data, at):
                return [StreamSnapshot(stream.number, seconds, data, at)]
            case messages.RecordingChanged(on, reason):
                return [StreamRecording(stream.number, on, reason, self._now(stream))]
            case messages.Received(frames):
                stream.note_rate(frames)
                stream.received = max(stream.received, frames)
            case messages.StateChanged(state, reason, seconds, form):
                events = [self._change(stream, state, reason, seconds)]
                if form is not None and stream.info is None:
                    stream.info = self._info(stream, form)
                    events.append(SourceOpened(stream.number, stream.info))
                return events
            case messages.Ended():
                stream.ended = message
                stream.received = max(stream.received, message.frames)
                return self._process_ended(stream)
        return []

    def _change(self, stream: OpenStream, state: messages.LiveState, reason: Notice, seconds: float | None = None) -> Event:
        stream.state = state
        return StreamChanged(stream.number, state, reason, self._now(stream) if seconds is None else seconds)

    def _now(self, stream: OpenStream) -> float:
        return time.perf_counter() - stream.origin

    def _info(self, stream: OpenStream, form: messages.Format) -> SourceInfo:
        begun = datetime.now(UTC) - timedelta(seconds=self._now(stream))
        facts = form.codec, form.width, form.height, 0, None, form.rate
        return SourceInfo(str(stream.source.address), SourceKind.LIVE, *facts, (), created=begun.isoformat(), number=stream.number)

    def _capture(self, stream: OpenStream, why: Notice, attempts: int, limit: float) -> list[Event]:
        source = stream.source
        job = Job(source.address, stream.origin, source.retries, attempts, limit, stream.last, why, keep=source.snapshots)
        stream.received = stream.accounted = stream.unassigned = 0
        stream.missing = NO_DEVICE
        stream.ended = None
        self._due.append((stream, job, False))
        return self._start_due()

    def _process_ended(self, stream: OpenStream) -> list[Event]:
        """Handle the end of a capture process."""
        assert stream.process is not None
        outcome = stream.process.end(0.5)
        stream.process = None
        if stream.ended is None:  # it crashed
            why = Notice("live.capture_ended", why=outcome.reason)
            stream.ended = messages.Ended(not stream.stopping, why, max(stream.received, stream.accounted), 1)
            stream.received = stream.ended.frames
        closed = self._close_file(stream) if stream.source.record_from is None else []
        return closed + self._settle(stream)

    def _settle(self, stream: OpenStream) -> list[Event]:
        """Go on with another capture process, or finish, if the capture process and the worker have ended."""
        if stream.process is not None or stream.device is not None or self._waits(stream, False):
            return []
        ended = stream.ended or messages.Ended(False, stream.error, 0)
        left = max(stream.received, stream.accounted) - stream.accounted
        stream.unassigned += left if stream.missing == NO_DEVICE else 0
        stream.lose(left, stream.missing)
        headless = min(ended.headless, stream.unassigned)  # no device could have decoded these
        stream.dropped[NO_DEVICE] -= headless
        stream.dropped[BEFORE_KEYFRAME] += headless
        if ended.again and not stream.stopping:
            assert ended.error is not None
            return self._capture(stream, ended.error, ended.attempts, ended.limit)
        if stream.recorder is not None:
            stream.recorder.send(messages.StopCapture())
            stream.stop_by = min(stream.stop_by, time.monotonic() + STOP_SECONDS)
            return []
        return self._finish(stream, stream.error or ended.error)

    def _give_up(self, stream: OpenStream) -> list[Event]:
        """Finish a stopped source although its processes have not ended."""
        for process in (stream.process, stream.recorder):
            if process is not None:
                self._starting.discard(process)
                process.kill()
                process.end(0.5)
        stream.process = stream.recorder = None
        events = self._close_file(stream)
        stream.ended = stream.ended or messages.Ended(False, None, stream.received)
        stream.device = None
        return events + self._settle(stream)

    def _finish(self, stream: OpenStream, error: Notice | None) -> list[Event]:
        del self._open[stream.number]
        reason = error or Notice("live.stopped" if stream.stopping else "live.finished")
        seconds = 0.0 if stream.first is None else self._now(stream) - stream.first
        changed = self._change(stream, messages.LiveState.STOPPED, reason)
        counted = StreamCounted(stream.number, stream.ledger, stream.latency)
        finished = SourceFinished(stream.number, stream.ledger, seconds, error, stream.cancelled, stream.decoder)
        return [changed, counted, finished]

    def close(self) -> None:
        """End all capture processes now."""
        processes = [process for stream in self._open.values() for process in (stream.process, stream.recorder) if process is not None]
        for process in processes:
            process.kill()
        for process in processes:
            with suppress(OSError):
                process.end(0.0)
        for stream in self._open.values():
            stream.process = stream.recorder = None
