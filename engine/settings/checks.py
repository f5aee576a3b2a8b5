"""Checks settings: each number against its limits, and whether settings and devices can be combined.

A text is checked where it is read, by its kind (``kinds``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.settings.kinds import Moment, Number
from framefleet.engine.settings.table import TABLE, Decode, Parallel, Precision
from framefleet.engine.types import DeviceId

MAX_STAGES = 8
"""With more stages, moving values between devices takes more time than another device saves."""


def find_problems(
    values: Mapping[str, Any], devices: Sequence[DeviceId], offered: Mapping[DeviceId, Sequence[str]] | None = None
) -> dict[str, Notice]:
    """The settings that cannot work, with the reason, by the setting's name.

    Parameters
    ----------
    values
        The values of all settings, by name.
    devices
        The devices to use.
    offered
        The precisions of devices, as far as they are known.
    """
    found = {
        "decode": decode_problem(values["decode"], devices),
        "parallel": depth_problem(devices) if values["parallel"] is Parallel.DEPTH else None,
        "precision": _precision_problem(values["precision"], devices, offered or {}),
        "end": part_problem(values["begin"], values["end"]),
    }
    return {name: problem for name, problem in found.items() if problem is not None}


def find_notes(values: Mapping[str, Any]) -> dict[str, Notice]:
    """The settings that have no effect, with the reason, by the setting's name."""
    if values["batch"] is not None and values["latency_budget"] is not None:
        return {"latency_budget": Notice("settings.no_effect_with_batch", batch=values["batch"])}
    return {}


def require_possible(
    values: Mapping[str, Any], devices: Sequence[DeviceId], offered: Mapping[DeviceId, Sequence[str]] | None = None
) -> None:
    """Raise UsageError if these settings cannot be combined with these devices.

    Parameters
    ----------
    offered
        See ``find_problems``.
    """
    for problem in find_problems(values, devices, offered).values():
        raise UsageError(problem)


def part_problem(begin: Moment | None, end: Moment | None) -> Notice | None:
    """Why there is no frame from ``begin`` to ``end``; None: there may be some. A time and a number of frames are not compared."""
    if begin and end:
        order = zip((begin.frames, begin.seconds), (end.frames, end.seconds), strict=True)
        if any(None not in pair and pair[0] >= pair[1] for pair in order):  # type: ignore[operator]
            return Notice("settings.empty_part", begin=str(begin), end=str(end))
    return None


def decode_problem(decode: Decode, devices: Sequence[DeviceId]) -> Notice | None:
    """Why the devices cannot decode videos as the setting says; None: they can."""
    if decode is Decode.NVDEC and not any(member.kind == "cuda" for device in devices for member in device.members):
        return Notice("settings.no_nvdec", devices=_names(devices))
    return None


def check_decode(decode: Decode, devices: Sequence[DeviceId]) -> None:
    """Raise UsageError if none of these devices has the decoder that the setting names."""
    if problem := decode_problem(decode, devices):
        raise UsageError(problem)


def check_depth(devices: Sequence[DeviceId]) -> None:
    """Raise UsageError if a network cannot be cut into a stage for each of these devices."""
    if problem := depth_problem(devices):
        raise UsageError(problem)


def depth_problem(devices: Sequence[DeviceId]) -> Notice | None:
    """Why a network cannot be cut into a stage for each of these devices; None: it can."""
    names = _names(devices)
    if not 2 <= len(devices) <= MAX_STAGES:
        return Notice("settings.wrong_number_of_stages", most=MAX_STAGES, number=len(devices), devices=names)
    if len(set(devices)) < len(devices):
        return Notice("settings.stage_twice", devices=names)
    if len({device.kind == "cuda" for device in devices}) > 1:
        return Notice("settings.mixed_stages", devices=names)
    return None


def _precision_problem(precision: Precision, devices: Sequence[DeviceId], offered: Mapping[DeviceId, Sequence[str]]) -> Notice | None:
    if precision is Precision.AUTO:
        return None
    # discovery finds the processors once, as cpu:0, and every CPU device uses them
    known = {device: offered.get(DeviceId("cpu", "0") if device.kind == "cpu" else device) for device in devices}
    lacking = {device: each for device, each in known.items() if each is not None and precision not in each}
    found = [Notice("settings.offers_only", device=str(device), precisions=tuple(map(str.upper, each))) for device, each in lacking.items()]
    return Notice("settings.all_of", problems=tuple(found)) if found else None


def _names(devices: Iterable[DeviceId]) -> tuple[str, ...]:
    return tuple(map(str, devices))


def name_in_table(name: str) -> str:
    """The name in the table of a field: the table has the confidence that users choose."""
    return "confidence" if name == "stored_confidence" else name


def check_limits(settings: object) -> None:
    """Raise UsageError if a number in one of the classes of settings is outside the limits of the table."""
    for field_name, value in vars(settings).items():
        if (name := name_in_table(field_name)) not in TABLE:
            continue
        kind = TABLE[name].kind
        if isinstance(kind, Number) and not (value is None and kind.none) and not kind.allows(value):
            raise UsageError(Notice("settings.out_of_range", name=name.replace("_", " "), value=value, wanted=kind.wanted))
