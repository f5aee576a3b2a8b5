"""Runs pools, examines their processes, and injects faults into real workers."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from framefleet.engine.backends.base import Backend, Progress
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.types import DecodedFrame
from framefleet.engine.notices import DeviceError, Notice, literal
from framefleet.engine.pool.events import (
    DeviceFailed,
    DeviceLeft,
    DeviceReady,
    DeviceStats,
    Event,
    FramesDone,
    SourceFinished,
    SourceOpened,
)
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.protocol import Began, Done, FromWorker, Setup
from framefleet.engine.pool.worker import worker
from framefleet.engine.settings import EngineSettings, Isolation, ModelFiles, Parallel, Precision, RunSettings
from framefleet.engine.types import DeviceId, Found, FrameResult
from tests.support.media import number_of, pixels_of
from tests.support.models import small_files, tiny_files
from tests.support.notices import words

Submit = Callable[[Sequence[HostImage], bool], Future[list[Found]]]

CPUS = tuple(DeviceId("cpu", str(number)) for number in range(2))


def tiny_settings(
    parallel: Parallel = Parallel.AUTO,
    model: ModelFiles | None = None,
    confidence: float = 0.25,
    batch: int | None = None,
    decode_threads: int | None = None,
    isolation: Isolation = Isolation.PROCESS,
) -> RunSettings:
    """Settings for the tiny detector at fp32, which needs no trial of precisions."""
    engine = EngineSettings(precision=Precision.FP32, stored_confidence=confidence, batch=batch, decode_threads=decode_threads)
    return RunSettings(model or tiny_files(), parallel=parallel, engine=engine, isolation=isolation)


def small_settings(
    parallel: Parallel = Parallel.AUTO,
    model: ModelFiles | None = None,
    confidence: float = 0.25,
    batch: int | None = None,
    decode_threads: int | None = None,
    isolation: Isolation = Isolation.PROCESS,
) -> RunSettings:
    """As ``tiny_settings``, for the small detector."""
    return tiny_settings(parallel, model or small_files(), confidence, batch, decode_threads, isolation)


class Seen:
    """Collects the events of a pool, by type and source. Checks that frames come in order and that ledgers balance.

    gaps: sources with missing frames.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.opened: dict[int, SourceOpened] = {}
        self.frames: dict[int, list[FrameResult]] = defaultdict(list)
        self.finished: dict[int, SourceFinished] = {}
        self.failures: list[DeviceFailed] = []
        self.left: list[DeviceId] = []
        self.ready: list[DeviceReady] = []
        self.stats: list[DeviceStats] = []
        self.gaps: set[int] = set()

    def add(self, event: Event) -> None:
        """Take one event."""
        self.events.append(event)
        match event:
            case SourceOpened():
                self.opened[event.source] = event
            case FramesDone():
                assert event.source in self.opened
                assert event.source not in self.finished
                earlier = self.frames[event.source]
                due, first = earlier[-1].ref.index + 1 if earlier else 0, event.frames[0].ref.index
                assert [frame.ref.index for frame in event.frames] == list(range(first, first + len(event.frames))), "out of order"
                assert first >= due, "out of order"
                if first > due:
                    self.gaps.add(event.source)
                assert all(frame.ref.source == event.source for frame in event.frames)
                self.frames[event.source] += event.frames
            case SourceFinished():
                assert event.source not in self.finished
                assert event.ledger.balanced
                assert event.cancelled or event.source not in self.gaps, "frames are missing"
                self.finished[event.source] = event
            case DeviceFailed():
                self.failures.append(event)
            case DeviceLeft(device):
                self.left.append(device)
            case DeviceReady():
                self.ready.append(event)
            case DeviceStats():
                self.stats.append(event)

    def failed(self, source: int) -> dict[int, str]:
        """Indices of a source's failed frames, and why."""
        return {frame.ref.index: frame.failure for frame in self.frames[source] if frame.failure is not None}


def watch(events: Iterable[Event], react: Callable[[Event, Seen], None] | None = None) -> Seen:
    """Collect all events, and call ``react`` after each."""
    seen = Seen()
    for event in events:
        seen.add(event)
        if react is not None:
            react(event, seen)
    return seen


def watch_and_then(pool: EnginePool, work: Callable[[], None]) -> Seen:
    """Collect the events of a pool. work: runs in a thread of its own once source 0 is finished."""
    thread = threading.Thread(target=work)

    def react(event: Event, _: Seen) -> None:
        if isinstance(event, SourceFinished) and event.source == 0:
            thread.start()

    seen = watch(pool.events(), react)
    thread.join()
    return seen


class SignalOnce:
    """Sends a signal to a process at the first event of a kind. For ``run_pool``. find: finds the process. pid: the process that got it."""

    def __init__(self, number: signal.Signals, find: Callable[[], int], when: type[Event] = FramesDone) -> None:
        self.number, self.find, self.when = number, find, when
        self.pid: int | None = None

    def __call__(self, _: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, self.when) and self.pid is None:
            self.pid = self.find()
            os.kill(self.pid, self.number)


def run_pool(
    paths: Sequence[Path],
    devices: Sequence[DeviceId] = CPUS[:1],
    settings: RunSettings | None = None,
    react: Callable[[EnginePool, Event, Seen], None] | None = None,
    pool_type: type[EnginePool] = EnginePool,
    when_ready: bool = False,
) -> Seen:
    """Detect in these files with a pool. when_ready: add the files when every device is ready, so that all devices share the work.

    A device alone gets one thread, unless the settings say more: the tiny detector takes a third longer with two.
    """
    settings = settings or small_settings()
    if len(devices) == 1 and settings.engine.threads is None:
        settings = replace(settings, engine=replace(settings.engine, threads=1))

    def begin() -> None:
        for path in paths:
            pool.add(path)
        pool.finish()

    def take(event: Event, seen: Seen) -> None:
        if when_ready and isinstance(event, DeviceReady) and len(seen.ready) == len(devices):
            begin()
        if react is not None:
            react(pool, event, seen)

    with pool_type(settings, devices) as pool:
        if not when_ready:
            begin()
        return watch(pool.events(), take)


def worker_pids() -> dict[str, int]:
    """The ids of this process's worker processes, by device, or "devices" for the common process of thread mode."""
    found = {}
    for process in multiprocessing.active_children():
        if process.name.startswith("framefleet "):
            assert process.pid is not None
            found[process.name.removeprefix("framefleet ")] = process.pid
    return found


def alive(pid: int) -> bool:
    """Whether a process runs. A zombie does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_blocked(pid: int) -> None:
    """Wait until a process does nothing any more, although it has work. On a busy machine, threads that wait for a processor are ready."""
    for _ in range(100):
        before, ready = cpu_seconds(pid), 0
        for _ in range(40):
            ready += any(_is_ready(thread) for thread in Path(f"/proc/{pid}/task").iterdir())
            time.sleep(0.02)
        if ready <= 8 and cpu_seconds(pid) - before <= 0.05:  # the heartbeat and the watchdog go on
            return
    raise AssertionError("it works on although nobody takes its results")


def _is_ready(thread: Path) -> bool:
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R"
    except OSError:  # the thread has ended
        return False


def with_worker(main: Callable[..., None], stall_seconds: float = EnginePool.stall_seconds) -> type[EnginePool]:
    """A pool whose workers run ``main`` instead of ``worker.main``. stall_seconds: see ``EnginePool``."""
    return type("FaultyPool", (EnginePool,), {"worker_main": staticmethod(main), "stall_seconds": stall_seconds})


def memory(pid: int, field: str = "VmRSS") -> int:
    """Resident memory of a process in bytes: now (VmRSS), or its peak (VmHWM)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(status.partition(f"{field}:")[2].split()[0])


def _change_submit(change: Callable[[Backend], Submit]) -> None:
    """Replace ``submit`` of each backend that this process creates. change: returns the replacement."""

    from framefleet.engine import backends

    create = backends.create_backend

    def create_changed(device: DeviceId) -> Backend:
        backend = create(device)
        backend.submit = change(backend)  # type: ignore[method-assign]
        return backend

    backends.create_backend = create_changed


def exiting_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A worker that ends at once."""
    os._exit(3)


def engine_fault_main(connection: Connection[Any, Any], setup: Setup, *, numbers: frozenset[int], how: str) -> None:
    """A real worker whose engine fails on pictures with these numbers.

    how: "raise" = an exception at the submission. "late" = the result raises. "kill" = the process crashes. "break" = this and all later
    inferences raise. "hang" = it never returns.
    """
    broken = False

    def change(backend: Backend) -> Submit:
        submit = backend.submit

        def faulty(images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
            nonlocal broken
            if broken or any(pixels_of(image).any() and number_of(image) in numbers for image in images):
                if how == "kill":
                    signal.raise_signal(signal.SIGSEGV)
                while how == "hang":
                    time.sleep(1)
                if how == "late":
                    failed = Future[list[Found]]()
                    submit(images, still).add_done_callback(lambda _: failed.set_exception(RuntimeError("the engine's fault")))
                    return failed
                broken = how == "break"
                raise RuntimeError("the engine's fault")
            return submit(images, still)

        return faulty

    _change_submit(change)
    worker.main(connection, setup)


def _change_decoders(change: Callable[[Callable[..., Iterator[Any]]], Callable[..., Iterator[Any]]]) -> None:
    """Replace the functions with which this process decodes on the CPU. change: returns the replacement."""
    import framefleet.engine.media.cpu_decoding as module

    for name in ("decode", "decode_planes"):  # tiles use the first, all others the second
        setattr(module, name, change(getattr(module, name)))


def decoder_fault_main(connection: Connection[Any, Any], setup: Setup, *, number: int, how: str, name: str = "") -> None:
    """A real worker whose decoder fails at the picture with this number, even if the picture is skipped.

    how: "raise", "kill" = the process crashes, "out of memory" = the system kills it, or "hang": it never returns. name: what the names of
    the files contain in which it fails.
    """

    def change(decode: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def faulty(info: Any, segment: Any, skip: int, threads: int, **options: bool) -> Iterator[Any]:
            for position, frame in enumerate(decode(info, segment, 0, threads, **options)):
                if isinstance(frame, DecodedFrame) and number_of(frame.image) == number and name in info.path:
                    if how == "out of memory":
                        os.kill(os.getpid(), signal.SIGKILL)
                    if how == "kill":
                        signal.raise_signal(signal.SIGSEGV)
                    while how == "hang":
                        time.sleep(1)
                    raise RuntimeError("the decoder's fault")
                if position >= skip:
                    yield frame

        return faulty

    _change_decoders(change)
    worker.main(connection, setup)


def recording_main(connection: Connection[Any, Any], setup: Setup, *, path: Path) -> None:
    """A real worker that writes to a file when it starts, and when it begins and ends a segment.

    The lines are ``start``, and for segment 0 of source 1 ``+1.0`` and ``-1.0``.
    """

    def note(line: str) -> None:
        with path.open("a") as file:
            file.write(f"{line}\n")

    class Noting:
        """The connection, which notes what the worker sends."""

        recv, close = connection.recv, connection.close

        def send(self, message: FromWorker) -> None:
            if isinstance(message, Began | Done) and message.segment is not None:
                note(f"{'+' if isinstance(message, Began) else '-'}{message.source}.{message.segment}")
            connection.send(message)

    note("start")
    worker.main(Noting(), setup)  # type: ignore[arg-type]


def slow_main(connection: Connection[Any, Any], setup: Setup, *, seconds: float, device: DeviceId | None = None) -> None:
    """A real worker whose engine takes ``seconds`` longer for each batch. device: the slow one, None = all are."""

    def change(backend: Backend) -> Submit:
        submit = backend.submit

        def slow(images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
            time.sleep(seconds)
            return submit(images, still)

        # in thread mode, the other workers of this process replace it, too
        return slow if backend.device == setup.device and device in (None, setup.device) else submit

    _change_submit(change)
    worker.main(connection, setup)


def shrinking_main(connection: Connection[Any, Any], setup: Setup, *, after: int, batch: int) -> None:
    """A real worker whose engine runs out of memory after ``after`` batches, and continues with batches of ``batch``."""

    def change(backend: Backend) -> Submit:
        submit = backend.submit
        left = after

        def shrinking(images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
            nonlocal left
            left -= 1
            if left < 0 and len(images) > batch:
                backend._info = replace(backend.info, batch=batch, reason=words(f"batch {batch}: out of memory"))
                raise DeviceError(literal("out of memory"))
            return submit(images, still)

        return shrinking

    _change_submit(change)
    worker.main(connection, setup)


def slow_build_main(connection: Connection[Any, Any], setup: Setup, *, device: DeviceId) -> None:
    """A real worker whose engine on this device takes very long to build, and reports its progress."""
    from framefleet.engine.backends.openvino.backend import OpenVinoBackend

    activate = OpenVinoBackend.activate

    def slow(self: OpenVinoBackend, network: Any, settings: EngineSettings, progress: Progress | None) -> Any:
        assert progress is not None
        if self.device == device:
            for step in range(1_000_000):
                progress(Notice("backends.tensorrt_time_tactics"), step / 1_000_000)
                time.sleep(0.001)
        return activate(self, network, settings, progress)

    OpenVinoBackend.activate = slow  # type: ignore[method-assign]
    worker.main(connection, setup)


def hanging_build_main(connection: Connection[Any, Any], setup: Setup, *, first: Path, patience: float = 1.0, always: bool = False) -> None:
    """A real worker whose first engine is never finished and reports nothing.

    first: the file that marks the beginning of the first build. patience: of the build, seconds. always: also later engines.
    """
    from framefleet.engine.backends.openvino.backend import OpenVinoBackend
    from framefleet.engine.backends.openvino.depth import OpenVinoDepthBackend
    from framefleet.engine.pool.worker import inference

    def hang(*_: Any) -> Any:
        first.touch()
        time.sleep(3600)

    if always or not first.exists():
        inference.MIN_BUILD_SECONDS, inference.BUILD_TIMES = patience, 0
        OpenVinoBackend.activate = hang  # type: ignore[method-assign]
        OpenVinoDepthBackend.activate = hang  # type: ignore[method-assign]
    worker.main(connection, setup)


def build_fault_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker whose engine cannot be built because of an unexpected error."""

    from framefleet.engine import backends

    def create_faulty(device: DeviceId) -> Backend:
        raise ZeroDivisionError("an unexpected error")

    backends.create_backend = create_faulty
    worker.main(connection, setup)


def thread_fault_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker with a bug in the thread that sends the results."""
    from framefleet.engine.pool.worker.result_sender import Meter

    def faulty(self: Meter, *_: Any) -> None:
        raise ZeroDivisionError("a bug")

    Meter.add = faulty  # type: ignore[method-assign,assignment]
    worker.main(connection, setup)


def hanging_decoder_main(connection: Connection[Any, Any], setup: Setup, *, first: Path | None = None) -> None:
    """A real worker whose decoder never returns a frame. first: the file that marks the first time, the only one; None = always."""

    def change(decode: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def hanging(*arguments: Any, **options: Any) -> Iterator[Any]:
            if first is not None and first.exists():
                yield from decode(*arguments, **options)
                return
            if first is not None:
                first.touch()
            time.sleep(3600)

        return hanging

    _change_decoders(change)
    worker.main(connection, setup)


def probe_fault_main(
    connection: Connection[Any, Any], setup: Setup, *, name: str, number: int = signal.SIGSEGV, once: Path | None = None
) -> None:
    """A real worker that gets a signal when it opens the file of this name. once: the file that marks the first time; None = always."""
    import framefleet.engine.media.probe as module

    probe = module.probe

    def faulty(path: Path, *arguments: Any) -> Any:
        if path.name == name and not (once is not None and once.exists()):
            if once is not None:
                once.touch()
            signal.raise_signal(number)
        return probe(path, *arguments)

    module.probe = faulty
    worker.main(connection, setup)


def broken_device_main(connection: Connection[Any, Any], setup: Setup, *, device: DeviceId, late: bool) -> None:
    """A real worker whose engine fails at every inference on this device, as after a sticky error. late: the result raises."""

    def change(backend: Backend) -> Submit:
        submit = backend.submit

        def broken(images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
            if not late:
                raise DeviceError(literal("an illegal address was used"))
            failed = Future[list[Found]]()
            submit(images, still).add_done_callback(lambda _: failed.set_exception(DeviceError(literal("an illegal address was used"))))
            return failed

        return broken if backend.device == device else submit

    _change_submit(change)
    worker.main(connection, setup)


def sticky_error_main(connection: Connection[Any, Any], setup: Setup, *, device: DeviceId, marker: Path, once: bool) -> None:
    """A real worker. On ``device``, a kernel of its third inference writes to an invalid address: all later CUDA calls of the process fail.

    marker: a file that the worker creates before it launches this kernel. once: do nothing if the file exists.
    """
    submissions = 0

    def change(backend: Backend) -> Submit:
        submit = backend.submit

        def faulty(images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
            nonlocal submissions
            submissions += 1
            found = submit(images, still)
            if submissions == 3 and not (once and marker.exists()):
                marker.touch()
                _write_to_an_invalid_address()
            return found

        return faulty

    if setup.device == device:
        _change_submit(change)
    worker.main(connection, setup)


def _write_to_an_invalid_address() -> None:
    """Launch a kernel that does it, on the current device."""
    from cuda.bindings import driver

    source = b""".version 7.0
.target sm_50
.address_size 64
.visible .entry invalid() { .reg .u64 %a; mov.u64 %a, 0; st.global.u32 [%a], 1; ret; }
"""
    error, module = driver.cuModuleLoadData(source)
    assert error == driver.CUresult.CUDA_SUCCESS, error
    error, kernel = driver.cuModuleGetFunction(module, b"invalid")
    assert error == driver.CUresult.CUDA_SUCCESS, error
    driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
    (error,) = driver.cuCtxSynchronize()
    assert error != driver.CUresult.CUDA_SUCCESS
