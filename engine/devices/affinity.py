"""Binds a thread, and the threads it starts later, to the processors and the memory near its device.

Linux allocates memory, pinned memory included, on the NUMA node of the processor that asks for it. A thread that is bound before
it allocates therefore gets near memory. Nothing happens on other systems and on machines with one node.
"""

import ctypes
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from framefleet.engine.devices.topology import SYS, find_gpus, numa_node, numa_nodes, pci_address
from framefleet.engine.types import DeviceId

_SET_MEMPOLICY = {"x86_64": 238, "aarch64": 237}
"""The number of the system call ``set_mempolicy``, by architecture (Linux's system call tables)."""
_PREFERRED = 1
"""MPOL_PREFERRED: allocate from this node, or from others if it is full."""
_NODES = 1024
"""The most nodes that the kernel supports."""


def bind_near(pci: str, system: Path = SYS) -> frozenset[int]:
    """Bind this thread to the NUMA node of a PCI device ("0000:00:06.0").

    Binding never adds processors. The thread is not bound if no processor would remain, or if the node is unknown.

    Returns
    -------
    frozenset[int]
        The processors; empty: the thread was not bound.
    """
    try:
        node = numa_node(pci_address(pci), system)
    except ValueError:
        return frozenset()
    nodes = {each.number: each.cpus for each in numa_nodes(system)}
    bound = _bind(nodes.get(node, ())) if node is not None and len(nodes) > 1 else frozenset[int]()
    if bound and node is not None:
        _prefer_memory(node)
    return bound


def bind_to_share(device: DeviceId, threads: int | None, system: Path = SYS) -> frozenset[int]:
    """Bind this thread to the NUMA nodes of a CPU device's share, so that several CPU devices use separate memory.

    Call it in a process with one CPU device, before OpenVINO is loaded: OpenVINO reads once which processors it may use.

    Parameters
    ----------
    threads
        Processors of one share; ``cpu:1`` has the second share. None = the device does not share.

    Returns
    -------
    frozenset[int]
        The thread's processors, empty = it was not bound: the share covers all nodes, or the device is not a CPU.
    """
    if device.kind != "cpu" or threads is None:
        return frozenset()
    number = int(device.name)
    allowed = _allowed()
    homes = [node.cpus & allowed for node in numa_nodes(system) if node.cpus & allowed]
    in_order = [home for home in homes for _ in home]
    if not in_order:
        return frozenset()
    wanted = {in_order[place % len(in_order)] for place in range(number * threads, (number + 1) * threads)}
    return _bind(frozenset().union(*wanted)) if len(wanted) < len(homes) else frozenset()


def share_of_gpu(pci: str, count: int, system: Path = SYS) -> frozenset[int]:
    """Choose processors for a GPU's threads from those that this thread may use.

    Each GPU gets its own if there are enough.

    Parameters
    ----------
    pci
        Address of the GPU.
    count
        Number of processors.

    Returns
    -------
    frozenset[int]
        The processors; empty if this thread may use fewer than twice as many.
    """
    allowed = sorted(_allowed())
    if len(allowed) < 2 * count:
        return frozenset()
    try:
        number = [gpu.pci for gpu in find_gpus(system)].index(pci_address(pci))
    except ValueError:  # a container may hide the bus
        number = 0
    return frozenset(allowed[place % len(allowed)] for place in range(number * count, (number + 1) * count))


@contextmanager
def bound_to(cpus: frozenset[int]) -> Iterator[None]:
    """Bind this thread to these processors for as long as the context lasts. It stays where it is if there are none."""
    before = _allowed()
    bound = _bind(cpus)
    try:
        yield
    finally:
        if bound:
            with suppress(OSError):
                os.sched_setaffinity(0, before)


def usable_cores() -> int:
    """Number of processors that the calling thread may use."""
    return len(_allowed()) or os.cpu_count() or 1


def _bind(cpus: Iterable[int]) -> frozenset[int]:
    """Bind this thread to those of these processors that it may use. Returns them."""
    usable = frozenset(cpus) & _allowed()
    if usable:
        try:
            os.sched_setaffinity(0, usable)  # 0 is the calling thread: in thread mode each device has its own
        except OSError:  # a processor went offline, or a sandbox forbids it
            return frozenset()
    return usable


def _allowed() -> frozenset[int]:
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else frozenset()


def _prefer_memory(node: int) -> None:
    """Prefer this node's memory even if the thread moves. Containers often forbid the call; then the thread's processor decides."""
    call = _SET_MEMPOLICY.get(platform.machine())
    if call is None or node >= _NODES:
        return
    words = (ctypes.c_uint64 * (_NODES // 64))()
    words[node // 64] = 1 << node % 64
    ctypes.CDLL(None).syscall(ctypes.c_long(call), ctypes.c_long(_PREFERRED), words, ctypes.c_ulong(_NODES + 1))
