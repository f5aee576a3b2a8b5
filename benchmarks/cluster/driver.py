"""Measures what a cluster costs the driver, with raylets on this machine.

``driver``: processor time per 1,000 frames and memory of the driver, with stub devices (``benchmarks.cluster.stub``). Agents, network and
database are real; the engines are not. The driver consists of two processes: one has the pool and the session database, the other is
connected to the cluster. ``merge``: speed of joining the sessions of several drivers.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.cluster.stub import main as stub_main
from benchmarks.report import table, write
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, FramesDone
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import ModelFiles, RunSettings
from framefleet.engine.store.merge import merge_sessions
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO

TITLES = {
    "driver": "Cost of many devices for the driver (stub devices)",
    "merge": "Joining the sessions of several drivers",
}
CPU = DeviceId("cpu", "0")
VARIABLES = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_enable_worker_prestart": "0"}
HEAD = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
"""Parts of Ray that the raylets do not start, because they share a small machine."""

MEMORY = 100_000_000


@contextmanager
def raylets(count: int, folder: Path) -> Iterator[str]:
    """Raylets on this machine. Yields the address of their cluster."""
    # as nice as workers of a local pool: on its own machine, a node's workers have the processors for themselves
    os.environ |= {"RAY_worker_niceness": "5", "TMPDIR": str(folder), "RAY_TMPDIR": "/tmp", **VARIABLES}
    from ray.cluster_utils import Cluster as RayCluster

    options: dict[str, Any] = {"num_cpus": 1, "object_store_memory": MEMORY}
    cluster: Any = RayCluster(initialize_head=True, head_node_args={**options, **HEAD, "node_name": "node1"})
    try:
        for number in range(2, count + 1):
            cluster.add_node(**options, node_name=f"node{number}")
        yield cluster.address
    finally:
        cluster.shutdown()


def driver(options: argparse.Namespace, folder: Path) -> str:
    """Stub devices against the driver. Returns the report."""
    rows = []
    with ExitStack() as stack:
        cluster = None
        if options.nodes:
            cluster = stack.enter_context(ClusterConnection(stack.enter_context(raylets(options.nodes, folder)), print))
        for count in options.devices:
            for rate in options.rates:
                rows.append([count, rate or "as fast as possible", *_drive(cluster, count, rate, options, folder)])
                print(rows[-1], flush=True)
    head = (
        *("stub devices", "frames/s requested", "frames/s stored", "processor s per 1,000 frames: pool and database"),
        *("the same: connection", "processor share of the pool's process", "resident MB of both at first", "at the end", "database, MB/s"),
    )
    others = f"{options.nodes} raylets and all" if options.nodes else "There are no raylets. All"
    note = f"{others} stub workers share this machine with the driver. {options.boxes} boxes per frame, {options.seconds:.0f} s per row."
    return f"{table(head, rows)}\n\n{note}"


def _drive(cluster: ClusterConnection | None, count: int, rate: float, options: argparse.Namespace, folder: Path) -> list[str]:
    """One run. Returns the figures."""
    names = sorted(cluster.nodes) if cluster is not None else [""]
    devices = tuple(DeviceId("cpu", str(number // len(names)), names[number % len(names)]) for number in range(count))
    stub = partial(stub_main, frames_per_s=rate / count, boxes=options.boxes)
    EnginePool.worker_main = staticmethod(stub)
    settings = RunSettings(ModelFiles(DEMO.cfg, DEMO.weights), devices)
    source = folder / "stub.mp4"
    source.write_bytes(b"stub")
    ready, frames, begun = 0, 0, 0.0
    pids = [os.getpid(), *([] if cluster is None else [cluster.pid])]
    database = Path(tempfile.mkdtemp(dir=folder)) / "session.sqlite"
    with DetectionRun(settings, database, [str(number) for number in range(80)], hosts=cluster) as session:
        for event in session.events():
            if isinstance(event, DeviceFailed):
                raise SystemExit(f"{event.device}: {event.message}")
            if isinstance(event, DeviceReady):
                ready += 1
                if ready == count:
                    session.add(source)
                    session.finish()
            if isinstance(event, FramesDone):
                if not begun:
                    begun, size, before = time.perf_counter(), _stored(database), [_usage(pid) for pid in pids]
                    continue
                frames += len(event.frames)
                if time.perf_counter() - begun > options.seconds:
                    seconds, after = time.perf_counter() - begun, [_usage(pid) for pid in pids]
                    written = _stored(database) - size
                    session.cancel()
                    break
    pool, connection = ([now[0] - then[0] for now, then in zip(after, before, strict=True)] + [0.0])[:2]
    memory = [sum(usage[1] for usage in each) / 1e6 for each in (before, after)]
    costs = [f"{1000 * cpu / frames:.3f}" for cpu in (pool, connection)]
    return [
        f"{frames / seconds:.0f}",
        *costs,
        f"{pool / seconds:.0%}",
        *(f"{each:.0f}" for each in memory),
        f"{written / seconds / 1e6:.1f}",
    ]


def merge(options: argparse.Namespace, folder: Path) -> str:
    """Sessions of two drivers that are joined. Returns the report."""
    paths = [_stored_session(folder / f"part-{number}", options) for number in range(2)]
    begun, used = time.perf_counter(), time.process_time()
    merge_sessions(paths, folder / "all" / "session.sqlite")
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    frames, size = 2 * options.frames, _stored(folder / "all" / "session.sqlite")
    row = [frames, f"{seconds:.1f}", f"{frames / seconds:.0f}", f"{1000 * cpu / frames:.4f}", f"{size / frames:.0f}"]
    head = ("frames", "seconds", "frames/s", "processor s per 1,000 frames", "MB per million frames")
    return f"{table(head, [row])}\n\nTwo sessions of stub devices, each with one source and {options.boxes} boxes per frame."


def _stored_session(folder: Path, options: argparse.Namespace) -> Path:
    """A session with at least ``options.frames`` frames of one source."""
    folder.mkdir()
    source = folder / f"{folder.name}.mp4"
    source.write_bytes(b"stub")
    devices = tuple(DeviceId("cpu", str(number)) for number in range(2))
    EnginePool.worker_main = staticmethod(partial(stub_main, frames_per_s=0.0, boxes=options.boxes))
    settings = RunSettings(ModelFiles(DEMO.cfg, DEMO.weights), devices)
    stored = 0
    with DetectionRun(settings, folder / "session.sqlite", [str(number) for number in range(80)]) as session:
        session.add(source)
        session.finish()
        for event in session.events():
            stored += len(event.frames) if isinstance(event, FramesDone) else 0
            if stored >= options.frames:
                session.cancel()
                break
    return folder / "session.sqlite"


def _usage(pid: int) -> tuple[float, int]:
    """Processor time of a process, seconds, and its resident memory, bytes."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def _stored(database: Path) -> int:
    """Bytes of a session database and its log."""
    return sum(path.stat().st_size for path in database.parent.glob(f"{database.name}*"))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    many = commands.add_parser("driver")
    many.add_argument("--devices", type=int, nargs="+", default=[8, 50, 200])
    many.add_argument("--nodes", type=int, default=2, help="0 = a local pool")
    many.add_argument("--rates", type=float, nargs="+", default=[4000, 0], help="frames/s of all devices together; 0 = as fast as possible")
    many.add_argument("--boxes", type=int, default=5)
    many.add_argument("--seconds", type=float, default=20)
    joined = commands.add_parser("merge")
    joined.add_argument("--frames", type=int, default=200_000, help="of each of two sessions")
    joined.add_argument("--boxes", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = {"driver": driver, "merge": merge}[options.command](options, Path(folder))
    title = TITLES[options.command]
    here = " of this machine" if options.command == "driver" and not options.nodes else ""
    write("cluster.driver", title.replace("(stub devices)", f"(stub devices{here})"), report, ("ray", "openvino"), "cluster")


if __name__ == "__main__":
    main()
