"""Tests a cluster of two machines with a real network between them: ``python -m benchmarks.cluster.network`` (Linux, root).

Two network namespaces act as two machines with different addresses. A pair of virtual network cards with a limited rate connects them. The
second machine has its own ``/tmp``, so videos have to be sent to it. There are three runs: one on the second machine only; one on both
machines, in which the cable is cut for some time; one on both, in which the cable is cut permanently. The exports of each run are compared,
byte by byte, with those of a run on this machine.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.report import table, write
from framefleet.engine.bench.clip_process import make, repeat
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.model.load import check_model
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed, FramesDone
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision, RunSettings
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO

NEAR, FAR = "ff-near", "ff-far"
ADDRESSES = {NEAR: "10.213.77.1", FAR: "10.213.77.2"}
PORT = 6379
TRIES = 5
VARIABLES = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_enable_worker_prestart": "0", "PYTHONPATH": str(Path.cwd())}
MODEL = ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels)
FORMATS = "jsonl,csv,coco,mot"


def ip(command: str) -> None:
    """Run a command of iproute2."""
    subprocess.run(shlex.split(command), check=True, capture_output=True)


@contextmanager
def machines(rate: str, folder: Path) -> Iterator[None]:
    """Two machines of a cluster. rate: of their network, as ``tc`` takes it."""
    ray = Path(sys.executable).parent / "ray"
    options = "--num-cpus=1 --object-store-memory=80000000 --block"
    started: list[subprocess.Popen[bytes]] = []
    _remove()  # those of a run that was killed
    try:
        for name in ADDRESSES:
            ip(f"ip netns add {name}")
        ip(f"ip link add {NEAR} netns {NEAR} type veth peer name {FAR} netns {FAR}")
        for name, address in ADDRESSES.items():
            ip(f"ip -n {name} addr add {address}/24 dev {name}")
            for card in ("lo", name):
                ip(f"ip -n {name} link set {card} up")
            ip(f"tc -n {name} qdisc add dev {name} root tbf rate {rate} burst 256kb latency 50ms")
        commands = {
            NEAR: f"mkdir -p {folder}/ray && exec {ray} start --head --port={PORT} --include-dashboard=false --temp-dir={folder}/ray",
            FAR: f"mount -t tmpfs tmpfs /tmp && mkdir -p {folder} && exec {ray} start --address={ADDRESSES[NEAR]}:{PORT}",
        }
        for name, command in commands.items():
            shell = f"{command} --node-ip-address={ADDRESSES[name]} --node-name={name} {options}"
            started.append(_start(["ip", "netns", "exec", name, "unshare", "-m", "sh", "-c", shell], folder / f"{name}.log"))
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()
        _remove()


def _remove() -> None:
    for name in ADDRESSES:
        with suppress(subprocess.CalledProcessError):
            ip(f"ip netns del {name}")


def _start(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a node of Ray. Ray gives up after 30 s, which is too early on a busy machine: its two agents load many modules first."""
    for _ in range(TRIES):
        with log.open("wb") as file:
            process = subprocess.Popen(command, env=os.environ | VARIABLES, stdout=file, stderr=file)
        while process.poll() is None:
            if b"Ray runtime started" in log.read_bytes():
                return process
            time.sleep(0.5)
    raise SystemExit(log.read_text())


def exported(database: Path, out: Path) -> dict[str, bytes]:
    """The exports of a session, by name, without the names of nodes."""
    command = [sys.executable, "-m", "app", "results", str(database), "--format", FORMATS, "--out", str(out), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    files = [path for path in out.rglob("*") if path.is_file()]
    return {str(path.relative_to(out)): re.sub(rb"ff-(near|far)/(?=cpu:0)", b"", path.read_bytes()) for path in files}


def card(name: str, way: str) -> int:
    """Bytes that the card of a machine has sent ("tx") or received ("rx")."""
    command = ["ip", "netns", "exec", name, "cat", f"/sys/class/net/{name}/statistics/{way}_bytes"]
    return int(subprocess.run(command, check=True, capture_output=True).stdout)


def inside(options: argparse.Namespace) -> None:
    """One run, in the namespace of the first machine. Prints its figures; the last line is the database's path."""
    folder, cut = Path(options.inside), float(options.cut)
    devices = tuple(DeviceId("cpu", "0", node) for node in ((FAR,) if cut == 0 else (NEAR, FAR)))
    database = Path(tempfile.mkdtemp(dir=folder)) / "session.sqlite"
    video = folder / "video.mp4"
    said, seen, stopped = list[Notice](), list[str](), threading.Event()
    with ClusterConnection(f"{ADDRESSES[NEAR]}:{PORT}", said.append) as cluster:
        cluster.measure(True)
        began, before, peak = time.perf_counter(), card(FAR, "rx"), 0.0

        def watch() -> None:
            nonlocal peak
            while not stopped.wait(0.5):
                measured = next((state.measured for state in cluster.states if state.name == FAR), None)
                peak = max(peak, (measured.rx or 0.0) if measured is not None else 0.0)

        watcher = threading.Thread(target=watch)
        watcher.start()
        first, by, cuts = 0.0, dict[str, int](), 0
        with DetectionRun(_settings(*devices), database, check_model(MODEL).labels, hosts=cluster) as session:
            session.add(video)
            session.finish()
            for event in session.events():
                if isinstance(event, DeviceFailed):
                    seen.append(f"{time.perf_counter() - began:.0f} s: {event.message}")
                if isinstance(event, FramesDone):
                    first = first or time.perf_counter() - began
                    for frame in event.frames:
                        by[frame.device.node if frame.device else ""] = by.get(frame.device.node if frame.device else "", 0) + 1
                    if cut and not cuts and FAR in by:
                        cuts, at = 1, time.perf_counter() - began
                        seen.append(f"{at:.0f} s: the cable is cut")
                        ip(f"ip -n {FAR} link set {FAR} down")
                        if cut > 0:
                            threading.Timer(cut, _mend).start()
        stopped.set()
        watcher.join()
        state = next(state for state in cluster.states if state.name == FAR)
        print(f"seconds to the first frame: {first:.1f}; in total: {time.perf_counter() - began:.1f}; frames by machine: {by}")
        print(f"file sent, as shown by the panel: {state.sent:,} bytes; received by the network card: {card(FAR, 'rx') - before:,}")
        print(f"highest rate shown by the panel: {peak / 1e6:.2f} MB/s; results: {state.received:,} bytes")
        print("\n".join([*seen, *map(str, said)]) or "no device failed")
    print(database)


def _settings(*devices: DeviceId) -> RunSettings:
    return RunSettings(MODEL, devices, engine=EngineSettings(precision=Precision.FP32))


def _mend() -> None:
    ip(f"ip -n {FAR} link set {FAR} up")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", default="100mbit", help="of the network, as tc takes it")
    parser.add_argument("--frames", type=int, default=3600)
    parser.add_argument("--seconds", type=float, default=30, help="how long the cable is cut in the second run")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--cut", default="0", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options)
        return
    with tempfile.TemporaryDirectory(prefix="ff", dir="/tmp") as name:
        folder = Path(name)
        make(folder / "clip.mp4", min(600, options.frames))
        repeat(folder / "clip.mp4", options.frames, folder / "video.mp4")
        size = (folder / "video.mp4").stat().st_size
        local = folder / "local" / "session.sqlite"
        local.parent.mkdir()
        with DetectionRun(_settings(DeviceId("cpu", "0")), local, check_model(MODEL).labels) as session:
            session.add(folder / "video.mp4")
            session.finish()
            for _ in session.events():
                pass
        wanted = exported(local, folder / "local-exports")
        rows = []
        for title, cut in (
            ("second machine only", 0.0),
            (f"both, cable cut for {options.seconds:.0f} s", options.seconds),
            ("both, cable cut permanently", -1.0),
        ):
            with machines(options.rate, folder):
                command = [sys.executable, "-m", "benchmarks.cluster.network", "--inside", str(folder), f"--cut={cut}"]
                run = ["ip", "netns", "exec", NEAR, *command]
                done = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | VARIABLES)
                said = done.stdout.splitlines()
            same = exported(Path(said[-1]), Path(said[-1]).parent / "exports") == wanted
            rows.append([title, "<br>".join(said[:-1]), "equal" if same else "**different**"])
            print(*rows[-1], sep="\n", flush=True)
    note = (
        f"A video of {size:,} bytes, {options.frames} frames, over {options.rate} (tc tbf). Equal: all bytes of {FORMATS} equal those of a"
    )
    note += ' run on one machine, except for the nodes\' names in the "device" column.'
    write(
        "cluster.network",
        "A cluster on a limited network",
        f"{table(('run', 'what happened', 'exports'), rows)}\n\n{note}",
        ("ray",),
        "cluster",
    )


if __name__ == "__main__":
    main()
