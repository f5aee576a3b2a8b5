"""The capture process: reads one live source, connects it again when it is lost, and sends its packets to the worker that decodes them.

Nothing is decoded here. Threads: that of ``main`` takes messages and watches the clock, ``read`` opens and reads the source, ``send`` sends
packets. A library may hang in a read for ever. Then the process ends itself, and its owner starts another one.

Times: ``arrival`` is ``perf_counter``, which all processes of a machine share. ``seconds``, the time of the source, counts from the
beginning of the run. Within an epoch it follows the clock of the source; each epoch begins at the time of its arrival. A file may come
faster or slower than it plays. Its times are only moved to the beginning of the epoch.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from framefleet.engine.media.live import address, messages
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.processes.child_main import leave, name_thread

if TYPE_CHECKING:
    from framefleet.engine.media.live.recording import Recording
    from framefleet.engine.media.live.sources import LiveSource

FIRST_SECONDS = 15.0
"""How long a source may take to its first frame, as long as nothing is known about its interval."""

MAX_OPEN_SECONDS = 25.0
"""After this time, opening a source hangs in a library, which has its own shorter limits."""

MIN_STALL, MAX_STALL = 3.0, 300.0
_STALL_GAPS = 5
"""A source stalls after this many times the longest gap between two frames that was seen lately."""

_GAP_MEMORY = 120.0
"""Seconds after which a long gap is mostly forgotten."""

MIN_PAUSE, MAX_PAUSE = 1.0, 30.0
"""Seconds between two attempts: doubled with each failed one."""

JITTER = 0.2
"""Longest random addition to a pause, as a share of it: many cameras of one host shall not all come at once."""

_GOOD_FRAMES = 10
"""A connection that has delivered this many frames was no failed attempt."""

_JUMP_SECONDS = 5.0
"""If two frames differ by this much more in the source's clock than in arrival, the clock has jumped."""

_BACK_SECONDS = 0.5

_SMOOTH_SECONDS, _SHIFT_SECONDS = 10.0, 10.0
"""Time constants of the correction of the source's clock: of the measured error, and of its removal. Playlists deliver seconds at once."""

_MAX_SHIFT = 0.5
"""The most by which the correction changes the distance between two frames, as a share of it. Some cameras declare a wrong rate."""

_QUEUE_BYTES = 16 * 2**20
"""Most bytes that wait for the decoder."""

KEPT_SECONDS = 3.0
"""For at least so long, the picture of a moment is kept, unless there is too much of it."""

_MAX_ASKED = 8
"""Most snapshots that are due at once."""

_REPORT_SECONDS = 0.5

CLOSE_SECONDS = 2.0
"""How long the end of the process waits for the disk of the recording."""

SEND_SECONDS = 2.0
"""How long the end of the process waits for the decoder, which gets all packets of a source that loses nothing."""


@dataclass(frozen=True)
class Job:
    """What a capture process does.

    origin: ``perf_counter`` at time 0 of the source. retries: failed attempts to connect again, in a row, after which the source is given
    up; None: never. attempts: failed ones in a row before this process, the first connection too. limit: stall limit that an earlier
    process has found, seconds, 0 = unknown.
    since: the time of the source before which no frame may lie. why: why this process begins. record: how the source is recorded.
    detect: whether a decoder will be attached; otherwise the process only records. keep: whether the last groups of pictures are kept, for
    ``TakeSnapshot``.
    """

    address: address.LiveAddress
    origin: float
    retries: int | None = None
    attempts: int = 0
    limit: float = 0.0
    since: float = 0.0
    why: Notice = Notice("live.asked")  # noqa: RUF009
    record: messages.RecordSettings | None = None
    detect: bool = True
    keep: bool = False


def pause(attempts: int, jitter: float) -> float:
    """Seconds before the next attempt. attempts: failed ones in a row, from 1. jitter: 0..1."""
    return min(MAX_PAUSE / (1 + JITTER), MIN_PAUSE * 2.0 ** min(attempts - 1, 10)) * (1 + JITTER * jitter)


class Rhythm:
    """Learns how far apart the frames of a source arrive, and how long it may be silent."""

    def __init__(self, limit: float = 0.0) -> None:
        self._known = limit
        self._longest = 0.0
        self._mean = 0.0
        self._last: float | None = None

    def arrived(self, now: float) -> None:
        """Note a frame. now: seconds."""
        if self._last is not None:
            gap = now - self._last
            self._longest = max(gap, self._longest * math.exp(-gap / _GAP_MEMORY))
            self._mean = gap if not self._mean else 0.95 * self._mean + 0.05 * gap
        self._last = now

    def reconnected(self) -> None:
        """Forget the time of the last frame: the next gap is that of the connection."""
        self._last = None

    @property
    def limit(self) -> float:
        """Seconds without a frame after which the source has stalled."""
        if not self._mean:
            return max(FIRST_SECONDS, self._known)
        return min(MAX_STALL, max(MIN_STALL, _STALL_GAPS * max(self._longest, self._mean)))


class SourceClock:
    """Converts the time stamps of a source to its time, and notices where they do not continue. since: see ``Job``.

    The source's clock may be fast or slow. Its times are therefore shifted slowly towards those of arrival, which vary more. Frames
    without a time stamp get the time of their arrival. Times never go back.
    """

    def __init__(self, since: float) -> None:
        self._latest = since
        self._offset: float | None = None  # from the source's clock to the time of the source; None: an epoch begins
        self._last: tuple[float, float] | None = None
        self._error = 0.0

    @property
    def offset(self) -> float | None:
        """Seconds from the source's clock to the time of the source, None if it is unknown."""
        return self._offset

    def begin(self) -> None:
        """Begin an epoch with the next frame."""
        self._offset, self._last, self._error = None, None, 0.0

    def jump(self, own: float | None, arrived: float) -> Notice | None:
        """Why an epoch has to begin with this frame; None if it continues. own: decoding time by the source, arrived: both seconds."""
        if self._last is None or own is None:
            return None
        step, gap = own - self._last[0], arrived - self._last[1]
        jumped = step < -_BACK_SECONDS or step - gap > _JUMP_SECONDS
        return Notice("live.clock_jumped", seconds=step - gap) if jumped else None

    def seconds(self, own: float | None, decoded: float | None, arrived: float, live: bool = True) -> float:
        """The time of a frame.

        own: when it is shown, by the source. decoded: see ``jump``. arrived: in the time of the source. live: whether frames arrive at the
        rate at which they are shown; otherwise the time of arrival corrects nothing.
        """
        if own is None:
            seconds = max(arrived, self._latest + 0.001)
        else:
            if self._offset is None:
                self._offset = max(arrived, self._latest + 0.001) - own
            elif live and decoded is not None and self._last is not None and (step := decoded - self._last[0]) > 0:
                self._error += (own + self._offset - arrived - self._error) * min(1.0, step / _SMOOTH_SECONDS)
                shift = min(_MAX_SHIFT * step, max(-_MAX_SHIFT * step, self._error * step / _SHIFT_SECONDS))
                self._offset -= shift
                self._error -= shift
            seconds = own + self._offset
        if decoded is not None:
            self._last = decoded, arrived
        self._latest = max(self._latest, seconds)
        return seconds


class Outlet:
    """Sends packets to the decoder that is attached. When it cannot keep up, the packets before the next keyframe are left out.

    waits: wait for the decoder instead, because the source cannot lose anything.
    """

    def __init__(self) -> None:
        self.waits = False
        self._changed = threading.Condition()
        self._queue: deque[messages.ToDecoder] = deque()
        self._bytes = 0
        self._connection: Connection[messages.ToDecoder, Any] | None = None
        self._epoch: messages.EpochBegan | None = None
        self._due: messages.EpochBegan | None = None  # the decoder has to be told of this epoch before the next packet
        self._skipping = True
        # until a decoder is attached: what it can begin with at once
        self._group: list[messages.LivePacket] | None = []
        self._group_bytes = 0
        self._closed = False

    def attach(self, connection: Connection[messages.ToDecoder, Any]) -> None:
        """Send to this connection from now on."""
        with self._changed:
            if self._connection is not None:
                self._connection.close()
            self._connection = connection
            self._queue.clear()
            self._bytes = 0
            self._skipping = True
            self._due = self._epoch
            if self._group is None and self._epoch is not None:
                self._due = replace(self._epoch, reason=Notice("live.new_device"))
            group, self._group = self._group or [], None
            for packet in group:
                self._append(packet)
            self._changed.notify_all()

    def put(self, packet: messages.LivePacket, epoch: messages.EpochBegan | None) -> None:
        """Send a packet. epoch: that begins with it."""
        with self._changed:
            if epoch is not None:
                self._epoch = self._due = epoch
            if self._group is not None:
                self._remember(packet)
                while self.waits and self._group is not None and not self._closed:  # nothing is lost before a decoder is there
                    self._changed.wait()
                return
            while self.waits and self._bytes > _QUEUE_BYTES and not self._closed:
                self._changed.wait()
            if self._bytes > _QUEUE_BYTES:
                self._skipping = True
            self._append(packet)
            self._changed.notify_all()

    def _remember(self, packet: messages.LivePacket) -> None:
        assert self._group is not None
        if packet.keyframe and not self.waits:
            self._group, self._group_bytes = [], 0
        if packet.keyframe or self.waits or self._group:
            self._group.append(packet)
        self._group_bytes += len(packet.data)
        if self._group_bytes > _QUEUE_BYTES and not self.waits:
            self._group, self._group_bytes = [], 0

    def _append(self, packet: messages.LivePacket) -> None:
        if self._connection is None:
            return
        if self._skipping:
            if not packet.keyframe or self._bytes > _QUEUE_BYTES:
                return
            self._skipping = False
        if self._due is not None:
            self._queue.append(replace(self._due, number=packet.number))
            self._due = None
        self._queue.append(packet)
        self._bytes += len(packet.data)

    def close(self) -> None:
        """Let ``run`` end after it has sent what is queued."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def run(self) -> None:
        """Send until ``close``."""
        while True:
            with self._changed:
                while not self._queue and not self._closed:
                    self._changed.wait()
                if not self._queue:
                    break
                item, connection = self._queue.popleft(), self._connection
                if isinstance(item, messages.LivePacket):
                    self._bytes -= len(item.data)
                    self._changed.notify_all()
            assert connection is not None
            try:
                connection.send(item)
            except (OSError, ValueError):  # the worker has ended, or another one was attached meanwhile
                with self._changed:
                    if self._connection is connection:
                        connection.close()
                        self._connection = None
                        self._queue.clear()
                        self._bytes = 0
        with self._changed:
            if self._connection is not None:
                self._connection.close()


def main(connection: Connection[messages.FromCapture, messages.ToCapture], job: Job) -> None:
    """Read a source until it ends, is given up or ``StopCapture`` comes: the main function of the process."""
    Capture(connection, job).run()


class Capture:
    """What the threads share."""

    def __init__(self, connection: Connection[messages.FromCapture, messages.ToCapture], job: Job) -> None:
        self._connection = connection
        self._job = job
        self._sending = threading.Lock()
        self._stopped = threading.Event()
        self._outlet = Outlet()
        self._rhythm = Rhythm(job.limit)
        self._clock = SourceClock(job.since)
        self._frames = self._headless = 0
        self._keyed = False
        self._attempts = job.attempts
        self._deadline = math.inf  # perf_counter
        self._opening = False
        self._epochs = 0
        self._format: messages.Format | None = None
        self._ended: messages.Ended | None = None
        self._kept: deque[list[messages.LivePacket]] = deque()  # the last groups of pictures
        self._kept_bytes = 0
        self._asked: deque[float] = deque(maxlen=_MAX_ASKED)  # moments of which a snapshot is due
        self._record = job.record  # the wanted recording; the reading thread begins and ends it
        self._recording: Recording | None = None

    def run(self) -> None:
        """Work until the source has ended."""
        threads = [
            threading.Thread(target=target, daemon=True, name=name) for name, target in (("read", self._read), ("send", self._flush))
        ]
        for thread in threads:
            thread.start()
        self._watch(threads[0])
        self._outlet.close()
        recording = self._recording
        if recording is not None:
            recording.close()
            recording.wait(CLOSE_SECONDS)
        self._drain(threads[1])
        assert self._ended is not None
        self._send(replace(self._ended, frames=self._frames, headless=self._headless))
        leave(0)

    def _flush(self) -> None:
        name_thread("send")
        self._outlet.run()

    def _drain(self, sending: threading.Thread) -> None:
        """Wait until the decoder has taken what is queued, or has to be given up."""
        self._send(messages.Received(self._frames))
        limit = math.inf if self._outlet.waits and not self._stopped.is_set() else time.perf_counter() + SEND_SECONDS
        while sending.is_alive() and time.perf_counter() < limit:
            try:
                if self._connection.poll(0.05) and not self._take(self._connection.recv()):
                    limit = time.perf_counter() + SEND_SECONDS
            except (EOFError, OSError):
                leave(0)  # the parent has ended

    def _watch(self, reading: threading.Thread) -> None:
        """Take messages and watch the deadline, until reading has ended or has to end."""
        report = time.perf_counter() + _REPORT_SECONDS
        stop_by = math.inf
        while reading.is_alive():
            try:
                if self._connection.poll(0.05) and not self._take(self._connection.recv()) and stop_by == math.inf:
                    stop_by = time.perf_counter() + 0.5
            except (EOFError, OSError):
                leave(0)  # the parent has ended
            now = time.perf_counter()
            if now > report:
                report = now + _REPORT_SECONDS
                self._send(messages.Received(self._frames))
            if now > stop_by:  # reading hangs
                self._ended = messages.Ended(False, None, self._frames)
                return
            if now > self._deadline and not self._stopped.is_set():
                self._hangs(now)
                return
        if self._ended is None:
            self._ended = messages.Ended(False, None, self._frames)

    def _hangs(self, now: float) -> None:
        """End the process because the source is silent, or a library hangs."""
        if self._opening:
            why = Notice("live.no_answer", seconds=MAX_OPEN_SECONDS)
        else:
            why = Notice("live.silent", seconds=now - self._deadline + self._rhythm.limit)
            self._state(messages.LiveState.STALLED, why)
        self._attempts += 1
        self._ended = messages.Ended(True, why, self._frames, self._attempts, self._rhythm.limit)

    def _take(self, message: messages.ToCapture) -> bool:
        """Take a message. Returns whether reading goes on."""
        match message:
            case messages.Attach():
                self._outlet.attach(type(self._connection)(reduction.recv_handle(self._connection)))  # type: ignore[arg-type]
                return True
            case messages.Record(settings):
                self._record = settings
                return True
            case messages.TakeSnapshot(seconds):
                self._asked.append(seconds)
                return True
            case messages.StopCapture():
                self._stopped.set()
                return False

    def _send(self, message: messages.FromCapture) -> None:
        with self._sending, suppress(OSError):
            self._connection.send(message)

    @property
    def _now(self) -> float:
        """Now, in the time of the source."""
        return time.perf_counter() - self._job.origin

    def _state(self, state: messages.LiveState, reason: Notice, form: messages.Format | None = None) -> None:
        self._send(messages.StateChanged(state, reason, self._now, form))

    # the thread that reads

    def _read(self) -> None:
        name_thread("read")
        try:
            self._connect_again()
        except SourceError as error:
            self._ended = messages.Ended(False, error.notice, self._frames)
        except Exception as error:  # a library's: another process tries again
            self._ended = messages.Ended(
                True, Notice("live.lost", detail=type(error).__name__), self._frames, self._attempts + 1, self._rhythm.limit
            )
        else:
            self._ended = messages.Ended(False, None, self._frames)

    def _connect_again(self) -> None:
        """Connect until the source ends. Raises SourceError if it is given up."""
        from framefleet.engine.media.live.sources import OpenError, open_live  # loads FFmpeg

        why = self._job.why
        if self._attempts and not self._wait(why):
            return
        while not self._stopped.is_set():
            self._state(messages.LiveState.CONNECTING, why)
            self._opening, self._deadline = True, time.perf_counter() + MAX_OPEN_SECONDS
            try:
                source = open_live(self._job.address, self._stopped)
            except OpenError as error:
                why = error.notice
                if error.final or (error.login and not self._epochs):
                    raise SourceError(why) from error
                if error.login:  # further attempts may lock the account
                    self._attempts = max(self._attempts, 5)
                if self._job.address.kind is address.LiveKind.FILE:
                    raise SourceError(why) from error
            else:
                before = self._frames
                try:
                    why = self._receive(source)
                finally:
                    self._deadline = math.inf
                    if self._recording is not None:
                        self._recording.end()
                    source.close()
                if source.finite and why.code == "live.finished":
                    return
                if self._frames - before >= _GOOD_FRAMES:
                    self._attempts = 0
            self._deadline = math.inf
            self._attempts += 1
            if not self._wait(why):
                return
            why = Notice("live.again", attempt=self._attempts + 1)

    def _wait(self, why: Notice) -> bool:
        """Wait before the next attempt. Returns whether there is one. Raises SourceError if the source is given up."""
        if self._stopped.is_set():
            return False
        if self._job.retries is not None and self._attempts > self._job.retries:
            raise SourceError(Notice("live.gave_up", count=self._attempts, why=why))
        seconds = pause(self._attempts, random.random())
        self._state(messages.LiveState.WAITING_TO_RECONNECT, Notice("live.waits", seconds=seconds, why=why))
        return not self._stopped.wait(seconds)

    def _receive(self, source: LiveSource) -> Notice:
        """Receive frames until the connection is lost or the source ends. Returns why."""
        self._rhythm.reconnected()
        self._opening, self._outlet.waits = False, source.finite and self._job.detect
        self._await_frame(time.perf_counter())
        form = source.format
        self._state(
            messages.LiveState.WAITING_FOR_KEYFRAME, Notice("live.opened", codec=form.codec, width=form.width, height=form.height), form
        )
        self._clock.begin()
        reason: Notice | None = Notice("live.reconnected") if self._epochs or self._job.attempts else Notice("live.first")
        running = False
        sound: Any = None
        for packet in self._packets(source):
            if packet is None:
                end = Notice("live.finished")
                return end if source.finite else Notice("live.lost", detail=end)
            if isinstance(packet, Notice):
                return packet
            if packet.stream is not source.stream:
                if self._recording is not None and packet.stream is sound:
                    self._record_sound(packet)
                continue
            arrival = time.perf_counter()
            self._rhythm.arrived(arrival)
            self._await_frame(arrival)
            keyframe, damaged = bool(packet.is_keyframe), bool(packet.is_corrupt)
            arrived = arrival - self._job.origin
            shown, decoded = None, None
            if source.timed:
                shown, decoded = (None if stamp is None else float(stamp * packet.time_base) for stamp in (packet.pts, packet.dts))
            decoded = shown if decoded is None else decoded
            if reason is None and (reason := self._clock.jump(decoded, arrived)) is not None:
                self._clock.begin()
            if self._changes_recording() or (reason is not None and self._recording is not None):
                sound = self._begin_recording(source)
            epoch = None
            if reason is not None:
                self._epochs += 1
                epoch = messages.EpochBegan(form, reason, self._frames, source.finite)
                reason = None
            if not running and keyframe:
                running = True
                self._state(messages.LiveState.RUNNING, Notice("live.keyframe"), form)
            self._keyed |= keyframe
            self._headless += not self._keyed
            seconds = self._clock.seconds(shown, decoded, arrived, live=not source.finite)
            data = messages.LivePacket(self._frames, seconds, arrival, keyframe, damaged, bytes(packet))
            self._frames += 1
            if self._recording is not None:
                self._recording.put(
                    data.data, seconds, seconds if shown is None or decoded is None else seconds - shown + decoded, keyframe
                )
            if self._job.keep:
                self._keep(data, epoch is not None, source)
            if self._job.detect:
                self._outlet.put(data, epoch)
        return Notice("live.stopped")

    def _keep(self, packet: messages.LivePacket, begins: bool, source: LiveSource) -> None:
        """Keep a packet, and send the snapshots that are due."""
        from framefleet.engine.media.live.recording import snapshot

        if begins:
            self._kept.clear()
            self._kept_bytes = 0
        if packet.keyframe:
            self._kept.append([])
        if self._kept and self._kept_bytes < _QUEUE_BYTES:
            self._kept[-1].append(packet)
            self._kept_bytes += len(packet.data)
        while len(self._kept) > 1 and (self._kept[1][0].seconds < packet.seconds - KEPT_SECONDS or self._kept_bytes > _QUEUE_BYTES):
            self._kept_bytes -= sum(len(each.data) for each in self._kept.popleft())
        while self._asked:
            seconds = self._asked.popleft()
            group = next((group for group in reversed(self._kept) if group and group[0].seconds <= seconds), [])
            if group:
                message = messages.Snapshot(seconds, snapshot(source.stream, group), seconds - group[0].seconds)
                threading.Thread(target=self._send, args=(message,), daemon=True).start()  # the pipe may be full for a moment

    def _changes_recording(self) -> bool:
        """Whether recording has to begin, or to begin elsewhere. Ends it if it is not wanted any more."""
        now, wanted = self._recording, self._record
        if now is not None and now.settings != wanted:
            now.close()
            self._recording = now = None
        return wanted is not None and now is None

    def _begin_recording(self, source: LiveSource) -> Any:
        """Record from the next keyframe on. Returns the stream of the recorded sound, None if there is none."""
        from framefleet.engine.media.live.recording import Recording  # few sources are recorded

        if self._recording is None:
            assert self._record is not None
            self._recording = Recording(self._record, self._job.origin, self._send)
        return self._recording.begin(source.stream, source.sounds)

    def _record_sound(self, packet: Any) -> None:
        time, offset = packet.pts if packet.pts is not None else packet.dts, self._clock.offset
        if time is not None and offset is not None and self._recording is not None:
            self._recording.sound(bytes(packet), float(time * packet.time_base) + offset)

    def _await_frame(self, now: float) -> None:
        """Set the deadline for the next frame. A file has none: reading it waits for the decoder."""
        self._deadline = math.inf if self._outlet.waits else now + self._rhythm.limit

    def _packets(self, source: LiveSource) -> Iterator[Any]:
        """Yield the packets of the video, then None at its end or why reading failed. Ends at once when the run stops."""
        import av

        from framefleet.engine.media.container.video_file import reason
        from framefleet.engine.media.live.address import hide

        try:
            for packet in source.container.demux(source.stream, *source.sounds):
                if self._stopped.is_set():
                    return
                if packet.size:
                    yield packet
        except (av.FFmpegError, OSError) as error:
            yield Notice("live.lost", detail=hide(reason(error)))
            return
        yield None
