"""Measures one run of the pool: its throughput in the steady state, each device's work, and the bottleneck.

Sources are added when every engine is ready, so that all devices begin together. The steady state begins after a tenth of the frames. It
ends with the last frame. If each device has its own stream, it ends with the first stream, because what remains of the others differs.
Frames count when the pool receives them from a device, in samples half a second apart.
"""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.devices import affinity, telemetry
from framefleet.engine.notices import DeviceError, Notice, SourceError
from framefleet.engine.pool import events
from framefleet.engine.pool.hosts import Hosts
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.processes.program import run_program
from framefleet.engine.settings import RunSettings
from framefleet.engine.types import DeviceId, EngineInfo

MADE_FRAMES = 600


class Clips:
    """Videos of any length. source: the video to repeat, None = a generated 1080p H.264 clip. folder: keeps the files.

    name: a description of the source for a report.
    """

    def __init__(self, folder: Path, source: Path | None = None) -> None:
        # absolute: the other process has another working folder
        self._folder, self._source = folder, source and source.absolute()
        self.name = "a generated clip, 1920×1080 H.264 at 6 Mbit/s, a keyframe every 2 s" if source is None else source.name
        self._made: dict[int, Path] = {}

    def of(self, frames: int) -> Path:
        """The path of a video with at least this number of frames, which is made at the first call.

        Raises SourceError if the source cannot be repeated, or the file cannot be written.
        """
        if self._source is None:
            self._source = self._folder / "clip.mp4"
            _run(self._source, MADE_FRAMES)
        if frames not in self._made:
            path = self._folder / f"{frames}.mp4"
            _run(path, frames, self._source)
            self._made[frames] = path
        return self._made[frames]


def _run(target: Path, frames: int, *video: Path) -> None:
    values, problem = run_program((sys.executable, "-m", "framefleet.engine.bench.clip_process", *map(str, (target, frames, *video))))
    if problem is not None:
        said = Notice.from_json(values[-1]["error"]) if values else problem
        raise SourceError(Notice("bench.no_video", problem=said))


FULL = 0.9
"""A processor with a higher load is the bottleneck."""


@dataclass(frozen=True)
class DeviceRun:
    """The work of one device. frames_per_s: in the steady state. All other values: over the whole run, see ``DeviceStats``."""

    engine: EngineInfo
    frames: int
    frames_per_s: float
    latency_p50: float | None
    latency_p99: float | None
    stages: Mapping[str, float]
    busy: Mapping[str, float]
    bottleneck: str | None


@dataclass(frozen=True)
class PoolRun:
    """One measured run.

    frames: in total. announced, segments: frames and segments of all sources. seconds: length of the steady state. frames_per_s: of
    all devices in the steady state. whole_per_s: of all frames since every engine was ready. pool_load: load of the pool's own
    process in the steady state, 1 = one processor. host_load: load of all processors of the machine, 0..1, None = unknown. drift:
    throughput in the second half of the steady state ÷ in the first half, None = too short; far from 1 the state was not steady.
    """

    strategy: str
    reason: Notice
    frames: int
    announced: int
    segments: int
    seconds: float
    frames_per_s: float
    whole_per_s: float
    pool_load: float
    host_load: float | None
    drift: float | None
    devices: tuple[DeviceRun, ...]

    @property
    def host_cost(self) -> float | None:
        """Processor time of the whole machine per frame, µs."""
        return None if self.host_load is None else 1e6 * self.host_load * affinity.usable_cores() / self.frames_per_s

    @property
    def bottleneck(self) -> str:
        """A description of the bottleneck."""
        if self.pool_load > FULL:
            return f"the pool's own process ({self.pool_load:.0%} of a processor)"
        named = Counter(device.bottleneck for device in self.devices if device.bottleneck is not None)
        if not named:
            return "unknown"
        stage, count = named.most_common(1)[0]
        words = stage if len(self.devices) == 1 else f"{stage} on {count} of {len(self.devices)} devices"
        if self.host_load is not None and self.host_load > FULL:
            words += f"; the host's processors are {self.host_load:.0%} busy"
        return words


WARM_UP = 0.1
"""The share of the frames before the steady state."""


def run_pool(
    settings: RunSettings,
    devices: Sequence[DeviceId],
    sources: Sequence[Path],
    *,
    until_first: bool = False,
    most_seconds: float | None = None,
    show: Callable[[events.Event], None] = lambda _: None,
    hosts: Hosts | None = None,
) -> PoolRun:
    """Detect in the sources and measure. until_first: stop when the first source ends. most_seconds: of the steady state, None = no
    limit. show: called with every event. hosts: see ``EnginePool``.

    Raises
    ------
    DeviceError
        A device cannot be used, or failed during the run.
    SourceError
        A source cannot be read to its end, or frames of it failed.
    """
    watch = RunWatch(len(sources))
    with EnginePool(settings, devices, hosts) as pool:
        for event in pool.events():
            if watch.see(event):
                for source in sources:
                    pool.add(source)
                pool.finish()
            show(event)
            if watch.over is None and ((until_first and watch.finished) or (most_seconds is not None and watch.steady_for > most_seconds)):
                watch.end()
                pool.cancel()
    return watch.result()


@dataclass(frozen=True)
class _Moment:
    """A moment of the run. time: ``perf_counter``. used: processor time of this process, seconds. frames: done until then."""

    time: float
    used: float
    frames: int


class RunWatch:
    """Follows the events of a run with a known number of sources."""

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._strategy = events.StrategyChosen("", Notice("pool.as_settings_say"))
        self._starting: dict[DeviceId, None] = {}  # in order
        self._engines: dict[DeviceId, EngineInfo] = {}
        self._samples: dict[DeviceId, list[tuple[float, int]]] = defaultdict(list)
        self._last: dict[DeviceId, events.DeviceStats] = {}
        self._opened: list[events.SourceOpened] = []
        self._frames = 0
        self._ready: _Moment | None = None
        self._steady: _Moment | None = None
        self._host = telemetry.ProcessorSampler(DeviceId("cpu", "0"))
        self._host_load: float | None = None
        self.finished = 0
        self.over: _Moment | None = None

    @property
    def steady_for(self) -> float:
        """Seconds since the steady state began."""
        return time.perf_counter() - self._steady.time if self._steady is not None else 0.0

    def see(self, event: events.Event) -> bool:
        """Process one event. Returns whether it made the last engine ready."""
        match event:
            case events.StrategyChosen():
                self._strategy = event
            case events.DeviceStarting(device):
                self._starting[device] = None
            case events.DeviceReady(engine):
                self._engines[engine.device] = engine
                if self._ready is None and self._engines.keys() == self._starting.keys():
                    self._ready = self._now()
                    return True
            case events.DeviceFailed(device, message):
                raise DeviceError(Notice("bench.device_failed", device=str(device), problem=message))
            case events.DeviceStats(device) if event.final:
                self._last[device] = event
            case events.DeviceStats(device):
                self._samples[device].append((time.perf_counter(), event.frames))
            case events.SourceOpened():
                self._opened.append(event)
            case events.FramesDone(_, frames):
                self._frames += len(frames)
                self._begin()
            case events.SourceFinished(source, ledger, _, error, cancelled):
                if error is not None or ledger.failed:
                    raise SourceError(Notice("bench.source_failed", number=source + 1, problem=error or next(iter(ledger.failed))))
                self.finished += not cancelled
                if self.finished == self._sources and self.over is None:
                    self.end()
        return False

    def _begin(self) -> None:
        # assume that a source that is not open yet is like the others
        announced = sum(opened.info.frames for opened in self._opened) * self._sources / len(self._opened)
        if self._steady is None and self._ready is not None and self._frames >= WARM_UP * announced:
            self._steady = self._now()
            self._host.sample()

    def end(self) -> None:
        """End the steady state."""
        self.over = self._now()
        load = self._host.sample().utilization
        self._host_load = None if load is None else load / 100

    def result(self) -> PoolRun:
        """The measurement. Raises SourceError if the run was too short."""
        ready, begun, over = self._ready, self._steady, self.over
        if ready is None or begun is None or over is None or over.time <= begun.time:
            raise SourceError(Notice("bench.too_short"))
        seconds = over.time - begun.time
        rates = {device: self._rate(device, begun.time, over.time) for device in self._starting}
        whole = (over.frames - ready.frames) / max(over.time - ready.time, 1e-9)
        # A run of about a second can lack samples of a device: take the whole run instead. Frames in order would be too many, since those
        # that the decode threads had finished out of order before the steady state would count.
        total = sum(rate for rate in rates.values() if rate is not None) if all(rates.values()) else whole
        return PoolRun(
            self._strategy.strategy,
            self._strategy.reason,
            self._frames,
            sum(opened.info.frames for opened in self._opened),
            sum(len(opened.info.segments) for opened in self._opened),
            seconds,
            total,
            whole,
            (over.used - begun.used) / seconds,
            self._host_load,
            self._drift(begun.time, over.time),
            tuple(self._device(device, rate) for device, rate in rates.items()),
        )

    def _rate(self, device: DeviceId, begun: float, over: float) -> float | None:
        """Frames/s of a device between two times, None without two samples."""
        samples = [sample for sample in self._samples[device] if begun <= sample[0] <= over]
        if self.over is not None and over == self.over.time and self.finished == self._sources and device in self._last:
            samples.append((over, self._last[device].frames))  # the run ended by itself: no frame came later
        if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
            return None
        return (samples[-1][1] - samples[0][1]) / (samples[-1][0] - samples[0][0])

    def _drift(self, begun: float, over: float) -> float | None:
        middle = (begun + over) / 2
        first, second = ([self._rate(device, *half) for device in self._engines] for half in ((begun, middle), (middle, over)))
        if not all(first) or None in second:
            return None
        return sum(rate or 0.0 for rate in second) / sum(rate or 0.0 for rate in first)

    def _device(self, device: DeviceId, rate: float | None) -> DeviceRun:
        last = self._last.get(device, events.DeviceStats(device, 0, 0.0, None, None))
        rate = last.frames_per_second if rate is None else rate
        return DeviceRun(
            self._engines[device], last.frames, rate, last.latency_p50, last.latency_p99, last.stages, last.busy, last.bottleneck
        )

    def _now(self) -> _Moment:
        return _Moment(time.perf_counter(), time.process_time(), self._frames)
