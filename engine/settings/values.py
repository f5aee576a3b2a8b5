"""The settings of a detection run as frozen dataclasses, which check their limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from framefleet.engine.errors import UsageError
from framefleet.engine.notices import Notice
from framefleet.engine.settings.checks import part_problem
from framefleet.engine.settings.choices import Decode, Hint, Isolation, Parallel, Precision, Resize, Track
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.settings.kinds import Moment, Number
from framefleet.engine.settings.table import DEFAULTS, TABLE
from framefleet.engine.types import DeviceId


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model. weights: a path, or ``random:SEED`` for reproducible random weights. labels: None = look beside the cfg.

    size: network input (width, height) in pixels, multiples of 32; None = the cfg's own.
    """

    cfg: Path
    weights: Path | str
    labels: Path | None = None
    size: tuple[int, int] | None = None


def _check_limits(settings: object) -> None:
    for name, value in vars(settings).items():
        kind = TABLE[name].kind
        if isinstance(kind, Number) and not (value is None and kind.none) and not kind.allows(value):
            raise UsageError(Notice("settings.out_of_range", name=name.replace("_", " "), value=value, wanted=kind.wanted))


@dataclass(frozen=True)
class EngineSettings:
    """How one device's engine is built and what it reports.

    batch: frames per inference, None = the backend chooses. latency_budget: ms that a chosen batch may take, None = no limit.
    threads: CPU threads this engine may use, None = all. decode_threads: segments decoded at once, None = automatic.
    confidence, iou: thresholds 0..1 of the YOLO layer and of per-class NMS. classes: class ids to keep, None = all.
    """

    precision: Precision = DEFAULTS["precision"]
    resize: Resize = DEFAULTS["resize"]
    hint: Hint = DEFAULTS["hint"]
    decode: Decode = DEFAULTS["decode"]
    batch: int | None = DEFAULTS["batch"]
    latency_budget: float | None = DEFAULTS["latency_budget"]
    threads: int | None = DEFAULTS["threads"]
    decode_threads: int | None = DEFAULTS["decode_threads"]
    confidence: float = DEFAULTS["confidence"]
    iou: float = DEFAULTS["iou"]
    classes: frozenset[int] | None = DEFAULTS["classes"]

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
    def in_words(self) -> str:
        """A phrase with the grid, the overlap, and whether the whole picture is used."""
        columns, rows = (str(count) if count else "automatic" for count in (self.columns, self.rows))
        grid = "tiles of about the network's size" if not (self.columns or self.rows) else f"{columns} × {rows} tiles"
        return f"{grid} that overlap by {self.overlap:.0%}{', and the whole picture' if self.full_frame else ''}"


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

    def __post_init__(self) -> None:
        if len(set(self.devices)) != len(self.devices):
            raise UsageError(Notice("settings.device_twice", devices=tuple(map(str, self.devices))))
        if problem := part_problem(self.begin, self.end):
            raise UsageError(problem)

    @property
    def values(self) -> dict[str, Any]:
        """The value of each setting, by name in the table."""
        parts = (self, self.engine, self.tiles, self.clock_settings)
        return {each.name: getattr(part, each.name) for part in parts for each in fields(part) if each.name in TABLE}

    @classmethod
    def of(cls, model: ModelFiles, values: Mapping[str, Any]) -> Self:
        """The settings with these values, by name in the table; the others have their defaults.

        Raises UsageError if a value is outside its limits.
        """

        def part(kind: type) -> dict[str, Any]:
            return {each.name: values[each.name] for each in fields(kind) if each.name in values}

        return cls(
            model,
            **part(cls),
            engine=EngineSettings(**part(EngineSettings)),
            tiles=Tiles(**part(Tiles)),
            clock_settings=ClockSettings(**part(ClockSettings)),
        )
