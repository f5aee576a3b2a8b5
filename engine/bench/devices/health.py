"""Evaluates device benchmarks: the speedup of several devices, and slow devices and links."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from framefleet.engine.bench.devices.measurement import Measurement, Test
from framefleet.engine.types import DeviceId

SLOW = 0.8
"""A device or link below this share of the median of its peers is slow."""

_LINKS = (Test.PEER, Test.PEER_LATENCY)
_WORDS = {
    Test.MEMORY: "copies within its memory",
    Test.UPLOAD: "takes from the host",
    Test.DOWNLOAD: "gives to the host",
    Test.PEER: "copies",
    Test.PEER_LATENCY: "makes small copies",
    Test.PRODUCT: "multiplies",
    Test.SUM: "adds up",
}


def speedup(measured: Measurement, measurements: Sequence[Measurement]) -> float | None:
    """The speedup of a PRODUCT or SUM over the fastest of its devices alone; None without a comparison."""
    if measured.test not in (Test.PRODUCT, Test.SUM) or len(measured.devices) == 1 or measured.time is None:
        return None
    alone = [
        one.time.median
        for one in measurements
        if one.time
        and (one.test, one.nbytes) == (measured.test, measured.nbytes)
        and len(one.devices) == 1
        and one.devices[0] in measured.devices
    ]
    return min(alone) / measured.time.median if alone else None


def ideal(measured: Measurement, measurements: Sequence[Measurement]) -> float:
    """The ideal speedup: the sum of the devices' memory bandwidths ÷ the fastest one. CPU devices share one memory."""
    rates = [_copy_rate(device, measurements) for device in measured.devices if device.kind != "cpu"]
    fastest = max(rates, default=0.0)
    return sum(rates) / fastest if fastest else 1.0


def of_copy(measured: Measurement, measurements: Sequence[Measurement]) -> float | None:
    """The rate of a PRODUCT or SUM ÷ the measured copy bandwidth of its devices."""
    if measured.test not in (Test.PRODUCT, Test.SUM) or measured.rate is None:
        return None
    devices = measured.devices[:1] if measured.devices[0].kind == "cpu" else measured.devices
    rates = [_copy_rate(device, measurements) for device in devices]
    return measured.rate / sum(rates) if all(rates) else None


def findings(measurements: Sequence[Measurement], names: Mapping[DeviceId, str]) -> list[str]:
    """Failures and slow devices or links in words; empty = none. names: devices with equal names are peers."""
    groups: dict[tuple[object, ...], list[tuple[Measurement, float]]] = defaultdict(list)
    # smaller sums measure the launch, not the device
    largest = max((one.nbytes for one in measurements if one.test is Test.SUM), default=0)
    for one in measurements:
        if one.rate is None or one.problem is not None or (one.test is Test.SUM and one.nbytes < largest):
            continue
        if one.test in _LINKS:
            groups[one.test, one.note].append((one, one.rate))
        elif len(one.devices) == 1:
            groups[one.test, one.nbytes, names.get(one.devices[0])].append((one, one.rate))
    slow = [
        f"{_what(one)} at {share:.0%} of its peers' median speed ({rate:.3g} instead of {usual:.3g} GB/s)"
        for group in groups.values()
        for usual in [median(rate for _, rate in group)]
        for one, rate in group
        if (share := rate / usual) < SLOW
    ]
    return [f"{_what(one)}: {one.problem}" for one in measurements if one.problem is not None] + slow


def verdict(measurements: Sequence[Measurement], names: Mapping[DeviceId, str]) -> str:
    """The evaluation in one sentence."""
    found = findings(measurements, names)
    if found:
        return f"{len(found)} finding{'s' if found[1:] else ''}: " + "; ".join(found)
    devices, links = (sum(one.test is test and len(one.devices) <= 2 for one in measurements) for test in (Test.MEMORY, Test.PEER))
    if devices < 2:
        return "everything could be measured; only a comparison with a second device of its kind shows whether this one is slow"
    return f"no problem: none of {devices} devices and {links} links is below {SLOW:.0%} of the median of its peers"


def pays_from(measurements: Sequence[Measurement]) -> int | None:
    """The smallest vector, in bytes, from which several devices sum faster than one; None: never, or there is one device.

    For smaller vectors, starting several devices and waiting for them takes longer than one device needs.
    """
    gains: dict[int, list[float]] = defaultdict(list)
    for one in measurements:
        if one.test is Test.SUM and (gain := speedup(one, measurements)) is not None:
            gains[one.nbytes].append(gain)
    slower = max((nbytes for nbytes, found in gains.items() if min(found) < 1), default=0)
    return min((nbytes for nbytes in gains if nbytes > slower), default=None)


def _copy_rate(device: DeviceId, measurements: Sequence[Measurement]) -> float:
    for one in measurements:
        if one.test is Test.MEMORY and one.rate is not None and (one.devices[0] == device or one.devices[0].kind == device.kind == "cpu"):
            return one.rate
    return 0.0


def _what(one: Measurement) -> str:
    if one.test in _LINKS:
        return f"{one.devices[0]} → {one.devices[-1]} {_WORDS[one.test]}"
    return f"{one.devices[0]} {_WORDS[one.test]}" if len(one.devices) == 1 else f"{one.test} by {len(one.devices)} devices"
