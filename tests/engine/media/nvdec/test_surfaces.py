"""The ring of surfaces hands out no memory twice, keeps to its budget, and lets everybody through. Here it is host memory."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest

from framefleet.engine.media.nvdec.surfaces import SurfaceRing
from framefleet.engine.notices import DeviceError, literal


class HostMemory:
    """bytes taken and not given back."""

    taken = 0

    def __init__(self, nbytes: int) -> None:
        self._memory = np.zeros(nbytes, np.uint8)
        self.address = int(self._memory.ctypes.data)
        HostMemory.taken += nbytes

    def close(self) -> None:
        HostMemory.taken -= self._memory.nbytes


@pytest.fixture(autouse=True)
def _nothing_taken() -> None:
    HostMemory.taken = 0


def ring(count: int = 3, budget: int = 1000) -> SurfaceRing:
    return SurfaceRing(count, budget, HostMemory)


def in_thread(call: object, *arguments: object) -> tuple[threading.Thread, list[object]]:
    results: list[object] = []

    def run() -> None:
        try:
            results.append(call(*arguments))  # type: ignore[operator]
        except DeviceError as problem:
            results.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def test_several_surfaces_are_made_where_there_is_room() -> None:
    surfaces = ring(count=5, budget=1000)
    assert len(surfaces.acquire_several(100, 4)) == 1, "none is free"
    assert len(surfaces.acquire_several(100, 3, more=True)) == 3
    assert len(surfaces.acquire_several(100, 3, more=True)) == 1, "the fifth is the last"
    assert len(ring(count=5, budget=350).acquire_several(100, 5, more=True)) == 3


def test_several_surfaces_are_as_many_as_the_memory_holds() -> None:
    held: list[HostMemory] = []

    def allocate(nbytes: int) -> HostMemory:
        if len(held) == 2:
            raise DeviceError(literal("full"))
        held.append(HostMemory(nbytes))
        return held[-1]

    surfaces = SurfaceRing(5, 1000, allocate)
    taken = surfaces.acquire_several(100, 5, more=True)
    assert len(taken) == 2
    for _, release in taken:
        release()
    surfaces.close()
    assert not HostMemory.taken


def test_more_surfaces_serve_who_waits() -> None:
    surfaces = ring(count=1)
    surfaces.acquire(100)
    thread, results = in_thread(surfaces.acquire, 100)
    thread.join(0.1)
    assert not results
    surfaces.grow(1)
    thread.join(10.0)
    assert len(results) == 1
    assert surfaces.used == 200


def test_memory_is_used_again() -> None:
    surfaces = ring()
    first, release = surfaces.acquire(100)
    release()
    second, release = surfaces.acquire(60)
    assert second is first
    release()
    assert HostMemory.taken == surfaces.used == 100
    surfaces.close()
    assert HostMemory.taken == 0


def test_releasing_twice_gives_back_once() -> None:
    surfaces = ring(count=2)
    first, release = surfaces.acquire(10)
    release()
    release()
    again, _ = surfaces.acquire(10)
    release()
    other, _ = surfaces.acquire(10)
    assert again is first
    assert other is not first


def test_who_asks_for_too_many_waits() -> None:
    surfaces = ring(count=1)
    first, release = surfaces.acquire(10)
    thread, results = in_thread(surfaces.acquire, 10)
    time.sleep(0.05)
    assert not results
    release()
    thread.join(5)
    assert results[0][0] is first  # type: ignore[index]


def test_larger_frames_replace_smaller_surfaces_within_the_budget() -> None:
    surfaces = ring(count=10, budget=1000)
    releases = [surfaces.acquire(100)[1] for _ in range(10)]
    thread, results = in_thread(surfaces.acquire, 450)
    for number, release in enumerate(releases):
        time.sleep(0.01)
        assert bool(results) == (number >= 5)
        release()
    thread.join(5)
    assert HostMemory.taken == surfaces.used <= 1000
    assert surfaces.room_for(450) == 2


def test_small_frames_do_not_overtake_a_large_one_for_ever() -> None:
    surfaces = ring(count=4, budget=400)
    releases = [surfaces.acquire(100)[1] for _ in range(4)]
    large, large_results = in_thread(surfaces.acquire, 400)
    time.sleep(0.02)
    small, small_results = in_thread(surfaces.acquire, 100)
    for release in releases:
        assert not small_results
        release()
    large.join(5)
    assert large_results
    assert not small_results
    large_results[0][1]()  # type: ignore[index]
    small.join(5)
    assert small_results[0][0].nbytes == 400  # type: ignore[index]


def test_a_frame_beyond_the_budget_is_an_error() -> None:
    with pytest.raises(DeviceError, match="does not fit"):
        ring().acquire(1001)


def test_closing_wakes_who_waits_and_waits_for_what_is_out() -> None:
    surfaces = ring(count=1)
    _, release = surfaces.acquire(10)
    waiting, results = in_thread(surfaces.acquire, 10)
    time.sleep(0.02)
    closing, closed = in_thread(surfaces.close)
    waiting.join(5)
    assert isinstance(results[0], DeviceError)
    assert not closed
    release()
    closing.join(5)
    assert HostMemory.taken == 0
    surfaces.close()


def test_memory_that_cannot_be_had_leaves_the_ring_usable() -> None:
    allowed = [HostMemory]

    def allocate(nbytes: int) -> HostMemory:
        if not allowed:
            raise DeviceError(literal("no memory"))
        return allowed.pop()(nbytes)

    surfaces = SurfaceRing(2, 100, allocate)
    _, release = surfaces.acquire(10)
    with pytest.raises(DeviceError, match="no memory"):
        surfaces.acquire(10)
    release()
    assert surfaces.acquire(10)[0].nbytes == 10


def test_many_threads_share_it() -> None:
    surfaces = ring(count=5, budget=1500)
    in_use: set[int] = set()
    wrong: list[str] = []
    lock = threading.Lock()

    def work(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(200):
            surface, release = surfaces.acquire(dice.choice((100, 200, 600)))
            with lock:
                if surface.address in in_use or surfaces.used > 1500:
                    wrong.append("taken twice, or too much")
                in_use.add(surface.address)
            time.sleep(dice.random() * 1e-4)
            with lock:
                in_use.discard(surface.address)
            release()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    surfaces.close()
    assert HostMemory.taken == 0


def test_there_are_plenty_while_less_than_half_of_them_are_in_use() -> None:
    surfaces = ring(count=4, budget=1000)
    assert surfaces.plenty()
    releases = [surfaces.acquire(10)[1] for _ in range(2)]
    assert not surfaces.plenty()
    releases[0]()
    assert surfaces.plenty()
    large = surfaces.acquire(490)[1]
    assert not surfaces.plenty(), "half of the bytes"
    large()
    releases[1]()
    assert surfaces.plenty()


def test_several_are_those_that_are_free() -> None:
    surfaces = ring(count=4)
    several = surfaces.acquire_several(10, 3)
    assert len(several) == 1, "no memory was allocated before"
    others = [surfaces.acquire(10) for _ in range(3)]
    for _, release in (*several, *others):
        release()
    again = surfaces.acquire_several(10, 3)
    assert len({id(surface) for surface, _ in again}) == 3
    assert len(surfaces.acquire_several(10, 3)) == 1, "one is free"
    thread, results = in_thread(surfaces.acquire_several, 10, 3)
    time.sleep(0.05)
    assert not results
    again[0][1]()
    thread.join(5)
    assert [surface for surface, _ in results[0]] == [again[0][0]]  # type: ignore[attr-defined]


def test_who_waited_takes_what_a_batch_has_released() -> None:
    """Else threads would take turns at every frame as long as the engine is slower than they are."""
    surfaces = ring(count=4, budget=1000)
    most = 0
    for _ in range(30):
        held = [surfaces.acquire(100) for _ in range(4)]
        thread, results = in_thread(surfaces.acquire_several, 100, 3)
        time.sleep(0.01)
        for _, release in held:
            release()
        thread.join()
        [taken] = results
        assert isinstance(taken, list)
        assert 1 <= len(taken) <= 3
        most = max(most, len(taken))
        for _, release in taken:
            release()
    assert most == 3
    surfaces.close()
