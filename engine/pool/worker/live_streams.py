"""In a worker: decodes the packets of live sources, and offers the newest frame of each to the engine.

Where FFmpeg decodes, each source has a thread. On a GPU with NVDEC, a few threads serve all sources, because a hundred threads would wait
for the interpreter's lock. One more thread opens NVDEC's decoders, one after the other, so that the others go on meanwhile.
"""

from __future__ import annotations

import queue
import select
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeAlias

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.live.messages import EpochBegan, ToDecoder
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, Segment
from framefleet.engine.notices import FramefleetError, Notice, SourceError, notice_of
from framefleet.engine.pool.events import EpochStarted, StreamPicture
from framefleet.engine.pool.protocol import Detect, FromWorker, Stream, StreamBegan, StreamCounts, Watch
from framefleet.engine.pool.worker.decode_threads import StartThread
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Gap, Newest, Picture
from framefleet.engine.processes.outcome import lack_of_resources
from framefleet.engine.processes.watchdog import Clock, Watchdog
from framefleet.engine.types import UNNUMBERED, FrameRef, Image

if TYPE_CHECKING:
    from framefleet.engine.media.live.decoding import DeviceDecoder, LiveDecoder, Outcome, Shown
    from framefleet.engine.media.live.messages import Format

Packets: TypeAlias = "Connection[Any, ToDecoder]"

REPORT_SECONDS = 0.5

OPEN_TIMES = 5
"""Factor by which opening a decoder of a GPU may take longer than decoding a frame: others may be opened before it."""

_BUSY = Notice("live.device_busy")


class PictureSender:
    """Sends pictures of the watched sources to the pool, in a thread of its own. Neither decoding nor the engine waits for it.

    The newest frame of each source wins.
    """

    def __init__(self, send: Callable[[FromWorker], None], start_thread: StartThread) -> None:
        self._send, self._start_thread = send, start_thread
        self._changed = threading.Condition()
        self._watches: dict[int, Watch] = {}
        self._due: dict[int, float] = {}
        self._newest: dict[int, tuple[Shown, Format]] = {}
        self._running = self._stopped = False

    def watch(self, watch: Watch) -> None:
        """Send other pictures of a source from now on."""
        with self._changed:
            if watch.size == (0, 0):
                self._watches.pop(watch.source, None)
                return
            self._watches[watch.source] = watch
            if self._running:
                return
            self._running = True
        self._start_thread("pictures", self._run)

    def offer(self, source: int, shown: Shown, form: Format) -> None:
        """Offer a frame that goes to the engine now."""
        if source not in self._watches:
            return
        with self._changed:
            watch, now = self._watches.get(source), time.perf_counter()
            if watch is not None and now >= self._due.get(source, 0.0):
                self._due[source] = now + watch.interval
                self._newest[source] = shown, form
                self._changed.notify()

    def forget(self, source: int) -> None:
        """Send no more pictures of a source."""
        with self._changed:
            for known in (self._watches, self._due, self._newest):
                known.pop(source, None)

    def stop(self) -> None:
        """Let the thread end."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def _run(self) -> None:
        from framefleet.engine.media.live.decoding import screen_converter

        converters: dict[tuple[int, Format, tuple[int, int]], Callable[[Shown], Image | None]] = {}
        while True:
            with self._changed:
                while not self._newest and not self._stopped:
                    self._changed.wait()
                if self._stopped:
                    return
                source = next(iter(self._newest))
                shown, form = self._newest.pop(source)
                watch = self._watches.get(source)
            if watch is None:
                continue
            key = source, form, watch.size
            if key not in converters:
                converters = {known: each for known, each in converters.items() if known[0] != source}
                converters[key] = screen_converter(form, watch.size)
            if (image := converters[key](shown)) is not None:
                height, width = image.shape[:2]
                packet = shown.packet
                self._send(StreamPicture(source, packet.seconds, packet.arrival, width, height, image.tobytes()))


class StreamThreads:
    """The live sources that this worker decodes. start, end, stop: called by the receiving thread.

    planes: see ``FfmpegDecoder``. device: returns what decodes on the GPU; None: FFmpeg decodes.
    """

    def __init__(
        self,
        buffer: FrameBuffer,
        send: Callable[[FromWorker], None],
        watchdog: Watchdog,
        start_thread: StartThread,
        planes: bool,
        device: Callable[[], DeviceDecoder | None] = lambda: None,
    ) -> None:
        self._start_thread, self._device = start_thread, device
        self._pictures = PictureSender(send, start_thread)
        self._open = partial(LiveStream, buffer=buffer, send=send, watchdog=watchdog, planes=planes, pictures=self._pictures)
        self._streams: dict[int, LiveStream] = {}
        self._threads: list[threading.Thread] = []
        self._shared: SharedThreads | None = None

    def start(self, stream: Stream, packets: Packets) -> None:
        """Start to decode a source. Its end follows when ``packets`` is closed."""
        device = self._device()
        if device is not None and stream.watched and not device.required:
            device = None
        live = self._streams[stream.source] = self._open(stream, packets, device=device)
        if device is None:
            self._alone(live)
            return
        if self._shared is None:
            self._shared = SharedThreads(device, self._alone)
            for number in range(device.threads):
                self._threads.append(self._start_thread(f"live {number}", partial(self._shared.run, number)))
            self._threads.append(self._start_thread("live open", self._shared.run_opening))
        self._shared.add(live)

    def _alone(self, live: LiveStream) -> None:
        """Decode a source on a thread of its own."""
        live.alone = True
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(self._start_thread(f"stream {live.source}", live.run))

    def end(self, source: int) -> bool:
        """End a source early, because another worker goes on. Returns whether this worker decodes it."""
        live = self._streams.pop(source, None)
        if live is not None:
            live.ending.set()
            self._pictures.forget(source)
            if self._shared is not None:
                self._shared.wake(live)
        return live is not None

    def watch(self, watch: Watch) -> None:
        """Send other pictures of a source from now on."""
        self._pictures.watch(watch)

    def stop(self) -> None:
        """Let all threads end."""
        self._pictures.stop()
        for source in list(self._streams):
            self.end(source)
        if self._shared is not None:
            self._shared.stop()

    @property
    def idle(self) -> bool:
        """Whether decoding waits for packets: a thread that serves all sources, or most of those that serve one each."""
        if self._shared is not None and self._shared.idle:
            return True
        alone = [live.waiting for live in [*self._streams.values()] if live.alone and not live.over]
        return 2 * sum(alone) > len(alone)

    def join(self, seconds: float) -> bool:
        """Wait for the threads after ``stop``. Returns whether all have ended within ``seconds``."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)


class SharedThreads:
    """Threads that together serve all sources of a GPU. Whichever thread is free takes the next packet, of any source.

    alone: lets a source have its own thread, because FFmpeg decodes it, or because it waits for room.
    """

    def __init__(self, device: DeviceDecoder, alone: Callable[[LiveStream], None]) -> None:
        self._device, self._alone = device, alone
        self._poll = select.epoll()
        self._lock = threading.Lock()
        self._streams: dict[int, LiveStream] = {}  # by descriptor
        self._openings: queue.SimpleQueue[tuple[LiveStream, ToDecoder]] = queue.SimpleQueue()
        self._idle = [False] * device.threads
        self._stopped = False

    @property
    def idle(self) -> bool:
        """Whether a thread waits for packets: then decoding is not what limits the device."""
        return any(self._idle)

    def add(self, live: LiveStream) -> None:
        """Serve a source until it ends."""
        with self._lock:
            self._streams[live.descriptor] = live
        self._poll.register(live.descriptor, select.EPOLLIN | select.EPOLLONESHOT)

    def wake(self, live: LiveStream) -> None:
        """Let a thread look at a source, which shall end."""
        with self._lock:
            if self._streams.get(live.descriptor) is live:
                self._poll.modify(live.descriptor, select.EPOLLIN | select.EPOLLOUT | select.EPOLLONESHOT)

    def stop(self) -> None:
        """Let the threads end soon."""
        self._stopped = True

    def run(self, number: int) -> None:
        """Decode packets until ``stop``, and until all sources have ended. number: of the thread."""
        self._device.enter()
        with self._device.near():
            while not (self._stopped and not self._streams):
                self._idle[number] = True
                ready = self._poll.poll(0.1 if self._stopped else REPORT_SECONDS, 1)
                self._idle[number] = False
                for descriptor, _ in ready:
                    if (live := self._streams.get(descriptor)) is not None:
                        with live.lock:
                            self._serve(live)

    def run_opening(self) -> None:
        """Open decoders until ``stop``, and report what became of the frames of silent sources."""
        self._device.enter()
        report = 0.0
        while not (self._stopped and not self._streams):
            with suppress(queue.Empty):
                live, item = self._openings.get(timeout=REPORT_SECONDS / 5)
                with live.lock:
                    live.handle(item, patience=OPEN_TIMES)
                    self._go_on(live)
            if time.perf_counter() > report:
                report = time.perf_counter() + REPORT_SECONDS
                for live in [*self._streams.values()]:
                    if live.lock.acquire(blocking=False):
                        live.report_if_due()
                        live.lock.release()

    def _serve(self, live: LiveStream) -> None:
        if self._streams.get(live.descriptor) is not live or live.opening:
            return
        item = live.receive()
        if item is not None and live.opens(item):
            live.opening = True
            self._openings.put((live, item))
            return
        if item is None:
            live.finish()
        else:
            live.handle(item)
        self._go_on(live)

    def _go_on(self, live: LiveStream) -> None:
        live.opening = False
        if not live.over and not live.alone:
            self._poll.modify(live.descriptor, select.EPOLLIN | (select.EPOLLOUT if live.ending.is_set() else 0) | select.EPOLLONESHOT)
            return
        with self._lock:
            del self._streams[live.descriptor]
            self._poll.unregister(live.descriptor)
        if live.over:
            live.close()
        else:
            self._alone(live)


class LiveStream:
    """Decodes one live source. One thread at a time may use it: that holds ``lock``.

    The newest frame wins: a decoded frame waits in the buffer until the engine has a free slot, and a newer one replaces it. A source that
    loses nothing while it waits (``EpochBegan.waits``) waits for room instead.
    over: whether it has ended. alone: whether it needs a thread of its own. opening: whether a decoder is being opened for it. waiting:
    whether that thread waits for a packet.
    """

    def __init__(
        self,
        stream: Stream,
        packets: Packets,
        buffer: FrameBuffer,
        send: Callable[[FromWorker], None],
        watchdog: Watchdog,
        planes: bool,
        pictures: PictureSender,
        device: DeviceDecoder | None = None,
    ) -> None:
        self.ending, self.lock = threading.Event(), threading.Lock()
        self.over = self.alone = self.opening = self.waiting = False
        self.source, self.descriptor = stream.source, packets.fileno()
        self._stream, self._packets, self._buffer, self._send = stream, packets, buffer, send
        self._planes, self._device, self._pictures = planes, device, pictures
        self._clock: Clock = watchdog.add()
        self._limit = watchdog.seconds
        self._remove = partial(watchdog.remove, self._clock)
        self._what = Notice("live.decoding", address=stream.info.path)
        self._counts = Counter[Notice]()
        self._told = 0
        self._due = 0.0
        self._began = False
        self._task: Detect | None = None
        self._next_epoch = stream.epoch
        self._opened: EpochBegan | None = None  # its first frame is still to come
        self._format: EpochBegan | None = None
        self._converter: Callable[[Shown], HostImage | DeviceFrame]
        self._size = (0, 0)
        self._frames = self._by_device = 0

    @cached_property
    def _decoder(self) -> LiveDecoder:
        from framefleet.engine.media.live.decoding import LiveDecoder  # loads FFmpeg

        return LiveDecoder(self._device, self._stream.info.path)

    def run(self) -> None:
        """Decode on a thread of its own until the packets end."""
        if self._device is not None:
            self._device.enter()
        with self.lock:
            while not self.over:
                self.waiting = True
                try:
                    if not self.ending.is_set() and not self._packets.poll(REPORT_SECONDS):
                        self.report_if_due()
                        continue
                except OSError:
                    pass
                self.waiting = False
                if (item := self.receive()) is None:
                    self.finish()
                else:
                    self.handle(item, patience=OPEN_TIMES if self.opens(item) else 1)
            self.close()

    def receive(self) -> ToDecoder | None:
        """Take the next packet. None: there are no more."""
        if self.ending.is_set():
            return None
        try:
            item: ToDecoder = self._packets.recv()
        except (EOFError, OSError):
            return None
        return item

    def opens(self, item: ToDecoder) -> bool:
        """Whether ``handle`` will open a decoder of the GPU, which takes some time."""
        return not isinstance(item, EpochBegan) and self._decoder.opens(item)

    def handle(self, item: ToDecoder, patience: int = 1) -> None:
        """Decode a packet. patience: how many times as long as usual this may take."""
        self._clock.start(self._what, patience * self._limit)
        try:
            self._handle(item)
        except Exception as problem:
            self._fail(problem)
        self._clock.stop()
        self.report_if_due()

    def report_if_due(self) -> None:
        """Tell the pool what became of the frames, twice a second."""
        if time.perf_counter() >= self._due and not self.over:
            self._report()

    def finish(self) -> None:
        """End decoding: no packet follows."""
        try:
            self._take(self._decoder.flush())
        except Exception as problem:
            self._fail(problem)
        if not self.over:
            self._finish(None)

    def close(self) -> None:
        """Close connection and decoder, after the end."""
        self._decoder.close()
        self._pictures.forget(self.source)
        self._clock.stop()
        self._remove()
        self._packets.close()

    def _handle(self, item: ToDecoder) -> None:
        if isinstance(item, EpochBegan):
            if not self._began:
                self._began = True
                self._send(StreamBegan(self._stream.source, item.number))
            self._take(self._decoder.begin(item))
            self._opened = self._format = item
            self.alone |= item.waits
            return
        started = time.perf_counter()
        outcomes = self._decoder.decode(item)
        self._take(outcomes, 1000 * (time.perf_counter() - started))
        self.alone |= self._decoder.refusal is not None

    def _fail(self, problem: Exception) -> None:
        """End the source with an error."""
        if lack_of_resources(problem) is not None and not isinstance(problem, FramefleetError):
            raise problem
        self._finish(problem.notice if isinstance(problem, FramefleetError) else notice_of(problem))

    def _take(self, outcomes: list[Outcome], took: float = 0.0) -> None:
        from framefleet.engine.media.live.decoding import Lost

        for outcome in outcomes:
            if isinstance(outcome, Lost):
                self._counts[outcome.reason] += outcome.count
                continue
            if self._opened is not None or outcome.size != self._size:
                self._begin_epoch(outcome, outcome.size)
            assert self._task is not None
            newest = Newest(partial(self._picture, self._task, outcome, self._converter, took), outcome.release)
            self._by_device += isinstance(outcome.frame, DeviceFrame)
            self._frames += 1
            if self._format is not None and self._format.waits:
                self._clock.stop()
                self._buffer.put(newest.convert())
            else:
                self._counts[_BUSY] += self._buffer.offer(self._stream.source, newest)

    def _picture(self, task: Detect, shown: Shown, convert: Callable[[Shown], HostImage | DeviceFrame], took: float) -> Picture | Gap:
        """Convert a decoded frame for the engine. Called by the thread that feeds the engine."""
        if self._format is not None and (shown.packet.keyframe or not isinstance(shown.frame, DeviceFrame)):
            self._pictures.offer(task.source, shown, self._format.format)
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
            self._buffer.put(waiting.convert())
        use = DecoderUse(self._by_device, self._frames - self._by_device, self._why_by_cpu())
        self._buffer.put(End(self._task, self._frames, complete, error, use))
        self._task = None
        self._frames = self._by_device = 0

    def _why_by_cpu(self) -> Notice | None:
        refusal = self._decoder.refusal
        return None if refusal is None else Notice("media.not_by_nvdec", problem=refusal)

    def _finish(self, error: Notice | None) -> None:
        self.over = True
        self._report()
        if self._task is None:  # no frame was decoded
            self._task = Detect(self._stream.source, self._stream.info, Segment(self._next_epoch, None, None, 0))
        self._end_epoch(complete=True, error=error)

    def _report(self) -> None:
        self._due = time.perf_counter() + REPORT_SECONDS
        decoded, dropped = self._decoder.decoded, dict(+self._counts)
        if dropped or decoded != self._told:
            self._send(StreamCounts(self._stream.source, decoded - self._told, dropped))
            self._told = decoded
            self._counts.clear()
