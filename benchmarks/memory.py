"""Whether memory stays flat in the length of the video: the same file, and the same file ten times in a row.

Memory is the proportional set size (PSS, from ``/proc/PID/smaps_rollup``) of the pool's process and all of its workers
together, sampled ten times a second; the peak counts. The resident set (RSS), which counts shared pages once for each
process, is given as well. The loop is made by copying the packets, so both files decode alike.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import threading
from pathlib import Path

import av

from benchmarks.report import table, write
from engine.pool.events import FramesDone, SourceFinished
from engine.pool.pool import EnginePool
from engine.settings import EngineSettings, ModelFiles, Parallel, Precision, RunSettings
from engine.types import DeviceId

LIMIT = 50
"""MB that the long file may need more."""


def looped(video: Path, times: int, target: Path) -> Path:
    """The video track, ``times`` in a row, without encoding anything anew."""
    with av.open(str(target), "w") as output:
        copy, offset = None, 0
        for _ in range(times):
            with av.open(str(video)) as source:
                track = source.streams.video[0]
                copy = copy or output.add_stream_from_template(track)
                end = 0
                for packet in source.demux(track):
                    if packet.dts is None or packet.pts is None:
                        continue
                    end = max(end, packet.pts + (packet.duration or 0))
                    packet.pts += offset
                    packet.dts += offset
                    packet.stream = copy
                    output.mux(packet)
                offset += end
    return target


class Sampler(threading.Thread):
    """Samples the memory of this process and its workers until told to stop. Peaks in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.pss = self.rss = 0.0
        self._done = threading.Event()

    def run(self) -> None:
        """Sample ten times a second."""
        while not self._done.wait(0.1):
            pids = [os.getpid(), *(process.pid for process in multiprocessing.active_children() if process.pid)]
            values = [_memory(pid) for pid in pids]
            self.pss = max(self.pss, sum(value[0] for value in values))
            self.rss = max(self.rss, sum(value[1] for value in values))

    def stop(self) -> None:
        """Sample no more."""
        self._done.set()
        self.join()


def _memory(pid: int) -> tuple[float, float]:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0, 0.0
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return sizes["Pss"] / 1000, sizes["Rss"] / 1000


def measure(model: ModelFiles, video: Path, devices: int) -> tuple[int, float, float]:
    """Frames, and the peaks of PSS and RSS in MB, of one run."""
    cpus = [DeviceId("cpu", str(number)) for number in range(devices)]
    settings = RunSettings(model, parallel=Parallel.SEGMENTS, engine=EngineSettings(precision=Precision.FP32))
    sampler, frames = Sampler(), 0
    sampler.start()
    with EnginePool(settings, cpus) as pool:
        pool.add(video)
        pool.finish()
        for event in pool.events():
            if isinstance(event, FramesDone):
                frames += len(event.frames)
            if isinstance(event, SourceFinished):
                assert event.ledger.inferred == frames, event
    sampler.stop()
    return frames, sampler.pss, sampler.rss


def apart(model: ModelFiles, video: Path, devices: int) -> tuple[int, float, float]:
    """The same in a fresh process, whose memory nothing else has touched."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(sending, model, video, devices))
    process.start()
    sending.close()
    result: tuple[int, float, float] = receiving.recv()
    process.join()
    receiving.close()
    return result


def _report(connection: multiprocessing.connection.Connection, model: ModelFiles, video: Path, devices: int) -> None:
    connection.send(measure(model, video, devices))


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with models/ and video/ (see the README)")
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    model = ModelFiles(options.data / "models" / "yolo-fastest-1.1.cfg", options.data / "models" / "yolo-fastest-1.1.weights")
    video = options.data / "video" / "people.mp4"
    rows, worst = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        long = looped(video, options.times, Path(folder) / "long.mp4")
        for devices in (1, 2):
            once, more = apart(model, video, devices), apart(model, long, devices)
            worst = max(worst, more[1] - once[1])
            for name, result in (("once", once), (f"{options.times}×", more)):
                rows.append((devices, name, result[0], f"{result[1]:.0f}", f"{result[2]:.0f}"))
            rows.append((devices, "**more**", more[0] - once[0], f"**{more[1] - once[1]:+.0f}**", f"**{more[2] - once[2]:+.0f}**"))
            print(rows[-3:], flush=True)
    head = ("CPU devices", "file", "frames", "peak PSS, MB", "peak RSS, MB")
    body = f"{table(head, rows)}\n\nThe long file may need {LIMIT} MB more; it needs at most {worst:.0f}.\n\n{__doc__}"
    write("memory", "Memory and the length of the video", body, ("openvino", "av", "numpy"))
    return 0 if worst < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
