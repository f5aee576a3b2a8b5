"""The settings of a detection run as frozen dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.settings.checks import check_limits, name_in_table, part_problem
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.settings.hint import Hint
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.settings.table import DEFAULTS, TABLE, Decode, Isolation, Parallel, Precision, Resize, Track
from framefleet.engine.types import DeviceId, EngineChoice


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
        check_limits(self)


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
        check_limits(self)

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
        check_limits(self)


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
        return {name: getattr(part, each.name) for part in parts for each in fields(part) if (name := name_in_table(each.name)) in TABLE}

    @classmethod
    def of(cls, model: ModelFiles, values: Mapping[str, Any]) -> Self:
        """The settings with these values, by name in the table; the others have their defaults.

        Raises UsageError if a value is outside its limits.
        """

        def part(kind: type) -> dict[str, Any]:
            return {each.name: values[name] for each in fields(kind) if (name := name_in_table(each.name)) in values}

        return cls(
            model,
            **part(cls),
            engine=EngineSettings(**part(EngineSettings)),
            tiles=Tiles(**part(Tiles)),
            clock_settings=ClockSettings(**part(ClockSettings)),
            recordings=Recordings(**part(Recordings)),
        )
