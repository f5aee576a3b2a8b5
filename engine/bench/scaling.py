"""Measures how throughput scales with the number of devices. Weak scaling: a stream for each. Strong scaling: one video for all.

Every round measures every number of devices once, one after the other, so that other load on the machine affects all of them. The
efficiency is throughput ÷ (n · throughput of one device in the same round and mode); n is 1 for CPU devices, which share the cores.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from statistics import median

from framefleet.engine.bench.pool_run import WARM_UP, Clips, PoolRun, run_pool
from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.pool.events import Event
from framefleet.engine.settings import Parallel, RunSettings
from framefleet.engine.types import DeviceId

SEGMENTS = 4
"""Segments for every decode thread, at least: with fewer, the devices end at very different times."""

_TRIAL_SECONDS = 3.0
CPU_TRIAL_FRAMES, _GPU_TRIAL_FRAMES = 600, 9000  # the latter are 3 s at the speed of NVDEC


class Mode(StrEnum):
    """How the work grows with devices. WEAK: n streams for n devices. STRONG: one video for n devices."""

    WEAK = "weak"
    STRONG = "strong"


@dataclass(frozen=True)
class Experiment:
    """What to measure.

    counts: numbers of devices, which are taken from the start of ``devices``. seconds: approximate length of a run. settings: their
    ``parallel`` is the strategy for strong scaling.
    """

    settings: RunSettings
    devices: tuple[DeviceId, ...]
    counts: tuple[int, ...]
    modes: tuple[Mode, ...] = (Mode.WEAK, Mode.STRONG)
    seconds: float = 20.0
    rounds: int = 1

    def __post_init__(self) -> None:
        if not self.counts or 1 not in self.counts or list(self.counts) != sorted(set(self.counts)):
            raise UsageError(Notice("bench.wrong_counts", counts=self.counts))
        if self.counts[-1] > len(self.devices):
            names = tuple(map(str, self.devices))
            raise UsageError(Notice("bench.too_few_devices", wanted=self.counts[-1], count=len(names), devices=names))


@dataclass(frozen=True)
class Point:
    """The runs with one number of devices in one mode, one for each finished round."""

    mode: Mode
    count: int
    runs: tuple[PoolRun, ...]
    ones: tuple[PoolRun, ...]
    """The runs of one device in the same rounds."""

    @property
    def rate(self) -> float:
        """Throughput, frames/s: the median of the rounds."""
        return median(run.frames_per_s for run in self.runs)

    @property
    def speedups(self) -> list[float]:
        """Throughput ÷ that of one device, for each round."""
        return [run.frames_per_s / one.frames_per_s for run, one in zip(self.runs, self.ones, strict=True)]

    @property
    def speedup(self) -> float:
        """The median of ``speedups``."""
        return median(self.speedups)

    @property
    def whole_speedups(self) -> list[float]:
        """Frames/s of the whole run ÷ that of one device, for each round: from the readiness of the engines to the last frame."""
        return [run.whole_per_s / one.whole_per_s for run, one in zip(self.runs, self.ones, strict=True)]

    @property
    def ideal(self) -> int:
        """The speedup of independent equal devices. CPU devices share the cores and count as one device."""
        kinds = [member.kind for device in self.run.devices for member in device.engine.device.members]
        return self.count if "cpu" not in kinds else max(1, self.count - kinds.count("cpu"))

    @property
    def efficiency(self) -> float:
        """Speedup ÷ ideal."""
        return self.speedup / self.ideal

    @property
    def run(self) -> PoolRun:
        """The last run, for its details."""
        return self.runs[-1]


Show = Callable[[Mode, int, int, Event], None]
"""Called with the mode, the number of devices, the round, and every event of the pool."""


def measure_scaling(experiment: Experiment, clips: Clips, show: Show = lambda *_: None) -> Iterator[Point]:
    """Measure every mode and count in every round. Yields a Point after each run, with the runs of all finished rounds.

    Raises DeviceError, SourceError or ModelError as ``run_pool``.
    """
    rate, decode_threads, per_segment = _trial(experiment, clips, show)
    # the warm-up comes on top of the steady state
    frames = round(max(rate * experiment.seconds / (1 - WARM_UP), SEGMENTS * decode_threads * per_segment))
    runs: dict[tuple[Mode, int], list[PoolRun]] = {}
    for turn in range(experiment.rounds):
        for mode in experiment.modes:
            for count in experiment.counts:
                run = _run(experiment, mode, count, clips.of(frames if mode is Mode.WEAK else frames * count), turn, show)
                runs.setdefault((mode, count), []).append(run)
                yield Point(mode, count, tuple(runs[mode, count]), tuple(runs[mode, 1]))


def _run(experiment: Experiment, mode: Mode, count: int, video: Path, turn: int, show: Show) -> PoolRun:
    weak = mode is Mode.WEAK
    settings = replace(experiment.settings, parallel=Parallel.STREAMS) if weak else experiment.settings
    if count == 1 and settings.parallel is Parallel.DEPTH:
        settings = replace(settings, parallel=Parallel.SEGMENTS)  # one device runs the whole network
    return run_pool(
        settings,
        experiment.devices[:count],
        [video] * (count if weak else 1),
        until_first=weak,
        show=lambda event: show(mode, count, turn, event),
    )


def _trial(experiment: Experiment, clips: Clips, show: Show) -> tuple[float, int, float]:
    """A short run with one device: its frames/s, its decode threads, and the frames of a segment."""
    first = experiment.devices[0]
    run = run_pool(
        replace(experiment.settings, parallel=Parallel.STREAMS),
        [first],
        [clips.of(CPU_TRIAL_FRAMES if first.kind == "cpu" else _GPU_TRIAL_FRAMES)],
        most_seconds=min(_TRIAL_SECONDS, experiment.seconds),
        show=lambda event: show(Mode.WEAK, 0, 0, event),
    )
    return run.frames_per_s, run.devices[0].engine.decode_threads, run.announced / run.segments
