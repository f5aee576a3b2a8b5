"""Finds the topology of this machine: from NVIDIA's driver, which a separate process asks, and from /sys."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framefleet.engine.devices.topology.driver import at, join, read_gpus
from framefleet.engine.devices.topology.linux import SYS, find_gpus, numa_nodes, place
from framefleet.engine.devices.topology.types import NumaNode, Topology
from framefleet.engine.notices import Notice
from framefleet.engine.processes.program import run_program

_PROGRAM = (sys.executable, "-m", "framefleet.engine.devices.topology.probe_process")


def find_topology(timeout: float = 30.0, program: Sequence[str] = _PROGRAM, system: Path = SYS) -> Topology:
    """Find the topology. Never raises: ``Topology.problem`` says why GPUs are missing.

    timeout: seconds for the driver. program: prints the output of ``probe_process``. system: Linux's /sys.
    """
    values, problem = _ask(program, timeout)
    gpus = [place(gpu, system) for gpu in read_gpus(values)]
    if not gpus:
        gpus = list(find_gpus(system))
        if gpus and problem is None:
            problem = Notice("devices.driver_not_installed")
    nodes = numa_nodes(system) or (NumaNode(0, frozenset(range(os.cpu_count() or 1))),)
    return Topology(nodes, tuple(gpus), join(gpus, values), problem)


def _ask(program: Sequence[str], timeout: float) -> tuple[Mapping[str, Any], Notice | None]:
    """The driver's values, and why they are missing or incomplete."""
    values, problem = run_program(program, timeout)
    found = next((value for value in reversed(values) if at(value, list, "gpus") is not None), None)
    if found is None:
        return {}, Notice("devices.driver_not_asked", problem=problem or Notice("devices.no_answer"))
    told = at(found, list, "problem")
    return found, None if told is None else Notice.from_json(told)
