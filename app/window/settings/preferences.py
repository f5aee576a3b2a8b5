"""What the user has chosen, kept between starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QSettings

from engine.errors import UsageError
from engine.settings import Decode, EngineSettings, Hint, Isolation, ModelFiles, Parallel, Precision, Resize, RunSettings, Tiles
from engine.types import DeviceId

FLOOR = 0.05
"""Detection keeps everything from this confidence on, so that the window's slider can go down to it without another run."""
MOST_BUDGET = 60_000.0
"""The longest latency budget that can be set, ms."""
T = TypeVar("T")


@dataclass(frozen=True)
class Preferences:
    """The settings dialog's values.

    devices: empty = automatic. batch, decode_threads: None = automatic. confidence: where the slider begins.
    latency_budget: ms, None = any.
    """

    model: ModelFiles | None = None
    devices: tuple[DeviceId, ...] = ()
    precision: Precision = Precision.AUTO
    resize: Resize = Resize.AUTO
    parallel: Parallel = Parallel.AUTO
    batch: int | None = None
    confidence: float = 0.25
    iou: float = 0.45
    decode: Decode = Decode.AUTO
    tiles: Tiles = field(default_factory=Tiles)
    isolation: Isolation = Isolation.PROCESS
    decode_threads: int | None = None
    latency_budget: float | None = None
    hint: Hint = Hint.THROUGHPUT

    @property
    def floor(self) -> float:
        """The confidence that detection runs with."""
        return min(FLOOR, self.confidence)

    def run_settings(self) -> RunSettings:
        """What a run is asked to do.

        Raises:
            UsageError: there is no model.
        """
        if self.model is None:
            raise UsageError("no model is chosen: choose one in the settings, or drop its .cfg and .weights on the window")
        engine = EngineSettings(
            self.precision,
            self.resize,
            self.hint,
            decode=self.decode,
            batch=self.batch,
            latency_budget=self.latency_budget,
            decode_threads=self.decode_threads,
            confidence=self.floor,
            iou=self.iou,
        )
        return RunSettings(self.model, self.devices, self.parallel, engine, self.isolation, self.tiles)


def load(store: QSettings) -> Preferences:
    """Read them; what is missing or cannot be understood is as if never set."""

    def read(key: str, convert: Callable[[str], T], default: T) -> T:
        text = store.value(f"detection/{key}")
        if not isinstance(text, str) or not text:
            return default
        try:
            return convert(text)
        except (ValueError, UsageError):
            return default

    def devices(text: str) -> tuple[DeviceId, ...]:
        return tuple(dict.fromkeys(DeviceId.parse(part) for part in text.split(";")))

    def share(text: str) -> float:
        value = float(text)
        if not 0.0 < value <= 1.0:
            raise ValueError(text)
        return value

    def batch(text: str) -> int | None:
        return EngineSettings(batch=int(text)).batch

    def decode_threads(text: str) -> int | None:
        return EngineSettings(decode_threads=int(text)).decode_threads

    def budget(text: str) -> float | None:
        value = float(text)
        if not 0.0 < value <= MOST_BUDGET:
            raise ValueError(text)
        return value

    def tiles(text: str) -> Tiles:
        columns, rows, overlap, full_frame = text.split(";")
        return Tiles(int(columns) or None, int(rows) or None, float(overlap), full_frame == "full")

    def weights_of(text: str) -> Path | str:
        return text if text.startswith("random:") else Path(text)

    def path(text: str) -> Path | None:
        return Path(text)

    no_weights: Path | str = ""
    cfg, weights = read("cfg", path, None), read("weights", weights_of, no_weights)
    model = ModelFiles(cfg, weights, read("labels", path, None)) if cfg and weights else None
    return Preferences(
        model,
        read("devices", devices, ()),
        read("precision", Precision, Precision.AUTO),
        read("resize", Resize, Resize.AUTO),
        read("parallel", Parallel, Parallel.AUTO),
        read("batch", batch, None),
        read("confidence", share, 0.25),
        read("iou", share, 0.45),
        read("decode", Decode, Decode.AUTO),
        read("tiles", tiles, Tiles()),
        read("isolation", Isolation, Isolation.PROCESS),
        read("lanes", decode_threads, None),
        read("latency_budget", budget, None),
        read("hint", Hint, Hint.THROUGHPUT),
    )


def save(preferences: Preferences, store: QSettings) -> None:
    """Write them all, as text."""
    model, tiles = preferences.model, preferences.tiles
    values = {
        "cfg": str(model.cfg) if model else "",
        "weights": str(model.weights) if model else "",
        "labels": str(model.labels) if model and model.labels else "",
        "devices": ";".join(map(str, preferences.devices)),
        "precision": preferences.precision.value,
        "resize": preferences.resize.value,
        "parallel": preferences.parallel.value,
        "batch": str(preferences.batch or ""),
        "confidence": str(preferences.confidence),
        "iou": str(preferences.iou),
        "decode": preferences.decode.value,
        "tiles": f"{tiles.columns or 0};{tiles.rows or 0};{tiles.overlap};{'full' if tiles.full_frame else ''}",
        "isolation": preferences.isolation.value,
        "lanes": str(preferences.decode_threads or ""),
        "latency_budget": str(preferences.latency_budget or ""),
        "hint": preferences.hint.value,
    }
    for key, value in values.items():
        store.setValue(f"detection/{key}", value)
