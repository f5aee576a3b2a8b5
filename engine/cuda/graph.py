"""Steps on a stream, CUDA graphs (steps that are recorded once and launched with one call), and their time by the device's clock."""

import gc
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Protocol

from cuda.bindings import driver
from cuda.core import Device, Event, EventOptions, Stream
from cuda.core.graph import Graph


class Step(Protocol):
    """Work for a stream. A step does not wait or allocate, and is the same at every launch."""

    def launch(self, stream: Stream) -> None:
        """Put the work on a stream."""


class Mark:
    """A step that records an event, which must have timing enabled."""

    def __init__(self, event: Event) -> None:
        self._event = event

    def launch(self, stream: Stream) -> None:
        """Put the work on a stream."""
        _, capturing = driver.cuStreamIsCapturing(stream.handle)
        # "external": the graph records the event at every launch; without it, the event would only order the graph's branches
        kinds = driver.CUevent_record_flags
        recorded = capturing == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
        flag = kinds.CU_EVENT_RECORD_EXTERNAL if recorded else kinds.CU_EVENT_RECORD_DEFAULT
        (status,) = driver.cuEventRecordWithFlags(self._event.handle, stream.handle, flag)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"an event cannot be recorded: {status.name}")


class Copy:
    """A step that copies bytes between device and pinned memory, or on the device."""

    def __init__(self, destination: int, source: int, nbytes: int) -> None:
        self._destination, self._source, self._nbytes = destination, source, nbytes

    def launch(self, stream: Stream) -> None:
        """Put the work on a stream."""
        copy(self._destination, self._source, self._nbytes, stream)


def copy(destination: int, source: int, nbytes: int, stream: Stream) -> None:
    """Copy between host and device addresses, in stream order. Returns at once if the host memory is pinned, else when it has been read."""
    (status,) = driver.cuMemcpyAsync(destination, source, nbytes, stream.handle)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{nbytes} bytes cannot be copied: {status.name}")


def copy_all(destinations: Sequence[int], sources: Sequence[int], sizes: Sequence[int], stream: Stream) -> None:
    """Copy several blocks between host and device addresses by one call, after the work on the stream. Returns at once.

    sizes: bytes. The stream must not be the default one.
    """
    attributes = driver.CUmemcpyAttributes()
    attributes.srcAccessOrder = driver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    targets, origins = list(map(driver.CUdeviceptr, destinations)), list(map(driver.CUdeviceptr, sources))
    (status,) = driver.cuMemcpyBatchAsync(targets, origins, list(sizes), len(sizes), [attributes], [0], 1, stream.handle)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{len(sizes)} blocks cannot be copied: {status.name}")


def copy_rows(destination: int, source: int, pitch: int, width: int, rows: int, stream: Stream) -> None:
    """Copy rows of ``width`` bytes, ``pitch`` bytes apart in pinned memory, to the device without gaps."""
    if pitch == width:
        copy(destination, source, width * rows, stream)
        return
    plan = driver.CUDA_MEMCPY2D()
    plan.srcMemoryType, plan.srcHost, plan.srcPitch = driver.CUmemorytype.CU_MEMORYTYPE_HOST, source, pitch
    plan.dstMemoryType, plan.dstDevice, plan.dstPitch = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE, destination, width
    plan.WidthInBytes, plan.Height = width, rows
    (status,) = driver.cuMemcpy2DAsync(plan, stream.handle)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{rows} rows of {width} bytes cannot be copied: {status.name}")


def record(steps: Sequence[Step], stream: Stream, mode: str = "thread_local") -> Graph:
    """Record the steps as a graph, without launching it.

    mode: with "thread_local", other threads may use CUDA during the recording. With "global", the recording fails if any thread waits or
    allocates; tests use this to prove that the steps do neither.
    """
    with _recording.without_collection():
        builder = stream.create_graph_builder()
        builder.begin_building(mode)
        try:
            for step in steps:
                step.launch(stream)
        except BaseException:
            builder.close()
            raise
        graph = builder.end_building().complete()
        builder.close()
        return graph


class _Recording:
    """Counts recordings. Python's garbage collector may free graphs and memory of CUDA in any thread, which invalidates its recording."""

    def __init__(self) -> None:
        self._lock, self._under_way, self._enabled = Lock(), 0, False

    @contextmanager
    def without_collection(self) -> Iterator[None]:
        """Keep the collector from running, until no thread records any more."""
        with self._lock:
            if self._under_way == 0:
                self._enabled = gc.isenabled()
                gc.disable()
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                if self._under_way == 0 and self._enabled:
                    gc.enable()


_recording = _Recording()


_WARM_UP_SECONDS = 0.2
"""Time for which steps run before they are timed, so that the device raises its clocks."""


def time_steps(device: Device, stream: Stream, steps: Sequence[Step], rounds: int, warm_up: float = _WARM_UP_SECONDS) -> float:
    """ms of the steps as one CUDA graph: the median of some rounds, after a warm-up of at least one launch."""
    for step in steps:  # the first launch of a kernel may allocate, which a recording forbids
        step.launch(stream)
    stream.sync()
    graph = record(steps, stream)
    start = time.perf_counter()
    while True:
        graph.launch(stream)
        stream.sync()
        if time.perf_counter() - start >= warm_up:
            break
    begun, done = (device.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
    times = []
    for _ in range(rounds):
        stream.record(begun)
        graph.launch(stream)
        stream.record(done)
        done.sync()
        times.append(float(done - begun))
    return statistics.median(times)
