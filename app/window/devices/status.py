"""The status of one device, folded from the pool's events into frozen values, and the text and colours that show it. No widgets."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed, DeviceLeft, DeviceReady, DeviceStarting, DeviceStats, EngineBuilding, RunFigures
from framefleet.engine.types import DeviceId, EngineInfo, without_device

HISTORY = 60.0  # seconds


class Phase(StrEnum):
    """The state of a device in the run.

    LEAVING: the user removed it from the run, and it finishes its work. LEFT: it has finished its work and left.
    IDLE: its run has ended. RECORDED: it belongs to a recorded machine.
    """

    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"
    LEAVING = "leaving"
    LEFT = "left"
    IDLE = "idle"
    RECORDED = "recorded"


RATE_SECONDS = 4.0
"""Time over which each rate in the window is measured: of devices, of files, and of all together."""

DeviceEvent: TypeAlias = DeviceStarting | EngineBuilding | DeviceReady | DeviceFailed | DeviceLeft | DeviceStats


@dataclass(frozen=True)
class Sample:
    """One point of the charts: a monotonic time in seconds, frames/s, latencies in ms and the slowest stage (None without a frame).

    away: the device did not take part in the run.
    """

    time: float
    frames_per_second: float
    latency_p50: float | None
    latency_p99: float | None
    bottleneck: str | None = None
    away: bool = False


@dataclass(frozen=True)
class DeviceStatus:
    """The state of one device, folded from the pool's events.

    building: the current step of the engine's build and how much of the build is done, 0..1. message: why the device failed.
    note: what has changed since the device started, and why. stages: mean ms that the latest frames spent in each stage.
    busy: mean ms that a frame occupied the device in each stage. bottleneck: the stage that limits the throughput, as most of the
    samples of the last ``RATE_SECONDS`` say.
    rate: throughput over the last ``RATE_SECONDS``, frames/s. recent: the figures of these seconds. reports: those of the run at the
    times of the latest reports. frames, run: of the whole run.
    earlier: those before the run was paused. resting: the run has no work; the figures are those of the whole run.
    """

    device: DeviceId
    phase: Phase = Phase.STARTING
    attempt: int = 1
    engine: EngineInfo | None = None
    building: tuple[Notice, float] | None = None
    message: str = ""
    note: str = ""
    frames: int = 0
    stages: Mapping[str, float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    bottleneck: str | None = None
    samples: tuple[Sample, ...] = ()
    rate: float = 0.0
    run: RunFigures = field(default_factory=RunFigures, compare=False)
    recent: RunFigures = field(default_factory=RunFigures, compare=False)
    reports: tuple[tuple[float, RunFigures], ...] = field(default=(), compare=False)
    earlier: tuple[int, RunFigures] = field(default_factory=lambda: (0, RunFigures()), compare=False)
    resting: bool = False

    @property
    def state(self) -> tuple[object, ...]:
        """All but the figures."""
        return self.phase, self.attempt, self.engine, self.message, self.note, self.building

    @property
    def takes_part(self) -> bool:
        """Whether the device works for the run, or will."""
        return self.phase in (Phase.STARTING, Phase.READY, Phase.RESTARTING)

    @property
    def working(self) -> bool:
        """Whether the device completed frames in the last ``RATE_SECONDS``."""
        return self.rate > 0

    @property
    def at_rest(self) -> bool:
        """Whether the figures are those of the whole run, because it has no work, is paused or has ended."""
        return self.resting or self.phase in (Phase.IDLE, Phase.LEFT)

    @property
    def _last(self) -> Sample | None:
        """The last interval with frames."""
        return next((sample for sample in reversed(self.samples) if sample.latency_p50 is not None), None)

    @property
    def shown_rate(self) -> float:
        """The throughput of ``shown``, frames/s, without its latencies, which take much longer: a thousand devices need only their sum."""
        return self.run.rate if self.at_rest else self.rate if self._last is not None else 0.0

    @property
    def shown(self) -> Sample:
        """The figures to show: of the last interval with frames, or, while the run rests, of the whole run. The rate is 0 without work."""
        last, rate = self._last, self.shown_rate
        time = last.time if last is not None else 0.0
        if self.at_rest:
            return Sample(time, rate, self.run.latency(0.5), self.run.latency(0.99), self.bottleneck)
        if last is None or not self.working:
            return Sample(time, rate, None, None)
        p50, p99 = self.recent.latency(0.5), self.recent.latency(0.99)
        if p50 is None:
            p50, p99 = last.latency_p50, last.latency_p99
        return Sample(time, rate, p50, p99, last.bottleneck)


def fold(status: DeviceStatus, event: DeviceEvent, now: float) -> DeviceStatus:
    """The status after one more event at a monotonic time."""
    after = _after(status, event, now)
    recent = [sample for sample in after.samples if after.samples[-1].time - sample.time < RATE_SECONDS and not sample.away]
    working = after.phase in (Phase.READY, Phase.LEAVING) and bool(recent)
    rate = sum(sample.frames_per_second for sample in recent) / len(recent) if working else 0.0
    stages = Counter(sample.bottleneck for sample in reversed(recent) if sample.bottleneck is not None)
    return replace(after, rate=rate, bottleneck=stages.most_common(1)[0][0] if stages else after.bottleneck)


def _after(status: DeviceStatus, event: DeviceEvent, now: float) -> DeviceStatus:
    if isinstance(event, DeviceStarting):
        phase = Phase.STARTING if event.attempt == 1 else Phase.RESTARTING
        return replace(status, phase=phase, attempt=event.attempt, building=None, note="")
    if isinstance(event, EngineBuilding):
        return replace(status, building=(event.phase, event.fraction))
    if isinstance(event, DeviceReady):
        before = status.engine.batch if status.engine is not None and status.phase is Phase.READY else event.engine.batch
        note = status.note
        if before != event.engine.batch:
            note = translate("devices", "The batch size changed from {before} to {batch}: {value}").format(
                before=before, batch=event.engine.batch, value=of_engine(event.engine.batch_reason)
            )
        phase = Phase.LEAVING if status.phase is Phase.LEAVING else Phase.READY
        began = status.samples if status.phase in (Phase.READY, Phase.LEAVING) else _at_rest(status, now)
        return replace(status, phase=phase, engine=event.engine, building=None, message="", note=note, samples=began)
    if isinstance(event, DeviceFailed):
        phase = Phase.RESTARTING if event.restarting else Phase.FAILED
        return replace(status, phase=phase, building=None, message=reason_of(event), samples=_at_rest(status, now))
    if isinstance(event, DeviceLeft):
        return replace(status, phase=Phase.LEFT, building=None, message="", note="", samples=_at_rest(status, now))
    samples, (frames, run) = status.samples, status.earlier
    if not ((event.final and samples) or (status.resting and not event.frames_per_second)):  # the charts of a run that rests stay
        paused = bool(samples) and now - samples[-1].time > RATE_SECONDS  # there was no file to detect in
        earlier = _at_rest(status, now) if paused else _recent(status, now)
        samples = (*earlier, Sample(now, event.frames_per_second, event.latency_p50, event.latency_p99, event.bottleneck))
    total = run + event.run
    reports = status.reports if status.reports and status.reports[-1][1].frames <= total.frames else ((now, run),)
    while len(reports) > 1 and now - reports[1][0] >= RATE_SECONDS:
        reports = reports[1:]
    return replace(
        status,
        frames=frames + event.frames,
        run=total,
        recent=total - reports[0][1],
        reports=(*reports, (now, total)),
        stages=dict(event.stages) or status.stages,
        busy=dict(event.busy) or status.busy,
        samples=samples,
    )


def continued(status: DeviceStatus) -> DeviceStatus:
    """The status before the first event of a run that continues a paused one: it goes on counting."""
    earlier = status.frames, status.run
    return DeviceStatus(status.device, Phase.IDLE, frames=status.frames, run=status.run, earlier=earlier, samples=status.samples)


def _recent(status: DeviceStatus, now: float) -> tuple[Sample, ...]:
    return tuple(sample for sample in status.samples if now - sample.time <= HISTORY)


def _at_rest(status: DeviceStatus, now: float) -> tuple[Sample, ...]:
    """The samples with zeros behind the last one and now, so that the charts draw no line across the time without work."""
    samples = _recent(status, now)
    if not samples:
        return ()
    begin = () if samples[-1].away else (Sample(samples[-1].time, 0.0, None, None, away=True),)
    return (*samples, *begin, Sample(now, 0.0, None, None, away=True))


def reason_of(event: DeviceFailed) -> str:
    """Why a device failed, without its name, which is shown beside the reason."""
    return of_engine(without_device(event.message))


def shares_of(statuses: Iterable[DeviceStatus]) -> dict[DeviceId, float]:
    """The share of the work that each device did so far, 0..1; empty with fewer than two devices, or before the first frame."""
    frames = {status.device: status.frames for status in statuses}
    total = sum(frames.values())
    return {device: count / total for device, count in frames.items()} if total and len(frames) > 1 else {}


_PHASES = {
    Phase.STARTING: (marked("devices", "Starting"), "WARNING"),
    Phase.READY: (marked("devices", "Ready"), "GOOD"),
    Phase.RESTARTING: (marked("devices", "Restarting"), "WARNING"),
    Phase.FAILED: (marked("devices", "Failed"), "DANGER"),
    Phase.LEAVING: (marked("devices", "Leaving"), "WARNING"),
    Phase.LEFT: (marked("devices", "Left"), "DISABLED"),
    Phase.IDLE: (marked("devices", "Idle"), "MUTED"),
    Phase.RECORDED: (marked("devices", "Recorded"), "MUTED"),
}

ALMOST = 0.99
"""The largest share of a build that is shown while it goes on."""


def status_title(status: DeviceStatus) -> str:
    """The state of the device: ``Working``, ``Building 37 %``, ``Restarting (attempt 2)``."""
    if status.building is not None:
        return (
            translate("devices", "Building {building}").format(building=formats.percent(min(status.building[1], ALMOST)))
            if status.building[1]
            else translate("devices", "Building")
        )
    if status.phase is Phase.RESTARTING and status.attempt > 1:
        return translate("devices", "Restarting (attempt {attempt})").format(attempt=status.attempt)
    return (
        translate("devices", "Working")
        if status.working and status.phase is Phase.READY
        else translate("devices", _PHASES[status.phase][0])
    )


def status_colour(status: DeviceStatus) -> str:
    """The colour of the device's light."""
    return theme.WARNING if status.building is not None else theme.colour(_PHASES[status.phase][1])


def engine_line(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The engine, or, before it is built, the facts of the hardware. The row shows the step of the build."""
    engine = status.engine
    if engine is not None and status.building is None:
        return translate("devices", "{backend} · {precision} · {width}×{height} · batch {batch}").format(
            backend=engine.backend, precision=engine.precision, width=engine.width, height=engine.height, batch=engine.batch
        )
    return hardware_facts(known)


def engine_details(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The engine line with the number of slots and the reason for the precision."""
    engine, line = status.engine, engine_line(status, known)
    if engine is None or status.building is not None:
        return line
    return translate("devices", "{line}, {slots} at once\n{precision}: {reason}").format(
        line=line, slots=engine.slots, precision=engine.precision, reason=of_engine(engine.reason)
    )


def hardware_name(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The name of the hardware."""
    return status.engine.device_name if status.engine is not None else known.name if known is not None else ""


def hardware_facts(known: DeviceDescription | None) -> str:
    """Facts that tell one device from another: ``140.4 GiB · compute 9.0 · driver 580.1``."""
    if known is None:
        return ""
    parts = (
        (formats.gib(known.memory or 0), known.memory),
        (
            translate("devices", "compute {compute_capability}").format(compute_capability=known.compute_capability),
            known.compute_capability,
        ),
        (translate("devices", "driver {driver}").format(driver=known.driver), known.driver),
    )
    return " · ".join(part for part, value in parts if value)
