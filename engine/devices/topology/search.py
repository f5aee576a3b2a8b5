"""The topology of this machine: from NVIDIA's driver, asked by a process of its own, and from /sys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.devices.discovery import ROOT
from engine.devices.json_values import at
from engine.devices.topology.driver import join, read_gpus
from engine.devices.topology.linux import SYS, find_gpus, numa_nodes, place
from engine.devices.topology.types import NumaNode, Topology

_PROGRAM = (sys.executable, "-m", "engine.devices.topology.probe_process")


def find_topology(timeout: float = 30.0, program: Sequence[str] = _PROGRAM, system: Path = SYS) -> Topology:
    """Look: takes a moment. Never fails: what cannot be found is missing, and ``problem`` says why.

    timeout: seconds for the driver. program: prints what ``topology_probe`` prints. system: where Linux tells of devices.
    """
    values = _ask(program, timeout)
    gpus = [place(gpu, system) for gpu in read_gpus(values)]
    problem = at(values, str, "problem")
    if not gpus:
        gpus = list(find_gpus(system))
        if gpus and problem is None:
            problem = "NVIDIA's driver is not installed"
    nodes = numa_nodes(system) or (NumaNode(0, frozenset(range(os.cpu_count() or 1))),)
    return Topology(nodes, tuple(gpus), join(gpus, values), problem)


def _ask(program: Sequence[str], timeout: float) -> Mapping[str, Any]:
    try:
        done = subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, cwd=ROOT, check=False)
    except subprocess.TimeoutExpired:
        return {"problem": f"NVIDIA's driver gave no answer within {timeout:g} s"}
    except OSError as error:
        return {"problem": f"NVIDIA's driver cannot be asked: {error}"}
    for line in reversed(done.stdout.decode("utf-8", "replace").splitlines()):
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            continue  # drivers print, too
        if at(values, list, "gpus") is not None:
            return dict(values)
    how = f"crashed (signal {-done.returncode})" if done.returncode < 0 else f"ended with status {done.returncode}"
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
    return {"problem": f"NVIDIA's driver cannot be asked: the process that does so {how}: {last[0]}"}
