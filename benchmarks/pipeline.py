"""How much of an engine's speed is left when the whole pipeline runs: ``EnginePool`` on a file against the backend alone.

Both run the same model at the same precision on the same pictures, in turns, so that only the ratio counts. The backend alone
gets pictures decoded beforehand and is kept busy with as many as it has slots; it runs at the workers' own low priority, so
that whatever else the machine does costs both sides the same. The pool decodes, carries the results across
process borders and orders them; its time runs from the engine's readiness to the last frame. Processor time (Linux only)
counts all threads of all processes of a side: it shows what the pipeline costs where others make the clock unreliable.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import median

import av

from benchmarks.report import table, write
from engine.backends import create_backend
from engine.media.decode import decode
from engine.media.probe import probe
from engine.media.types import DecodedFrame
from engine.model.load import load_network
from engine.pool.events import DeviceReady, FramesDone, SourceFinished
from engine.pool.host import NICE
from engine.pool.pool import EnginePool
from engine.settings import EngineSettings, ModelFiles, Precision, RunSettings
from engine.types import Detections, DeviceId, Image

DEVICE = DeviceId("cpu", "0")
PICTURES = 64


def shortened(video: Path, frames: int, target: Path) -> Path:
    """The first ``frames`` packets of a video, copied."""
    with av.open(str(video)) as source, av.open(str(target), "w") as output:
        track = source.streams.video[0]
        copy = output.add_stream_from_template(track)
        for packet in islice((packet for packet in source.demux(track) if packet.dts is not None), frames):
            packet.stream = copy
            output.mux(packet)
    return target


def pictures(video: Path) -> list[Image]:
    """The first pictures of a video."""
    info = probe(video)
    frames = (frame for segment in info.segments for frame in decode(info, segment))
    return [frame.image for frame in islice(frames, PICTURES) if isinstance(frame, DecodedFrame)]


@dataclass(frozen=True)
class Speed:
    """One run. rate: frames/s. cost: processor time per frame, ms. first: seconds from the start to the first frame."""

    rate: float
    cost: float
    first: float = 0.0


def processor_seconds(pid: int | str) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def backend_alone(model: ModelFiles, settings: EngineSettings, video: Path, frames: int) -> Speed:
    """The engine without anything around it."""
    os.nice(NICE)
    images = pictures(video)
    with create_backend(DEVICE) as backend:
        info = backend.activate(load_network(model), settings)
        # slots + 1 wait for their results, so that a slot never waits for its next pictures
        waiting: deque[Future[list[Detections]]] = deque()
        batches = [[images[(start + offset) % len(images)] for offset in range(info.batch)] for start in range(0, frames, info.batch)]
        for batch in batches[: info.slots]:
            backend.infer(batch)
        started, used = time.perf_counter(), processor_seconds("self")
        for batch in batches:
            waiting.append(backend.submit(batch))
            if len(waiting) > info.slots:
                waiting.popleft().result()
        for result in waiting:
            result.result()
        count = len(batches) * info.batch
        return Speed(count / (time.perf_counter() - started), 1000 * (processor_seconds("self") - used) / count)


def pool(model: ModelFiles, settings: EngineSettings, video: Path) -> Speed:
    """The pool on a file."""
    begun, ready, first, used, frames = time.perf_counter(), 0.0, 0.0, 0.0, 0

    def used_by_all() -> float:
        workers = [worker.pid for worker in multiprocessing.active_children() if worker.pid is not None]
        return sum(map(processor_seconds, [os.getpid(), *workers]))

    with EnginePool(RunSettings(model, (DEVICE,), engine=settings), [DEVICE]) as engine_pool:
        engine_pool.add(video)
        engine_pool.finish()
        for event in engine_pool.events():
            match event:
                case DeviceReady():
                    ready, used = time.perf_counter(), used_by_all()
                case FramesDone():
                    first = first or time.perf_counter() - begun
                    frames += len(event.frames)
                case SourceFinished():
                    assert event.ledger.inferred == frames, event
                    return Speed(frames / (time.perf_counter() - ready), 1000 * (used_by_all() - used) / frames, first)
    raise RuntimeError("the pool ended without its source")


def chosen_precision(model: ModelFiles) -> Precision:
    """What ``auto`` is on this machine: decided once, so that both sides use the same."""
    with create_backend(DEVICE) as backend:
        return Precision(backend.activate(load_network(model), EngineSettings()).precision)


def apart(function: object, *arguments: object) -> object:
    """Call in a fresh process: no run inherits threads, caches or memory from the one before."""
    with multiprocessing.get_context("spawn").Pool(1) as fresh:
        return fresh.apply(function, arguments)  # type: ignore[arg-type]


def compare(name: str, model: ModelFiles, precision: Precision, video: Path, rounds: int) -> Iterator[tuple[object, ...]]:
    """One table row: medians over the rounds, and the ratio of each pair."""
    settings = EngineSettings(precision=precision)
    if precision is Precision.AUTO:
        settings = replace(settings, precision=apart(chosen_precision, model))  # type: ignore[arg-type]
    frames = probe(video).frames
    rounds_done: list[tuple[Speed, Speed]] = []
    for number in range(rounds):
        alone: Speed = apart(backend_alone, model, settings, video, frames)  # type: ignore[assignment]
        rounds_done.append((alone, pool(model, settings, video)))
        print(f"{name} {settings.precision}, round {number + 1}: alone, pool: {rounds_done[-1]}", flush=True)
    alones, pools = zip(*rounds_done, strict=True)
    ratios = sorted(pooled.rate / alone.rate for alone, pooled in rounds_done)
    yield (
        name,
        settings.precision,
        frames,
        f"{median(speed.rate for speed in alones):.2f}",
        f"{median(speed.rate for speed in pools):.2f}",
        f"**{median(ratios):.3f}** ({ratios[0]:.3f}–{ratios[-1]:.3f})",
        f"{median(speed.cost for speed in alones):.1f}",
        f"{median(speed.cost for speed in pools):.1f}",
        f"{median(speed.first for speed in pools):.2f}",
    )


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with models/ and video/ (see the README)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", type=Precision, default=Precision.AUTO)
    parser.add_argument("--frames", type=int, default=150, help="of the video, for YOLOv4")
    options = parser.parse_args()
    models = options.data / "models"
    video = options.data / "video" / "people.mp4"
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        short = shortened(video, options.frames, Path(folder) / "short.mp4")
        yolov4 = ModelFiles(models / "yolov4.cfg", "random:1", size=(416, 416))
        fastest = ModelFiles(models / "yolo-fastest-1.1.cfg", models / "yolo-fastest-1.1.weights")
        rows += compare("YOLOv4-416, random weights", yolov4, options.precision, short, options.rounds)
        rows += compare("yolo-fastest-1.1", fastest, options.precision, video, options.rounds)
    head = (
        "model",
        "precision",
        "frames",
        "backend alone, images/s",
        "pool, frames/s",
        "pool ÷ alone (range)",
        "alone, processor ms/frame",
        "pool, processor ms/frame",
        "start → first frame, s",
    )
    body = f"{table(head, rows)}\n\nMedians of {options.rounds} rounds, both sides in turns. YOLOv4 has to reach 0.9.\n\n{__doc__}"
    write("pipeline", "The pool against the backend alone", body, ("openvino", "av", "numpy"))


if __name__ == "__main__":
    main()
