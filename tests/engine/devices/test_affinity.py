"""The processors are this machine's; what /sys tells of them is made up. Each case binds a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.devices.discovery import ROOT
from tests.support.machines import make_system

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no processes")

PROGRAM = """
import ctypes, json, os, sys, threading
from pathlib import Path
from engine.devices import affinity
bound = eval(sys.argv[1], {**vars(affinity), "system": Path(sys.argv[2])})
later = []
thread = threading.Thread(target=lambda: later.extend(os.sched_getaffinity(0)))
thread.start()
thread.join()
mode, nodes = ctypes.c_int(-1), (ctypes.c_uint64 * 16)()
told = ctypes.CDLL(None).syscall(239, ctypes.byref(mode), nodes, 1025, None, 0) == 0
print(json.dumps([sorted(bound), sorted(os.sched_getaffinity(0)), sorted(later), [mode.value, nodes[0]] if told else None]))
"""
MINE = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
GPUS = [("pci0000:00/0000:01:00.0", 0), ("pci0000:80/0000:81:00.0", 1), ("pci0000:80/0000:82:00.0", -1)]


def bind(call: str, system: Path) -> tuple[list[int], list[int], object]:
    """What a call gives, where the process is afterwards, and its policy of memory."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, call, str(system)], capture_output=True, text=True, cwd=ROOT, check=True)
    bound, now, later, policy = json.loads(done.stdout)
    assert later == now  # threads that start afterwards
    return bound, now, policy


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
    bound, now, policy = bind("bind_near('00000000:81:00.0', system)", system)
    assert bound == now == last
    assert bind("bind_near('0000:01:00.0', system)", system)[:2] == (first, first)
    # this machine may not have the node 1 that was made up: then the kernel refuses, and nothing is lost
    assert policy in (None, [0, 0], [1, 2])


def test_the_memory_of_a_node_is_preferred(tmp_path: Path) -> None:
    system = make_system(tmp_path, {0: (str(MINE[-1]), 8), 1: (",".join(map(str, MINE[:-1])), 8)}, GPUS)
    bound, _, policy = bind("bind_near('0000:01:00.0', system)", system)
    assert bound == MINE[-1:]
    if sys.platform != "linux" or os.uname().machine != "x86_64" or bind("set()", system)[2] is None:
        pytest.skip("this system does not tell the policy")
    assert policy == [1, 1]


@pytest.mark.parametrize("pci", ["0000:82:00.0", "0000:99:00.0", "nonsense", ""])
def test_a_device_whose_node_is_unknown_binds_nothing(tmp_path: Path, pci: str) -> None:
    assert bind(f"bind_near({pci!r}, system)", two_nodes(tmp_path))[:2] == ([], MINE)


def test_no_processor_is_taken_that_was_not_allowed_and_none_left_is_no_answer(tmp_path: Path) -> None:
    far = max(MINE) + 100
    system = two_nodes(tmp_path, f"{MINE[-1]},{far}-{far + 7}")
    assert bind("bind_near('0000:81:00.0', system)", system)[:2] == (MINE[-1:], MINE[-1:])
    elsewhere = make_system(tmp_path / "elsewhere", {0: (",".join(map(str, MINE)), 8), 1: (f"{far}-{far + 7}", 8)}, GPUS)
    assert bind("bind_near('0000:81:00.0', system)", elsewhere)[:2] == ([], MINE)


def test_one_node_is_left_alone(tmp_path: Path) -> None:
    one = make_system(tmp_path, {0: (",".join(map(str, MINE)), 8)}, GPUS[:1])
    assert bind("bind_near('0000:01:00.0', system)", one)[:2] == ([], MINE)
    assert bind("bind_to_share(0, 1, system)", one)[:2] == ([], MINE)
    assert bind("bind_near('0000:01:00.0', system)", tmp_path / "nothing")[:2] == ([], MINE)
    assert bind("bind_to_share(0, 1, system)", tmp_path / "nothing")[:2] == ([], MINE)


def test_shares_of_the_processors_keep_to_their_nodes(tmp_path: Path) -> None:
    system = two_nodes(tmp_path)
    first, last = MINE[:-1], MINE[-1:]
    assert bind("bind_to_share(0, 1, system)", system)[:2] == (first, first)
    assert bind(f"bind_to_share({len(first)}, 1, system)", system)[:2] == (last, last)
    assert bind(f"bind_to_share({len(MINE)}, 1, system)", system)[:2] == (
        first,
        first,
    )  # more devices than processors: again from the start
    assert bind(f"bind_to_share(0, {len(MINE)}, system)", system)[:2] == ([], MINE)  # all of them
