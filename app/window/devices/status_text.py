"""The text and the colours that show a device's status. No widgets."""

from __future__ import annotations

from app.window.devices.status import DeviceStatus, Phase
from app.window.widgets import formats, theme
from engine.devices.description import DeviceDescription

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
    """The state of the device: ``Working``, ``Building 37 %``, ``Restarting (attempt 2)``."""
    if status.building is not None:
        return f"Building {formats.percent(status.building[1])}" if status.building[1] else "Building"
    if status.phase is Phase.RESTARTING and status.attempt > 1:
        return f"Restarting (attempt {status.attempt})"
    return "Working" if status.working and status.phase is Phase.READY else _PHASES[status.phase][0]


def colour(status: DeviceStatus) -> str:
    """The colour of the device's light."""
    return theme.WARNING if status.building is not None else _PHASES[status.phase][1]


def engine_line(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The engine, the current step of its build, or, without either, the facts of the hardware."""
    engine = status.engine
    if status.building is not None:
        return status.building[0]
    if engine is not None:
        return f"{engine.backend} · {engine.precision} · {engine.width}×{engine.height} · batch {engine.batch}"
    return "Building the engine…" if status.phase is Phase.STARTING else facts(known)


def engine_details(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The engine line with the number of slots and the reason for the precision."""
    engine, line = status.engine, engine_line(status, known)
    if engine is None or status.building is not None:
        return line
    return f"{line}, {engine.slots} at once\n{engine.precision}: {engine.reason}"


def hardware(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The name of the hardware."""
    return status.engine.device_name if status.engine is not None else known.name if known is not None else ""


def facts(known: DeviceDescription | None) -> str:
    """Facts that tell one device from another: ``140.4 GiB · compute 9.0 · driver 580.1``."""
    if known is None:
        return ""
    parts = (
        (formats.gib(known.memory or 0), known.memory),
        (f"compute {known.compute_capability}", known.compute_capability),
        (f"driver {known.driver}", known.driver),
    )
    return " · ".join(part for part, value in parts if value)
