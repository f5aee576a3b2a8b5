"""Telemetry of the devices that the window shows: one monitor, restarted when the devices change, and the values as text. No Qt."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.telemetry import Telemetry, TelemetryMonitor
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId

RESTART_SECONDS = 10.0
"""The shortest time between two starts of a monitor whose process has ended."""


class DeviceTelemetry:
    """Takes telemetry of devices for the window, in its thread. A process runs only while a device is watched.

    start: starts a monitor of these devices. clock: returns the monotonic time, seconds.
    """

    def __init__(
        self,
        start: Callable[[Sequence[DeviceDescription]], TelemetryMonitor] = TelemetryMonitor,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start, self._clock = start, clock
        self._started = 0.0
        self._monitor: TelemetryMonitor | None = None
        self.watched: tuple[DeviceDescription, ...] = ()

    @property
    def problem(self) -> Notice | None:
        """Why telemetry is missing; None without a problem."""
        return self._monitor.problem if self._monitor is not None else None

    def watch(self, devices: Sequence[DeviceDescription]) -> None:
        """Watch these devices and no others."""
        if tuple(devices) != self.watched:
            self.watched = tuple(devices)
            self._restart()

    def revive(self) -> None:
        """Start the monitor again if its process has ended unexpectedly, at most every ``RESTART_SECONDS``."""
        ended = self._monitor is not None and self._monitor.problem is not None and not self._monitor.latest
        if ended and self._clock() - self._started >= RESTART_SECONDS:
            self._restart()

    def _restart(self) -> None:
        if self._monitor is not None:
            self._monitor.close()
        self._monitor = self._start(self.watched) if self.watched else None
        self._started = self._clock()

    def of(self, device: DeviceId) -> Telemetry | None:
        """The newest snapshot of a device, None before the first. With a problem, it is a snapshot without values."""
        if self._monitor is None or all(device != description.id for description in self.watched):
            return None
        return self._monitor.latest.get(device) or (Telemetry(device) if self._monitor.problem else None)


T = TypeVar("T")

FULL, HOT = 0.95, 85.0
"""The share of the memory and the temperature (°C) from which a metric needs attention."""
_HARMLESS = {"devices.power_limit", "devices.sync_boost", "devices.clocks_by_application", "devices.clocks_of_display"}
"""Reasons for lower clocks in normal operation: a GPU at full load reaches its power limit."""


@dataclass(frozen=True)
class Metric:
    """One telemetry value for display. brief: its text in a narrow column. fraction: of its maximum, 0..1. alarm: it needs attention.

    key: of its column in rows, "" = it has none.
    """

    name: str
    text: str
    brief: str
    fraction: float | None = None
    alarm: bool = False
    key: str = ""

    @property
    def known(self) -> bool:
        """Whether the value is available."""
        return self.text != not_available()


def not_available() -> str:
    """The text of a value that the device does not report."""
    return translate("devices", "not available")


def metrics(telemetry: Telemetry) -> tuple[Metric, ...]:
    """The values that a card shows: utilization and memory of a CPU, six values of a GPU. All are there, available or not."""
    memory = _share(telemetry.memory_used, telemetry.memory_total)
    share = None if memory is None else formats.part(memory)
    used = None if telemetry.memory_used is None else formats.gib(telemetry.memory_used)
    stored = Metric(
        translate("devices", "Memory"), used or not_available(), share or formats.DASH, memory, (memory or 0.0) >= FULL, "memory"
    )
    if telemetry.device.kind == "cpu":
        return _percent("CPU", telemetry.utilization, "load"), stored
    heat, clock = telemetry.temperature, telemetry.sm_clock
    throttled = not _HARMLESS.issuperset(reason.code for reason in telemetry.throttling or ())
    power = _share(telemetry.power, telemetry.power_limit)
    return (
        _percent("GPU", telemetry.utilization, "load"),
        stored,
        _percent(translate("devices", "Decoder"), telemetry.decoder, "decoder"),
        _value(translate("devices", "Power"), telemetry.power, "W", power, key="power"),
        _value(translate("devices", "Temperature"), heat, "°C", _share(heat, 100), (heat or 0.0) >= HOT),
        _value(translate("devices", "Clock"), clock, "MHz", _share(clock, telemetry.sm_clock_limit), throttled),
    )


def details(telemetry: Telemetry) -> str:
    """All telemetry of a device, one value per line."""
    memory = not_available()
    if telemetry.memory_used is not None:
        memory = translate("devices", "{memory_used} of {memory_total}").format(
            memory_used=formats.gib(telemetry.memory_used), memory_total=_or(telemetry.memory_total, formats.gib)
        )
    lines = {translate("devices", "Utilization"): _or(telemetry.utilization, _whole, "%"), translate("devices", "Memory"): memory}
    if telemetry.device.kind != "cpu":
        lines |= {
            translate("devices", "Memory traffic"): _or(telemetry.memory_utilization, _whole, "%"),
            translate("devices", "Decoder"): _or(telemetry.decoder, _whole, "%"),
            translate("devices", "Encoder"): _or(telemetry.encoder, _whole, "%"),
            translate("devices", "Power"): _or(telemetry.power, _whole, "W", telemetry.power_limit),
            translate("devices", "Temperature"): _or(telemetry.temperature, _whole, "°C"),
            translate("devices", "Clock"): _or(telemetry.sm_clock, _whole, "MHz", telemetry.sm_clock_limit),
            translate("devices", "Memory clock"): _or(telemetry.memory_clock, _whole, "MHz"),
            translate("devices", "Throttled by"): _or(
                telemetry.throttling, lambda reasons: ", ".join(map(of_engine, reasons)) or translate("devices", "nothing")
            ),
            "PCIe": translate("devices", "{telemetry}, receives {pcie_rx}, sends {pcie_tx}").format(
                telemetry=_link(telemetry), pcie_rx=_or(telemetry.pcie_rx, bandwidth), pcie_tx=_or(telemetry.pcie_tx, bandwidth)
            ),
            "NVLink": translate("devices", "{nvlinks}, receives {nvlink_rx}, sends {nvlink_tx}").format(
                nvlinks=_or(telemetry.nvlinks, formats.plural, "link"),
                nvlink_rx=_or(telemetry.nvlink_rx, bandwidth),
                nvlink_tx=_or(telemetry.nvlink_tx, bandwidth),
            ),
        }
    return "\n".join(f"{name}: {value}" for name, value in lines.items())


def _percent(name: str, value: float | None, key: str) -> Metric:
    return _value(name, value, "%", _share(value, 100), key=key)


def _value(name: str, value: float | None, unit: str, fraction: float | None, alarm: bool = False, key: str = "") -> Metric:
    text = None if value is None else formats.quantity(value, unit)
    return Metric(name, text or not_available(), text or formats.DASH, fraction, alarm, key)


def _share(value: float | None, whole: float | None) -> float | None:
    return None if value is None or not whole else min(max(value / whole, 0.0), 1.0)


def _or(value: T | None, text: Callable[..., str], *more: object) -> str:
    return not_available() if value is None else text(value, *more)


def _whole(value: float, unit: str, limit: float | None = None) -> str:
    return (
        formats.quantity(value, unit)
        if limit is None
        else translate("devices", "{value} of {limit}").format(value=formats.count(round(value)), limit=formats.quantity(limit, unit))
    )


def bandwidth(value: float) -> str:
    """Bytes/s: ``0.6 MB/s``, ``54.1 GB/s``."""
    return (
        translate("devices", "{value} GB/s").format(value=formats.decimal(value / 1e9))
        if value >= 1e9
        else translate("devices", "{value} MB/s").format(value=formats.decimal(value / 1e6))
    )


def _link(telemetry: Telemetry) -> str:
    if telemetry.pcie_generation is None or telemetry.pcie_width is None:
        return not_available()
    return translate("devices", "generation {pcie_generation}, {pcie_width} lanes").format(
        pcie_generation=telemetry.pcie_generation, pcie_width=telemetry.pcie_width
    )
