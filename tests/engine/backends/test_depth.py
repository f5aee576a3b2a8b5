"""Stages on CPUs return the same as the uncut network, and the rules for stages on all devices."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framefleet.engine.backends import create_backend, create_depth_backend
from framefleet.engine.backends.base import Backend, depth_members, describe_balance, joined_names
from framefleet.engine.backends.openvino.depth import OpenVinoDepthBackend
from framefleet.engine.backends.openvino.library import offered_precisions, process_core
from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Balance, StageTime
from framefleet.engine.notices import DeviceError, Notice, UsageError
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import Detections, DeviceId, Image
from tests.support.faults.counts import others_slow
from tests.support.models import tiny_network

SETTINGS = EngineSettings(precision=Precision.FP32, stored_confidence=0.05, threads=2)


def cpus(count: int) -> DeviceId:
    return DeviceId.group(*(DeviceId("cpu", str(number)) for number in range(count)))


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Cuts that were found are kept here, and not where the user's are."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module")
def network() -> Network:
    return tiny_network()


@pytest.fixture(scope="module")
def uncut(network: Network) -> Iterator[Backend]:
    with create_backend(DeviceId("cpu", "0")) as backend:
        backend.activate(network, SETTINGS)
        backend.infer(pictures(1))  # starts the thread that stays
        yield backend


@pytest.fixture(scope="module")
def staged(network: Network) -> Iterator[OpenVinoDepthBackend]:
    with OpenVinoDepthBackend(cpus(3)) as backend:
        backend.activate(network, SETTINGS)
        backend.infer(pictures(1))
        yield backend


def pictures(count: int) -> list[Image]:
    random = np.random.default_rng(3)
    return [random.integers(0, 256, (60 + 7 * i, 90 - 5 * i, 3), dtype=np.uint8) for i in range(count)]


def same(a: Detections, b: Detections) -> bool:
    return len(a) == len(b) and np.allclose(a.boxes, b.boxes, atol=1e-3) and np.allclose(a.scores, b.scores, atol=1e-5)


@pytest.mark.parametrize("stages", others_slow([2, 3, 4], 3))
def test_outputs_are_those_of_the_uncut_network(stages: int, network: Network, uncut: Backend) -> None:
    inputs = np.random.default_rng(0).random((2, 3, network.height, network.width), dtype=np.float32)
    with create_depth_backend(cpus(stages)) as backend:
        info = backend.activate(network, SETTINGS)
        heads = backend.raw_outputs(inputs)
        found = [backend.infer([image])[0] for image in pictures(5)]
    assert info.device == cpus(stages)
    assert info.slots > stages
    assert str(info.reason).startswith(f"{stages} stages, cut before layer")
    for head, reference in zip(heads, uncut.raw_outputs(inputs), strict=True):
        assert np.abs(head - reference).max() <= 1e-5 * np.abs(reference).max()
    expected = [uncut.infer([image])[0] for image in pictures(5)]
    assert sum(map(len, expected)) > 10
    assert all(same(ours, theirs) for ours, theirs in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    "cuts", others_slow([(1,), (12,), (18,), (23,), (5, 22), (7, 8), (1, 2, 3), (10, 18, 20)], (12,), (5, 22), (1, 2, 3))
)
def test_outputs_do_not_depend_on_where_it_is_cut(cuts: tuple[int, ...], network: Network, uncut: Backend, monkeypatch: Any) -> None:
    """Also where routes and sums lead over several cuts, or a head leaves before the last stage."""
    balance = Balance(cuts, tuple(StageTime(1.0) for _ in (0, *cuts)))
    monkeypatch.setattr("framefleet.engine.backends.openvino.depth.remembered_balance", lambda *_: balance)
    with create_depth_backend(cpus(len(cuts) + 1)) as backend:
        backend.activate(network, replace(SETTINGS, batch=2))
        found = [each for start in (0, 2) for each in backend.infer(pictures(4)[start : start + 2])]
    assert all(same(ours, uncut.infer([image])[0]) for ours, image in zip(found, pictures(4), strict=True))


def test_many_under_way_come_back_each_to_its_own_and_in_order(staged: Backend, uncut: Backend) -> None:
    images = pictures(6)
    expected = [uncut.infer([image])[0] for image in images]
    order: list[int] = []
    futures = []
    for turn in range(60):
        futures.append(staged.submit([images[turn % 6]]))
        futures[-1].add_done_callback(lambda _, turn=turn: order.append(turn))
    assert all(same(future.result()[0], expected[turn % 6]) for turn, future in enumerate(futures))
    assert order == list(range(60))


def test_stages_work_at_the_same_time(staged: OpenVinoDepthBackend) -> None:
    """The first stage has begun another batch before the last one has finished one."""
    first, last = staged.stages[0], staged.stages[-1]
    started = threading.Semaphore(0)
    met: list[bool] = []

    class Watched:
        def __init__(self, request: Any) -> None:
            self._request = request

        def __getattr__(self, name: str) -> Any:
            return getattr(self._request, name)

        def run(self, stage: slice) -> None:
            if stage == first:
                started.release()
            if stage == last and not met:
                started.acquire()  # its own batch's
                met.append(started.acquire(timeout=10))  # and the next one's
            self._request.run(stage)

    requests = [staged.idle.get() for _ in range(staged.info.slots)]
    for request in requests:
        staged.idle.put(Watched(request))  # type: ignore[arg-type]
    try:
        futures = [staged.submit(pictures(1)) for _ in range(3)]
        assert all(len(future.result()) == 1 for future in futures)
    finally:
        for _ in requests:
            staged.idle.get()
        for request in requests:
            staged.idle.put(request)
    assert met == [True]


def test_pictures_may_be_reused_at_once(staged: Backend, uncut: Backend) -> None:
    image = pictures(1)[0]
    expected = uncut.infer([image.copy()])[0]
    future = staged.submit([image])
    image[:] = 0
    assert same(future.result()[0], expected)


def test_an_error_in_any_stage_reaches_its_batch_and_no_other(staged: OpenVinoDepthBackend, uncut: Backend) -> None:
    images = pictures(3)
    expected = [uncut.infer([image])[0] for image in images]
    for stage in staged.stages:
        broken = threading.Event()
        request = staged.idle.get()
        original = request.run

        def run(part: slice, stage: slice = stage, broken: Any = broken, original: Any = original) -> None:
            if part == stage and not broken.is_set():
                broken.set()
                raise RuntimeError("the driver has gone")
            original(part)

        request.run = run  # type: ignore[method-assign]
        staged.idle.put(request)
        futures = [staged.submit([images[turn % 3]]) for turn in range(12)]
        outcomes = [(turn, future.exception()) for turn, future in enumerate(futures)]
        failed = [(turn, problem) for turn, problem in outcomes if problem is not None]
        assert len(failed) == 1
        assert isinstance(failed[0][1], DeviceError)
        assert "the driver has gone" in str(failed[0][1])
        assert all(same(futures[turn].result()[0], expected[turn % 3]) for turn, problem in outcomes if problem is None)


def test_a_picture_that_is_none_costs_no_slot(staged: Backend) -> None:
    for _ in range(staged.info.slots + 2):
        with pytest.raises(ValueError, match="picture"):
            staged.submit([np.zeros((4, 4), np.uint8)])
    assert len(staged.infer(pictures(1))) == 1


def test_closing_waits_for_what_is_under_way(network: Network) -> None:
    backend = create_depth_backend(cpus(4))
    backend.activate(network, SETTINGS)
    futures = [backend.submit(pictures(1)) for _ in range(6)]
    backend.close()
    assert all(future.done() and len(future.result()) == 1 for future in futures)
    backend.close()


def test_time_is_told_for_every_stage(staged: Backend) -> None:
    staged.timings()
    staged.infer(pictures(1))
    spent = staged.timings()
    assert set(spent) == {"network cpu:0", "network cpu:1", "network cpu:2"}
    assert all(0 < ms < 10_000 for ms in spent.values())
    assert not staged.timings()


def test_memory_does_not_grow(staged: Backend) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    images = pictures(6)

    def work(turns: int) -> None:
        waiting = [staged.submit([images[turn % 6]]) for turn in range(turns)]
        for future in waiting:
            future.result()

    work(100)
    before = resident()
    work(400)
    assert resident() - before < 20e6


def test_cuts_are_found_once(network: Network, cache: Path) -> None:
    for attempt in range(2):
        said: list[str] = []
        with create_depth_backend(cpus(2)) as backend:
            info = backend.activate(network, replace(SETTINGS, batch=3), lambda doing, _, said=said: said.append(str(doing)))
        assert bool(said) == (attempt == 0)
    assert info.batch == 3
    assert list(cache.rglob("*.built"))


def test_mixed_precision_changes_within_a_stage(network: Network) -> None:
    backend = OpenVinoDepthBackend(cpus(2))
    if Precision.MIXED not in offered_precisions(process_core(), "CPU"):
        pytest.skip("this CPU does not compute in bf16")
    inputs = np.random.default_rng(0).random((1, 3, network.height, network.width), dtype=np.float32)
    outputs = []
    for each in (backend, create_backend(DeviceId("cpu", "0"))):
        with each:
            each.activate(network, replace(SETTINGS, precision=Precision.MIXED))
            outputs.append(each.raw_outputs(inputs))
    assert sum(stage.stop - stage.start for stage in backend.stages) == 3
    for ours, theirs in zip(*outputs, strict=True):
        assert np.linalg.norm(ours - theirs) < 0.02 * np.linalg.norm(theirs)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cpu:0", "needs 2 to 8 devices, .* not 1"),
        ("+".join(f"cpu:{number}" for number in range(9)), "needs 2 to 8 devices, .* not 9"),
        ("cpu:0+cpu:0", "twice"),
        ("cpu:0+cuda:0", "CUDA devices only, or other devices only, not both"),
    ],
)
def test_groups_that_cannot_share_a_network(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        create_depth_backend(DeviceId.parse(text))


def test_a_device_that_openvino_does_not_have(network: Network) -> None:
    with pytest.raises(DeviceError, match=r"has: .*CPU"):
        create_depth_backend(DeviceId.parse("cpu:0+openvino:GPU.7")).activate(network, SETTINGS)


def test_members_are_in_the_order_of_the_stages() -> None:
    assert depth_members(DeviceId.parse("cuda:3+cuda:1")) == (DeviceId("cuda", "3"), DeviceId("cuda", "1"))


def test_equal_devices_are_counted() -> None:
    assert joined_names(["Arc", "Arc", "Iris"]) == "2 × Arc + Iris"


def test_the_balance_is_told_in_words(network: Network) -> None:
    balance = Balance((5, 12), (StageTime(4.0), StageTime(5.0, 1.0), StageTime(3.0, 2.0)))
    assert str(describe_balance(balance, network, Notice("backends.move_directly"))) == (
        f"3 stages, cut before layers 5, 12 of {len(network.layers)}: 4 + 5 + 3 ms a batch, 80% even, values move directly"
    )
