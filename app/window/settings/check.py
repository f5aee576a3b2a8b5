"""What in the settings cannot work together, in words, before a run finds out. Pure values, no Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from app.window.settings.preferences import Preferences
from engine.devices.description import DeviceDescription
from engine.devices.discovery import default_devices
from engine.errors import DeviceError, UsageError
from engine.settings import Parallel, Precision, check_decode, check_depth
from engine.types import DeviceId


@dataclass(frozen=True)
class Problems:
    """What is wrong with each field, "" = nothing."""

    devices: str = ""
    precision: str = ""
    decode: str = ""
    parallel: str = ""

    def __bool__(self) -> bool:
        return any((self.devices, self.precision, self.decode, self.parallel))


def check(preferences: Preferences, found: Sequence[DeviceDescription] | None, automatic: bool) -> Problems:
    """found: this machine's devices, None = not known yet. automatic: the devices are not chosen by hand."""
    if not automatic and not preferences.devices:
        return Problems(devices="Tick at least one device, or leave the choice to Framefleet.")
    devices = preferences.devices or used_by_default(found)
    if not devices:
        return Problems()
    return Problems(
        precision=_precision(preferences.precision, devices, found or ()),
        decode=_refusal(check_decode, preferences.decode, devices),
        parallel=_refusal(check_depth, devices) if preferences.parallel is Parallel.DEPTH else "",
    )


def used_by_default(found: Sequence[DeviceDescription] | None) -> tuple[DeviceId, ...]:
    """What a run takes if nothing is chosen; empty where that is not known."""
    try:
        return default_devices(found) if found is not None else ()
    except DeviceError:
        return ()


def _precision(precision: Precision, devices: Sequence[DeviceId], found: Iterable[DeviceDescription]) -> str:
    if precision is Precision.AUTO:
        return ""
    ways = {known.id: known.precisions for known in found if known.available}
    # all CPU devices are the same processors, and only the first of them is found
    offered = {device: ways.get(DeviceId("cpu", "0") if device.kind == "cpu" else device) for device in devices}
    lacking = {device: each for device, each in offered.items() if each is not None and precision not in each}
    return "\n".join(f"{device} offers {', '.join(way.upper() for way in each)} only." for device, each in lacking.items())


def _refusal(check: Callable[..., None], *values: object) -> str:
    """Why one of the engine's checks refuses these values, "" = it does not."""
    try:
        check(*values)
    except UsageError as error:
        return f"{str(error)[0].upper()}{str(error)[1:]}."
    return ""
