"""Checks whether settings and devices can be combined, for the command line, the dialog and the pool."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from framefleet.engine.errors import UsageError
from framefleet.engine.settings.choices import Decode, Parallel, Precision
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.types import DeviceId

MOST_STAGES = 8
"""With more stages, moving values between devices takes more time than another device saves."""


def find_problems(
    values: Mapping[str, Any], devices: Sequence[DeviceId], offered: Mapping[DeviceId, Sequence[str]] | None = None
) -> dict[str, str]:
    """The settings that cannot work, with the reason in words, by the setting's name.

    values: of all settings, by name. devices: the devices to use. offered: the precisions of devices, as far as they are known.
    """
    found = {
        "decode": decode_problem(values["decode"], devices),
        "parallel": depth_problem(devices) if values["parallel"] is Parallel.DEPTH else "",
        "precision": _precision_problem(values["precision"], devices, offered or {}),
        "end": part_problem(values["begin"], values["end"]),
    }
    return {name: problem for name, problem in found.items() if problem}


def find_notes(values: Mapping[str, Any]) -> dict[str, str]:
    """The settings that have no effect, with a sentence that says why, by the setting's name."""
    if values["batch"] is not None and values["latency_budget"] is not None:
        return {"latency_budget": f"It has no effect while the batch is set to {values['batch']}."}
    return {}


def require_possible(values: Mapping[str, Any], devices: Sequence[DeviceId]) -> None:
    """Raise UsageError if these settings cannot be combined with these devices."""
    for problem in find_problems(values, devices).values():
        raise UsageError(problem)


def part_problem(begin: Moment | None, end: Moment | None) -> str:
    """Why there is no frame from ``begin`` to ``end``; "" = there may be some. A time and a number of frames are not compared."""
    if begin and end:
        order = zip((begin.frames, begin.seconds), (end.frames, end.seconds), strict=True)
        if any(None not in pair and pair[0] >= pair[1] for pair in order):  # type: ignore[operator]
            return f"the part from {begin} to {end} is empty: the end must come after the beginning"
    return ""


def decode_problem(decode: Decode, devices: Sequence[DeviceId]) -> str:
    """Why the devices cannot decode videos as the setting says; "" = they can."""
    if decode is Decode.NVDEC and not any(member.kind == "cuda" for device in devices for member in device.members):
        return f"NVDEC is part of NVIDIA's GPUs, and none is among the devices ({_names(devices)}): choose one, or let the CPU decode"
    return ""


def check_decode(decode: Decode, devices: Sequence[DeviceId]) -> None:
    """Raise UsageError if none of these devices has the decoder that the setting names."""
    if problem := decode_problem(decode, devices):
        raise UsageError(problem)


def check_depth(devices: Sequence[DeviceId]) -> None:
    """Raise UsageError if a network cannot be cut into a stage for each of these devices."""
    if problem := depth_problem(devices):
        raise UsageError(problem)


def depth_problem(devices: Sequence[DeviceId]) -> str:
    """Why a network cannot be cut into a stage for each of these devices; "" = it can."""
    names, advice = _names(devices), "choose other devices or the strategy segments"
    if not 2 <= len(devices) <= MOST_STAGES:
        return f"the strategy depth needs 2 to {MOST_STAGES} devices, one for each stage, not {len(devices)} ({names}): {advice}"
    if len(set(devices)) < len(devices):
        return f"the strategy depth needs a device for each stage, and one is named twice ({names}): {advice}"
    if len({device.kind == "cuda" for device in devices}) > 1:
        return f"the strategy depth needs CUDA devices only, or other devices only, not both ({names}): {advice}"
    return ""


def _precision_problem(precision: Precision, devices: Sequence[DeviceId], offered: Mapping[DeviceId, Sequence[str]]) -> str:
    if precision is Precision.AUTO:
        return ""
    # discovery finds the processors once, as cpu:0, and every CPU device uses them
    known = {device: offered.get(DeviceId("cpu", "0") if device.kind == "cpu" else device) for device in devices}
    lacking = {device: each for device, each in known.items() if each is not None and precision not in each}
    return "\n".join(f"{device} offers {', '.join(each).upper()} only" for device, each in lacking.items())


def _names(devices: Iterable[DeviceId]) -> str:
    return ", ".join(map(str, devices))
