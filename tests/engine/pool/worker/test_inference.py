"""``Inference`` with a real engine: all device memory is released, and one bad picture fails alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue

import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.backends.base import Backend
from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.types import DeviceFrame, Segment, SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool.protocol import Detect, Failed
from framefleet.engine.pool.worker.inference import Batch, Inference, SharedBatch
from framefleet.engine.pool.worker.message_buffer import End, FrameBuffer, Picture
from framefleet.engine.pool.worker.result_sender import Meter
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import UNNUMBERED, Detections, DeviceId, Found, FrameRef, Image, InferenceFailure
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
    return Picture(TASK, FrameRef(0, UNNUMBERED, float(number)), np.full((48, 64, 3), number, np.uint8), 64, 48, 0.0, 0.0)


def on_device(number: int, released: list[int]) -> Picture:
    layout = FrameFormat(PixelFormat.NV12, 8, 64, 48, 64, 48, (False, None), "bt709", False)
    frame = DeviceFrame(layout, 0, None, lambda: released.append(number))
    return Picture(TASK, FrameRef(0, UNNUMBERED, float(number)), frame, 64, 48, 0.0, 0.0)


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
    assert not released
    assert [isinstance(found, InferenceFailure) for found in inference.results(batch)] == [True] * 3
    assert released == [0, 1, 2]


@pytest.mark.parametrize("moment", ["submission", "result"])
def test_one_bad_picture_fails_alone(moment: str, inference: Inference, backend: Backend) -> None:
    bad = host(2)
    if moment == "submission":
        bad.image = np.zeros((0, 0, 3), np.uint8)
    else:
        submit, sizes = backend.submit, list[int]()

        def late(images: Sequence[Image], still: bool) -> Future[list[Found]]:
            sizes.append(len(images))
            faulty = any((image == 2).all() for image in images)
            result, real = Future[list[Found]](), submit(images, still)
            real.add_done_callback(lambda _: result.set_exception(RuntimeError("a fault")) if faulty else result.set_result(real.result()))
            return result

        backend.submit = late  # type: ignore[method-assign]
    (batch,) = run(inference, [host(0), host(1), bad, host(3)])
    found = inference.results(batch)
    assert [isinstance(each, InferenceFailure) for each in found] == [False, False, True, False]
    alone = inference.submit([np.full((48, 64, 3), 3, np.uint8)]).result()[0]
    assert isinstance(alone, Detections)
    assert isinstance(found[3], Detections)
    np.testing.assert_allclose(found[3].boxes, alone.boxes, atol=1e-3)
    if moment == "result":
        assert sizes[:5] == [4, 2, 2, 1, 1]


def test_a_result_that_is_missing_is_a_failure(inference: Inference, backend: Backend) -> None:
    submit = backend.submit
    backend.submit = lambda images, still: submit(images[:-1], still)  # type: ignore[method-assign]
    (batch,) = run(inference, [host(number) for number in range(4)])
    assert inference.results(batch) == [InferenceFailure(Notice("pool.wrong_number_of_results", found=3, wanted=4))] * 4


def test_images_are_kept_only_until_they_are_inferred(inference: Inference) -> None:
    batches = run(inference, [host(number) for number in range(8)])
    assert len(batches) == 2
    for batch in batches:
        inference.results(batch)
    deadline = time.monotonic() + 10
    while any(picture.image is not None for batch in batches for picture in batch.pictures):  # a future calls back after it has its result
        assert time.monotonic() < deadline, "the images are still there"
        time.sleep(0.001)


def test_a_batch_for_an_engine_that_has_shrunk_meanwhile_is_split(inference: Inference, backend: Backend) -> None:
    submit, sizes = backend.submit, list[int]()

    def smaller(images: Sequence[Image], still: bool) -> Future[list[Found]]:
        sizes.append(len(images))
        if len(images) > 1:
            raise ValueError(f"{len(images)} pictures for an engine of batch 1")
        return submit(images, still)

    backend.submit = smaller  # type: ignore[method-assign,assignment]
    (batch,) = run(inference, [host(number) for number in range(4)])
    found = inference.results(batch)
    assert all(isinstance(each, Detections) for each in found)
    assert len(found) == 4
    assert sizes == [4, 2, 1, 1, 2, 1, 1]


def test_the_feeders_time_is_accounted_for(inference: Inference) -> None:
    meter = Meter(DeviceId("cpu", "0"))
    for batch in run(inference, [host(number) for number in range(40)]):
        assert batch.result is not None
        batch.result.result()
        meter.add(batch, batch.pictures)
    stats = meter.read({"network": 3.0}, inference.feeding)
    assert stats.busy == {"network": 3.0}
    assert set(stats.feeding) == {"sources", "decode", "preprocess", "infer", "deliver"}
    assert 0 < sum(stats.feeding.values()) <= stats.seconds
    assert len(stats.latencies) == 40
    assert not any(meter.read({}, inference.feeding).feeding.values()), "counted twice"


def test_a_batch_that_members_share_is_watched_by_them_only(backend: Backend) -> None:
    """It may wait for all batches before it, however long they take."""
    for result, watched in ((Future[list[Found]](), True), (SharedBatch(1, DeviceId("cpu", "0")), False)):
        expired: SimpleQueue[Failed] = SimpleQueue()
        watchdog = Watchdog(0.2, lambda: False, expired.put)  # type: ignore[arg-type]
        backend.submit = lambda *_, result=result: result  # type: ignore[method-assign,misc]
        Inference(backend, watchdog).submit([np.zeros((48, 64, 3), np.uint8)])
        watching = threading.Thread(target=watchdog.run)
        watching.start()
        if watched:
            assert expired.get(timeout=60).message is not None
        else:
            with pytest.raises(Empty):
                expired.get(timeout=1)
        watchdog.stop()
        watching.join()
