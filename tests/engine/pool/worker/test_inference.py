"""``Inference`` with a real engine: all device memory is released, and one bad picture fails alone."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

from engine.backends import create_backend
from engine.backends.base import Backend
from engine.media.types import DeviceFrame, FrameFormat, PixelFormat, Segment, SourceInfo, SourceKind
from engine.pool.groups.shared_batch import SharedBatch
from engine.pool.protocol import Detect, Failed
from engine.pool.worker.inference import Batch, Inference
from engine.pool.worker.message_buffer import End, FrameBuffer, Picture
from engine.pool.worker.meter import Meter
from engine.processes.watchdog import Watchdog
from engine.settings import EngineSettings, Precision
from engine.types import Detections, DeviceId
from tests.support.models import tiny_network

TASK = Detect(0, SourceInfo("x", SourceKind.VIDEO, "h264", 64, 48, 9, None, None, ()), Segment(0, None, None, 9))


def die(why: Failed) -> None:
    raise AssertionError(why)


@pytest.fixture
def backend() -> Iterator[Backend]:
    with create_backend(DeviceId("cpu", "0")) as built:
        built.activate(tiny_network(), EngineSettings(precision=Precision.FP32, batch=4))
        yield built


@pytest.fixture
def inference(backend: Backend) -> Inference:
    return Inference(backend, Watchdog(60.0, lambda: False, die))  # type: ignore[arg-type]


def host(number: int) -> Picture:
    return Picture(TASK, float(number), np.full((48, 64, 3), number, np.uint8), 64, 48, None, 0.0, 0.0)


def on_device(number: int, released: list[int]) -> Picture:
    layout = FrameFormat(PixelFormat.NV12, 8, 64, 48, 64, 48, (False, None), "bt709", False)
    frame = DeviceFrame(layout, 0, None, lambda: released.append(number))
    return Picture(TASK, float(number), frame, 64, 48, None, 0.0, 0.0)


def run(inference: Inference, items: list[Picture | End], dropped: bool = False) -> list[Batch]:
    """What becomes of these items."""
    buffer = FrameBuffer(pictures=len(items))
    for item in items:
        buffer.put(item)
    batches: list[Batch] = []
    count = len(items)

    def put(batch: Batch) -> None:
        nonlocal count
        batches.append(batch)
        count -= len(batch.items)
        if not count:
            buffer.close()

    if dropped:
        buffer.put(End(TASK, len(items), complete=False, error=None))
        count = 1
    buffer.flush()
    inference.run(buffer, lambda _: dropped, put)
    return batches


def test_frames_of_a_dropped_source_are_released(inference: Inference) -> None:
    released: list[int] = []
    batches = run(inference, [on_device(number, released) for number in range(3)], dropped=True)
    assert released == [0, 1, 2]
    assert [[type(item) for item in batch.items] for batch in batches] == [[End]]


def test_frames_that_the_engine_refuses_are_released_and_failed(inference: Inference) -> None:
    released: list[int] = []
    (batch,) = run(inference, [on_device(number, released) for number in range(3)])  # a CPU cannot use them
    assert released == [0, 1, 2]
    assert batch.result is not None
    assert batch.result.exception() is not None
    assert inference.responds()


def test_one_bad_picture_fails_alone(inference: Inference) -> None:
    bad = host(2)
    bad.image = np.zeros((0, 0, 3), np.uint8)
    batches = run(inference, [host(0), host(1), bad, host(3)])
    assert [picture.pts for batch in batches for picture in batch.pictures] == [0, 1, 2, 3]
    failed = [picture.pts for batch in batches if batch.result is None or batch.result.exception() for picture in batch.pictures]
    assert failed == [2]


def test_a_batch_for_an_engine_that_has_shrunk_meanwhile_is_split(inference: Inference, backend: Backend) -> None:
    whole, items = backend.info, [host(number) for number in range(4)]
    backend._info = replace(whole, batch=1)
    try:
        batches = list(inference._batches(list(items)))
        assert [len(batch.pictures) for batch in batches] == [1, 1, 1, 1]
        assert all(batch.result is not None and len(batch.result.result()) == 1 for batch in batches)
    finally:
        backend._info = whole


def test_the_feeders_time_is_accounted_for(inference: Inference) -> None:
    meter = Meter()
    for batch in run(inference, [host(number) for number in range(40)]):
        assert batch.result is not None
        batch.result.result()
        meter.add(batch)
    stats = meter.read({"network": 3.0}, inference.feeding)
    assert stats.busy == {"network": 3.0}
    assert set(stats.feeding) == {"decode", "preprocess", "infer", "deliver"}
    assert 0 < sum(stats.feeding.values()) <= stats.seconds
    assert len(stats.latencies) == 40
    assert not any(meter.read({}, inference.feeding).feeding.values()), "counted twice"


def test_a_batch_that_members_share_is_watched_by_them_only(backend: Backend) -> None:
    """It may wait for all batches before it, however long they take."""
    running = []
    for result in (Future[list[Detections]](), SharedBatch(1, DeviceId("cpu", "0"))):
        watchdog = Watchdog(60.0, lambda: False, die)  # type: ignore[arg-type]
        backend._submit_impl = lambda *_, result=result: result  # type: ignore[method-assign,misc]
        Inference(backend, watchdog).submit([np.zeros((48, 64, 3), np.uint8)])
        running.append([clock.running for clock in watchdog._clocks])
    assert running == [[True], [False]]
