"""The settings of a detection run as frozen dataclasses, and checks whether settings and devices can be combined."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.settings.hint import Hint
from framefleet.engine.settings.kinds import Moment, Number
from framefleet.engine.settings.table import DEFAULTS, TABLE, Decode, Isolation, Parallel, Precision, Resize, Track
from framefleet.engine.types import DeviceId, EngineChoice

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


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model. weights: a path, or ``random:SEED`` for reproducible random weights. labels: None = look beside the cfg.

    size: network input (width, height) in pixels, multiples of 32; None = the cfg's own.
    An ONNX file takes the place of the cfg. weights is then the file with its constants, usually the same one. reading: how its outputs
    are read, a value of ``Reading``; None = as the file says, or as the user has answered before.
    """

    cfg: Path
    weights: Path | str
    labels: Path | None = None
    size: tuple[int, int] | None = None
    reading: str | None = None

    @property
    def is_onnx(self) -> bool:
        """Whether the model is an ONNX file."""
        return self.cfg.suffix.lower() == ".onnx"


def _in_table(name: str) -> str:
    """The name in the table of a field: the table has the confidence that users choose."""
    return "confidence" if name == "stored_confidence" else name


def _check_limits(settings: object) -> None:
    for field_name, value in vars(settings).items():
        if (name := _in_table(field_name)) not in TABLE:
            continue
        kind = TABLE[name].kind
        if isinstance(kind, Number) and not (value is None and kind.none) and not kind.allows(value):
            raise UsageError(Notice("settings.out_of_range", name=name.replace("_", " "), value=value, wanted=kind.wanted))


@dataclass(frozen=True)
class EngineSettings:
    """How one device's engine is built and what it reports.

    batch: frames per inference, None = the backend chooses. latency_budget: ms that a chosen batch may take, None = no limit.
    threads: CPU threads this engine may use, None = all. decode_threads: segments decoded at once, None = automatic.
    stored_confidence: of the weakest detections that the engine returns and a run stores, 0..1; views may show fewer. iou: threshold of
    per-class NMS, 0..1. classes: class ids to keep, None = all.
    earlier: the engines of the run that this one continues. They replace automatic choices.
    """

    precision: Precision = DEFAULTS["precision"]
    resize: Resize = DEFAULTS["resize"]
    hint: Hint = DEFAULTS["hint"]
    decode: Decode = DEFAULTS["decode"]
    batch: int | None = DEFAULTS["batch"]
    latency_budget: float | None = DEFAULTS["latency_budget"]
    threads: int | None = DEFAULTS["threads"]
    decode_threads: int | None = DEFAULTS["decode_threads"]
    stored_confidence: float = DEFAULTS["confidence"]
    iou: float = DEFAULTS["iou"]
    classes: frozenset[int] | None = DEFAULTS["classes"]
    earlier: tuple[EngineChoice, ...] = ()

    def __post_init__(self) -> None:
        _check_limits(self)


@dataclass(frozen=True)
class Tiles:
    """How a picture is cut for the strategy ``tiles``.

    columns, rows: of the grid, None = chosen so that a tile has about the size of the network's input. overlap: of neighbouring
    tiles, as a share of a tile's side. full_frame: also detect in the whole picture, for objects that are larger than a tile.
    """

    columns: int | None = DEFAULTS["columns"]
    rows: int | None = DEFAULTS["rows"]
    overlap: float = DEFAULTS["overlap"]
    full_frame: bool = DEFAULTS["full_frame"]

    def __post_init__(self) -> None:
        _check_limits(self)

    @property
    def notice(self) -> Notice:
        """A phrase with the grid, the overlap, and whether the whole picture is used."""
        grid = Notice("settings.tiles_automatic")
        if self.columns or self.rows:
            columns, rows = (count or Notice("settings.automatic") for count in (self.columns, self.rows))
            grid = Notice("settings.tiles_grid", columns=columns, rows=rows)
        return Notice("settings.tiles_and_whole" if self.full_frame else "settings.tiles", grid=grid, overlap=self.overlap)


@dataclass(frozen=True)
class Recordings:
    """How live sources are recorded.

    record_minutes: clock time in a file. session_minutes: clock time in a session file. record_days: age from which on files are removed.
    record_gib: size of all files above which the oldest ones are removed. None: they stay.
    """

    record_minutes: int = DEFAULTS["record_minutes"]
    session_minutes: int = DEFAULTS["session_minutes"]
    record_days: float | None = DEFAULTS["record_days"]
    record_gib: float | None = DEFAULTS["record_gib"]

    def __post_init__(self) -> None:
        _check_limits(self)


@dataclass(frozen=True)
class RunSettings:
    """One run of the pool: the model, the devices (empty = the best available) and the way of sharing the work."""

    model: ModelFiles
    devices: tuple[DeviceId, ...] = DEFAULTS["devices"]
    parallel: Parallel = DEFAULTS["parallel"]
    engine: EngineSettings = EngineSettings()
    isolation: Isolation = DEFAULTS["isolation"]
    tiles: Tiles = Tiles()
    begin: Moment | None = DEFAULTS["begin"]
    end: Moment | None = DEFAULTS["end"]
    every: Moment | None = DEFAULTS["every"]
    track: Track = DEFAULTS["track"]
    clock_settings: ClockSettings = field(default_factory=ClockSettings)
    recordings: Recordings = Recordings()

    def __post_init__(self) -> None:
        if len(set(self.devices)) != len(self.devices):
            raise UsageError(Notice("settings.device_twice", devices=tuple(map(str, self.devices))))
        if problem := part_problem(self.begin, self.end):
            raise UsageError(problem)

    @property
    def values(self) -> dict[str, Any]:
        """The value of each setting, by name in the table."""
        parts = (self, self.engine, self.tiles, self.clock_settings, self.recordings)
        return {name: getattr(part, each.name) for part in parts for each in fields(part) if (name := _in_table(each.name)) in TABLE}

    @classmethod
    def of(cls, model: ModelFiles, values: Mapping[str, Any]) -> Self:
        """The settings with these values, by name in the table; the others have their defaults.

        Raises UsageError if a value is outside its limits.
        """

        def part(kind: type) -> dict[str, Any]:
            return {each.name: values[name] for each in fields(kind) if (name := _in_table(each.name)) in values}

        return cls(
            model,
            **part(cls),
            engine=EngineSettings(**part(EngineSettings)),
            tiles=Tiles(**part(Tiles)),
            clock_settings=ClockSettings(**part(ClockSettings)),
            recordings=Recordings(**part(Recordings)),
        )
