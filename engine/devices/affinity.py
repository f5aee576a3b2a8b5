"""Keeps a thread, and those that it starts later, on the processors and in the memory that are near its device.

Linux gives memory from the node of the processor that asks for it, pinned memory as well: a thread that is bound before it allocates
has its memory near. Other systems, and machines with one node, are left alone.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Iterable
from pathlib import Path

from engine.devices.topology.linux import SYS, numa_node, numa_nodes, pci_address
from engine.types import DeviceId

_SET_MEMPOLICY = {"x86_64": 238, "aarch64": 237}
"""The number of the system call, by the machine's kind (Linux's tables of system calls)."""
_PREFERRED = 1
"""MPOL_PREFERRED: from this node, and from others when it is full."""
_NODES = 1024
"""The kernel's greatest number of nodes."""


def bind_near(pci: str, system: Path = SYS) -> frozenset[int]:
    """Bind this thread to the node of a PCI device ("0000:00:06.0"). Gives the processors that it is bound to, empty = it is not.

    It never gets processors that it might not use before, and is left alone where none would remain, or where nothing is known.
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
    """Bind this thread to the nodes that hold the share of a CPU device, so that several keep out of each other's memory.

    threads: processors of one share; ``cpu:1`` has the second one; None = it does not share. Gives the processors that the thread
    is bound to, empty = it is not: a share that lies in all nodes is left alone, and so are devices that are no CPUs. For a process
    in which no other CPU device is, and before OpenVINO is loaded: that looks once which processors it may use.
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


def usable_cores() -> int:
    """Number of processors that the calling thread may use."""
    return len(_allowed()) or os.cpu_count() or 1


def _bind(cpus: Iterable[int]) -> frozenset[int]:
    """Bind this thread to those of them that it may use."""
    usable = frozenset(cpus) & _allowed()
    if usable:
        try:
            os.sched_setaffinity(0, usable)  # of the calling thread: with threads instead of processes each device has its own
        except OSError:  # processors that went offline, or a sandbox
            return frozenset()
    return usable


def _allowed() -> frozenset[int]:
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else frozenset()


def _prefer_memory(node: int) -> None:
    """Ask for memory of this node also when the thread is moved. Containers often forbid it; where it runs decides then."""
    call = _SET_MEMPOLICY.get(platform.machine())
    if call is None or node >= _NODES:
        return
    words = (ctypes.c_uint64 * (_NODES // 64))()
    words[node // 64] = 1 << node % 64
    ctypes.CDLL(None).syscall(ctypes.c_long(call), ctypes.c_long(_PREFERRED), words, ctypes.c_ulong(_NODES + 1))
