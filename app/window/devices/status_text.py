"""The text and the colours that show a device's status. No widgets."""

from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.devices.description import DeviceDescription

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


def title(status: DeviceStatus) -> str:
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


def colour(status: DeviceStatus) -> str:
    """The colour of the device's light."""
    return theme.WARNING if status.building is not None else theme.colour(_PHASES[status.phase][1])


def engine_line(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The engine, or, before it is built, the facts of the hardware. The row shows the step of the build."""
    engine = status.engine
    if engine is not None and status.building is None:
        return translate("devices", "{backend} · {precision} · {width}×{height} · batch {batch}").format(
            backend=engine.backend, precision=engine.precision, width=engine.width, height=engine.height, batch=engine.batch
        )
    return facts(known)


def engine_details(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The engine line with the number of slots and the reason for the precision."""
    engine, line = status.engine, engine_line(status, known)
    if engine is None or status.building is not None:
        return line
    return translate("devices", "{line}, {slots} at once\n{precision}: {reason}").format(
        line=line, slots=engine.slots, precision=engine.precision, reason=of_engine(engine.reason)
    )


def hardware(status: DeviceStatus, known: DeviceDescription | None) -> str:
    """The name of the hardware."""
    return status.engine.device_name if status.engine is not None else known.name if known is not None else ""


def facts(known: DeviceDescription | None) -> str:
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
