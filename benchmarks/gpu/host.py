"""Measures how much of NVDEC's speed arrives as stored boxes, and what a frame costs the host, on one device.

Every round measures NVDEC alone (``benchmarks.gpu.nvdec``), the project's decoder alone, and each model from the file to boxes in the
session database, one after the other. All of them decode with the same number of sessions. The engines are built once and stay ready, so
their sessions are open and warm before the measurement starts. A model's rate is that of the period in which all decode threads work: it
begins when each thread has decoded about one segment, and ends when the last segments are handed out. Frames count when they are stored.

The host's cost is the processor time of the worker's threads in this period, divided by its frames. The process that orders and stores the
results has its own column. A device without NVDEC decodes with FFmpeg in all rows.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median

from benchmarks.gpu.nvdec import Decoding, decoder_alone, nvdec_alone
from benchmarks.meters import family
from benchmarks.report import spread, table, write
from framefleet.engine.bench.pool_run import Clips
from framefleet.engine.media.decoder import open_decoder
from framefleet.engine.model.load import check_model
from framefleet.engine.notices import DeviceError, SourceError, literal
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStats, SourceFinished, SourceOpened
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision, RunSettings
from framefleet.engine.types import Closing, DeviceId

MEDIAN_SHARE, MIN_SHARE, MAX_MICROSECONDS = 0.96, 0.92, 200.0
"""Targets on a GPU: of NVDEC alone, in the median and in every round; processor time of the worker for a frame."""

OTHER = "other threads"
ROLES = {"read": "decode", "feed": "batch filling", "await": "awaiting results", "send": "result sending"}
"""What the worker's threads do, by the first word of their names in the system."""
COLUMNS = (*ROLES.values(), OTHER)


@dataclass(frozen=True)
class Run:
    """One video. seconds: length of the window. microseconds: a frame, by role. storing: µs a frame of the process that stores."""

    frames_per_s: float
    seconds: float
    microseconds: dict[str, float]
    storing: float

    @property
    def worker(self) -> float:
        """Processor time of the worker's process for a frame, µs."""
        return sum(self.microseconds.values())


@dataclass(frozen=True)
class Moment:
    """The state at one report of the worker. frames: stored so far. used: processor seconds by role. own: those of this process."""

    frames: int
    used: Mapping[str, float]
    at: float = field(default_factory=time.perf_counter)
    own: float = field(default_factory=time.process_time)


def processor_seconds(pid: int) -> Mapping[str, float]:
    """Processor seconds of a worker's threads so far, by role. Linux only."""
    used: dict[str, float] = defaultdict(float)
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # the thread has just ended
            name, nanoseconds = ((task / file).read_text().split()[0] for file in ("comm", "schedstat"))
            used[ROLES.get(name, OTHER)] += int(nanoseconds) / 1e9
    return used


class Detecting(Closing):
    """A model whose engine stays ready between videos."""

    def __init__(self, model: ModelFiles, device: DeviceId, settings: EngineSettings, database: Path) -> None:
        others = set(family())
        self._session = DetectionRun(RunSettings(model, (device,), engine=settings), database, check_model(model).labels)
        self._events = self._session.events()
        for event in self._events:
            if isinstance(event, DeviceFailed):
                raise DeviceError(event.message)
            if isinstance(event, DeviceReady):
                self.engine = event.engine
                break
        self._started = set(family()) - others
        self._before = 0

    def detect(self, video: Path) -> Run:
        """Detect in a video and measure.

        Raises
        ------
        SourceError
            Frames failed, or the video is too short for a window.
        """
        self._session.add(video)
        moments: list[Moment] = []
        for event in self._events:
            match event:
                case SourceOpened(_, info):
                    opened = info
                case DeviceFailed(_, message):
                    raise DeviceError(message)
                case DeviceStats(frames=frames):
                    moments.append(Moment(frames - self._before, processor_seconds(self._worker())))
                case SourceFinished(_, ledger, _, error):
                    if error is not None or ledger.failed:
                        raise SourceError(error or next(iter(ledger.failed)))
                    self._before += ledger.decoded
                    break
        under_way = self.engine.decode_threads * max(segment.frames for segment in opened.segments)
        queued = (self.engine.slots + 2) * self.engine.batch
        window = [moment for moment in moments if under_way <= moment.frames <= opened.frames - under_way - queued]
        if len(window) < 2:
            raise SourceError(literal(f"{opened.frames} frames are too few for a window in which all decode threads work: use --frames"))
        first, last = window[0], window[-1]
        frames, seconds = last.frames - first.frames, last.at - first.at
        spent = {role: 1e6 * (last.used[role] - first.used[role]) / frames for role in COLUMNS}
        return Run(frames / seconds, seconds, spent, 1e6 * (last.own - first.own) / frames)

    def _worker(self) -> int:
        for pid in self._started:
            with suppress(OSError):
                if any((task / "comm").read_text().startswith("read") for task in Path(f"/proc/{pid}/task").iterdir()):
                    return pid
        raise DeviceError(literal("the worker's process is not found"))

    def close(self) -> None:
        """Stop the worker."""
        self._session.close()


def together(engines: Sequence[Detecting], video: Path) -> Run:
    """Detect in a video with each engine at the same time. The rates are added; processor time is the mean over the frames."""
    with ThreadPoolExecutor(len(engines)) as threads:
        runs = list(threads.map(lambda engine: engine.detect(video), engines))
    costs = {role: sum(run.microseconds[role] for run in runs) / len(runs) for role in COLUMNS}
    storing = sum(run.storing for run in runs) / len(runs) ** 2  # each has counted this process for all of them
    return Run(sum(run.frames_per_s for run in runs), min(run.seconds for run in runs), costs, storing)


def verdict(shares: Sequence[float], cost: float) -> tuple[str, bool]:
    """Whether a model reaches the targets, in words and as a value."""
    reached = median(shares) >= MEDIAN_SHARE and min(shares) >= MIN_SHARE and cost <= MAX_MICROSECONDS
    words = f"median {median(shares):.3f} (target ≥ {MEDIAN_SHARE}), worst {min(shares):.3f} (≥ {MIN_SHARE}), "
    return f"{words}{cost:.0f} µs a frame (≤ {MAX_MICROSECONDS:.0f}): {'reached' if reached else '**missed**'}", reached


def _usual_threads(device: DeviceId) -> int:
    """The number of decode threads of a run on this device."""
    decoder = open_decoder(EngineSettings(), device if device.kind == "cuda" else None)
    decoder.close()
    return decoder.threads


def main() -> int:
    """Measure and write the result. Returns 1 if a target for GPUs is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, nargs="+", required=True, help="such as yolov4.cfg yolov4-tiny.cfg")
    parser.add_argument("--weights", default="random:1", help="a path or random:SEED (random:1)")
    parser.add_argument("--size", type=int, default=416, help="of the network's input (416)")
    parser.add_argument("--precision", type=Precision, default=Precision.FP16)
    parser.add_argument("--batch", type=int, default=32)
    words = "of each model: random:1 sees some ten objects a frame at 0.4 with yolov4, at 0.57 with yolov4-tiny"
    parser.add_argument("--confidence", type=float, nargs="+", default=[0.4], help=words)
    parser.add_argument("--device", type=DeviceId.parse, default=DeviceId("cuda", "0"))
    parser.add_argument("--decode-threads", type=int, help="sessions of every row (as many as a run uses)")
    parser.add_argument("--engines", type=int, default=1, help="worker processes for each model, which share the decode threads (1)")
    parser.add_argument("--frames", type=int, default=20000, help="length of the video (20000)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement of a decoder alone")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--result", default="gpu-host", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    device, gpu = options.device, options.device.kind == "cuda"
    threads = options.decode_threads or _usual_threads(device)
    each = threads // options.engines
    limit = "NVDEC alone" if gpu else "FFmpeg alone"
    decoders: dict[str, list[Decoding]] = {limit: [], **({"NvdecDecoder alone": []} if gpu else {})}
    runs: dict[str, list[Run]] = {cfg.stem: [] for cfg in options.cfg}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        clips = Clips(folder)
        video = clips.of(options.frames)
        alone = stack.enter_context(ProcessPoolExecutor(1, multiprocessing.get_context("spawn")))
        models: dict[str, list[Detecting]] = {}
        for cfg, confidence in zip(options.cfg, cycle(options.confidence), strict=False):
            settings = EngineSettings(precision=options.precision, batch=options.batch, stored_confidence=confidence, decode_threads=each)
            files = ModelFiles(cfg, options.weights, size=(options.size, options.size))
            databases = [folder / f"{cfg.stem}-{number}.sqlite" for number in range(options.engines)]
            models[cfg.stem] = [stack.enter_context(Detecting(files, device, settings, database)) for database in databases]
            print(f"{cfg.stem} is ready: {models[cfg.stem][0].engine.reason}", file=sys.stderr)
        for engines in models.values():
            together(engines, video)  # opens the sessions
        for turn in range(options.rounds):
            if gpu:
                decoders[limit].append(alone.submit(nvdec_alone, video, int(device.name), threads, options.seconds).result())
            name = [*decoders][-1]
            decoders[name].append(alone.submit(decoder_alone, video, device, threads, options.seconds).result())
            for name, engines in models.items():
                runs[name].append(together(engines, video))
            latest = {name: round(each[-1].frames_per_s) for name, each in (decoders | runs).items()}
            print(f"round {turn + 1}: {latest}", file=sys.stderr, flush=True)
        engine = next(iter(models.values()))[0].engine
    limits = [one.frames_per_s for one in decoders[limit]]
    rows: list[list[object]] = []
    for name, each in decoders.items():
        ratios = [one.frames_per_s / most for one, most in zip(each, limits, strict=True)]
        cost = median(one.microseconds for one in each)
        rows.append([name, spread([one.frames_per_s for one in each], 0), spread(ratios), f"{cost:.0f}", f"{cost:.0f}", "", "", "", "", ""])
    verdicts, reached = [], True
    for name, measured in runs.items():
        shares = [run.frames_per_s / most for run, most in zip(measured, limits, strict=True)]
        worker = [run.worker for run in measured]
        parts = [f"{median(run.microseconds[role] for run in measured):.0f}" for role in COLUMNS]
        parts.append(f"{median(run.storing for run in measured):.0f}")
        rates = spread([run.frames_per_s for run in measured], 0)
        rows.append([f"{name}-{options.size}", rates, spread(shares), spread(worker, 0), *parts])
        words, good = verdict(shares, median(worker))
        verdicts.append(f"{name}: {words}.")
        reached &= good
    head = ["", "frames/s", f"÷ {limit}", "host, µs a frame", *COLUMNS, "ordering and storing"]
    facts = f"{engine.device_name}, {engine.backend}, {engine.precision}, batch {engine.batch}, {threads} decode threads."
    facts += f" {options.engines} worker process{'es' if options.engines > 1 else ''} a model. {clips.name},"
    facts += f" {options.frames} frames. Medians of {options.rounds} rounds, ranges in brackets."
    targets = "\n\n".join(verdicts) if gpu else "The targets are for NVDEC."
    body = f"{facts}\n\n{table(head, rows)}\n\n{targets}\n\n{__doc__}"
    title = "From a file to stored boxes, and what a frame costs the host"
    write("gpu.host", title, body, ("av", "PyNvVideoCodec", "tensorrt-rtx", "numpy"), options.result)
    return 0 if reached or not gpu else 1


if __name__ == "__main__":
    sys.exit(main())
