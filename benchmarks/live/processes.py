"""What the capture processes of many cameras cost: start, memory, processor time. Needs GStreamer's RTSP server; nothing is decoded."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path

from benchmarks.report import spread, table, write
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.messages import LiveState
from framefleet.engine.pool.events import StreamChanged
from framefleet.engine.pool.live_sources import LiveSource, LiveSources
from tests.support.live.servers import RtspServer


def memory(pid: int) -> float:
    """MiB of a process: its own, and its share of what it shares with others."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def processor(pid: int) -> float:
    """Seconds of processor time of a process until now."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--rate", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    streams, running = LiveSources(), dict[int, float]()
    with RtspServer(width=1280, height=720, rate=arguments.rate, group=2 * arguments.rate, bitrate=1000) as server:
        address = LiveAddress.read(server.address)
        assert address is not None
        begun = time.perf_counter()

        def receive(until: Callable[[], bool]) -> None:
            while not until():
                wait(streams.connections, 0.1)
                for event in streams.receive():
                    if isinstance(event, StreamChanged) and event.state is LiveState.RUNNING:
                        running.setdefault(event.source, time.perf_counter() - begun)

        for number in range(arguments.streams):
            streams.add(number, LiveSource(address))
        receive(lambda: len(running) == arguments.streams)
        pids = [child.pid for child in multiprocessing.active_children() if child.name.startswith("framefleet stream") and child.pid]
        starts = [processor(pid) for pid in pids]
        since = time.perf_counter()
        receive(lambda: time.perf_counter() - since > arguments.seconds)
        took = time.perf_counter() - since
        shares = [100 * (processor(pid) - start) / took for pid, start in zip(pids, starts, strict=True)]
        memories = [memory(pid) for pid in pids]
        streams.close()
    times = f"{min(running.values()):.1f}, {max(running.values()):.1f}"
    head = ("streams", "s until the first, the last runs", "s of a processor to start", "MiB each", "% of a core each", "MiB all")
    rows = [(len(pids), times, spread(starts, 2), spread(memories, 1), spread(shares, 2), f"{sum(memories):.0f}")]
    shape = f"RTSP of 720p{arguments.rate}, 1 Mbit/s, a keyframe every 2 s, {arguments.seconds:.0f} s; memory is PSS.\n\n"
    write("live.processes", "What a capture process costs", shape + table(head, rows), ("av", "numpy"), "live")


if __name__ == "__main__":
    main()
