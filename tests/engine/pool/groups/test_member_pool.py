"""Members that differ: in how many pictures they take at once, and in how fast they are."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.backends.base import Backend
from framefleet.engine.notices import DeviceError
from framefleet.engine.pool.events import DeviceFailed, DeviceReady
from framefleet.engine.pool.groups.member_pool import MemberPool
from framefleet.engine.pool.protocol import DeviceEvent, Failed
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import Detections, DeviceId, Image
from tests.support.models import tiny_network
from tests.support.pool import CPUS

SETTINGS = EngineSettings(precision=Precision.FP32, stored_confidence=0.1, threads=1)


def pictures(count: int) -> list[Image]:
    random = np.random.default_rng(1)
    return [np.kron(random.integers(0, 256, (12, 16, 3)), np.ones((8, 8, 1))).astype(np.uint8) for _ in range(count)]


def die(why: Failed) -> Any:
    raise AssertionError(why)


def slow(device: DeviceId) -> Backend:
    """The real engine; that of cpu:1 takes 0.3 s longer for every picture."""
    backend = create_backend(device)
    submit = backend.submit

    def submit_slowly(images: Any, still: bool) -> Any:
        time.sleep(0.3 * len(images))
        return submit(images, still)

    if device == CPUS[1]:
        backend.submit = submit_slowly  # type: ignore[method-assign]
    return backend


@contextmanager
def member_pool_of(
    batches: tuple[int, int], told: list[DeviceEvent], make: Callable[[DeviceId], Backend] = create_backend, spread_evenly: bool = False
) -> Iterator[MemberPool]:
    member_pool = MemberPool(CPUS, make, told.append, die, Watchdog(60.0, lambda: False, die), spread_evenly)
    settings = {
        device: EngineSettings(precision=Precision.FP32, stored_confidence=0.1, threads=1, batch=batch)
        for device, batch in zip(CPUS, batches, strict=True)
    }
    try:
        member_pool.start(tiny_network(), settings)
        yield member_pool
    finally:
        member_pool.close()


def test_members_with_different_batches_share_the_pictures() -> None:
    images, told = pictures(150), list[DeviceEvent]()
    with member_pool_of((8, 1), told) as member_pool:
        assert sorted(engine.batch for engine in member_pool.engines) == [1, 8]
        dealt = [member_pool.put(images[start : start + 50], still=False) for start in range(0, 150, 50)]
        found = [each for part in dealt for each in part.result(100) if isinstance(each, Detections)]
        done = Counter(device for part in dealt for device in part.devices)
    assert set(done) == set(CPUS)
    assert {about.engine.device for about in told if isinstance(about, DeviceReady)} == set(CPUS)
    with create_backend(CPUS[0]) as backend:
        backend.activate(tiny_network(), SETTINGS)
        for image, each in zip(images, found, strict=True):
            (expected,) = backend.infer([image])
            np.testing.assert_allclose(each.boxes, expected.boxes, atol=0.01)
            np.testing.assert_allclose(each.scores, expected.scores, atol=1e-4)


def test_still_and_moving_pictures_are_not_mixed() -> None:
    images, told = pictures(12), list[DeviceEvent]()
    with member_pool_of((8, 8), told) as member_pool:
        parts = [member_pool.put(images, still) for still in (False, True, False)]
        first, second, third = ([len(found) for found in part.result(100) if isinstance(found, Detections)] for part in parts)
    with create_backend(CPUS[0]) as backend:
        backend.activate(tiny_network(), SETTINGS)
        expected = {still: [len(backend.infer([image], still)[0]) for image in images] for still in (False, True)}
    assert first == third == expected[False]
    assert second == expected[True]


@pytest.mark.parametrize("spread_evenly", [False, True])
def test_a_slow_member_works_as_well_but_does_not_hold_up_what_belongs_together(spread_evenly: bool) -> None:
    images = pictures(40)
    with member_pool_of((1, 1), [], slow, spread_evenly) as member_pool:
        member_pool.put(images, still=False).result(100)  # now their speed is known
        # measured speeds depend on what else the machine does
        member_pool._members[CPUS[0]].seconds, member_pool._members[CPUS[1]].seconds = 0.001, 100.0
        later = member_pool.put(images, still=False)
        later.result(100)
    by_slow = sum(device == CPUS[1] for device in later.devices)
    assert by_slow == 0 if spread_evenly else 1 <= by_slow < len(images) / 2


def forgetful(device: DeviceId) -> Backend:
    """An engine that loses the last result of every batch."""
    backend = create_backend(device)
    submit = backend.submit

    def lose(images: Any, still: bool) -> Any:
        future: Future[Any] = Future()
        future.set_result(submit(images, still).result()[:-1])
        return future

    backend.submit = lose  # type: ignore[method-assign]
    return backend


def test_an_error_in_the_bookkeeping_ends_the_worker_with_its_cause(capfd: pytest.CaptureFixture[str]) -> None:
    reasons: SimpleQueue[Failed] = SimpleQueue()
    watchdog = Watchdog(60.0, lambda: False, die)
    member_pool = MemberPool(CPUS[:1], forgetful, lambda _: None, reasons.put, watchdog)  # type: ignore[arg-type]
    member_pool.start(tiny_network(), {CPUS[0]: SETTINGS})
    member_pool.put(pictures(1), still=False)
    assert str(reasons.get(timeout=30).message).startswith("ValueError: zip()")
    member_pool.close()
    assert "Traceback" in capfd.readouterr().err


def test_a_test_of_the_engine_that_hangs_is_noticed() -> None:
    released = threading.Event()

    def broken(device: DeviceId) -> Backend:
        """An engine that fails once, and then hangs."""
        backend, calls = create_backend(device), itertools.count()

        def fail(images: Any, still: bool) -> Any:
            if next(calls):
                released.wait()
            raise RuntimeError("the driver is gone")

        backend.submit = fail  # type: ignore[method-assign]
        return backend

    reasons: SimpleQueue[Failed] = SimpleQueue()
    watchdog = Watchdog(0.5, lambda: False, reasons.put)  # type: ignore[arg-type]
    member_pool = MemberPool(CPUS[:1], broken, lambda _: None, reasons.put, watchdog)  # type: ignore[arg-type]
    member_pool.start(tiny_network(), {CPUS[0]: SETTINGS})
    checking = threading.Thread(target=watchdog.run)
    checking.start()
    try:
        member_pool.put(pictures(1), still=False)
        assert str(reasons.get(timeout=30).message).startswith("an inference on cpu:0 did not come to an end")
    finally:
        member_pool.close()
        released.set()
        watchdog.stop()
        member_pool.close()  # again, now that the engine no longer hangs
        checking.join()


def test_without_a_device_nothing_starts() -> None:
    told = list[DeviceEvent]()
    member_pool = MemberPool([DeviceId("openvino", "GPU.7")], create_backend, told.append, die, Watchdog(60.0, lambda: False, die))
    with pytest.raises(DeviceError, match=r"GPU\.7"):
        member_pool.start(tiny_network(), {DeviceId("openvino", "GPU.7"): SETTINGS})
    member_pool.close()
    assert isinstance(told[-1], DeviceFailed)
    assert not told[-1].restarting
