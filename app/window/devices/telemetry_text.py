"""Telemetry as people read it. Pure values, no Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from app.window.widgets import formats
from engine.devices.telemetry.snapshot import Telemetry

T = TypeVar("T")

NOT_AVAILABLE = "not available"
GIB = 1 << 30
FULL, HOT = 0.95, 85.0
"""Share of the memory, and °C, from which on a reading is worth attention."""
_HARMLESS = {"power limit", "sync boost", "clocks set by an application", "clocks of the display"}
"""What keeps clocks down where all is well: a GPU at full load runs into its power limit."""


@dataclass(frozen=True)
class Reading:
    """One value. brief: the same where there is little room. fraction: of what it can be, 0..1. alarm: worth attention."""

    name: str
    short: str
    text: str
    brief: str
    fraction: float | None = None
    alarm: bool = False

    @property
    def known(self) -> bool:
        """Whether the value is available."""
        return self.text != NOT_AVAILABLE


def readings(telemetry: Telemetry) -> tuple[Reading, ...]:
    """What a device's card shows: of a processor its utilization and memory, of a GPU six values, available or not."""
    memory = _share(telemetry.memory_used, telemetry.memory_total)
    share = None if memory is None else f"{100 * memory:.0f} %"
    used = None if telemetry.memory_used is None else _gib(telemetry.memory_used)
    stored = Reading("Memory", "Mem", used or NOT_AVAILABLE, share or formats.DASH, memory, (memory or 0.0) >= FULL)
    if telemetry.device.kind == "cpu":
        return _percent("CPU", "CPU", telemetry.utilization), stored
    heat, clock = telemetry.temperature, telemetry.sm_clock
    return (
        _percent("GPU", "GPU", telemetry.utilization),
        stored,
        _percent("Decoder", "Dec", telemetry.decoder),
        _value("Power", "Power", telemetry.power, "W", _share(telemetry.power, telemetry.power_limit)),
        _value("Temperature", "Temp", heat, "°C", _share(heat, 100), (heat or 0.0) >= HOT),
        _value(
            "Clock", "Clock", clock, "MHz", _share(clock, telemetry.sm_clock_limit), not _HARMLESS.issuperset(telemetry.throttling or ())
        ),
    )


def details(telemetry: Telemetry) -> str:
    """All that is known, a line each."""
    memory = f"{_or(telemetry.memory_used, _gib)} of {_or(telemetry.memory_total, _gib)}" if telemetry.memory_used is not None else None
    lines = {"Utilization": _or(telemetry.utilization, _whole_percent), "Memory": memory or NOT_AVAILABLE}
    if telemetry.device.kind != "cpu":
        limit, clock_limit = telemetry.power_limit, telemetry.sm_clock_limit
        links = telemetry.nvlinks
        lines |= {
            "Memory traffic": _or(telemetry.memory_utilization, _whole_percent),
            "Decoder": _or(telemetry.decoder, _whole_percent),
            "Encoder": _or(telemetry.encoder, _whole_percent),
            "Power": _or(telemetry.power, lambda watts: f"{watts:.0f} W" + ("" if limit is None else f" of {limit:.0f} W")),
            "Temperature": _or(telemetry.temperature, lambda degrees: f"{degrees:.0f} °C"),
            "Clock": _or(telemetry.sm_clock, lambda mhz: f"{mhz:,} MHz" + ("" if clock_limit is None else f" of {clock_limit:,} MHz")),
            "Memory clock": _or(telemetry.memory_clock, lambda mhz: f"{mhz:,} MHz"),
            "Throttled by": _or(telemetry.throttling, lambda reasons: ", ".join(reasons) or "nothing"),
            "PCIe": f"{_link(telemetry)}, receives {_or(telemetry.pcie_rx, bandwidth)}, sends {_or(telemetry.pcie_tx, bandwidth)}",
            "NVLink": f"{_or(links, lambda count: f'{count} links')}, receives {_or(telemetry.nvlink_rx, bandwidth)},"
            f" sends {_or(telemetry.nvlink_tx, bandwidth)}",
        }
    return "\n".join(f"{name}: {value}" for name, value in lines.items())


def _percent(name: str, short: str, value: float | None) -> Reading:
    return _value(name, short, value, "%", _share(value, 100))


def _value(name: str, short: str, value: float | None, unit: str, fraction: float | None, alarm: bool = False) -> Reading:
    text = None if value is None else f"{value:,.0f} {unit}"
    return Reading(name, short, text or NOT_AVAILABLE, text or formats.DASH, fraction, alarm)


def _share(value: float | None, whole: float | None) -> float | None:
    return None if value is None or not whole else min(max(value / whole, 0.0), 1.0)


def _or(value: T | None, text: Callable[[T], str]) -> str:
    return NOT_AVAILABLE if value is None else text(value)


def _whole_percent(value: float) -> str:
    return f"{value:.0f} %"


def _gib(value: float) -> str:
    return f"{value / GIB:.1f} GiB"


def bandwidth(value: float) -> str:
    """Bytes/s: ``0.6 MB/s``, ``54.1 GB/s``."""
    return f"{value / 1e9:.1f} GB/s" if value >= 1e9 else f"{value / 1e6:.1f} MB/s"


def _link(telemetry: Telemetry) -> str:
    if telemetry.pcie_generation is None or telemetry.pcie_width is None:
        return NOT_AVAILABLE
    return f"generation {telemetry.pcie_generation}, {telemetry.pcie_width} lanes"
