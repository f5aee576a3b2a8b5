"""A device's status in words and colours. No widgets."""

from __future__ import annotations

from app.window.devices.status import DeviceStatus, Phase
from app.window.widgets import formats, theme
from engine.devices.description import DeviceDescription

GIB = 1 << 30
_PHASES = {
    Phase.STARTING: ("Starting", theme.WARNING),
    Phase.READY: ("Ready", theme.GOOD),
    Phase.RESTARTING: ("Restarting", theme.WARNING),
    Phase.FAILED: ("Failed", theme.DANGER),
    Phase.LEAVING: ("Leaving", theme.WARNING),
    Phase.LEFT: ("Left", theme.DISABLED),
    Phase.IDLE: ("Idle", theme.MUTED),
    Phase.RECORDED: ("Recorded", theme.MUTED),
}


def title(status: DeviceStatus) -> str:
    """What it is doing: ``Working``, ``Building 37 %``, ``Restarting (attempt 2)``."""
    if status.building is not None:
        return f"Building {formats.percent(status.building[1])}" if status.building[1] else "Building"
    if status.phase is Phase.RESTARTING and status.attempt > 1:
        return f"Restarting (attempt {status.attempt})"
    return "Working" if status.working and status.phase is Phase.READY else _PHASES[status.phase][0]


def colour(status: DeviceStatus) -> str:
    """Of its light."""
    return theme.WARNING if status.building is not None else _PHASES[status.phase][1]


def engine_line(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """What is built, is being built, or could be built on."""
    engine = status.engine
    if status.building is not None:
        return status.building[0]
    if engine is not None:
        return f"{engine.backend} · {engine.precision} · {engine.width}×{engine.height} · batch {engine.batch}"
    return "Building the engine…" if status.phase is Phase.STARTING else facts(known)


def engine_details(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The same with all there is to say."""
    engine, line = status.engine, engine_line(status, known)
    if engine is None or status.building is not None:
        return line
    return f"{line}, {engine.slots} at once\n{engine.precision}: {engine.reason}"


def hardware(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """What the device is called."""
    return status.engine.device_name if status.engine is not None else known.name if known is not None else ""


def facts(known: DeviceDescription | None) -> str:
    """What tells one device from another: ``140.4 GiB · compute 9.0 · driver 580.1``."""
    if known is None:
        return ""
    parts = (
        (f"{(known.memory or 0) / GIB:.1f} GiB", known.memory),
        (f"compute {known.compute_capability}", known.compute_capability),
        (f"driver {known.driver}", known.driver),
    )
    return " · ".join(part for part, value in parts if value)
