"""The processors are this machine's; what /sys tells of them is made up. Each case binds a thread of its own."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from framefleet.engine.devices.affinity import bind_near, bind_to_share, bound_to, share_of_gpu
from framefleet.engine.types import DeviceId
from tests.support.devices.machines import make_system

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no processes")

MINE = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
CPU = DeviceId("cpu", "0")
GPUS = [("pci0000:00/0000:01:00.0", 0), ("pci0000:80/0000:81:00.0", 1), ("pci0000:80/0000:82:00.0", -1)]


def bind(call: Callable[[], frozenset[int]]) -> tuple[list[int], list[int], tuple[int, int] | None]:
    """What a call gives, where its thread, and those that it starts, may run afterwards, and the thread's policy of memory."""
    outcome: list[tuple[list[int], list[int], tuple[int, int] | None]] = []

    def run() -> None:
        bound = call()
        later: list[list[int]] = []
        thread = threading.Thread(target=lambda: later.append(sorted(os.sched_getaffinity(0))))
        thread.start()
        thread.join()
        assert later == [sorted(os.sched_getaffinity(0))]
        outcome.append((sorted(bound), later[0], policy()))

    with ThreadPoolExecutor(1) as threads:
        threads.submit(run).result()
    return outcome[0]


def policy() -> tuple[int, int] | None:
    """This thread's policy of memory and its nodes as bits, None = the system does not tell."""
    mode, nodes = ctypes.c_int(-1), (ctypes.c_uint64 * 16)()
    call = {"x86_64": 239, "aarch64": 236}.get(platform.machine())
    told = call and ctypes.CDLL(None).syscall(call, ctypes.byref(mode), nodes, ctypes.c_ulong(1025), None, 0) == 0
    return (mode.value, nodes[0]) if told else None


def two_nodes(root: Path, last: str = str(MINE[-1])) -> Path:
    """One with all but the last of this machine's processors, one with that."""
    return make_system(root, {0: (",".join(map(str, MINE[:-1])), 8), 1: (last, 8)}, GPUS)


@pytest.fixture(autouse=True)
def _several() -> None:
    if len(MINE) < 2:
        pytest.skip("one processor cannot be divided")


def test_a_thread_goes_where_its_gpu_is(tmp_path: Path) -> None:
    system = two_nodes(tmp_path)
    first, last = MINE[:-1], MINE[-1:]
    bound, now, policy = bind(lambda: bind_near("00000000:81:00.0", system))
    assert bound == now == last
    assert bind(lambda: bind_near("0000:01:00.0", system))[:2] == (first, first)
    # this machine may not have the node 1 that was made up: then the kernel refuses, and nothing is lost
    assert policy in (None, (0, 0), (1, 2))


def test_the_memory_of_a_node_is_preferred(tmp_path: Path) -> None:
    system = make_system(tmp_path, {0: (str(MINE[-1]), 8), 1: (",".join(map(str, MINE[:-1])), 8)}, GPUS)
    bound, _, policy = bind(lambda: bind_near("0000:01:00.0", system))
    assert bound == MINE[-1:]
    if policy is None:
        pytest.skip("this system does not tell the policy")
    assert policy == (1, 1)


@pytest.mark.parametrize("pci", ["0000:82:00.0", "0000:99:00.0", "nonsense", ""])
def test_a_device_whose_node_is_unknown_binds_nothing(tmp_path: Path, pci: str) -> None:
    system = two_nodes(tmp_path)
    assert bind(lambda: bind_near(pci, system))[:2] == ([], MINE)


def test_no_processor_is_taken_that_was_not_allowed_and_none_left_is_no_answer(tmp_path: Path) -> None:
    far = max(MINE) + 100
    system = two_nodes(tmp_path, f"{MINE[-1]},{far}-{far + 7}")
    assert bind(lambda: bind_near("0000:81:00.0", system))[:2] == (MINE[-1:], MINE[-1:])
    elsewhere = make_system(tmp_path / "elsewhere", {0: (",".join(map(str, MINE)), 8), 1: (f"{far}-{far + 7}", 8)}, GPUS)
    assert bind(lambda: bind_near("0000:81:00.0", elsewhere))[:2] == ([], MINE)


def test_one_node_is_left_alone(tmp_path: Path) -> None:
    one = make_system(tmp_path, {0: (",".join(map(str, MINE)), 8)}, GPUS[:1])
    assert bind(lambda: bind_near("0000:01:00.0", one))[:2] == ([], MINE)
    assert bind(lambda: bind_to_share(CPU, 1, one))[:2] == ([], MINE)
    assert bind(lambda: bind_near("0000:01:00.0", tmp_path / "nothing"))[:2] == ([], MINE)
    assert bind(lambda: bind_to_share(CPU, 1, tmp_path / "nothing"))[:2] == ([], MINE)


def test_shares_of_the_processors_keep_to_their_nodes(tmp_path: Path) -> None:
    system = two_nodes(tmp_path)
    first, last = MINE[:-1], MINE[-1:]
    assert bind(lambda: bind_to_share(CPU, 1, system))[:2] == (first, first)
    assert bind(lambda: bind_to_share(DeviceId("cpu", str(len(first))), 1, system))[:2] == (last, last)
    # more devices than processors: again from the start
    assert bind(lambda: bind_to_share(DeviceId("cpu", str(len(MINE))), 1, system))[:2] == (first, first)
    assert bind(lambda: bind_to_share(CPU, len(MINE), system))[:2] == ([], MINE)  # all of them


def test_only_cpus_that_share_the_processors_are_bound(tmp_path: Path) -> None:
    system = two_nodes(tmp_path)
    assert bind(lambda: bind_to_share(CPU, None, system))[:2] == ([], MINE)
    assert bind(lambda: bind_to_share(DeviceId("cuda", "0"), 1, system))[:2] == ([], MINE)
    assert bind(lambda: bind_to_share(DeviceId("openvino", "GPU.0"), 1, system))[:2] == ([], MINE)


def test_gpus_get_separate_processors_as_long_as_there_are_enough(tmp_path: Path) -> None:
    system = two_nodes(tmp_path)
    shares = [share_of_gpu(pci, 1, system) for pci in ("0000:01:00.0", "00000000:81:00.0", "0000:82:00.0")]
    assert shares == [{MINE[number % len(MINE)]} for number in range(3)]
    half = len(MINE) // 2
    assert share_of_gpu("0000:01:00.0", half, system) == set(MINE[:half])
    assert share_of_gpu("0000:01:00.0", half + 1, system) == frozenset(), "too few for a choice"
    assert share_of_gpu("nonsense", 1, system) == share_of_gpu("0000:99:00.0", 1, tmp_path / "nothing") == {MINE[0]}


def test_processors_are_chosen_from_those_that_the_thread_may_use(tmp_path: Path) -> None:
    system = make_system(tmp_path, {0: (",".join(map(str, MINE)), 8)}, GPUS[:1])

    def chosen() -> frozenset[int]:
        os.sched_setaffinity(0, set(MINE[1:]))
        return share_of_gpu("0000:01:00.0", 1, system)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(chosen).result() == ({MINE[1]} if len(MINE) > 2 else frozenset())


def test_a_thread_is_bound_until_the_context_ends() -> None:
    def run() -> list[list[int]]:
        seen = []
        with bound_to(frozenset(MINE[-1:])):
            seen.append(sorted(os.sched_getaffinity(0)))
        seen.append(sorted(os.sched_getaffinity(0)))
        with suppress(ValueError), bound_to(frozenset(MINE[:1])):
            seen.append(sorted(os.sched_getaffinity(0)))
            raise ValueError
        seen.append(sorted(os.sched_getaffinity(0)))
        for nothing in (frozenset[int](), frozenset((max(MINE) + 100,))):
            with bound_to(nothing):
                seen.append(sorted(os.sched_getaffinity(0)))
        return seen

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(run).result() == [MINE[-1:], MINE, MINE[:1], MINE, MINE, MINE]
