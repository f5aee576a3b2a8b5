"""From a 1080p H.264 file to detections on one NVIDIA GPU: the whole pool, against the network alone and NVDEC alone in the same run.

The clip is made on the spot (see ``benchmarks.nvdec``) and repeated by copying its packets. The pool's rate is taken between the first
tenth of the frames and the last frame; the network alone is its stage by CUDA events, NVDEC alone the project's decoder with 12
decode threads and nothing behind it.

Memory is the proportional set size of the pool's process and its worker, after a tenth of the frames and at the end.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.memory import _memory, looped
from benchmarks.nvdec import decode_some, in_threads, make_clip, new_decoder
from benchmarks.report import table, write
from engine.media.probe import probe
from engine.pool.events import DeviceFailed, DeviceReady, DeviceStats, FramesDone, SourceFinished
from engine.pool.pool import EnginePool
from engine.settings import EngineSettings, ModelFiles, Parallel, Precision, RunSettings
from engine.types import DeviceId

DECODE_THREADS = 12
WANTED = {416: 0.90, 608: 0.95}


def nvdec_alone(video: Path) -> float:
    """Frames/s, in a process of its own."""
    info, decoder = probe(video), new_decoder()
    decode_some(decoder, info, 0, 120)
    rate, _ = in_threads(DECODE_THREADS, lambda number: decode_some(decoder, info, number))
    decoder.close()
    return rate


def memory() -> float:
    """MB of this process and its children."""
    pids = [os.getpid(), *(process.pid for process in multiprocessing.active_children() if process.pid)]
    return sum(_memory(pid)[0] for pid in pids)


def detect(cfg: Path, size: int, batch: int | None, video: Path, total: int) -> tuple[float, float, float, DeviceReady, DeviceStats]:
    """Frames/s, MB after a tenth and at the end, the engine, and the device's last figures."""
    # random weights see some ten objects a frame of the clip from here on, about as many as a street has
    engine = EngineSettings(precision=Precision.FP16, batch=batch, confidence=0.4)
    settings = RunSettings(ModelFiles(cfg, "random:1", size=(size, size)), parallel=Parallel.SEGMENTS, engine=engine)
    frames, start, first, early, late = 0, 0.0, 0, 0.0, 0.0
    ready = stats = None
    with EnginePool(settings, [DeviceId("cuda", "0")]) as pool:
        pool.add(video)
        pool.finish()
        for event in pool.events():
            match event:
                case FramesDone():
                    frames += len(event.frames)
                    if not start and frames >= total / 10:
                        start, first, early = time.perf_counter(), frames, memory()
                    if frames == total:
                        took, late = time.perf_counter() - start, memory()
                case DeviceReady():
                    ready = event
                case DeviceStats():
                    stats = event
                case DeviceFailed():
                    print(event, flush=True)
                case SourceFinished():
                    print(event.ledger, event.error, flush=True)
                    assert event.ledger.inferred == total, event
    assert ready is not None
    assert stats is not None
    return (total - first) / took, early, late, ready, stats


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True, help="yolov4.cfg")
    parser.add_argument("--batch", type=int, help="frames per inference (default: tuned)")
    parser.add_argument("--frames", type=int, default=1500, help="of the clip")
    parser.add_argument("--times", type=int, default=20, help="the clip is repeated")
    parser.add_argument("--long", type=int, default=67, help="repeated so often to watch the memory; 0: do not")
    arguments = parser.parse_args()
    rows, notes = [], []
    with tempfile.TemporaryDirectory() as folder:
        clip = make_clip(Path(folder) / "clip.mp4", arguments.frames)
        video = looped(clip, arguments.times, Path(folder) / "video.mp4")
        with multiprocessing.get_context("spawn").Pool(1) as process:
            decoding = process.apply(nvdec_alone, (video,))
        print(f"NVDEC alone {decoding:.0f}", flush=True)
        for size, wanted in WANTED.items():
            rate, _, _, ready, stats = detect(arguments.cfg, size, arguments.batch, video, arguments.frames * arguments.times)
            network = 1000 / stats.busy["network"]
            reached = rate / min(network, decoding)
            rows.append(
                [size, ready.engine.batch, f"{network:.0f}", f"{decoding:.0f}", f"{rate:.0f}", f"{reached:.3f}", wanted, stats.bottleneck]
            )
            print(rows[-1], dict(stats.busy), dict(stats.stages), ready.engine, flush=True)
            notes.append(
                f"{size}: ms a frame, by the device's clock: {', '.join(f'{stage} {ms:.3f}' for stage, ms in stats.busy.items())}."
            )
        if arguments.long:
            total = arguments.frames * arguments.long
            long = looped(clip, arguments.long, Path(folder) / "long.mp4")
            rate, early, late, _, _ = detect(arguments.cfg, 416, arguments.batch, long, total)
            notes.append(
                f"{total} frames at 416: {early:.0f} MB after a tenth, {late:.0f} MB at the end ({late - early:+.0f}); {rate:.0f} frames/s."
            )
    head = [
        "size",
        "batch",
        "network alone, images/s",
        "NVDEC alone, frames/s",
        "file to detections, frames/s",
        "of the lower",
        "wanted",
        "bottleneck",
    ]
    write(
        "gpu_video",
        "From a 1080p H.264 file to detections, one NVIDIA GPU",
        "\n\n".join([table(head, rows), *notes]),
        ["numpy", "av", "cuda-core"],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
