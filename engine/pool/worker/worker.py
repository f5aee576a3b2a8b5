"""A device's worker: builds its engine, then probes, decodes and infers what the pool asks for.

Threads: that of ``main`` builds the engine and feeds it; ``receive`` listens to the pool; those named ``probe`` open sources, ``read 0``,
``read 1``, … decode, ``send`` awaits results and sends them, ``watch`` ends the process when one of these hangs. Heavy libraries are
imported after ``receive`` runs, so that the worker can be stopped at any time.

Other workers may live in the same process (see ``engine.pool.hosts``): a worker that stops in order, or whose engine cannot
be built, ends alone. Any other end of a worker ends the process. The worker of a group's member has a thread ``share``, too: it infers
pictures in shared memory.
"""

from __future__ import annotations

import logging
import queue
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import NoReturn

from framefleet.engine.backends.base import Backend
from framefleet.engine.devices.affinity import bind_to_share
from framefleet.engine.media import types
from framefleet.engine.media.decoder import Decoder, FfmpegDecoder, open_decoder
from framefleet.engine.notices import FramefleetError, Notice, unexpected
from framefleet.engine.pool import events, prepared, protocol
from framefleet.engine.pool.worker import inference, live_streams
from framefleet.engine.pool.worker.pipeline import Pipeline
from framefleet.engine.processes import outcome
from framefleet.engine.processes.child_main import failed, leave, name_thread
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.settings import Isolation, Parallel
from framefleet.engine.types import DeviceId, without_device

_log = logging.getLogger(__name__)

PROBE_PATIENCE = 20
"""Opening a source may take this many times as long as one frame: a file without an index is read from start to end."""


def probe_sources(
    tasks: queue.SimpleQueue[protocol.Probe | None],
    sampling: types.Sampling | None,
    send: Callable[[protocol.FromWorker], None],
    watchdog: Watchdog,
    examine: Callable[[types.SourceInfo], None],
) -> None:
    """Open the sources of ``tasks`` and send the answers, until a task is None. sampling: see ``Setup``. examine: called afterwards."""
    from framefleet.engine.media.probe import probe

    clock = watchdog.add()
    while (task := tasks.get()) is not None:
        send(protocol.Began(task.source, None))
        clock.start(Notice("general.opening", path=task.path), PROBE_PATIENCE * watchdog.seconds)
        try:
            answer: protocol.Probed | protocol.ProbeFailed = protocol.Probed(task.source, probe(task.path, sampling))
        except Exception as error:
            if outcome.lack_of_resources(error) is not None:  # the source is not to blame
                raise
            if isinstance(error, FramefleetError):
                why = error.notice
            else:
                traceback.print_exc()
                why = Notice("pool.not_opened", path=task.path, problem=unexpected(error))
            answer = protocol.ProbeFailed(task.source, why)
        clock.stop()
        send(answer)
        if isinstance(answer, protocol.Probed):
            examine(answer.info)


DECODE_THREADS_SECONDS = 0.5
"""How long the pool waits for decode threads, which end at their next frame."""

_held: dict[DeviceId, threading.Lock] = {}
"""Held by the worker that has an engine on a device: two at once might not find room."""


def main(connection: Connection[protocol.FromWorker, protocol.ToWorker], setup: protocol.Setup) -> None:
    """Run a worker in the calling thread until it ends."""
    Worker(connection, setup).run()


class Worker:
    """What the threads share."""

    def __init__(self, connection: Connection[protocol.FromWorker, protocol.ToWorker], setup: protocol.Setup) -> None:
        self._connection = connection
        self._setup = setup
        self._sending = threading.Lock()
        self._over = False  # the last message was sent
        self._stopping = False
        self._probes: queue.SimpleQueue[protocol.Probe | None] = queue.SimpleQueue()
        self._pipeline: Pipeline | None = None
        self._decoder: Future[Decoder] | None = None
        self._opening = threading.Event()  # whether the decoder is being opened, or will not be
        self._first = threading.Lock()  # held from the first source on
        self._watchdog = Watchdog(setup.stall_seconds, self._sending.locked, self._die)

    def run(self) -> None:
        """Build the engine, feed it until the pool says ``Stop`` or is gone."""
        probe = partial(probe_sources, self._probes, self._setup.sampling, self._send, self._watchdog, self._examine)
        for name, target in (("receive", self._receive), ("watch", self._watchdog.run)):
            self._start_thread(name, target)
        for _ in range(protocol.PROBE_THREADS):
            self._start_thread("probe", probe)
        self._send(protocol.Listening())
        self._guarded(self._work)

    def _work(self) -> None:
        # an earlier worker of this device may have been abandoned while it built its engine, or at its last batch
        held = _held.setdefault(self._setup.device, threading.Lock())
        if not held.acquire(blocking=False):
            self._send(events.EngineBuilding(self._setup.device, Notice("pool.waiting_for_engine"), 0.0))
            held.acquire()
        try:
            last = protocol.Stopped() if self._stopping else self._run_engine()
        finally:
            held.release()
            self._opening.set()
        self._send_last(last)

    def _run_engine(self) -> protocol.Failed | protocol.Stopped:
        try:
            pipeline = self._pipeline = self._build_pipeline()
        except Exception as error:
            if (lack := outcome.lack_of_resources(error)) is not None:  # a new worker would lack it, too
                return protocol.Failed(lack, retry=False)
            if not isinstance(error, FramefleetError):
                raise
            # the pool names the device anyway
            return protocol.Failed(without_device(error.notice), retry=False)
        if not self._stopping:
            self._send(events.DeviceReady(pipeline.info))
            name_thread("feed")  # not earlier: threads that libraries start inherit the name
            pipeline.run()
        if not pipeline.join(DECODE_THREADS_SECONDS):
            self._send_last(protocol.Stopped())  # the pool does not have to wait for a slow decode thread
        if pipeline.join(self._setup.stall_seconds):  # a decode thread that hangs would find its memory gone
            pipeline.close()
            del pipeline
            # the rest of the engine is freed here, by its last reference: the garbage collector might free it in a thread of another GPU
            self._pipeline = self._decoder = None
        return protocol.Stopped()

    def _start_thread(self, name: str, target: Callable[[], None]) -> threading.Thread:
        def run() -> None:
            name_thread(name)  # which thread needs how much processor time can then be seen from outside
            self._guarded(target)

        thread = threading.Thread(target=run, name=f"{self._setup.device} {name}", daemon=True)
        thread.start()
        return thread

    def _guarded(self, target: Callable[[], None]) -> None:
        """A worker without one of its threads would hang."""
        try:
            target()
        except Exception as problem:
            self._die(failed(problem))

    def _build_pipeline(self) -> Pipeline:
        """Build the engine, and open what decodes for it."""
        group = self._setup.device.kind == "group" and self._setup.parallel is not Parallel.DEPTH
        common = self._send, self._die, self._watchdog, self._start_thread
        with ExitStack() as failing:
            with ThreadPoolExecutor(2, "load") as loading:  # meanwhile the libraries are loaded and the device is opened
                network = loading.submit(prepared.load, self._setup.model)
                backend = self._create_backend()
                backend.open(self._setup.engine)
                if not group:
                    self._decoder = loading.submit(self._open_decoder, backend.decodes_on)
                    failing.callback(self._close_decoder, self._decoder)
                self._opening.set()
                failing.callback(backend.close)
                # the members of a group watch themselves
                inference.build(backend, network.result, self._setup.engine, self._send, self._watchdog, watched=not group)
            del network  # the engine has its own copy of the weights
            if self._decoder is None:
                from framefleet.engine.pool.groups.group import Group

                assert isinstance(backend, Group)
                timings, forward, stats = backend.member_timings, backend.forwarding, backend.member_stats
                pipeline = Pipeline(backend, backend.decoder(), timings, *common, forward=forward, member_stats=stats)
            else:
                decoder, own = self._decoder.result(), {backend.device: backend.timings}
                decoder.make_room((2 + backend.info.slots) * backend.info.batch)  # in the worker's buffer and in the engine
                pipeline = Pipeline(backend, decoder, own, *common, member=self._setup.member)
            failing.pop_all()
            return pipeline

    def _open_decoder(self, device: DeviceId | None) -> Decoder:
        """Open the decoder, while the engine is built. device: see ``open_decoder``."""
        return open_decoder(self._setup.engine, device) if self._setup.decodes else FfmpegDecoder(threads=0)

    def _close_decoder(self, opened: Future[Decoder]) -> None:
        if opened.exception() is None:
            opened.result().stop()
            opened.result().close()

    def _examine(self, info: types.SourceInfo) -> None:
        """Let the decoder examine the first source before the engine is ready: it then has the source's first frames sooner."""
        if not self._first.acquire(blocking=False):  # other sources are probed meanwhile
            return
        self._opening.wait()
        if self._decoder is not None and self._pipeline is None:
            with suppress(FramefleetError):  # ``decode`` meets the same error, and says what is wrong
                self._decoder.result().examine(info)
                _log.debug("the decoder has examined %s", info.path)

    def _create_backend(self) -> Backend:
        from framefleet.engine.backends import create_backend, create_depth_backend

        if self._setup.device.kind != "group":
            if self._setup.isolation is Isolation.PROCESS:
                bind_to_share(self._setup.device, self._setup.engine.threads)
            return create_backend(self._setup.device)
        if self._setup.parallel is Parallel.DEPTH:
            return create_depth_backend(self._setup.device)
        from framefleet.engine.pool.groups.group import Group, TilesBackend

        return (TilesBackend if self._setup.parallel is Parallel.TILES else Group)(self._setup, self._send, self._die, self._watchdog)

    def _send(self, message: protocol.FromWorker) -> None:
        """Send a message, unless the last one was sent."""
        with self._sending:
            if not self._over:
                self._put(message)

    def _send_last(self, message: protocol.Failed | protocol.Stopped) -> None:
        with self._sending:
            if not self._over:
                self._put(message)
                self._over = True

    def _put(self, message: protocol.FromWorker) -> None:
        try:
            self._connection.send(message)
        except OSError:  # the pool has closed the connection; the receiving thread notices that, too
            self._over = True

    def _die(self, why: protocol.Failed) -> NoReturn:
        """End the process, unless the pool has no more to do with this worker."""
        if self._over:
            raise SystemExit  # of this thread
        self._send_last(why)
        leave(1)

    def _receive(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                break
            match message:
                case protocol.Probe():
                    self._probes.put(message)
                case protocol.Stop():
                    self._stop()
                case protocol.Stream():
                    self._open_stream(message)
                case _:
                    self._forward(message)
        self._stop()
        self._watchdog.stop()
        for _ in range(protocol.PROBE_THREADS):
            self._probes.put(None)
        with self._sending:
            self._over = True
            self._connection.close()

    def _forward(self, message: protocol.ToWorker) -> None:
        # a variable of ``_receive`` would keep the engine alive until the next message
        if (pipeline := self._pipeline) is not None:
            pipeline.receive(message)

    def _open_stream(self, stream: protocol.Stream) -> None:
        packets: live_streams.Packets = type(self._connection)(reduction.recv_handle(self._connection))  # type: ignore[assignment]
        if (pipeline := self._pipeline) is not None:
            pipeline.open_stream(stream, packets)
        else:
            packets.close()

    def _stop(self) -> None:
        self._stopping = True
        pipeline = self._pipeline
        if pipeline is None:
            self._send_last(protocol.Stopped())  # the engine is still being built: nothing is lost
        else:
            pipeline.stop()
