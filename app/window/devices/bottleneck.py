"""Names what limits the throughput of a run, and what to do about it, from measured figures.

The rules, in order; docs/guide/bottlenecks.md explains them with figures of real runs:

1. A device is much slower than others of the same kind.
2. Most devices wait for decoding: the video decoders of the GPUs, the processors, or the disk.
3. Most devices wait until their results are taken and stored.
4. The GPUs have time left although their engines have work: the processors do not feed them fast enough.
5. The network itself, or another stage of the engine.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from statistics import median

from framefleet.app.window.devices.status import RATE_SECONDS, DeviceStatus
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.types import DeviceId

SLOW = 0.8
"""A device that reaches less than this part of the median of its kind is slow."""
BUSY, FREE = 85.0, 60.0
"""Percent from which a decoder or the processors are the limit, and up to which they have time left."""


class Limit(StrEnum):
    """What limits a run."""

    DEVICE = "device"
    VIDEO_DECODER = "decoder"
    PROCESSOR = "processor"
    DISK = "disk"
    DECODE = "decode"
    RESULTS = "results"
    HOST = "host"
    PREPARE = "prepare"
    NETWORK = "network"


@dataclass(frozen=True)
class Bottleneck:
    """The limit of a run. text: in one sentence. advice: what to do about it."""

    limit: Limit
    text: str
    advice: str

    @property
    def role(self) -> str:
        """The role of labels that show it: that of a notice if a device does less than it should. Every run has some limit."""
        return "notice" if self.limit is Limit.DEVICE else "small"


@dataclass(frozen=True)
class Pace:
    """How fast the devices of a run are. fastest: the rate of the fastest one, frames/s. slow: devices that fall behind their kind."""

    fastest: float = 0.0
    slow: frozenset[DeviceId] = frozenset()


NO_PACE = Pace()


def pace_of(statuses: Sequence[DeviceStatus]) -> Pace:
    """How fast these devices are, now or, while the run rests, on average."""
    rates = [status.shown_rate for status in statuses]
    kinds = _rates_by_kind((status, rate) for status, rate in zip(statuses, rates, strict=True) if rate)
    slow = (status.device for status, rate in zip(statuses, rates, strict=True) if _falls_behind(status, rate, kinds))
    return Pace(max(rates, default=0.0), frozenset(slow))


def _kind(status: DeviceStatus) -> str:
    """The name of the hardware."""
    return status.engine.device_name if status.engine is not None else ""


def _rates_by_kind(rates: Iterable[tuple[DeviceStatus, float]]) -> Mapping[str, Sequence[float]]:
    """The rates of devices, frames/s, by the name of their hardware, in ascending order."""
    kinds: defaultdict[str, list[float]] = defaultdict(list)
    for status, rate in sorted(rates, key=itemgetter(1)):
        kinds[_kind(status)].append(rate)
    return kinds


def _falls_behind(status: DeviceStatus, rate: float, kinds: Mapping[str, Sequence[float]]) -> bool:
    """Whether a GPU is much slower than others of its kind over the whole time of measurement. kinds: see ``_rates_by_kind``."""
    measured = status.samples[-1].time - status.samples[0].time if status.samples else 0.0
    if status.device.kind == "cpu" or rate <= 0 or measured < RATE_SECONDS:
        return False
    usual = _usual_rate(status, rate, kinds)
    return usual is not None and rate < SLOW * usual


def _usual_rate(status: DeviceStatus, rate: float, kinds: Mapping[str, Sequence[float]]) -> float | None:
    """The median rate of the other devices with the same hardware, frames/s; None without one."""
    rates = kinds.get(_kind(status), ())
    own = bisect_left(rates, rate)
    if own == len(rates) or rates[own] != rate:
        return median(rates) if rates else None
    others = len(rates) - 1
    middle = [rates[place + (place >= own)] for place in ((others - 1) // 2, others // 2)] if others else []
    return sum(middle) / 2 if middle else None


def find_bottleneck(statuses: Sequence[DeviceStatus], telemetry: Mapping[DeviceId, Telemetry], host: Telemetry | None) -> Bottleneck | None:
    """The limit of the current run, None while no device works. host: of the processors, None = unknown."""
    working = [status for status in statuses if status.working and status.bottleneck is not None]
    if not working:
        return None
    if (slow := _slow_device(working, telemetry)) is not None:
        return slow
    votes: Counter[str] = Counter()
    for status in working:
        votes[(status.bottleneck or "").partition(" ")[0]] += 1
    stage = votes.most_common(1)[0][0]
    waiting = [status for status in working if (status.bottleneck or "").startswith(stage)]
    processors = host.utilization if host is not None else None
    if stage == "sources":  # live ones: the devices wait for frames
        return None
    if stage == "decode":
        return _stated(_decoding(waiting, telemetry, processors))
    if stage == "deliver":
        return _stated(Limit.RESULTS)
    if stage in ("preprocess", "upload"):
        return _stated(Limit.PREPARE)
    used = _known(waiting, telemetry, "utilization")
    return _stated(Limit.HOST if used and median(used) < FREE else Limit.NETWORK)


def _decoding(waiting: Sequence[DeviceStatus], telemetry: Mapping[DeviceId, Telemetry], processors: float | None) -> Limit:
    decoders = _known(waiting, telemetry, "decoder")
    if decoders and median(decoders) >= BUSY:
        return Limit.VIDEO_DECODER
    if processors is None:
        return Limit.DECODE
    if processors >= BUSY:
        return Limit.PROCESSOR
    return Limit.DISK if processors < FREE and (not decoders or median(decoders) < FREE) else Limit.DECODE


def _known(statuses: Sequence[DeviceStatus], telemetry: Mapping[DeviceId, Telemetry], name: str) -> list[float]:
    """A value of the GPUs among these devices, where it is known."""
    found = (getattr(telemetry[status.device], name) for status in statuses if status.device.kind == "cuda" and status.device in telemetry)
    return [value for value in found if value is not None]


def _slow_device(working: Sequence[DeviceStatus], telemetry: Mapping[DeviceId, Telemetry]) -> Bottleneck | None:
    """The slowest device, if it is much slower than others of its kind."""
    slowest = min(working, key=lambda status: status.rate)
    kinds = _rates_by_kind((status, status.rate) for status in working)
    if not _falls_behind(slowest, slowest.rate, kinds):
        return None
    text = translate("bottleneck", "{device} is slower than the others: {rate} instead of {usual} frames/s.").format(
        device=slowest.device, rate=formats.rate(slowest.rate), usual=formats.rate(_usual_rate(slowest, slowest.rate, kinds) or 0.0)
    )
    snapshot = telemetry.get(slowest.device)
    if snapshot is not None and snapshot.throttling:
        advice = translate("bottleneck", "Its clock rates are reduced: {why}. Check the device.")
        return Bottleneck(Limit.DEVICE, text, advice.format(why=", ".join(map(of_engine, snapshot.throttling))))
    return Bottleneck(Limit.DEVICE, text, translate("bottleneck", "Close other programs that use it, or remove it from this run."))


def _stated(limit: Limit) -> Bottleneck:
    text, advice = {
        Limit.VIDEO_DECODER: (
            translate("bottleneck", "Limited by the GPUs' video decoders."),
            translate("bottleneck", "Use more GPUs, or videos with fewer pixels."),
        ),
        Limit.PROCESSOR: (
            translate("bottleneck", "Limited by decoding: the processors are busy."),
            translate("bottleneck", "Close other programs, or use videos with fewer pixels."),
        ),
        Limit.DISK: (
            translate("bottleneck", "Limited by reading the files."),
            translate("bottleneck", "Copy them to a faster disk, or detect in several files at once."),
        ),
        Limit.DECODE: (
            translate("bottleneck", "Limited by decoding."),
            translate("bottleneck", "Detect in several files at once, or use videos with fewer pixels."),
        ),
        Limit.RESULTS: (
            translate("bottleneck", "Limited by storing the results."),
            translate("bottleneck", "Raise the lowest confidence, or keep the sessions on a faster disk."),
        ),
        Limit.HOST: (
            translate("bottleneck", "Limited by the processors, which feed the GPUs."),
            translate("bottleneck", "Close other programs, or use fewer GPUs for this model."),
        ),
        Limit.PREPARE: (
            translate("bottleneck", "Limited by preparing frames for the model."),
            translate("bottleneck", "Use videos with fewer pixels."),
        ),
        Limit.NETWORK: (
            translate("bottleneck", "Limited by the model: the devices are fully used."),
            translate("bottleneck", "Choose a smaller model, or more devices."),
        ),
    }[limit]
    return Bottleneck(limit, text, advice)
