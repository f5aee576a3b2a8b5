"""A real Ray cluster of several raylets on this machine, and its processes."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.pool.events import Event
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import RunSettings
from framefleet.engine.types import Closing, DeviceId, FrameResult
from tests.support.pool import Seen, tiny_settings, watch

MEMORY = 80_000_000
"""Bytes of shared memory that each raylet takes."""

VARIABLES = {"RAY_USAGE_STATS_ENABLED": 0, "RAY_enable_worker_prestart": 0}
HEAD = {
    "include_dashboard": False,
    "include_log_monitor": False,
    "no_monitor": True,
    # Ray notices a dead node within two seconds instead of fifteen
    "_system_config": {"health_check_period_ms": 400, "health_check_initial_delay_ms": 0},
}
"""What every cluster of a test leaves out, to start fast."""

NEEDS_RAY = pytest.mark.skipif(find_spec("ray") is None, reason="a cluster needs Ray: pip install 'framefleet[cluster]'")
"""Does not import Ray, which takes a second of each process that collects the tests."""

OF_RAY = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")
"""Ray opens files and sockets that it leaves to the garbage collector."""

ALPHA, BETA, GAMMA = (DeviceId("cpu", "0", node) for node in ("alpha", "beta", "gamma"))


class Raylets(Closing):
    """A cluster. Its head, ``alpha``, is a node, too. folder: for the nodes' temporary files."""

    def __init__(self, folder: Path) -> None:
        self._ray_folder = Path(tempfile.mkdtemp(prefix="ff", dir="/tmp"))  # the paths of Ray's sockets must be short
        self._environment = pytest.MonkeyPatch()
        folder.mkdir(exist_ok=True)
        for name, value in {"RAY_TMPDIR": self._ray_folder, "TMPDIR": folder, **VARIABLES}.items():
            self._environment.setenv(name, str(value))
        from ray.cluster_utils import Cluster as RayCluster

        self._cluster: Any = RayCluster(initialize_head=True, head_node_args={**self._options("alpha"), **HEAD})
        self.address: str = self._cluster.address
        self._nodes: dict[str, Any] = {"alpha": self._cluster.head_node}

    @staticmethod
    def _options(name: str) -> dict[str, Any]:
        return {"num_cpus": 1, "object_store_memory": MEMORY, "node_name": name}

    def add(self, name: str) -> None:
        """Start a raylet, unless it runs."""
        if name not in self._nodes:
            self._nodes[name] = self._cluster.add_node(**self._options(name))

    def kill(self, name: str) -> None:
        """Kill a raylet without warning, as when a machine loses its power."""
        self._cluster.remove_node(self._nodes.pop(name), allow_graceful=False)

    def kill_head(self) -> None:
        """Kill what holds the cluster together. The raylets live on."""
        self._cluster.head_node.kill_gcs_server(check_alive=False)

    def agent(self, name: str) -> int:
        """The process id of the agent on a node; 0 if there is none."""
        raylet = self._nodes[name].all_processes["raylet"][0].process.pid
        return next((pid for pid in children(raylet) if command(pid).startswith("ray::Agent")), 0)

    def worker(self, name: str) -> int:
        """The process id of the first worker on a node; 0 if there is none."""
        agent = self.agent(name)
        return next((pid for pid in children(agent) if "spawn_main" in command(pid)), 0) if agent else 0

    def close(self) -> None:
        """Stop all raylets."""
        self._cluster.shutdown()
        self._environment.undo()
        shutil.rmtree(self._ray_folder, ignore_errors=True)


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for thread in Path(f"/proc/{parent}/task").glob("*/children"):  # a scan of all processes would cost more than what it waits for
        with suppress(OSError):
            found += map(int, thread.read_text().split())
    return sorted(found)


def command(pid: int) -> str:
    """The command line of a process; "" if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def kill(pid: int) -> None:
    """Kill a process that was found."""
    assert pid
    os.kill(pid, signal.SIGKILL)


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def run_on(
    cluster: ClusterConnection,
    paths: Sequence[Path],
    devices: Sequence[DeviceId],
    react: Callable[[EnginePool, Event, Seen], None] | None = None,
    pool_type: type[EnginePool] = EnginePool,
    settings: RunSettings | None = None,
) -> Seen:
    """Detect in files on devices of a cluster."""
    with pool_type(settings or tiny_settings(), devices, cluster) as pool:
        for path in paths:
            pool.add(path)
        pool.finish()
        return watch(pool.events(), None if react is None else lambda event, seen: react(pool, event, seen))


def facts(frames: Sequence[FrameResult]) -> list[tuple[Any, ...]]:
    """What two runs on different devices have to have in common, to the last bit."""
    return [
        (
            *(*frame.ref, frame.width, frame.height, frame.failure),
            *(None if frame.detections is None else array.tobytes() for array in _arrays(frame)),
        )
        for frame in frames
    ]


def _arrays(frame: FrameResult) -> list[Any]:
    found = frame.detections
    return [None] if found is None else [found.boxes, found.scores, found.class_ids]
