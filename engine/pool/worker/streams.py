"""In a worker: a thread for each live source, which decodes its packets and offers its newest frame to the engine."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeAlias

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.errors import FramefleetError, SourceError, notice_of
from framefleet.engine.media.live.messages import EpochBegan, ToDecoder
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, Segment
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import EpochStarted
from framefleet.engine.pool.protocol import Detect, FromWorker, Stream, StreamBegan, StreamCounts
from framefleet.engine.pool.worker.decode_threads import StartThread
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Gap, Picture
from framefleet.engine.processes.outcome import lack_of_resources
from framefleet.engine.processes.watchdog import Clock, Watchdog
from framefleet.engine.types import UNNUMBERED, FrameRef

if TYPE_CHECKING:
    from framefleet.engine.media.live.decoding import LiveDecoder, Outcome, Shown

Packets: TypeAlias = "Connection[Any, ToDecoder]"

REPORT_SECONDS = 0.5

_BUSY = Notice("live.device_busy")


class StreamThreads:
    """The live sources that this worker decodes. planes: see ``FfmpegDecoder``. start, end, stop: called by the receiving thread."""

    def __init__(
        self, buffer: FrameBuffer, send: Callable[[FromWorker], None], watchdog: Watchdog, start_thread: StartThread, planes: bool
    ) -> None:
        self._buffer, self._send, self._watchdog, self._start_thread, self._planes = buffer, send, watchdog, start_thread, planes
        self._threads: dict[int, StreamThread] = {}

    def start(self, stream: Stream, packets: Packets) -> None:
        """Start to decode a source. Its end follows when ``packets`` is closed."""
        thread = self._threads[stream.source] = StreamThread(stream, packets, self._buffer, self._send, self._watchdog, self._planes)
        self._start_thread(f"live {stream.source}", thread.run)

    def end(self, source: int) -> bool:
        """End a source early, because another worker goes on. Returns whether this worker decodes it."""
        thread = self._threads.pop(source, None)
        if thread is not None:
            thread.ending.set()
        return thread is not None

    def stop(self) -> None:
        """Let all threads end."""
        for source in list(self._threads):
            self.end(source)


class StreamThread:
    """Decodes one live source.

    The newest frame wins: a decoded frame waits in the buffer until the engine has a free slot, and a newer one replaces it. A source that
    loses nothing while it waits (``EpochBegan.waits``) waits for room instead.
    """

    def __init__(
        self,
        stream: Stream,
        packets: Packets,
        buffer: FrameBuffer,
        send: Callable[[FromWorker], None],
        watchdog: Watchdog,
        planes: bool,
    ) -> None:
        self.ending = threading.Event()
        self._stream, self._packets, self._buffer, self._send = stream, packets, buffer, send
        self._planes = planes
        self._clock: Clock = watchdog.add()
        self._limit = watchdog.seconds
        self._remove = partial(watchdog.remove, self._clock)
        self._counts = Counter[Notice]()
        self._told = 0
        self._due = 0.0
        self._task: Detect | None = None
        self._next_epoch = stream.epoch
        self._opened: EpochBegan | None = None  # its first frame is still to come
        self._format: EpochBegan | None = None
        self._converter: Callable[[Shown], HostImage]
        self._size = (0, 0)
        self._frames = 0

    def run(self) -> None:
        """Decode until the packets end."""
        from framefleet.engine.media.live.decoding import LiveDecoder  # loads FFmpeg

        decoder = LiveDecoder()
        error: Notice | None = None
        try:
            self._decode(decoder)
        except FramefleetError as problem:
            error = problem.notice
        except Exception as problem:
            if lack_of_resources(problem) is not None:
                raise
            error = notice_of(problem)
        finally:
            self._clock.stop()
            self._remove()
            self._packets.close()
        self._finish(decoder, error)

    def _decode(self, decoder: LiveDecoder) -> None:
        began = False
        what = Notice("live.decoding", address=self._stream.info.path)
        while not self.ending.is_set():
            try:
                if not self._packets.poll(REPORT_SECONDS):
                    self._report(decoder)
                    continue
                item = self._packets.recv()
            except (EOFError, OSError):
                break
            self._clock.start(what, self._limit)
            if isinstance(item, EpochBegan):
                if not began:
                    began = True
                    self._send(StreamBegan(self._stream.source, item.number))
                outcomes = decoder.begin(item)
                self._take(outcomes)
                self._opened = self._format = item
            else:
                started = time.perf_counter()
                outcomes = decoder.decode(item)
                self._take(outcomes, 1000 * (time.perf_counter() - started))
            self._clock.stop()
            if time.perf_counter() >= self._due:
                self._report(decoder)
        self._take(decoder.flush())

    def _take(self, outcomes: list[Outcome], took: float = 0.0) -> None:
        from framefleet.engine.media.live.decoding import Lost

        for outcome in outcomes:
            if isinstance(outcome, Lost):
                self._counts[outcome.reason] += outcome.count
                continue
            size = outcome.frame.width, outcome.frame.height
            if self._opened is not None or size != self._size:
                self._begin_epoch(outcome, size)
            assert self._task is not None
            newest = partial(self._picture, self._task, outcome, self._converter, took)
            if self._format is not None and self._format.waits:
                self._clock.stop()
                self._buffer.put(newest())
            else:
                self._counts[_BUSY] += self._buffer.offer(self._stream.source, newest)
            self._frames += 1

    def _picture(self, task: Detect, shown: Shown, convert: Callable[[Shown], HostImage], took: float) -> Picture | Gap:
        """Convert a decoded frame for the engine. Called by the thread that feeds the engine."""
        ref = FrameRef(task.source, UNNUMBERED, shown.packet.seconds)
        try:
            frame = DecodedFrame(ref, convert(shown))
        except SourceError as error:
            return Gap(task, DecodeFailure(ref, 1, error.notice))
        width, height = frame.size
        return Picture(task, ref, frame.image, width, height, took, shown.packet.arrival)

    def _begin_epoch(self, shown: Shown, size: tuple[int, int]) -> None:
        self._end_epoch(complete=False)
        from framefleet.engine.media.live.decoding import converter

        assert self._format is not None
        width, height = size
        codec = self._format.format.codec
        reason = Notice("live.new_format", codec=codec, width=width, height=height) if self._opened is None else self._opened.reason
        self._send(EpochStarted(self._stream.source, self._next_epoch, reason, shown.packet.seconds, codec, width, height))
        self._task = Detect(self._stream.source, self._stream.info, Segment(self._next_epoch, None, None, 0))
        self._next_epoch += 1
        self._opened, self._size = None, size
        self._converter = converter(self._format.format, self._planes, self._stream.info.path)

    def _end_epoch(self, complete: bool, error: Notice | None = None) -> None:
        if self._task is None:
            return
        if (waiting := self._buffer.withdraw(self._stream.source)) is not None:
            self._buffer.put(waiting())
        self._buffer.put(End(self._task, self._frames, complete, error))
        self._task = None

    def _finish(self, decoder: LiveDecoder, error: Notice | None) -> None:
        self._report(decoder)
        if self._task is None:  # no frame was decoded
            self._task = Detect(self._stream.source, self._stream.info, Segment(self._next_epoch, None, None, 0))
        self._end_epoch(complete=True, error=error)

    def _report(self, decoder: LiveDecoder) -> None:
        self._due = time.perf_counter() + REPORT_SECONDS
        dropped = dict(+self._counts)
        if dropped or decoder.decoded != self._told:
            self._send(StreamCounts(self._stream.source, decoder.decoded - self._told, dropped))
            self._told = decoder.decoded
            self._counts.clear()
